#include "tests/support/scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

enum { STATE_BYTES_MAX = 1 << 20 };

#define OK(call) assert_int_equal((call), DUNLIN_OK)

/* ---- what there is */

static void fill_graph(dunlin_store *store) {
    OK(dunlin_group_create(store, "tea", "Tea", DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_group_add(store, "tea", "chika", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_group_create(store, "run", "Run", DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_group_add(store, "run", "dai", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_follow(store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_follow(store, DUNLIN_GROUP, "tea", NULL));
}

static void fill_lists(dunlin_store *store) {
    const dunlin_item_options titled = {DUNLIN_ITEM_OPTIONS_VERSION, "Green tea", "[1]", NULL};
    OK(dunlin_list_create(store, NULL, "l1", "One", NULL));
    OK(dunlin_list_create(store, NULL, "l2", "Two", NULL));
    OK(dunlin_list_add(store, "l1", "v", "a", &titled, NULL));
    OK(dunlin_list_add(store, "l1", "v", "b", NULL, NULL));
    OK(dunlin_list_add(store, "l2", "v", "c", NULL, NULL));
}

/* Central takes two lists: two more are refused. Then some edits wait. */
static void fill(struct scene *scene) {
    const dunlin_central_options options = {.version = DUNLIN_CENTRAL_OPTIONS_VERSION,
                                            .quota_lists = 2};
    world_open(&scene->world, 5, &options);
    scene->device = world_device(&scene->world, "aoi", 0);
    scene->store = scene->device->store;
    fill_graph(scene->store);
    fill_lists(scene->store);
    device_sync_ok(scene->device);
    OK(dunlin_list_create(scene->store, NULL, "l3", "Three", NULL));
    OK(dunlin_list_create(scene->store, NULL, "l4", "Four", NULL));
    device_sync_ok(scene->device);
    assert_int_equal(device_rejected(scene->device), 2);
    OK(dunlin_follow(scene->store, DUNLIN_USER, "emi", NULL));
    OK(dunlin_list_rename(scene->store, "l2", "Second", NULL));
    assert_int_equal(device_pending(scene->device), 2);
}

/* ---- listings */

/* Opens a listing, reads its first row and keeps its token. */
#define STAND(scene, listing, type, next, open)                                                    \
    do {                                                                                           \
        dunlin_iter **iter = &(scene)->iters[listing];                                             \
        const type *row = NULL;                                                                    \
        OK(open);                                                                                  \
        OK(next(*iter, &row, NULL));                                                               \
        assert_non_null(row);                                                                      \
        keep_token(scene, listing);                                                                \
    } while (0)

static void keep_token(struct scene *scene, enum listing listing) {
    const char *token = dunlin_iter_token(scene->iters[listing]);
    assert_non_null(token);
    assert_true(strlen(token) < sizeof(scene->tokens[listing]));
    memcpy(scene->tokens[listing], token, strlen(token) + 1);
}

static void open_graph(struct scene *scene) {
    dunlin_store *s = scene->store;
    STAND(scene, LISTING_FOLLOWING, dunlin_followed, dunlin_following_next,
          dunlin_following(s, iter, NULL, NULL));
    STAND(scene, LISTING_MEMBERS, dunlin_member, dunlin_members_next,
          dunlin_members(s, iter, "tea", NULL, NULL));
    STAND(scene, LISTING_OTHER_MEMBERS, dunlin_member, dunlin_members_next,
          dunlin_members(s, iter, "run", NULL, NULL));
    STAND(scene, LISTING_SUBSCRIPTIONS, dunlin_subscription, dunlin_subscriptions_next,
          dunlin_subscriptions(s, iter, NULL, NULL));
    STAND(scene, LISTING_SUBSCRIPTION, dunlin_subscription, dunlin_subscriptions_next,
          dunlin_subscription_of(s, iter, "ben", NULL));
    STAND(scene, LISTING_REASONS, dunlin_reason, dunlin_explain_next,
          dunlin_explain(s, iter, "ben", NULL));
}

static void open_lists(struct scene *scene) {
    dunlin_store *s = scene->store;
    STAND(scene, LISTING_LISTS, dunlin_list, dunlin_lists_next, dunlin_lists(s, iter, NULL, NULL));
    STAND(scene, LISTING_NAMED, dunlin_list, dunlin_lists_next,
          dunlin_lists_named(s, iter, "One", NULL));
    STAND(scene, LISTING_LIST, dunlin_list, dunlin_lists_next,
          dunlin_list_get(s, iter, "l1", NULL));
    STAND(scene, LISTING_WITH, dunlin_list, dunlin_lists_next,
          dunlin_lists_with(s, iter, "v", "a", NULL));
    STAND(scene, LISTING_ITEMS, dunlin_item, dunlin_items_next,
          dunlin_items(s, iter, "l1", NULL, NULL));
    STAND(scene, LISTING_OTHER_ITEMS, dunlin_item, dunlin_items_next,
          dunlin_items(s, iter, "l2", NULL, NULL));
    STAND(scene, LISTING_ITEM, dunlin_item, dunlin_items_next,
          dunlin_item_get(s, iter, "l1", "v", "a", NULL));
    STAND(scene, LISTING_HITS, dunlin_hit, dunlin_search_next,
          dunlin_search(s, iter, "tea", NULL, NULL));
    STAND(scene, LISTING_OTHER_HITS, dunlin_hit, dunlin_search_next,
          dunlin_search(s, iter, "green", NULL, NULL));
    STAND(scene, LISTING_OUTBOX, dunlin_pending, dunlin_outbox_next,
          dunlin_outbox(s, iter, NULL, NULL));
    STAND(scene, LISTING_REJECTED, dunlin_rejection, dunlin_rejected_next,
          dunlin_rejected(s, iter, NULL, NULL));
}

enum listing scene_rows(enum listing listing) {
    switch (listing) {
    case LISTING_OTHER_MEMBERS:
        return LISTING_MEMBERS;
    case LISTING_SUBSCRIPTION:
        return LISTING_SUBSCRIPTIONS;
    case LISTING_NAMED:
    case LISTING_LIST:
    case LISTING_WITH:
        return LISTING_LISTS;
    case LISTING_OTHER_ITEMS:
    case LISTING_ITEM:
        return LISTING_ITEMS;
    case LISTING_OTHER_HITS:
        return LISTING_HITS;
    default:
        return listing;
    }
}

void scene_open(struct scene *scene) {
    memset(scene, 0, sizeof(*scene));
    fill(scene);
    open_graph(scene);
    open_lists(scene);
    (void)snprintf(scene->new_path, sizeof(scene->new_path), "%s/new.db", scene->world.dir);
    (void)snprintf(scene->new_url, sizeof(scene->new_url), "sqlite:%s", scene->new_path);
}

void scene_close(struct scene *scene) {
    for (size_t i = 0; i < LISTING_COUNT; i++) {
        dunlin_iter_free(scene->iters[i]);
    }
    world_close(&scene->world);
}

/* ---- what is seen of it */

static dunlin_status append_line(const char *line, size_t len, void *payload) {
    dln_buf_append(payload, line, len);
    return DUNLIN_OK;
}

static void append_outbox(struct dln_buf *out, dunlin_store *store) {
    const dunlin_pending *row;
    dunlin_iter *iter;
    OK(dunlin_outbox(store, &iter, NULL, NULL));
    for (;;) {
        OK(dunlin_outbox_next(iter, &row, NULL));
        if (!row) {
            break;
        }
        dln_buf_printf(out, "waits: %s %s", row->scope, row->collection);
        for (size_t i = 0; i < row->key_count; i++) {
            dln_buf_printf(out, " %s", row->key[i]);
        }
        for (size_t i = 0; i < row->field_count; i++) {
            dln_buf_printf(out, " .%s", row->fields[i]);
        }
        dln_buf_printf(out, " %d\n", row->tried);
    }
    dunlin_iter_free(iter);
}

static void append_rejected(struct dln_buf *out, dunlin_store *store) {
    const dunlin_rejection *row;
    dunlin_iter *iter;
    OK(dunlin_rejected(store, &iter, NULL, NULL));
    for (;;) {
        OK(dunlin_rejected_next(iter, &row, NULL));
        if (!row) {
            break;
        }
        OK(dunlin_rejected_export(store, row->id, append_line, out, NULL));
    }
    dunlin_iter_free(iter);
}

char *scene_state(struct scene *scene) {
    struct dln_buf out = DLN_BUF_INIT(STATE_BYTES_MAX);
    dunlin_store_status s;
    char *subscriptions = device_subscriptions(scene->device);
    OK(dunlin_dump(scene->store, append_line, &out, NULL));
    append_outbox(&out, scene->store);
    append_rejected(&out, scene->store);
    OK(dunlin_store_get_status(scene->store, &s, NULL));
    dln_buf_printf(&out, "%s%lld %lld %lld %lld %lld %lld %lld %lld\n", subscriptions,
                   (long long)s.pending, (long long)s.rejected, (long long)s.following,
                   (long long)s.subscriptions, (long long)s.lists, (long long)s.items,
                   (long long)s.last_sync_ms, (long long)s.held);
    free(subscriptions);
    OK(dln_buf_status(&out, NULL));
    return out.data;
}
