#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/internal.h"
#include "tests/support/bare.h"

static struct dln_store *open_second(struct bare *bare, int busy_timeout_ms) {
    struct dln_store *store;
    dunlin_open_options options = bare->options;
    options.busy_timeout_ms = busy_timeout_ms;
    assert_int_equal(dln_store_open(&store, bare->path, "alice", &options, NULL), DUNLIN_OK);
    return store;
}

static void begin_takes_the_write_lock_or_says_busy(void **state) {
    struct bare *bare = *state;
    struct dln_store *second = open_second(bare, 20);
    dunlin_error err;
    bare_begin(bare);
    assert_int_equal(dln_store_begin(bare->store, &err), DUNLIN_MISUSE);
    assert_int_equal(dln_store_begin(second, &err), DUNLIN_BUSY);
    assert_int_equal(err.code, DUNLIN_BUSY);
    assert_false(dln_store_in_transaction(second));
    bare_commit(bare);
    assert_int_equal(dln_store_begin(second, &err), DUNLIN_OK);
    dln_store_rollback(second);
    dln_store_close(second);
}

static void a_rollback_leaves_nothing(void **state) {
    struct bare *bare = *state;
    struct dln_key key = bare_follow(bare, "user", "ben");
    bare_begin(bare);
    bare_put_follow(bare, "user", "ben", true);
    dln_store_rollback(bare->store);
    assert_false(bare_row(bare, &key).stored);
    /* Nor in the cache: the name's number went with it, and may be another's now. */
    bare_begin(bare);
    bare_put_follow(bare, "user", "chika", true);
    bare_put_follow(bare, "user", "ben", true);
    bare_commit(bare);
    struct dln_row *rows;
    size_t count;
    struct dln_outbox_place place = {0};
    assert_int_equal(dln_outbox_next(bare->store, &bare->arena, &place, 10, &rows, &count, NULL),
                     DUNLIN_OK);
    assert_int_equal(count, 2);
    assert_false(dln_text_equal(rows[0].record.key.parts[1], rows[1].record.key.parts[1]));
}

static void a_rollback_takes_counts_along(void **state) {
    struct bare *bare = *state;
    dunlin_store_status status;
    bare_begin(bare);
    bare_put_list(bare, "l1", "one");
    bare_put_item(bare, "l1", "v1", "kept");
    bare_commit(bare);
    bare_begin(bare);
    bare_put_item(bare, "l1", "v2", "not kept");
    bare_put_follow(bare, "user", "ben", true);
    dln_store_rollback(bare->store);
    assert_int_equal(dln_store_status(bare->store, &status, NULL), DUNLIN_OK);
    assert_int_equal(status.items, 1);
    assert_int_equal(status.subscriptions, 0);
}

static void what_another_connection_named_is_seen(void **state) {
    struct bare *bare = *state;
    struct bare other = *bare;
    other.arena = DLN_ARENA_INIT(1 << 20);
    other.store = open_second(bare, 1000);
    bare_begin(bare);
    bare_put_follow(bare, "user", "a", true);
    bare_commit(bare);
    bare_begin(&other);
    bare_put_follow(&other, "user", "b", true);
    bare_put_follow(&other, "user", "a", false);
    bare_commit(&other);
    bare_begin(bare);
    bare_put_follow(bare, "user", "b", false);
    bare_put_follow(bare, "user", "c", true);
    bare_commit(bare);
    bare_begin(&other);
    bare_put_follow(&other, "user", "c", false);
    bare_commit(&other);
    dunlin_store_status status;
    assert_int_equal(dln_store_status(bare->store, &status, NULL), DUNLIN_OK);
    assert_int_equal(status.following, 0);
    assert_int_equal(status.pending, 0); /* they annihilated */
    dln_store_close(other.store);
    dln_arena_free(&other.arena);
}

static void a_wipe_elsewhere_is_noticed(void **state) {
    struct bare *bare = *state;
    struct dln_store *second = open_second(bare, 1000);
    bare_begin(bare);
    bare_put_follow(bare, "user", "a", true);
    bare_put_follow(bare, "user", "b", true);
    bare_commit(bare);
    assert_int_equal(dln_store_wipe(second, true, NULL), DUNLIN_OK);
    bare_begin(bare);
    bare_put_follow(bare, "user", "b", true);
    bare_commit(bare);
    struct dln_key key = bare_follow(bare, "user", "b");
    assert_true(bare_row(bare, &key).stored);
    key = bare_follow(bare, "user", "a");
    assert_false(bare_row(bare, &key).stored);
    dln_store_close(second);
}

/* The file may not grow any more: a full disk in the middle of a transaction. */
static void a_full_disk_dooms_the_transaction(void **state) {
    struct bare *bare = *state;
    struct dln_key key = bare_follow(bare, "user", "before");
    char title[1001];
    dunlin_error err;
    memset(title, 'x', 1000);
    title[1000] = '\0';
    bare_begin(bare);
    bare_put_follow(bare, "user", "before", true);
    assert_int_equal(sqlite3_exec(bare->store->db, "PRAGMA max_page_count = 1", NULL, NULL, NULL),
                     SQLITE_OK);
    dunlin_status status = DUNLIN_OK;
    for (int i = 0; i < 1000 && status == DUNLIN_OK; i++) {
        char id[24];
        (void)snprintf(id, sizeof(id), "v%d", i);
        struct dln_key item = bare_item(bare, "l1", id);
        struct dln_row row = bare_row(bare, &item);
        row.record.fields[DLN_ITEM_TITLE].value = dln_value_string(dln_text_of(title));
        status = dln_row_edit(bare->store, &row, 1u << DLN_ITEM_TITLE, &err);
    }
    assert_int_equal(status, DUNLIN_DISK_FULL);
    assert_int_equal(err.code, DUNLIN_DISK_FULL);
    /* Nothing more goes in, and the commit says why. */
    struct dln_row row = {.record = {.key = key}};
    assert_int_equal(dln_row_put(bare->store, &row, &err), DUNLIN_DISK_FULL);
    assert_int_equal(dln_store_commit(bare->store, &err), DUNLIN_DISK_FULL);
    assert_false(dln_store_in_transaction(bare->store));
    assert_int_equal(
        sqlite3_exec(bare->store->db, "PRAGMA max_page_count = 1073741823", NULL, NULL, NULL),
        SQLITE_OK);
    assert_false(bare_row(bare, &key).stored);
    bare_begin(bare);
    bare_put_follow(bare, "user", "before", true);
    bare_commit(bare);
    assert_true(bare_row(bare, &key).stored);
}

static void edits_are_durable_as_asked(void **state) {
    struct bare *bare = *state;
    sqlite3_stmt *stmt;
    static const dunlin_durability asked[] = {DUNLIN_DURABILITY_FULL, DUNLIN_DURABILITY_NORMAL};
    static const int expected[] = {2, 1};
    for (int i = 0; i < 2; i++) {
        bare->options.durability = asked[i];
        bare_reopen(bare);
        assert_int_equal(sqlite3_prepare_v2(bare->store->db, "PRAGMA synchronous", -1, &stmt, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int(stmt, 0), expected[i]);
        sqlite3_finalize(stmt);
    }
}

static void settings_are_numbers_by_name(void **state) {
    struct bare *bare = *state;
    int64_t value = 5;
    assert_int_equal(dln_store_setting_get(bare->store, "none", &value, NULL), DUNLIN_OK);
    assert_int_equal(value, 0);
    bare_begin(bare);
    assert_int_equal(dln_store_setting_put(bare->store, "some", INT64_MIN, NULL), DUNLIN_OK);
    assert_int_equal(dln_store_setting_put(bare->store, "some", -7, NULL), DUNLIN_OK);
    bare_commit(bare);
    bare_reopen(bare);
    assert_int_equal(dln_store_setting_get(bare->store, "some", &value, NULL), DUNLIN_OK);
    assert_int_equal(value, -7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bare_set_up, bare_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(begin_takes_the_write_lock_or_says_busy),
        TEST(a_rollback_leaves_nothing),
        TEST(a_rollback_takes_counts_along),
        TEST(what_another_connection_named_is_seen),
        TEST(a_wipe_elsewhere_is_noticed),
        TEST(a_full_disk_dooms_the_transaction),
        TEST(edits_are_durable_as_asked),
        TEST(settings_are_numbers_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
