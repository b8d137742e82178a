/* A push and a pull of a user's scope; repeats; pages. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(push_then_pull_in_one_exchange, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
