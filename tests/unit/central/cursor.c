/* Cursors: RESET, HELD; what is not taken then; a restore of central. */
/* ctest: engines */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/shared_side.h"

#define AOI "user/aoi"
#define LIST(key) SHARED_PUSH(shared, "aoi", AOI, key, shared_stamp(shared, 0), "deleted", "false")

static int set_up(void **state) {
    static struct shared shared;
    shared_open(&shared, NULL);
    *state = &shared;
    return 0;
}

static int tear_down(void **state) {
    shared_close(*state);
    return 0;
}

/* One exchange that only reads; the ask may be changed by the caller before. */
static const struct dln_scope_answer *pull(struct shared *shared) {
    shared_send(shared, "aoi");
    return shared_scope(shared, AOI);
}

static void raise_floor(struct shared *shared, int64_t floor) {
    assert_int_equal(shared->central->engine.raise_floor(shared->central->engine.self,
                                                         dln_text_of(AOI), floor, NULL),
                     DUNLIN_OK);
}

/* RESET */

static void never_read_scope_starts_with_a_page(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 3);
    shared_begin(shared);
    shared_ask(shared, AOI)->epoch = (struct dln_text){NULL, 0};
    assert_int_equal(pull(shared)->state, DLN_SCOPE_PAGE);
    raise_floor(shared, 2);
    assert_int_equal(pull(shared)->state, DLN_SCOPE_RESET);
    shared_ask(shared, AOI)->cursor = shared_cursor(shared, AOI, 3); /* a cursor of no epoch */
    assert_int_equal(pull(shared)->state, DLN_SCOPE_RESET);
}

static void cursor_below_the_floor_starts_over(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    raise_floor(shared, 3);
    shared_begin(shared);
    struct dln_scope_ask *ask = shared_ask(shared, AOI);
    ask->cursor = shared_cursor(shared, AOI, 2);
    const struct dln_scope_answer *answer = pull(shared);
    assert_int_equal(answer->state, DLN_SCOPE_RESET);
    assert_int_equal(answer->floor, 3);
    assert_int_equal(answer->horizon_ms, 90 * SHARED_DAY_MS);
    assert_int_equal(answer->version_count, 0);
    ask->cursor = shared_cursor(shared, AOI, 3);
    assert_int_equal(pull(shared)->state, DLN_SCOPE_PAGE);
}

static void floor_does_not_interrupt_a_rebuild(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    shared_begin(shared);
    struct dln_scope_ask *ask = shared_ask(shared, AOI);
    ask->rebuilding = true;
    raise_floor(shared, 4);
    assert_int_equal(pull(shared)->state, DLN_SCOPE_PAGE);
    ask->cursor = shared_cursor(shared, AOI, 2);
    assert_int_equal(pull(shared)->state, DLN_SCOPE_PAGE);
    assert_int_equal(pull(shared)->version_count, 3);
}

static void floor_is_read_behind_the_page(void **state);

static const struct dln_central_engine *inner;
static struct shared *rising;

static dunlin_status after_then_floor_rises(void *self, struct dln_arena *arena,
                                            struct dln_text scope, int64_t seq, size_t limit,
                                            size_t bytes, struct dln_stored **out, size_t *count,
                                            bool *more, dunlin_error *err) {
    dunlin_status status =
        inner->after(self, arena, scope, seq, limit, bytes, out, count, more, err);
    raise_floor(rising, 3);
    return status;
}

static void floor_is_read_behind_the_page(void **state) {
    struct shared *shared = *state;
    struct dln_central_engine copy = shared->central->engine;
    shared_fill(shared, 5);
    inner = &copy;
    rising = shared;
    shared->central->engine.after = after_then_floor_rises;
    shared_begin(shared);
    shared_ask(shared, AOI)->cursor = shared_cursor(shared, AOI, 2);
    assert_int_equal(pull(shared)->state, DLN_SCOPE_RESET);
}

/* What is pushed for a scope that starts over is not taken, and nothing is said of it. */
static void assert_not_taken(struct shared *shared, enum dln_scope_state state) {
    int64_t last = shared_last(shared, AOI);
    (void)shared_record(shared, AOI, "list/pushed");
    shared_set(shared, "deleted", shared_stamp(shared, 0), "false");
    for (int i = 0; i < 2; i++) {
        shared_ask(shared, AOI)->pull = i == 0;
        shared_send(shared, "aoi");
        assert_int_equal(shared->answer.ack_count, 0);
        assert_int_equal(shared->answer.refusal_count, 0);
        assert_int_equal(shared_last(shared, AOI), last);
        assert_int_equal(shared_scope(shared, AOI)->state, state);
    }
}

static void nothing_is_taken_below_the_floor(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    raise_floor(shared, 3);
    shared_begin(shared);
    shared_ask(shared, AOI)->cursor = shared_cursor(shared, AOI, 2);
    assert_not_taken(shared, DLN_SCOPE_RESET);
}

static void nothing_is_taken_of_another_epoch(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    shared_begin(shared);
    shared_ask(shared, AOI)->epoch = DLN_TEXT("00000000000000000000000000000000");
    assert_not_taken(shared, DLN_SCOPE_RESET);
}

static void nothing_is_taken_while_history_is_lost(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    shared_begin(shared);
    shared_ask(shared, AOI)->cursor = (struct dln_cursor){6, 1};
    assert_not_taken(shared, DLN_SCOPE_HELD);
}

static void nothing_is_taken_in_a_rebuild(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    shared_begin(shared);
    shared_ask(shared, AOI)->rebuilding = true;
    (void)shared_record(shared, AOI, "list/pushed");
    shared_set(shared, "deleted", shared_stamp(shared, 0), "false");
    shared_send(shared, "aoi");
    assert_int_equal(shared->answer.ack_count, 0);
    assert_int_equal(shared->answer.refusal_count, 0);
    assert_int_equal(shared_scope(shared, AOI)->state, DLN_SCOPE_PAGE);
    assert_int_equal(shared_last(shared, AOI), 5);
}

static void others_scopes_are_taken_beside_one_that_starts_over(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    raise_floor(shared, 3);
    shared_begin(shared);
    shared_ask(shared, AOI);
    (void)shared_record(shared, AOI, "list/pushed");
    shared_set(shared, "deleted", shared_stamp(shared, 0), "false");
    (void)shared_record(shared, "group/tea", "group");
    shared_set(shared, "deleted", shared_stamp(shared, 0), "false");
    shared_set(shared, "owner", shared_stamp(shared, 0), "aoi");
    shared_send(shared, "aoi");
    assert_int_equal(shared_ack(shared, 0), 0);
    assert_int_equal(shared_ack(shared, 1), 1);
}

/* HELD */

static void cursor_above_the_log_is_held(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    shared_begin(shared);
    struct dln_scope_ask *ask = shared_ask(shared, AOI);
    ask->cursor = (struct dln_cursor){6, 1};
    assert_int_equal(pull(shared)->state, DLN_SCOPE_HELD);
    ask->rebuilding = true;
    assert_int_equal(pull(shared)->state, DLN_SCOPE_HELD);
}

static void foreign_salt_is_held(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    shared_begin(shared);
    struct dln_scope_ask *ask = shared_ask(shared, AOI);
    for (int64_t seq = 3; seq <= 5; seq += 2) { /* also of the last one */
        ask->cursor = shared_cursor(shared, AOI, seq);
        assert_int_equal(pull(shared)->state, DLN_SCOPE_PAGE);
        ask->cursor.salt++;
        assert_int_equal(pull(shared)->state, DLN_SCOPE_HELD);
    }
}

static void salt_of_an_entry_that_went_does_not_matter(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    shared_begin(shared);
    struct dln_scope_ask *ask = shared_ask(shared, AOI);
    ask->cursor = shared_cursor(shared, AOI, 3);
    ask->cursor.salt++;
    assert_int_equal(shared->central->engine.drop(shared->central->engine.self, dln_text_of(AOI),
                                                  (const int64_t[]){3}, 1, NULL),
                     DUNLIN_OK);
    assert_int_equal(pull(shared)->state, DLN_SCOPE_PAGE);
}

static int settled;
static int64_t hidden;

static dunlin_status stale_last(void *self, struct dln_text scope, struct dln_cursor *out,
                                dunlin_error *err) {
    dunlin_status status = inner->last(self, scope, out, err);
    out->seq -= hidden;
    return status;
}

static dunlin_status settle(void *self, dunlin_error *err) {
    settled++;
    hidden = 0;
    return inner->settle(self, err);
}

static void a_second_settled_reading_decides(void **state) {
    struct shared *shared = *state;
    struct dln_central_engine copy = shared->central->engine;
    shared_fill(shared, 5);
    inner = &copy;
    shared_begin(shared);
    shared_ask(shared, AOI)->cursor = shared_cursor(shared, AOI, 5);
    shared->central->engine.last = stale_last;
    shared->central->engine.settle = settle;
    hidden = 2;
    settled = 0;
    assert_int_equal(pull(shared)->state, DLN_SCOPE_PAGE);
    assert_int_equal(settled, 1);
}

static void held_and_reset_are_judged_before_access(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    shared_begin(shared);
    struct dln_scope_ask *ask = shared_ask(shared, AOI);
    ask->cursor = (struct dln_cursor){9, 1};
    shared_send(shared, "ben");
    assert_int_equal(shared_scope(shared, AOI)->state, DLN_SCOPE_HELD);
    raise_floor(shared, 2);
    ask->cursor = (struct dln_cursor){0, 0};
    shared_send(shared, "ben");
    assert_int_equal(shared_scope(shared, AOI)->state, DLN_SCOPE_RESET);
    ask->cursor = shared_cursor(shared, AOI, 3);
    shared_send(shared, "ben");
    assert_int_equal(shared_scope(shared, AOI)->state, DLN_SCOPE_DENIED);
}

/* Restored */

static void restored_starts_a_new_epoch(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    shared_begin(shared);
    shared_ask(shared, AOI)->cursor = shared_cursor(shared, AOI, 5);
    assert_int_equal(dunlin_central_restored(shared->central, 0, NULL), DUNLIN_OK);
    const struct dln_scope_answer *answer = pull(shared);
    assert_int_equal(answer->state, DLN_SCOPE_RESET);
    assert_int_equal(answer->base, 5); /* nobody wrote since: the last seq */
    assert_int_equal(answer->floor, 0);
    assert_false(dln_text_equal(shared->answer.epoch, shared->request.scopes[0].epoch));

    assert_int_equal(LIST("list/first"), DUNLIN_OK);
    assert_int_equal(LIST("list/second"), DUNLIN_OK);
    shared_begin(shared);
    shared_ask(shared, AOI)->epoch = DLN_TEXT("lost");
    assert_int_equal(pull(shared)->base, 5); /* noted by the first writer */
    assert_int_equal(shared_last(shared, AOI), 7);

    assert_int_equal(dunlin_central_restored(shared->central, 0, NULL), DUNLIN_OK);
    assert_int_equal(pull(shared)->base, 7);
}

static void first_epoch_shares_nothing(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    shared_begin(shared);
    shared_ask(shared, AOI)->epoch = DLN_TEXT("of another deployment");
    const struct dln_scope_answer *answer = pull(shared);
    assert_int_equal(answer->state, DLN_SCOPE_RESET);
    assert_int_equal(answer->base, 0);
}

static void fuzzy_restore_raises_every_floor(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 5);
    assert_int_equal(SHARED_PUSH(shared, "ben", "user/ben", "list/l1", shared_stamp(shared, 0),
                                 "deleted", "false"),
                     DUNLIN_OK);
    assert_int_equal(dunlin_central_restored(shared->central, 1, NULL), DUNLIN_OK);
    shared_begin(shared);
    shared_ask(shared, AOI)->epoch = DLN_TEXT("lost");
    assert_int_equal(pull(shared)->floor, 5);
    shared_begin(shared);
    shared_ask(shared, "user/ben");
    shared_send(shared, "ben");
    assert_int_equal(shared_scope(shared, "user/ben")->floor, 1);
}

static dunlin_status restored_meanwhile(void *self, struct dln_text scope, int64_t *out,
                                        dunlin_error *err) {
    struct dln_epoch next = {2, DLN_TEXT("next")};
    bool inserted;
    assert_int_equal(inner->insert_epoch(self, &next, &inserted, err), DUNLIN_OK);
    return inner->floor(self, scope, out, err);
}

static void restore_in_the_middle_is_no_answer(void **state) {
    struct shared *shared = *state;
    struct dln_central_engine copy = shared->central->engine;
    shared_fill(shared, 5);
    inner = &copy;
    shared_begin(shared);
    shared_ask(shared, AOI);
    shared->central->engine.floor = restored_meanwhile;
    assert_int_equal(shared_try(shared, "aoi"), DUNLIN_UNAVAILABLE);
}

static void epoch_outlives_the_process(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 1);
    shared_begin(shared);
    shared_ask(shared, AOI)->cursor = shared_cursor(shared, AOI, 1);
    shared_reopen(shared);
    assert_int_equal(pull(shared)->state, DLN_SCOPE_PAGE);
}

static void malformed_requests(void **state) {
    struct shared *shared = *state;
    shared_begin(shared);
    shared_ask(shared, AOI);
    shared->request.scopes[shared->request.scope_count++] = shared->request.scopes[0];
    assert_int_equal(shared_try(shared, "aoi"), DUNLIN_BAD_MESSAGE); /* named twice */
    shared_begin(shared);
    (void)shared_record(shared, AOI, "list/l1");
    shared->request.records[0].key.scope = DLN_TEXT("user/ben");
    assert_int_equal(shared_try(shared, "aoi"), DUNLIN_BAD_MESSAGE); /* a scope that is not named */
    shared_begin(shared);
    shared->request.record_count = DLN_REQUEST_RECORDS_MAX + 1;
    assert_int_equal(shared_try(shared, "aoi"), DUNLIN_TOO_LARGE);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(never_read_scope_starts_with_a_page),
        TEST(cursor_below_the_floor_starts_over),
        TEST(floor_does_not_interrupt_a_rebuild),
        TEST(floor_is_read_behind_the_page),
        TEST(nothing_is_taken_below_the_floor),
        TEST(nothing_is_taken_of_another_epoch),
        TEST(nothing_is_taken_while_history_is_lost),
        TEST(nothing_is_taken_in_a_rebuild),
        TEST(others_scopes_are_taken_beside_one_that_starts_over),
        TEST(cursor_above_the_log_is_held),
        TEST(foreign_salt_is_held),
        TEST(salt_of_an_entry_that_went_does_not_matter),
        TEST(a_second_settled_reading_decides),
        TEST(held_and_reset_are_judged_before_access),
        TEST(restored_starts_a_new_epoch),
        TEST(first_epoch_shares_nothing),
        TEST(fuzzy_restore_raises_every_floor),
        TEST(restore_in_the_middle_is_no_answer),
        TEST(epoch_outlives_the_process),
        TEST(malformed_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
