#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/internal.h"
#include "tests/support/device.h"

static struct dln_store *open_second(struct device *device, int busy_timeout_ms) {
    struct dln_store *store;
    dunlin_open_options options = device->options;
    options.busy_timeout_ms = busy_timeout_ms;
    assert_int_equal(dln_store_open(&store, device->path, "alice", &options, NULL), DUNLIN_OK);
    return store;
}

static void begin_takes_the_write_lock_or_says_busy(void **state) {
    struct device *device = *state;
    struct dln_store *second = open_second(device, 20);
    dunlin_error err;
    device_begin(device);
    assert_int_equal(dln_store_begin(device->store, &err), DUNLIN_MISUSE);
    assert_int_equal(dln_store_begin(second, &err), DUNLIN_BUSY);
    assert_int_equal(err.code, DUNLIN_BUSY);
    assert_false(dln_store_in_transaction(second));
    device_commit(device);
    assert_int_equal(dln_store_begin(second, &err), DUNLIN_OK);
    dln_store_rollback(second);
    dln_store_close(second);
}

static void a_rollback_leaves_nothing(void **state) {
    struct device *device = *state;
    struct dln_key key = device_follow(device, "user", "ben");
    device_begin(device);
    device_put_follow(device, "user", "ben", true);
    dln_store_rollback(device->store);
    assert_false(device_row(device, &key).stored);
    /* Nor in the cache: the name's number went with it, and may be another's now. */
    device_begin(device);
    device_put_follow(device, "user", "chika", true);
    device_put_follow(device, "user", "ben", true);
    device_commit(device);
    struct dln_row *rows;
    size_t count;
    struct dln_outbox_place place = {0};
    assert_int_equal(
        dln_outbox_next(device->store, &device->arena, &place, 10, &rows, &count, NULL), DUNLIN_OK);
    assert_int_equal(count, 2);
    assert_false(dln_text_equal(rows[0].record.key.parts[1], rows[1].record.key.parts[1]));
}

static void what_another_connection_named_is_seen(void **state) {
    struct device *device = *state;
    struct device other = *device;
    other.store = open_second(device, 1000);
    device_begin(device);
    device_put_follow(device, "user", "a", true);
    device_commit(device);
    device_begin(&other);
    device_put_follow(&other, "user", "b", true);
    device_put_follow(&other, "user", "a", false);
    device_commit(&other);
    device_begin(device);
    device_put_follow(device, "user", "b", false);
    device_put_follow(device, "user", "c", true);
    device_commit(device);
    device_begin(&other);
    device_put_follow(&other, "user", "c", false);
    device_commit(&other);
    dunlin_store_status status;
    assert_int_equal(dln_store_status(device->store, &status, NULL), DUNLIN_OK);
    assert_int_equal(status.following, 0);
    assert_int_equal(status.pending, 0); /* they annihilated */
    dln_store_close(other.store);
    device->arena = other.arena;
}

static void a_wipe_elsewhere_is_noticed(void **state) {
    struct device *device = *state;
    struct dln_store *second = open_second(device, 1000);
    device_begin(device);
    device_put_follow(device, "user", "a", true);
    device_put_follow(device, "user", "b", true);
    device_commit(device);
    assert_int_equal(dln_store_wipe(second, true, NULL), DUNLIN_OK);
    device_begin(device);
    device_put_follow(device, "user", "b", true);
    device_commit(device);
    struct dln_key key = device_follow(device, "user", "b");
    assert_true(device_row(device, &key).stored);
    key = device_follow(device, "user", "a");
    assert_false(device_row(device, &key).stored);
    dln_store_close(second);
}

/* The file may not grow any more: a full disk in the middle of a transaction. */
static void a_full_disk_dooms_the_transaction(void **state) {
    struct device *device = *state;
    struct dln_key key = device_follow(device, "user", "before");
    char title[1001];
    dunlin_error err;
    memset(title, 'x', 1000);
    title[1000] = '\0';
    device_begin(device);
    device_put_follow(device, "user", "before", true);
    assert_int_equal(sqlite3_exec(device->store->db, "PRAGMA max_page_count = 1", NULL, NULL, NULL),
                     SQLITE_OK);
    dunlin_status status = DUNLIN_OK;
    for (int i = 0; i < 1000 && status == DUNLIN_OK; i++) {
        char id[24];
        (void)snprintf(id, sizeof(id), "v%d", i);
        struct dln_key item = device_item(device, "l1", id);
        struct dln_row row = device_row(device, &item);
        row.record.fields[DLN_ITEM_TITLE].value = dln_value_string(dln_text_of(title));
        status = dln_row_edit(device->store, &row, 1u << DLN_ITEM_TITLE, &err);
    }
    assert_int_equal(status, DUNLIN_DISK_FULL);
    assert_int_equal(err.code, DUNLIN_DISK_FULL);
    /* Nothing more goes in, and the commit says why. */
    struct dln_row row = {.record = {.key = key}};
    assert_int_equal(dln_row_put(device->store, &row, &err), DUNLIN_DISK_FULL);
    assert_int_equal(dln_store_commit(device->store, &err), DUNLIN_DISK_FULL);
    assert_false(dln_store_in_transaction(device->store));
    assert_int_equal(
        sqlite3_exec(device->store->db, "PRAGMA max_page_count = 1073741823", NULL, NULL, NULL),
        SQLITE_OK);
    assert_false(device_row(device, &key).stored);
    device_begin(device);
    device_put_follow(device, "user", "before", true);
    device_commit(device);
    assert_true(device_row(device, &key).stored);
}

static void edits_are_durable_as_asked(void **state) {
    struct device *device = *state;
    sqlite3_stmt *stmt;
    static const dunlin_durability asked[] = {DUNLIN_DURABILITY_FULL, DUNLIN_DURABILITY_NORMAL};
    static const int expected[] = {2, 1};
    for (int i = 0; i < 2; i++) {
        device->options.durability = asked[i];
        device_reopen(device);
        assert_int_equal(
            sqlite3_prepare_v2(device->store->db, "PRAGMA synchronous", -1, &stmt, NULL),
            SQLITE_OK);
        assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int(stmt, 0), expected[i]);
        sqlite3_finalize(stmt);
    }
}

static void settings_are_numbers_by_name(void **state) {
    struct device *device = *state;
    int64_t value = 5;
    assert_int_equal(dln_store_setting_get(device->store, "none", &value, NULL), DUNLIN_OK);
    assert_int_equal(value, 0);
    device_begin(device);
    assert_int_equal(dln_store_setting_put(device->store, "some", INT64_MIN, NULL), DUNLIN_OK);
    assert_int_equal(dln_store_setting_put(device->store, "some", -7, NULL), DUNLIN_OK);
    device_commit(device);
    device_reopen(device);
    assert_int_equal(dln_store_setting_get(device->store, "some", &value, NULL), DUNLIN_OK);
    assert_int_equal(value, -7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, device_set_up, device_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(begin_takes_the_write_lock_or_says_busy),
        TEST(a_rollback_leaves_nothing),
        TEST(what_another_connection_named_is_seen),
        TEST(a_wipe_elsewhere_is_noticed),
        TEST(a_full_disk_dooms_the_transaction),
        TEST(edits_are_durable_as_asked),
        TEST(settings_are_numbers_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
