#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/internal.h"
#include "tests/support/device.h"

static dln_stamp title_stamp(const struct dln_row *row) {
    return row->record.fields[DLN_ITEM_TITLE].stamp;
}

static void an_edit_stamps_its_fields_above_all_of_the_row(void **state) {
    struct device *device = *state;
    struct dln_key key = device_item(device, "l1", "v1");
    device_begin(device);
    device_put_item(device, "l1", "v1", "title");
    struct dln_row row = device_row(device, &key);
    dln_stamp first = title_stamp(&row);
    assert_int_equal(first, dln_stamp_of_ms(DEVICE_START_MS));
    assert_int_equal(row.pending, 63);
    assert_int_equal(row.seq, DLN_SEQ_NEVER);
    assert_false(row.tried);

    /* What central wrote is far ahead of this device's clock. */
    row.record.fields[DLN_ITEM_RANK].stamp = first + 1000000;
    row.pending = 0;
    row.seq = 7;
    assert_int_equal(dln_row_put(device->store, &row, NULL), DUNLIN_OK);
    device->now_ms = 0;
    row = device_row(device, &key);
    assert_int_equal(dln_row_edit(device->store, &row, 1u << DLN_ITEM_TITLE, NULL), DUNLIN_OK);
    row = device_row(device, &key);
    assert_int_equal(title_stamp(&row), first + 1000001);
    assert_int_equal(row.record.fields[DLN_ITEM_RANK].stamp, first + 1000000);
    assert_int_equal(row.record.fields[DLN_ITEM_PRESENT].stamp, first);
    assert_int_equal(row.pending, 1u << DLN_ITEM_TITLE);
    assert_true(row.tried); /* central has the record */
    device_commit(device);
}

static void an_untried_creation_annihilates_with_its_deletion(void **state) {
    struct device *device = *state;
    struct dln_key key = device_follow(device, "user", "ben");
    device_begin(device);
    device_put_follow(device, "user", "ben", true);
    device_put_follow(device, "user", "ben", false);
    assert_false(device_row(device, &key).stored);
    device_put_follow(device, "user", "ben", true);
    struct dln_row row = device_row(device, &key);
    row.tried = true;
    assert_int_equal(dln_row_mark(device->store, &row, NULL), DUNLIN_OK);
    device_put_follow(device, "user", "ben", false);
    row = device_row(device, &key);
    assert_true(row.stored && row.pending && row.tried);
    device_settle(device, &key, 3);
    device_put_follow(device, "user", "ben", true);
    device_put_follow(device, "user", "ben", false);
    row = device_row(device, &key);
    assert_true(row.stored && row.pending && row.tried);
    device_commit(device);
}

static void an_edit_of_what_is_offered_is_the_persons(void **state) {
    struct device *device = *state;
    struct dln_key key = device_item(device, "l1", "v1");
    device_begin(device);
    device_put_item(device, "l1", "v1", "title");
    struct dln_row row = device_row(device, &key);
    row.offered = row.pending;
    assert_int_equal(dln_row_mark(device->store, &row, NULL), DUNLIN_OK);
    row = device_row(device, &key);
    assert_int_equal(dln_row_edit(device->store, &row, 1u << DLN_ITEM_TITLE, NULL), DUNLIN_OK);
    row = device_row(device, &key);
    assert_int_equal(row.pending, 63);
    assert_int_equal(row.offered, 63 & ~(1u << DLN_ITEM_TITLE));
    device_commit(device);
}

/* ---- the clock */

static dln_stamp next_stamp(struct device *device, const char *who) {
    struct dln_key key = device_follow(device, "user", who);
    device_begin(device);
    device_put_follow(device, "user", who, true);
    device_commit(device);
    return device_row(device, &key).record.fields[0].stamp;
}

static void stamps_rise_over_restarts_and_jumps_of_the_clock(void **state) {
    struct device *device = *state;
    dln_stamp before = next_stamp(device, "a");
    device->now_ms = -5;
    dln_stamp stamp = next_stamp(device, "b");
    assert_true(stamp > before);
    before = stamp;
    device_reopen(device);
    stamp = next_stamp(device, "c");
    assert_true(stamp > before);
    device->now_ms = INT64_MAX;
    before = stamp;
    stamp = next_stamp(device, "d");
    assert_true(stamp > before);
    device_reopen(device);
    device->now_ms = DEVICE_START_MS;
    assert_true(next_stamp(device, "e") >= stamp);
}

/* A program that makes one edit and ends, many times a second. */
static void opening_often_does_not_drive_the_clock_ahead(void **state) {
    struct device *device = *state;
    char who[] = "x0";
    for (int i = 0; i < 50; i++) {
        who[1] = (char)('0' + i % 10);
        (void)next_stamp(device, who);
        device_reopen(device);
    }
    int64_t ahead_ms = dln_stamp_ms(next_stamp(device, "y")) - device->now_ms;
    assert_in_range(ahead_ms, 0, 10);
}

static void the_bound_is_seldom_written(void **state) {
    struct device *device = *state;
    int64_t bound, later;
    (void)next_stamp(device, "a");
    assert_int_equal(dln_store_setting_get(device->store, "clock_bound", &bound, NULL), DUNLIN_OK);
    assert_int_equal(bound, dln_stamp_of_ms(DEVICE_START_MS + 1000));
    device->now_ms += 900;
    (void)next_stamp(device, "b");
    assert_int_equal(dln_store_setting_get(device->store, "clock_bound", &later, NULL), DUNLIN_OK);
    assert_int_equal(bound, later);
    device->now_ms += 200;
    (void)next_stamp(device, "c");
    assert_int_equal(dln_store_setting_get(device->store, "clock_bound", &later, NULL), DUNLIN_OK);
    assert_int_equal(later, dln_stamp_of_ms(DEVICE_START_MS + 2100));
}

static void offset_and_seen_stamps_move_the_clock(void **state) {
    struct device *device = *state;
    device->now_ms = 1000;
    device_begin(device);
    assert_int_equal(dln_clock_store_offset(device->store, DEVICE_START_MS, NULL), DUNLIN_OK);
    device_commit(device);
    assert_int_equal(dln_store_corrected_ms(device->store), DEVICE_START_MS + 1000);
    assert_int_equal(next_stamp(device, "a"), dln_stamp_of_ms(DEVICE_START_MS + 1000));
    dln_stamp ahead = dln_stamp_of_ms(DEVICE_START_MS + 1000 + 299000);
    device_begin(device);
    assert_int_equal(dln_clock_store_saw(device->store, ahead, NULL), DUNLIN_OK);
    assert_int_equal(dln_clock_store_saw(device->store, ahead + ((dln_stamp)2000 << 16), NULL),
                     DUNLIN_OK); /* more than five minutes ahead: does not count */
    device_commit(device);
    assert_int_equal(next_stamp(device, "b"), ahead + 1);
    device_begin(device);
    assert_int_equal(dln_clock_store_lower(device->store, dln_stamp_of_ms(DEVICE_START_MS), NULL),
                     DUNLIN_OK);
    device_commit(device);
    assert_int_equal(next_stamp(device, "c"), dln_stamp_of_ms(DEVICE_START_MS + 1000));
    device_reopen(device);
    assert_int_equal(dln_store_corrected_ms(device->store), DEVICE_START_MS + 1000);
    assert_true(next_stamp(device, "d") > dln_stamp_of_ms(DEVICE_START_MS + 1000));
    assert_true(next_stamp(device, "e") < ahead);
}

static void a_rollback_takes_the_saved_bound_back(void **state) {
    struct device *device = *state;
    int64_t bound;
    device_begin(device);
    device_put_follow(device, "user", "ben", true);
    dln_store_rollback(device->store);
    assert_int_equal(dln_store_setting_get(device->store, "clock_bound", &bound, NULL), DUNLIN_OK);
    assert_int_equal(bound, 0);
    dln_stamp stamp = next_stamp(device, "chika");
    assert_int_equal(dln_store_setting_get(device->store, "clock_bound", &bound, NULL), DUNLIN_OK);
    assert_true((dln_stamp)bound >= stamp);
}

static void connections_that_take_turns_do_not_race_ahead(void **state) {
    struct device *device = *state;
    struct device other = *device;
    assert_int_equal(dln_store_open(&other.store, device->path, "alice", &device->options, NULL),
                     DUNLIN_OK);
    dln_stamp last = 0;
    for (int i = 0; i < 100; i++) {
        last = next_stamp(i % 2 ? device : &other, "ben");
    }
    assert_in_range(dln_stamp_ms(last) - device->now_ms, 0, 1000);
    /* One record's stamps rise whoever writes it. */
    assert_true(next_stamp(device, "ben") > last);
    dln_store_close(other.store);
    device->arena = other.arena;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, device_set_up, device_tear_down)

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
