#include "tests/support/bare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/temp.h"

static int64_t clock_ms(void *self) {
    struct bare *bare = self;
    return bare->now_ms;
}

static void random_bytes(void *self, void *out, size_t len) {
    struct bare *bare = self;
    unsigned char *bytes = out;
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (unsigned char)test_random_next(&bare->random);
    }
}

static void open_store(struct bare *bare) {
    dunlin_error err;
    if (dln_store_open(&bare->store, bare->path, "alice", &bare->options, &err)) {
        fail_msg("open: %s: %s", dunlin_status_name(err.code), err.message);
    }
}

int bare_set_up(void **state) {
    struct bare *bare = calloc(1, sizeof(*bare));
    assert_non_null(bare);
    bare->dir = temp_new();
    bare->path = strdup(temp_file(bare->dir, "store.db"));
    bare->now_ms = BARE_START_MS;
    bare->random.state = 7;
    bare->ports = (dunlin_ports){bare, clock_ms, random_bytes};
    bare->options = (dunlin_open_options)DUNLIN_OPEN_OPTIONS_INIT;
    bare->options.ports = &bare->ports;
    bare->options.without_search = 1;
    bare->options.durability = DUNLIN_DURABILITY_NORMAL;
    bare->arena = DLN_ARENA_INIT(256 << 20);
    open_store(bare);
    *state = bare;
    return 0;
}

int bare_tear_down(void **state) {
    struct bare *bare = *state;
    bool idle = !bare->store || dln_store_is_idle(bare->store);
    dln_store_close(bare->store);
    dln_arena_free(&bare->arena);
    temp_remove(bare->dir);
    free((void *)(uintptr_t)bare->path);
    free(bare);
    return idle ? 0 : -1;
}

void bare_reopen(struct bare *bare) {
    dln_store_close(bare->store);
    bare->store = NULL;
    open_store(bare);
}

static void check(dunlin_status status, const dunlin_error *err) {
    if (status != DUNLIN_OK) {
        fail_msg("%s: %s", dunlin_status_name(status), err->message);
    }
}

void bare_begin(struct bare *bare) {
    dunlin_error err;
    check(dln_store_begin(bare->store, &err), &err);
}

void bare_commit(struct bare *bare) {
    dunlin_error err;
    check(dln_store_commit(bare->store, &err), &err);
}

struct dln_key bare_key(struct bare *bare, enum dln_collection_id id, const char *group,
                        const char *const *parts) {
    const struct dln_collection *collection = dln_collection_by_id(id);
    struct dln_key key = {.collection = collection,
                          .name = dln_text_of(collection->name),
                          .part_count = collection->key_count};
    key.scope = group ? dln_scope_group(&bare->arena, dln_text_of(group))
                      : dln_scope_user(&bare->arena, DLN_TEXT("alice"));
    for (int i = 0; i < key.part_count; i++) {
        key.parts[i] = dln_arena_text(&bare->arena, dln_text_of(parts[i]));
    }
    return key;
}

struct dln_row bare_row(struct bare *bare, const struct dln_key *key) {
    struct dln_row row;
    dunlin_error err;
    check(dln_row_get(bare->store, &bare->arena, key, &row, &err), &err);
    return row;
}

struct dln_key bare_item(struct bare *bare, const char *list, const char *id) {
    const char *parts[] = {list, "video", id};
    return bare_key(bare, DLN_ITEM, NULL, parts);
}

struct dln_key bare_follow(struct bare *bare, const char *kind, const char *target) {
    const char *parts[] = {kind, target};
    return bare_key(bare, DLN_FOLLOW, NULL, parts);
}

struct dln_key bare_list(struct bare *bare, const char *list) {
    return bare_key(bare, DLN_LIST, NULL, &list);
}

static void edit(struct bare *bare, struct dln_row *row) {
    dunlin_error err;
    uint32_t all = (UINT32_C(1) << row->record.key.collection->field_count) - 1;
    check(dln_row_edit(bare->store, row, all, &err), &err);
}

void bare_put_item(struct bare *bare, const char *list, const char *id, const char *title) {
    struct dln_key key = bare_item(bare, list, id);
    struct dln_row row = bare_row(bare, &key);
    row.record.fields[DLN_ITEM_PRESENT].value = dln_value_bool(true);
    row.record.fields[DLN_ITEM_CREATED_AT].value = dln_value_integer(1234567890123);
    row.record.fields[DLN_ITEM_RANK].value = dln_value_string(DLN_TEXT("V"));
    row.record.fields[DLN_ITEM_TITLE].value = dln_value_string(dln_text_of(title));
    row.record.fields[DLN_ITEM_DATA].value = dln_value_null();
    row.record.fields[DLN_ITEM_ATTACHMENTS].value = dln_value_null();
    edit(bare, &row);
}

void bare_put_follow(struct bare *bare, const char *kind, const char *target, bool present) {
    struct dln_key key = bare_follow(bare, kind, target);
    struct dln_row row = bare_row(bare, &key);
    row.record.fields[DLN_FOLLOW_PRESENT].value = dln_value_bool(present);
    edit(bare, &row);
}

void bare_put_list(struct bare *bare, const char *list, const char *name) {
    struct dln_key key = bare_list(bare, list);
    struct dln_row row = bare_row(bare, &key);
    row.record.fields[DLN_LIST_NAME].value = dln_value_string(dln_text_of(name));
    row.record.fields[DLN_LIST_RANK].value = dln_value_string(DLN_TEXT("V"));
    row.record.fields[DLN_LIST_DELETED].value = dln_value_bool(false);
    edit(bare, &row);
}

void bare_settle(struct bare *bare, const struct dln_key *key, int64_t seq) {
    dunlin_error err;
    struct dln_row row = bare_row(bare, key);
    row.pending = 0;
    row.seq = seq;
    check(dln_row_mark(bare->store, &row, &err), &err);
}

char *bare_read_file(const char *path, size_t *len) {
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
