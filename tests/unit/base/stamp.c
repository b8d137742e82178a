#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/stamp.h"
#include "tests/support/random.h"

static const int64_t now_ms = INT64_C(1760000000000);
static const int64_t year_9999_ms = INT64_C(253402300799000);
static const dln_stamp second = (dln_stamp)1000 << 16;

static void milliseconds_are_the_upper_48_bits(void **state) {
    (void)state;
    assert_int_equal(dln_stamp_of_ms(1), 65536);
    assert_int_equal(dln_stamp_ms(65536 + 65535), 1);
    assert_int_equal(dln_stamp_ms(dln_stamp_of_ms(now_ms)), now_ms);
    assert_int_equal(dln_stamp_of_ms(0), 0);
    assert_int_equal(dln_stamp_of_ms(-1), 0);
    assert_int_equal(dln_stamp_of_ms(INT64_MIN), 0);
    const int64_t last_ms = (INT64_C(1) << 47) - 1;
    assert_int_equal(dln_stamp_of_ms(last_ms), (dln_stamp)last_ms << 16);
    assert_int_equal(dln_stamp_of_ms(last_ms + 1), DLN_STAMP_MAX);
    assert_int_equal(dln_stamp_of_ms(INT64_MAX), DLN_STAMP_MAX);
}

static void a_stamp_is_the_corrected_time_or_just_above_what_was(void **state) {
    (void)state;
    struct dln_clock clock = {.offset_ms = -5000};
    const dln_stamp corrected = dln_stamp_of_ms(now_ms - 5000);
    assert_int_equal(dln_clock_next(&clock, now_ms, 0), corrected);
    assert_int_equal(dln_clock_next(&clock, now_ms, 0), corrected + 1);
    assert_int_equal(dln_clock_next(&clock, now_ms - 1000000, 0), corrected + 2);
    assert_int_equal(dln_clock_next(&clock, now_ms, corrected + 100), corrected + 101);
    assert_int_equal(dln_clock_next(&clock, now_ms, corrected + 50), corrected + 102);
    assert_int_equal(clock.last, corrected + 102);
}

/* The counter runs over into the milliseconds and is caught up with later. */
static void more_stamps_than_a_millisecond_holds(void **state) {
    (void)state;
    struct dln_clock clock = {0};
    dln_stamp previous = 0;
    for (int i = 0; i < 200000; i++) {
        dln_stamp stamp = dln_clock_next(&clock, now_ms, 0);
        assert_true(stamp > previous);
        previous = stamp;
    }
    assert_int_equal(dln_stamp_ms(previous), now_ms + 3);
    assert_int_equal(dln_clock_next(&clock, now_ms + 4, 0), dln_stamp_of_ms(now_ms + 4));
}

static void a_clock_may_show_anything(void **state) {
    (void)state;
    const int64_t clocks[] = {INT64_MIN, -1, 0, 1, now_ms, year_9999_ms, INT64_MAX};
    const int64_t offsets[] = {INT64_MIN, -now_ms, 0, now_ms, INT64_MAX};
    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        for (size_t j = 0; j < sizeof(offsets) / sizeof(offsets[0]); j++) {
            struct dln_clock clock = {.offset_ms = offsets[j]};
            const dln_stamp seen = dln_stamp_of_ms(now_ms);
            dln_stamp first = dln_clock_next(&clock, clocks[i], seen);
            dln_stamp next = dln_clock_next(&clock, clocks[i], 0);
            assert_true(first > seen && first <= DLN_STAMP_MAX);
            assert_true(next > first || first == DLN_STAMP_MAX);
            assert_true(next <= DLN_STAMP_MAX);
        }
    }
}

static void the_last_stamp_stays(void **state) {
    (void)state;
    struct dln_clock clock = {0};
    assert_int_equal(dln_clock_next(&clock, INT64_MAX, 0), DLN_STAMP_MAX);
    assert_int_equal(dln_clock_next(&clock, now_ms, 0), DLN_STAMP_MAX);
    assert_int_equal(dln_clock_raise_bound(&clock), DLN_STAMP_MAX);
    assert_false(dln_clock_needs_bound(&clock));
    struct dln_clock other = {0};
    assert_int_equal(dln_clock_next(&other, 0, DLN_STAMP_MAX), DLN_STAMP_MAX);
}

/* 20 edits in each of many lives, with crashes at any moment and a clock that jumps about: no stamp
 * is given out twice, and the bound is not saved for each. */
static void stamps_rise_across_restarts(void **state) {
    (void)state;
    struct test_random random = {3};
    dln_stamp saved = 0;
    dln_stamp previous = 0;
    int saves = 0;
    for (int life = 0; life < 1000; life++) {
        struct dln_clock clock = {.last = saved, .bound = saved};
        int64_t device_ms = (int64_t)test_random_below(&random, (uint64_t)now_ms);
        for (int edit = 0; edit < 20; edit++) {
            dln_stamp stamp = dln_clock_next(&clock, device_ms++, 0);
            assert_true(stamp > previous);
            previous = stamp;
            if (dln_clock_needs_bound(&clock)) {
                saved = dln_clock_raise_bound(&clock);
                assert_int_equal(saved, stamp + second);
                saves++;
            }
            assert_true(stamp <= saved);
        }
    }
    assert_true(saves <= 1000);
}

static void what_arrives_raises_last_but_not_from_far_ahead(void **state) {
    (void)state;
    struct dln_clock clock = {.offset_ms = 1000};
    const dln_stamp limit = dln_stamp_of_ms(now_ms + 1000 + DLN_MAX_AHEAD_MS);
    dln_clock_saw(&clock, now_ms, limit + 1);
    assert_int_equal(clock.last, 0);
    dln_clock_saw(&clock, now_ms, DLN_STAMP_MAX);
    assert_int_equal(clock.last, 0);
    dln_clock_saw(&clock, now_ms, limit);
    assert_int_equal(clock.last, limit);
    dln_clock_saw(&clock, now_ms, limit - 1);
    assert_int_equal(clock.last, limit);
    assert_true(dln_clock_needs_bound(&clock));
    assert_int_equal(dln_clock_next(&clock, now_ms, 0), limit + 1);

    struct dln_clock slow = {0};
    dln_clock_saw(&slow, -now_ms, dln_stamp_of_ms(now_ms));
    assert_int_equal(slow.last, 0);
    dln_clock_saw(&slow, INT64_MAX, DLN_STAMP_MAX);
    assert_int_equal(slow.last, DLN_STAMP_MAX);
}

/* Central refused a stamp from the year 9999: the clock comes back at once, and after a restart
 * too. */
static void lowering_brings_a_clock_back(void **state) {
    (void)state;
    struct dln_clock clock = {0};
    (void)dln_clock_next(&clock, year_9999_ms, 0);
    (void)dln_clock_raise_bound(&clock);
    const dln_stamp would_take = dln_stamp_of_ms(now_ms);
    dln_clock_lower(&clock, would_take);
    assert_int_equal(clock.last, would_take);
    assert_int_equal(clock.bound, would_take);
    assert_int_equal(dln_clock_next(&clock, now_ms, 0), would_take + 1);
    assert_true(dln_clock_needs_bound(&clock));

    (void)dln_clock_raise_bound(&clock);
    const struct dln_clock before = clock;
    dln_clock_lower(&clock, clock.last + 1); /* never raises */
    assert_int_equal(clock.last, before.last);
    assert_true(clock.bound <= before.bound && clock.bound >= clock.last);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(milliseconds_are_the_upper_48_bits),
        cmocka_unit_test(a_stamp_is_the_corrected_time_or_just_above_what_was),
        cmocka_unit_test(more_stamps_than_a_millisecond_holds),
        cmocka_unit_test(a_clock_may_show_anything),
        cmocka_unit_test(the_last_stamp_stays),
        cmocka_unit_test(stamps_rise_across_restarts),
        cmocka_unit_test(what_arrives_raises_last_but_not_from_far_ahead),
        cmocka_unit_test(lowering_brings_a_clock_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
