#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/internal.h"
#include "tests/support/bare.h"

static dln_stamp title_stamp(const struct dln_row *row) {
    return row->record.fields[DLN_ITEM_TITLE].stamp;
}

static void an_edit_stamps_its_fields_above_all_of_the_row(void **state) {
    struct bare *bare = *state;
    struct dln_key key = bare_item(bare, "l1", "v1");
    bare_begin(bare);
    bare_put_item(bare, "l1", "v1", "title");
    struct dln_row row = bare_row(bare, &key);
    dln_stamp first = title_stamp(&row);
    assert_int_equal(first, dln_stamp_of_ms(BARE_START_MS));
    assert_int_equal(row.pending, 63);
    assert_int_equal(row.seq, DLN_SEQ_NEVER);
    assert_false(row.tried);

    /* What central wrote is far ahead of this device's clock. */
    row.record.fields[DLN_ITEM_RANK].stamp = first + 1000000;
    row.pending = 0;
    row.seq = 7;
    assert_int_equal(dln_row_put(bare->store, &row, NULL), DUNLIN_OK);
    bare->now_ms = 0;
    row = bare_row(bare, &key);
    assert_int_equal(dln_row_edit(bare->store, &row, 1u << DLN_ITEM_TITLE, NULL), DUNLIN_OK);
    row = bare_row(bare, &key);
    assert_int_equal(title_stamp(&row), first + 1000001);
    assert_int_equal(row.record.fields[DLN_ITEM_RANK].stamp, first + 1000000);
    assert_int_equal(row.record.fields[DLN_ITEM_PRESENT].stamp, first);
    assert_int_equal(row.pending, 1u << DLN_ITEM_TITLE);
    assert_true(row.tried); /* central has the record */
    bare_commit(bare);
}

static void an_untried_creation_annihilates_with_its_deletion(void **state) {
    struct bare *bare = *state;
    struct dln_key key = bare_follow(bare, "user", "ben");
    bare_begin(bare);
    bare_put_follow(bare, "user", "ben", true);
    bare_put_follow(bare, "user", "ben", false);
    assert_false(bare_row(bare, &key).stored);
    bare_put_follow(bare, "user", "ben", true);
    struct dln_row row = bare_row(bare, &key);
    row.tried = true;
    assert_int_equal(dln_row_mark(bare->store, &row, NULL), DUNLIN_OK);
    bare_put_follow(bare, "user", "ben", false);
    row = bare_row(bare, &key);
    assert_true(row.stored && row.pending && row.tried);
    bare_settle(bare, &key, 3);
    bare_put_follow(bare, "user", "ben", true);
    bare_put_follow(bare, "user", "ben", false);
    row = bare_row(bare, &key);
    assert_true(row.stored && row.pending && row.tried);
    bare_commit(bare);
}

static void an_edit_of_what_is_offered_is_the_persons(void **state) {
    struct bare *bare = *state;
    struct dln_key key = bare_item(bare, "l1", "v1");
    bare_begin(bare);
    bare_put_item(bare, "l1", "v1", "title");
    struct dln_row row = bare_row(bare, &key);
    row.offered = row.pending;
    assert_int_equal(dln_row_mark(bare->store, &row, NULL), DUNLIN_OK);
    row = bare_row(bare, &key);
    assert_int_equal(dln_row_edit(bare->store, &row, 1u << DLN_ITEM_TITLE, NULL), DUNLIN_OK);
    row = bare_row(bare, &key);
    assert_int_equal(row.pending, 63);
    assert_int_equal(row.offered, 63 & ~(1u << DLN_ITEM_TITLE));
    bare_commit(bare);
}

/* ---- the clock */

static dln_stamp next_stamp(struct bare *bare, const char *who) {
    struct dln_key key = bare_follow(bare, "user", who);
    bare_begin(bare);
    bare_put_follow(bare, "user", who, true);
    bare_commit(bare);
    return bare_row(bare, &key).record.fields[0].stamp;
}

static void stamps_rise_over_restarts_and_jumps_of_the_clock(void **state) {
    struct bare *bare = *state;
    dln_stamp before = next_stamp(bare, "a");
    bare->now_ms = -5;
    dln_stamp stamp = next_stamp(bare, "b");
    assert_true(stamp > before);
    before = stamp;
    bare_reopen(bare);
    stamp = next_stamp(bare, "c");
    assert_true(stamp > before);
    bare->now_ms = INT64_MAX;
    before = stamp;
    stamp = next_stamp(bare, "d");
    assert_true(stamp > before);
    bare_reopen(bare);
    bare->now_ms = BARE_START_MS;
    assert_true(next_stamp(bare, "e") >= stamp);
}

/* A program that makes one edit and ends, many times a second. */
static void opening_often_does_not_drive_the_clock_ahead(void **state) {
    struct bare *bare = *state;
    char who[] = "x0";
    for (int i = 0; i < 50; i++) {
        who[1] = (char)('0' + i % 10);
        (void)next_stamp(bare, who);
        bare_reopen(bare);
    }
    int64_t ahead_ms = dln_stamp_ms(next_stamp(bare, "y")) - bare->now_ms;
    assert_in_range(ahead_ms, 0, 10);
}

static void the_bound_is_seldom_written(void **state) {
    struct bare *bare = *state;
    int64_t bound, later;
    (void)next_stamp(bare, "a");
    assert_int_equal(dln_store_setting_get(bare->store, "clock_bound", &bound, NULL), DUNLIN_OK);
    assert_int_equal(bound, dln_stamp_of_ms(BARE_START_MS + 1000));
    bare->now_ms += 900;
    (void)next_stamp(bare, "b");
    assert_int_equal(dln_store_setting_get(bare->store, "clock_bound", &later, NULL), DUNLIN_OK);
    assert_int_equal(bound, later);
    bare->now_ms += 200;
    (void)next_stamp(bare, "c");
    assert_int_equal(dln_store_setting_get(bare->store, "clock_bound", &later, NULL), DUNLIN_OK);
    assert_int_equal(later, dln_stamp_of_ms(BARE_START_MS + 2100));
}

static void offset_and_seen_stamps_move_the_clock(void **state) {
    struct bare *bare = *state;
    bare->now_ms = 1000;
    bare_begin(bare);
    assert_int_equal(dln_clock_store_offset(bare->store, BARE_START_MS, NULL), DUNLIN_OK);
    bare_commit(bare);
    assert_int_equal(dln_store_corrected_ms(bare->store), BARE_START_MS + 1000);
    assert_int_equal(next_stamp(bare, "a"), dln_stamp_of_ms(BARE_START_MS + 1000));
    dln_stamp ahead = dln_stamp_of_ms(BARE_START_MS + 1000 + 299000);
    bare_begin(bare);
    assert_int_equal(dln_clock_store_saw(bare->store, ahead, NULL), DUNLIN_OK);
    assert_int_equal(dln_clock_store_saw(bare->store, ahead + ((dln_stamp)2000 << 16), NULL),
                     DUNLIN_OK); /* more than five minutes ahead: does not count */
    bare_commit(bare);
    assert_int_equal(next_stamp(bare, "b"), ahead + 1);
    bare_begin(bare);
    assert_int_equal(dln_clock_store_lower(bare->store, dln_stamp_of_ms(BARE_START_MS), NULL),
                     DUNLIN_OK);
    bare_commit(bare);
    assert_int_equal(next_stamp(bare, "c"), dln_stamp_of_ms(BARE_START_MS + 1000));
    bare_reopen(bare);
    assert_int_equal(dln_store_corrected_ms(bare->store), BARE_START_MS + 1000);
    assert_true(next_stamp(bare, "d") > dln_stamp_of_ms(BARE_START_MS + 1000));
    assert_true(next_stamp(bare, "e") < ahead);
}

static void a_rollback_takes_the_saved_bound_back(void **state) {
    struct bare *bare = *state;
    int64_t bound;
    bare_begin(bare);
    bare_put_follow(bare, "user", "ben", true);
    dln_store_rollback(bare->store);
    assert_int_equal(dln_store_setting_get(bare->store, "clock_bound", &bound, NULL), DUNLIN_OK);
    assert_int_equal(bound, 0);
    dln_stamp stamp = next_stamp(bare, "chika");
    assert_int_equal(dln_store_setting_get(bare->store, "clock_bound", &bound, NULL), DUNLIN_OK);
    assert_true((dln_stamp)bound >= stamp);
}

static void connections_that_take_turns_do_not_race_ahead(void **state) {
    struct bare *bare = *state;
    struct bare other = *bare;
    other.arena = DLN_ARENA_INIT(1 << 20);
    assert_int_equal(dln_store_open(&other.store, bare->path, "alice", &bare->options, NULL),
                     DUNLIN_OK);
    dln_stamp last = 0;
    for (int i = 0; i < 100; i++) {
        last = next_stamp(i % 2 ? bare : &other, "ben");
    }
    assert_in_range(dln_stamp_ms(last) - bare->now_ms, 0, 1000);
    /* One record's stamps rise whoever writes it. */
    assert_true(next_stamp(bare, "ben") > last);
    dln_store_close(other.store);
    dln_arena_free(&other.arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bare_set_up, bare_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_edit_stamps_its_fields_above_all_of_the_row),
        TEST(an_untried_creation_annihilates_with_its_deletion),
        TEST(an_edit_of_what_is_offered_is_the_persons),
        TEST(stamps_rise_over_restarts_and_jumps_of_the_clock),
        TEST(opening_often_does_not_drive_the_clock_ahead),
        TEST(the_bound_is_seldom_written),
        TEST(offset_and_seen_stamps_move_the_clock),
        TEST(a_rollback_takes_the_saved_bound_back),
        TEST(connections_that_take_turns_do_not_race_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
