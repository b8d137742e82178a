#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/value.h"
#include "store/row.h"
#include "tests/support/bare.h"
#include "tests/support/records.h"

static void assert_ok(dunlin_status status, const dunlin_error *err) {
    if (status != DUNLIN_OK) {
        fail_msg("%s: %s", dunlin_status_name(status), err->message);
    }
}

static void put(struct bare *bare, const struct dln_row *row) {
    dunlin_error err;
    assert_ok(dln_row_put(bare->store, row, &err), &err);
}

static void assert_same_row(const struct dln_row *a, const struct dln_row *b) {
    assert_true(test_records_equal(&a->record, &b->record));
    assert_int_equal(a->stored, b->stored);
    assert_int_equal(a->seq, b->seq);
    assert_int_equal(a->pending, b->pending);
    assert_int_equal(a->offered, b->offered);
    assert_int_equal(a->tried, b->tried);
}

/* Other stamps, fewer fields. */
static void vary(struct bare *bare, struct dln_record *record) {
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        if (record->fields[i].stamp != 0) {
            record->fields[i].stamp = test_random_below(&bare->random, 3);
        }
    }
    if (record->extra_count > 0) {
        record->extra_count--;
    }
}

/* Any legal record of any collection, with absent fields, nulls, equal and unequal stamps, extras.
 */
static void what_is_put_is_read_again(void **state) {
    struct bare *bare = *state;
    for (int round = 0; round < 2000; round++) {
        struct dln_row row = {.seq = (int64_t)test_random_below(&bare->random, 5) - 1};
        test_record_random(&bare->arena, &bare->random, &row.record, DLN_TEXT("user/alice"),
                           DLN_TEXT("group/climb%2Fers"));
        row.pending = (uint32_t)test_random_below(&bare->random, 3) *
                      (uint32_t)test_random_next(&bare->random);
        row.offered = row.pending & (uint32_t)test_random_next(&bare->random);
        row.tried = row.pending && test_random_below(&bare->random, 2);
        bare_begin(bare);
        row.stored = bare_row(bare, &row.record.key).stored;
        put(bare, &row);
        bare_commit(bare);
        struct dln_row again = bare_row(bare, &row.record.key);
        row.stored = true;
        assert_same_row(&row, &again);
        if (round % 3 == 0) {
            struct dln_row varied = row;
            vary(bare, &varied.record);
            bare_begin(bare);
            put(bare, &varied);
            bare_commit(bare);
            again = bare_row(bare, &row.record.key);
            assert_same_row(&varied, &again);
        }
        if (round % 7 == 0) {
            bare_begin(bare);
            assert_int_equal(dln_row_remove(bare->store, &row.record.key, NULL), DUNLIN_OK);
            bare_commit(bare);
            assert_false(bare_row(bare, &row.record.key).stored);
        }
        dln_arena_clear(&bare->arena);
    }
}

static void a_row_that_is_said_to_be_new_replaces_one_that_is_there(void **state) {
    struct bare *bare = *state;
    struct dln_key key = bare_item(bare, "l1", "v1");
    bare_begin(bare);
    bare_put_list(bare, "l1", "one");
    bare_put_item(bare, "l1", "v1", "first");
    struct dln_row row = bare_row(bare, &key);
    row.stored = false;
    row.record.fields[DLN_ITEM_TITLE].value = dln_value_string(DLN_TEXT("second"));
    put(bare, &row);
    bare_commit(bare);
    row = bare_row(bare, &key);
    assert_true(
        dln_text_equal(row.record.fields[DLN_ITEM_TITLE].value.as.text, DLN_TEXT("second")));
    dunlin_check check;
    assert_int_equal(dln_store_verify(bare->store, false, &check, NULL), DUNLIN_OK);
    assert_int_equal(check.counts_off, 0);
}

static void marking_changes_only_the_outbox(void **state) {
    struct bare *bare = *state;
    struct dln_key key = bare_item(bare, "l1", "v1");
    bare_begin(bare);
    bare_put_item(bare, "l1", "v1", "title");
    struct dln_row before = bare_row(bare, &key);
    struct dln_row mark = {
        .record = {.key = key}, .seq = 12, .pending = 5, .offered = 4, .tried = true};
    assert_int_equal(dln_row_mark(bare->store, &mark, NULL), DUNLIN_OK);
    bare_commit(bare);
    struct dln_row after = bare_row(bare, &key);
    before.seq = 12;
    before.pending = 5;
    before.offered = 4;
    before.tried = true;
    assert_same_row(&before, &after);
    bare_begin(bare);
    mark.pending = 0;
    assert_int_equal(dln_row_mark(bare->store, &mark, NULL), DUNLIN_OK);
    bare_commit(bare);
    after = bare_row(bare, &key);
    assert_int_equal(after.pending, 0);
    assert_int_equal(after.offered, 0);
    assert_false(after.tried);
}

static void rows_of_foreign_scopes_are_refused(void **state) {
    struct bare *bare = *state;
    static const char *const scopes[] = {"user/bob", "group/", "actor/alice", "", "group/%zz"};
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
        struct dln_row row;
        struct dln_key key = bare_item(bare, "l1", "v1");
        key.scope = dln_text_of(scopes[i]);
        assert_int_equal(dln_row_get(bare->store, &bare->arena, &key, &row, NULL),
                         DUNLIN_BAD_MESSAGE);
    }
    struct dln_row row = {.record = {.key = bare_item(bare, "l1", "v1")}};
    row.record.key.scope = DLN_TEXT("group/g"); /* an item stands in nobody's group */
    bare_begin(bare);
    assert_int_equal(dln_row_put(bare->store, &row, NULL), DUNLIN_BAD_MESSAGE);
    assert_int_equal(dln_store_commit(bare->store, NULL), DUNLIN_BAD_MESSAGE);
}

static void damaged_bytes_are_corrupt(void **state) {
    struct bare *bare = *state;
    struct dln_key key = bare_item(bare, "l1", "v1");
    struct dln_row row;
    dunlin_error err;
    bare_begin(bare);
    bare_put_item(bare, "l1", "v1", "title");
    bare_commit(bare);
    assert_int_equal(
        sqlite3_exec(bare->store->db, "UPDATE item SET extra = x'00ff01'", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(dln_row_get(bare->store, &bare->arena, &key, &row, &err), DUNLIN_CORRUPT);
    assert_int_equal(err.code, DUNLIN_CORRUPT);
    assert_true(dln_store_is_idle(bare->store));
}

/* DESIGN: only where fields differ is there a blob of stamps. */
static void equal_stamps_take_no_blob(void **state) {
    struct bare *bare = *state;
    sqlite3_stmt *stmt;
    struct dln_key key = bare_item(bare, "l1", "v2");
    bare_begin(bare);
    bare_put_item(bare, "l1", "v1", "title");
    bare_put_item(bare, "l1", "v2", "title");
    struct dln_row row = bare_row(bare, &key);
    assert_int_equal(dln_row_edit(bare->store, &row, 1u << DLN_ITEM_TITLE, NULL), DUNLIN_OK);
    bare_commit(bare);
    assert_int_equal(sqlite3_prepare_v2(bare->store->db,
                                        "SELECT ifnull(length(stamps), 0) FROM item ORDER BY id",
                                        -1, &stmt, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(stmt, 0), 0);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(stmt, 0), 48);
    sqlite3_finalize(stmt);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bare_set_up, bare_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_is_put_is_read_again),
        TEST(a_row_that_is_said_to_be_new_replaces_one_that_is_there),
        TEST(marking_changes_only_the_outbox),
        TEST(rows_of_foreign_scopes_are_refused),
        TEST(damaged_bytes_are_corrupt),
        TEST(equal_stamps_take_no_blob),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
