#include "tests/support/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/temp.h"

static int64_t clock_ms(void *self) {
    struct device *device = self;
    return device->now_ms;
}

static void random_bytes(void *self, void *out, size_t len) {
    struct device *device = self;
    unsigned char *bytes = out;
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (unsigned char)test_random_next(&device->random);
    }
}

static void open_store(struct device *device) {
    dunlin_error err;
    if (dln_store_open(&device->store, device->path, "alice", &device->options, &err)) {
        fail_msg("open: %s: %s", dunlin_status_name(err.code), err.message);
    }
}

int device_set_up(void **state) {
    struct device *device = calloc(1, sizeof(*device));
    assert_non_null(device);
    device->dir = temp_new();
    device->path = strdup(temp_file(device->dir, "store.db"));
    device->now_ms = DEVICE_START_MS;
    device->random.state = 7;
    device->ports = (dunlin_ports){device, clock_ms, random_bytes};
    device->options = (dunlin_open_options)DUNLIN_OPEN_OPTIONS_INIT;
    device->options.ports = &device->ports;
    device->options.without_search = 1;
    device->options.durability = DUNLIN_DURABILITY_NORMAL;
    device->arena = DLN_ARENA_INIT(256 << 20);
    open_store(device);
    *state = device;
    return 0;
}

int device_tear_down(void **state) {
    struct device *device = *state;
    bool idle = !device->store || dln_store_is_idle(device->store);
    dln_store_close(device->store);
    dln_arena_free(&device->arena);
    temp_remove(device->dir);
    free((void *)(uintptr_t)device->path);
    free(device);
    return idle ? 0 : -1;
}

void device_reopen(struct device *device) {
    dln_store_close(device->store);
    device->store = NULL;
    open_store(device);
}

static void check(dunlin_status status, const dunlin_error *err) {
    if (status != DUNLIN_OK) {
        fail_msg("%s: %s", dunlin_status_name(status), err->message);
    }
}

void device_begin(struct device *device) {
    dunlin_error err;
    check(dln_store_begin(device->store, &err), &err);
}

void device_commit(struct device *device) {
    dunlin_error err;
    check(dln_store_commit(device->store, &err), &err);
}

struct dln_key device_key(struct device *device, enum dln_collection_id id, const char *group,
                          const char *const *parts) {
    const struct dln_collection *collection = dln_collection_by_id(id);
    struct dln_key key = {.collection = collection,
                          .name = dln_text_of(collection->name),
                          .part_count = collection->key_count};
    key.scope = group ? dln_scope_group(&device->arena, dln_text_of(group))
                      : dln_scope_user(&device->arena, DLN_TEXT("alice"));
    for (int i = 0; i < key.part_count; i++) {
        key.parts[i] = dln_arena_text(&device->arena, dln_text_of(parts[i]));
    }
    return key;
}

struct dln_row device_row(struct device *device, const struct dln_key *key) {
    struct dln_row row;
    dunlin_error err;
    check(dln_row_get(device->store, &device->arena, key, &row, &err), &err);
    return row;
}

struct dln_key device_item(struct device *device, const char *list, const char *id) {
    const char *parts[] = {list, "video", id};
    return device_key(device, DLN_ITEM, NULL, parts);
}

struct dln_key device_follow(struct device *device, const char *kind, const char *target) {
    const char *parts[] = {kind, target};
    return device_key(device, DLN_FOLLOW, NULL, parts);
}

struct dln_key device_list(struct device *device, const char *list) {
    return device_key(device, DLN_LIST, NULL, &list);
}

static void edit(struct device *device, struct dln_row *row) {
    dunlin_error err;
    uint32_t all = (UINT32_C(1) << row->record.key.collection->field_count) - 1;
    check(dln_row_edit(device->store, row, all, &err), &err);
}

void device_put_item(struct device *device, const char *list, const char *id, const char *title) {
    struct dln_key key = device_item(device, list, id);
    struct dln_row row = device_row(device, &key);
    row.record.fields[DLN_ITEM_PRESENT].value = dln_value_bool(true);
    row.record.fields[DLN_ITEM_CREATED_AT].value = dln_value_integer(1234567890123);
    row.record.fields[DLN_ITEM_RANK].value = dln_value_string(DLN_TEXT("V"));
    row.record.fields[DLN_ITEM_TITLE].value = dln_value_string(dln_text_of(title));
    row.record.fields[DLN_ITEM_DATA].value = dln_value_null();
    row.record.fields[DLN_ITEM_ATTACHMENTS].value = dln_value_null();
    edit(device, &row);
}

void device_put_follow(struct device *device, const char *kind, const char *target, bool present) {
    struct dln_key key = device_follow(device, kind, target);
    struct dln_row row = device_row(device, &key);
    row.record.fields[DLN_FOLLOW_PRESENT].value = dln_value_bool(present);
    edit(device, &row);
}

void device_put_list(struct device *device, const char *list, const char *name) {
    struct dln_key key = device_list(device, list);
    struct dln_row row = device_row(device, &key);
    row.record.fields[DLN_LIST_NAME].value = dln_value_string(dln_text_of(name));
    row.record.fields[DLN_LIST_RANK].value = dln_value_string(DLN_TEXT("V"));
    row.record.fields[DLN_LIST_DELETED].value = dln_value_bool(false);
    edit(device, &row);
}

void device_settle(struct device *device, const struct dln_key *key, int64_t seq) {
    dunlin_error err;
    struct dln_row row = device_row(device, key);
    row.pending = 0;
    row.seq = seq;
    check(dln_row_mark(device->store, &row, &err), &err);
}

char *device_read_file(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    *len = 0;
    if (!file) {
        return NULL;
    }
    for (;;) {
        char *grown = realloc(bytes, *len + 65536);
        assert_non_null(grown);
        bytes = grown;
        size_t got = fread(bytes + *len, 1, 65536, file);
        *len += got;
        if (got == 0) {
            break;
        }
    }
    fclose(file);
    return bytes;
}
