#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/internal.h"
#include "tests/support/bare.h"
#include "tests/support/temp.h"

static dunlin_store_status status_of(struct bare *bare) {
    dunlin_store_status status;
    assert_int_equal(dln_store_status(bare->store, &status, NULL), DUNLIN_OK);
    return status;
}

static void reject_something(struct bare *bare) {
    struct dln_record record = {.key = bare_follow(bare, "user", "ben")};
    const struct dln_reject reject = {DUNLIN_QUOTA, DLN_TEXT("no"), &record};
    record.fields[0] = (struct dln_field){5, dln_value_bool(true)};
    bare_begin(bare);
    assert_int_equal(dln_reject_add(bare->store, &reject, NULL), DUNLIN_OK);
    bare_commit(bare);
}

static void fill(struct bare *bare) {
    bare_begin(bare);
    bare_put_list(bare, "l1", "one");
    for (int i = 0; i < 200; i++) {
        char id[8];
        (void)snprintf(id, sizeof(id), "v%d", i);
        bare_put_item(bare, "l1", id, "a title that takes some room");
        bare_put_follow(bare, "user", id, true);
    }
    bare_put_item(bare, "l9", "v1", "of a list that is not known");
    bare_commit(bare);
}

static void status_counts(void **state) {
    struct bare *bare = *state;
    fill(bare);
    reject_something(bare);
    struct dln_scope_row scope = {.scope = DLN_TEXT("user/alice"), .complete_ms = 77};
    bare_begin(bare);
    assert_int_equal(dln_scope_put(bare->store, &scope, NULL), DUNLIN_OK);
    scope.scope = DLN_TEXT("group/g");
    scope.held = true;
    assert_int_equal(dln_scope_put(bare->store, &scope, NULL), DUNLIN_OK);
    struct dln_key key = bare_follow(bare, "user", "v1");
    struct dln_row row = bare_row(bare, &key);
    row.offered = row.pending; /* nobody edited it */
    assert_int_equal(dln_row_mark(bare->store, &row, NULL), DUNLIN_OK);
    bare_commit(bare);
    dunlin_store_status status = status_of(bare);
    assert_int_equal(status.pending, 401);
    assert_int_equal(status.rejected, 1);
    assert_int_equal(status.following, 200);
    assert_int_equal(status.subscriptions, 200);
    assert_int_equal(status.lists, 1);
    assert_int_equal(status.items, 200);
    assert_int_equal(status.last_sync_ms, 77);
    assert_int_equal(status.held, 1);
    assert_true(status.file_bytes > 50000);
}

/* ---- copies */

static void a_copy_opens_by_itself_and_holds_one_moment(void **state) {
    struct bare *bare = *state;
    const char *path = temp_file(bare->dir, "copy.db");
    struct dln_store *copy;
    dunlin_store_status status;
    size_t len;
    fill(bare);
    assert_int_equal(dln_store_backup(bare->store, path, NULL), DUNLIN_OK);
    char *bytes = bare_read_file(path, &len);
    assert_memory_equal(bytes + 18, "\2\2", 2); /* a log is used */
    free(bytes);
    assert_int_equal(access(temp_file(bare->dir, "copy.db-wal"), F_OK), -1);
    assert_int_equal(dln_store_open(&copy, path, "alice", &bare->options, NULL), DUNLIN_OK);
    assert_string_equal(dln_store_device(copy), dln_store_device(bare->store));
    assert_int_equal(dln_store_status(copy, &status, NULL), DUNLIN_OK);
    assert_int_equal(status.items, 200);
    assert_int_equal(status.pending, 402);
    dln_store_close(copy);
}

static void a_copy_never_writes_over_a_file(void **state) {
    struct bare *bare = *state;
    const char *path = temp_file(bare->dir, "there");
    size_t len;
    FILE *file = fopen(path, "wb");
    assert_int_equal(fputs("mine", file) >= 0, 1);
    fclose(file);
    assert_int_equal(dln_store_backup(bare->store, path, NULL), DUNLIN_EXISTS);
    assert_int_equal(dln_store_backup(bare->store, bare->path, NULL), DUNLIN_EXISTS);
    char *bytes = bare_read_file(path, &len);
    assert_int_equal(len, 4);
    assert_memory_equal(bytes, "mine", 4);
    free(bytes);
    path = temp_file(bare->dir, "no/such/folder.db");
    assert_int_equal(dln_store_backup(bare->store, path, NULL), DUNLIN_IO);
    assert_int_equal(access(path, F_OK), -1);
}

/* ---- wipe */

static void a_wipe_asks_before_it_loses_something(void **state) {
    struct bare *bare = *state;
    struct dln_key key = bare_follow(bare, "user", "ben");
    assert_int_equal(dln_store_wipe(bare->store, false, NULL), DUNLIN_OK); /* nothing there */
    bare_begin(bare);
    bare_put_follow(bare, "user", "ben", true);
    bare_commit(bare);
    assert_int_equal(dln_store_wipe(bare->store, false, NULL), DUNLIN_UNSENT);
    assert_true(bare_row(bare, &key).stored);
    bare_begin(bare);
    bare_settle(bare, &key, 4);
    bare_commit(bare);
    reject_something(bare);
    assert_int_equal(dln_store_wipe(bare->store, false, NULL), DUNLIN_UNSENT);
    assert_true(bare_row(bare, &key).stored);
    bare_begin(bare);
    assert_int_equal(dln_reject_remove(bare->store, 1, NULL), DUNLIN_OK);
    bare_commit(bare);
    assert_int_equal(dln_store_wipe(bare->store, false, NULL), DUNLIN_OK);
    assert_false(bare_row(bare, &key).stored);
}

static void a_wipe_leaves_owner_and_device_and_no_bytes(void **state) {
    struct bare *bare = *state;
    char name[64];
    size_t len;
    (void)snprintf(name, sizeof(name), "%s", dln_store_device(bare->store));
    fill(bare);
    reject_something(bare);
    int64_t before = status_of(bare).file_bytes;
    assert_int_equal(dln_store_wipe(bare->store, true, NULL), DUNLIN_OK);
    assert_true(status_of(bare).file_bytes < before);
    assert_int_equal(status_of(bare).subscriptions, 0);
    char *log = bare_read_file(temp_file(bare->dir, "store.db-wal"), &len);
    assert_int_equal(len, 0);
    free(log);
    bare_reopen(bare);
    assert_string_equal(dln_store_device(bare->store), name);
    dunlin_store_status status = status_of(bare);
    assert_int_equal(status.pending + status.rejected + status.following + status.lists, 0);
    char *bytes = bare_read_file(bare->path, &len);
    for (size_t i = 0; i + 16 < len; i++) {
        assert_memory_not_equal(bytes + i, "takes some room", 15);
    }
    free(bytes);
    fill(bare); /* and it is a store as before */
    assert_int_equal(status_of(bare).items, 200);
}

/* ---- verify */

static void a_damaged_file_is_named_and_not_repaired(void **state) {
    struct bare *bare = *state;
    dunlin_check check;
    dunlin_error err;
    fill(bare);
    assert_int_equal(dln_store_verify(bare->store, true, &check, NULL), DUNLIN_OK);
    assert_int_equal(check.file_damaged, 0);
    dln_store_close(bare->store);
    bare->store = NULL;
    size_t len;
    char *bytes = bare_read_file(bare->path, &len);
    long at = 0;
    while (memcmp(bytes + at, "takes some room", 15) != 0) {
        at++; /* in a leaf of the items */
    }
    free(bytes);
    FILE *file = fopen(bare->path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at / 4096 * 4096 + 8, SEEK_SET), 0);
    for (int i = 0; i < 500; i++) {
        assert_int_equal(fputc(0xee, file), 0xee);
    }
    fclose(file);
    bare_reopen(bare);
    assert_int_equal(dln_store_verify(bare->store, true, &check, &err), DUNLIN_CORRUPT);
    assert_int_equal(check.file_damaged, 1);
    assert_int_equal(err.code, DUNLIN_CORRUPT);
}

/* ---- tombstones */

static void tombstone(struct bare *bare, const struct dln_key *key, int field, bool value,
                      int64_t seq) {
    struct dln_row row = bare_row(bare, key);
    row.seq = seq;
    row.pending = 0;
    row.record.fields[field].value = dln_value_bool(value);
    assert_int_equal(dln_row_put(bare->store, &row, NULL), DUNLIN_OK);
}

static size_t purge(struct bare *bare, dln_stamp before, size_t limit) {
    size_t removed;
    bare_begin(bare);
    assert_int_equal(dln_tombstones_purge(bare->store, before, limit, &removed, NULL), DUNLIN_OK);
    bare_commit(bare);
    return removed;
}

static void old_tombstones_go_but_not_what_waits(void **state) {
    struct bare *bare = *state;
    const dln_stamp later = dln_stamp_of_ms(BARE_START_MS + 1000000);
    fill(bare);
    bare_begin(bare);
    for (int i = 0; i < 10; i++) {
        char id[8];
        (void)snprintf(id, sizeof(id), "v%d", i);
        struct dln_key follow = bare_follow(bare, "user", id);
        struct dln_key item = bare_item(bare, "l1", id);
        tombstone(bare, &follow, DLN_FOLLOW_PRESENT, false, 1 + i);
        tombstone(bare, &item, DLN_ITEM_PRESENT, false, 1 + i);
    }
    struct dln_key waits = bare_follow(bare, "user", "v0");
    struct dln_row row = bare_row(bare, &waits);
    row.pending = 1;
    assert_int_equal(dln_row_mark(bare->store, &row, NULL), DUNLIN_OK);
    struct dln_key newer = bare_item(bare, "l1", "v1");
    struct dln_extra extra = {DLN_TEXT("colour"), {later, dln_value_null()}};
    row = bare_row(bare, &newer);
    row.record.extras = &extra;
    row.record.extra_count = 1;
    assert_int_equal(dln_row_put(bare->store, &row, NULL), DUNLIN_OK);
    bare_commit(bare);
    assert_int_equal(purge(bare, dln_stamp_of_ms(BARE_START_MS), 100), 0);
    assert_int_equal(purge(bare, later, 3), 3);
    assert_int_equal(purge(bare, later, 100), 15);
    assert_int_equal(purge(bare, later, 100), 0);
    assert_true(bare_row(bare, &waits).stored);
    assert_true(bare_row(bare, &newer).stored);
    assert_int_equal(status_of(bare).items, 190);
}

static void a_deleted_list_goes_with_its_items(void **state) {
    struct bare *bare = *state;
    const dln_stamp later = dln_stamp_of_ms(BARE_START_MS + 1000000);
    struct dln_key list = bare_list(bare, "l1");
    struct dln_key item = bare_item(bare, "l1", "v7");
    fill(bare);
    bare_begin(bare);
    tombstone(bare, &list, DLN_LIST_DELETED, true, 1);
    bare_commit(bare);
    assert_int_equal(purge(bare, later, 1000), 0); /* its items wait */
    bare_begin(bare);
    for (int i = 0; i < 200; i++) {
        char id[8];
        (void)snprintf(id, sizeof(id), "v%d", i);
        struct dln_key key = bare_item(bare, "l1", id);
        bare_settle(bare, &key, 2 + i);
    }
    bare_commit(bare);
    assert_int_equal(purge(bare, later, 150), 150);
    assert_true(bare_row(bare, &list).stored);
    assert_int_equal(purge(bare, later, 150), 51);
    assert_false(bare_row(bare, &list).stored);
    assert_false(bare_row(bare, &item).stored);
    item = bare_item(bare, "l9", "v1");
    assert_true(bare_row(bare, &item).stored);
    dunlin_check check;
    assert_int_equal(dln_store_verify(bare->store, false, &check, NULL), DUNLIN_OK);
    assert_int_equal(check.counts_off + check.subscriptions_off, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bare_set_up, bare_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(status_counts),
        TEST(a_copy_opens_by_itself_and_holds_one_moment),
        TEST(a_copy_never_writes_over_a_file),
        TEST(a_wipe_asks_before_it_loses_something),
        TEST(a_wipe_leaves_owner_and_device_and_no_bytes),
        TEST(a_damaged_file_is_named_and_not_repaired),
        TEST(old_tombstones_go_but_not_what_waits),
        TEST(a_deleted_list_goes_with_its_items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
