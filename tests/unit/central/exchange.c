/* A push and a pull of a user's scope; repeats; pages. */
/* ctest: engines */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/shared_side.h"

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

static void push_then_pull_in_one_exchange(void **state) {
    struct shared *shared = *state;
    dln_stamp stamp = shared_stamp(shared, 0);
    (void)shared_record(shared, "user/aoi", "follow/user/ben");
    shared_set(shared, "present", stamp, "true");
    (void)shared_record(shared, "user/aoi", "list/l1");
    shared_set(shared, "deleted", stamp, "false");
    shared_set(shared, "name", stamp, "見逃し");
    shared_send(shared, "aoi");

    assert_int_equal(shared->answer.refusal_count, 0);
    assert_int_equal(shared->answer.ack_count, 2);
    assert_int_equal(shared_ack(shared, 0), 2); /* lists come first */
    assert_int_equal(shared_ack(shared, 1), 1);
    const struct dln_scope_answer *page = shared_scope(shared, "user/aoi");
    assert_non_null(page);
    assert_int_equal(page->state, DLN_SCOPE_PAGE);
    assert_int_equal(page->version_count, 2);
    assert_int_equal(page->cursor.seq, 2);
    assert_false(page->more);
    assert_int_equal(page->head, 2);
    assert_int_equal(shared->answer.now_ms, shared->now_ms);
    assert_string_equal(shared_value(shared, "user/aoi", "list/l1", "name"), "見逃し");
}

static void build_request(struct shared *shared) {
    dln_stamp stamp = shared_stamp(shared, 0);
    shared_begin(shared);
    (void)shared_record(shared, "user/aoi", "item/l1/video/v1");
    shared_set(shared, "present", stamp, "true");
    shared_set(shared, "data", stamp, "{\"a\":[1,2,3]}");
    shared_set(shared, "hue", stamp, "teal");
    (void)shared_record(shared, "user/aoi", "list/l1");
    shared_set(shared, "deleted", stamp, "false");
    (void)shared_record(shared, "group/tea", "group");
    shared_set(shared, "deleted", stamp, "false");
    shared_set(shared, "owner", stamp, "aoi");
    (void)shared_record(shared, "group/tea", "member/ben");
    shared_set(shared, "present", stamp, "true");
    (void)shared_ask(shared, "group/none");
}

/* Runs out of memory at every point, in the one arena and in the other; nothing but the status says
 * so, and the next exchange is whole. */
static void memory_may_run_out_anywhere(void **state) {
    struct shared *shared = *state;
    for (int which = 0; which < 2; which++) {
        dunlin_status status = DUNLIN_OUT_OF_MEMORY;
        size_t ceiling = 0;
        for (; status != DUNLIN_OK && ceiling < 1 << 20; ceiling += 48) {
            struct dln_arena *arena =
                which == 0 ? &shared->central->arena : &shared->central->attempt;
            dln_arena_free(arena);
            arena->max_bytes = ceiling;
            build_request(shared);
            status = shared_try(shared, "aoi");
            if (status != DUNLIN_OK && status != DUNLIN_OUT_OF_MEMORY) {
                fail_msg("%s at %zu bytes", dunlin_status_name(status), ceiling);
            }
            dln_arena_free(arena);
            *arena = DLN_ARENA_INIT(DLN_EXCHANGE_BYTES_MAX);
        }
        assert_int_equal(status, DUNLIN_OK);
        assert_true(ceiling > 1000);
        assert_int_equal(shared->answer.ack_count, 4);
        assert_int_equal(shared->answer.scope_count, 3);
        assert_int_equal(shared_last(shared, "user/aoi"), 2);
        assert_int_equal(shared_last(shared, "group/tea"), 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(push_then_pull_in_one_exchange, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_may_run_out_anywhere, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
