/* Quotas: what counts, when it is counted, and how seldom. */
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
#define PUSH(key, ...) SHARED_PUSH(&shared, "aoi", AOI, key, next_stamp(), __VA_ARGS__)

static struct shared shared;
static struct dln_central_engine inner;
static int walks;

static dln_stamp next_stamp(void) {
    shared_pass(&shared, 1);
    return shared_stamp(&shared, 0);
}

static dunlin_status counting_walk(void *self, struct dln_arena *arena, struct dln_text scope,
                                   struct dln_text prefix, const struct dln_trace_place *place,
                                   size_t limit, struct dln_trace **out, size_t *count,
                                   dunlin_error *err) {
    walks += place->key.data == NULL;
    return inner.walk(self, arena, scope, prefix, place, limit, out, count, err);
}

static int set_up(void **state) {
    (void)state;
    dunlin_central_options options = DUNLIN_CENTRAL_OPTIONS_INIT;
    options.quota_lists = 3;
    options.quota_items = 5;
    options.quota_groups = 2;
    shared_open(&shared, &options);
    inner = shared.central->engine;
    shared.central->engine.walk = counting_walk;
    walks = 0;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    shared_close(&shared);
    return 0;
}

static void make_lists(int count) {
    char key[16];
    for (int i = 0; i < count; i++) {
        (void)snprintf(key, sizeof(key), "list/l%d", i % 10);
        assert_int_equal(PUSH(key, "deleted", "false"), DUNLIN_OK);
    }
}

static void lists_are_counted(void **state) {
    (void)state;
    make_lists(3);
    assert_int_equal(PUSH("list/l3", "deleted", "false", "name", "n"), DUNLIN_QUOTA);
    assert_false(shared_refusal(&shared, 0)->held);
    assert_int_equal(PUSH("list/l0", "name", "renamed"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l0", "deleted", "false"), DUNLIN_OK); /* is live already */
    assert_int_equal(PUSH("list/l4", "deleted", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l0", "deleted", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l3", "deleted", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l0", "deleted", "false", "name", "x"), DUNLIN_QUOTA);
    assert_true(shared_refusal(&shared, 0)->held);
    assert_int_equal(shared_refusal(&shared, 0)->field_count, 2);
    assert_string_equal(shared_value(&shared, AOI, "list/l0", "name"), "renamed");
}

static void groups_are_counted(void **state) {
    (void)state;
    assert_int_equal(PUSH("mygroup/a", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("mygroup/b", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("mygroup/c", "present", "true"), DUNLIN_QUOTA);
    assert_int_equal(PUSH("mygroup/a", "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("mygroup/c", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("follow/user/ben", "present", "true"), DUNLIN_OK);
}

static void items_of_deleted_lists_do_not_count(void **state) {
    (void)state;
    make_lists(2);
    assert_int_equal(PUSH("item/l0/v/1", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l0/v/2", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l0/v/3", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/v/1", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/v/2", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/v/3", "present", "true"), DUNLIN_QUOTA);
    assert_int_equal(PUSH("list/l0", "deleted", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/v/3", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/v/4", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/v/5", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/v/6", "present", "true"), DUNLIN_QUOTA);
    assert_int_equal(PUSH("item/l1/v/5", "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/v/6", "present", "true"), DUNLIN_OK);
}

static void one_push_is_counted_as_it_goes(void **state) {
    (void)state;
    char key[16];
    shared_begin(&shared);
    for (int i = 0; i < 5; i++) {
        (void)snprintf(key, sizeof(key), "list/l%d", i);
        (void)shared_record(&shared, AOI, key);
        shared_set(&shared, "deleted", shared_stamp(&shared, 0), "false");
    }
    shared_send(&shared, "aoi");
    assert_int_equal(shared.answer.ack_count, 3);
    assert_int_equal(shared_code(&shared, 3), DUNLIN_QUOTA);
    assert_int_equal(shared_code(&shared, 4), DUNLIN_QUOTA);
    shared_send(&shared, "aoi"); /* again: what is there stays acknowledged */
    assert_int_equal(shared.answer.ack_count, 3);
}

static void users_do_not_share_a_quota(void **state) {
    (void)state;
    make_lists(3);
    assert_int_equal(
        SHARED_PUSH(&shared, "ben", "user/ben", "list/l0", next_stamp(), "deleted", "false"),
        DUNLIN_OK);
}

static void counting_is_seldom(void **state) {
    (void)state;
    shared.central->limits.quota[DLN_QUOTA_ITEMS] = 100;
    make_lists(1);
    for (int i = 0; i < 60; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "item/l0/v/%d", i);
        assert_int_equal(PUSH(key, "present", "true"), DUNLIN_OK);
    }
    assert_int_equal(walks, 0); /* so few entries cannot hold too many */
    for (int i = 0; i < 100; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "item/l0/v/%d", i % 60);
        assert_int_equal(PUSH(key, "title", "t"), DUNLIN_OK);
    }
    assert_int_equal(walks, 0); /* only what creates is counted */
    for (int i = 60; i < 90; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "item/l0/v/%d", i);
        assert_int_equal(PUSH(key, "present", "true"), DUNLIN_OK);
    }
    assert_int_equal(walks, 1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(lists_are_counted),
        TEST(groups_are_counted),
        TEST(items_of_deleted_lists_do_not_count),
        TEST(one_push_is_counted_as_it_goes),
        TEST(users_do_not_share_a_quota),
        TEST(counting_is_seldom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
