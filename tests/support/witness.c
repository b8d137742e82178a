#include "tests/support/witness.h"

#include <stdio.h>
#include <string.h>

enum { ID_BYTES = 48 };

static int index_of(const struct device *device) {
    return (int)(device - device->world->devices);
}

static dunlin_status write_title(const struct device *device, dunlin_store *store, int title,
                                 dunlin_error *err) {
    char list[ID_BYTES];
    char text[ID_BYTES];
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    (void)snprintf(list, sizeof(list), "witness-%d", index_of(device));
    (void)snprintf(text, sizeof(text), "%d", title);
    options.title = text;
    dunlin_status status = dunlin_list_add(store, list, "witness", "title", &options, err);
    if (status == DUNLIN_NOT_FOUND) {
        status = dunlin_list_create(store, NULL, list, list, err);
        if (status == DUNLIN_OK) {
            status = dunlin_list_add(store, list, "witness", "title", &options, err);
        }
    }
    return status;
}

dunlin_status witness_write(struct witness *witness, const struct device *device,
                            dunlin_store *store, dunlin_error *err) {
    char id[ID_BYTES];
    (void)snprintf(id, sizeof(id), "keep-%d-%d", index_of(device), witness->follows);
    dunlin_status status = dunlin_follow(store, DUNLIN_USER, id, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    witness->follows++;
    status = write_title(device, store, witness->title + 1, err);
    witness->title += status == DUNLIN_OK;
    return status;
}

/* Whether a dead letter of the device names that part of a key. */
static bool is_rejected(struct device *device, const char *part) {
    dunlin_iter *iter = NULL;
    const dunlin_rejection *row = NULL;
    dunlin_error err;
    bool found = false;
    if (dunlin_rejected(device->store, &iter, NULL, &err) != DUNLIN_OK) {
        return false;
    }
    while (!found && dunlin_rejected_next(iter, &row, &err) == DUNLIN_OK && row != NULL) {
        for (size_t i = 0; i < row->key_count; i++) {
            found = found || strcmp(row->key[i], part) == 0;
        }
    }
    dunlin_iter_free(iter);
    return found;
}

static bool is_followed(struct device *device, const char *id) {
    dunlin_iter *iter = NULL;
    const dunlin_subscription *row = NULL;
    dunlin_error err;
    bool found = dunlin_subscription_of(device->store, &iter, id, &err) == DUNLIN_OK &&
                 dunlin_subscriptions_next(iter, &row, &err) == DUNLIN_OK && row != NULL;
    dunlin_iter_free(iter);
    return found;
}

static bool has_title(struct device *device, const char *list, const char *title) {
    dunlin_iter *iter = NULL;
    const dunlin_item *row = NULL;
    dunlin_error err;
    bool found =
        dunlin_item_get(device->store, &iter, list, "witness", "title", &err) == DUNLIN_OK &&
        dunlin_items_next(iter, &row, &err) == DUNLIN_OK && row != NULL && row->title != NULL &&
        strcmp(row->title, title) == 0;
    dunlin_iter_free(iter);
    return found;
}

bool witness_check(const struct witness *witness, struct device *device, char *why,
                   size_t why_bytes) {
    struct world *world = device->world;
    char id[ID_BYTES];
    char title[ID_BYTES];
    for (int i = 0; i < witness->follows; i++) {
        (void)snprintf(id, sizeof(id), "keep-%d-%d", index_of(device), i);
        if (!is_followed(device, id) && !is_rejected(device, id)) {
            (void)snprintf(why, why_bytes, "%s is lost on %s", id, device->path);
            return false;
        }
    }
    (void)snprintf(id, sizeof(id), "witness-%d", index_of(device));
    (void)snprintf(title, sizeof(title), "%d", witness->title);
    if (witness->title == 0 || is_rejected(device, id)) {
        return true;
    }
    for (int i = 0; i < world->device_count; i++) {
        struct device *other = &world->devices[i];
        if (strcmp(other->owner, device->owner) == 0 && !has_title(other, id, title)) {
            (void)snprintf(why, why_bytes, "title %s of %s is lost on %s", title, id, other->path);
            return false;
        }
    }
    return true;
}
