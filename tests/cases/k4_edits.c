/* K4: no edit overwrites a whole value. B14, B16. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/sight.h"
#include "tests/support/tap.h"

enum { DIGITS = 16 }; /* by how much numbers in a request may differ in length, all together */

static struct world world;

static int set_up(void **state) {
    (void)state;
    world_open(&world, 14, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

/* ---- B14 */

static void follow_many(struct device *device, int count) {
    OK(dunlin_begin(device->store, NULL));
    for (int i = 0; i < count - 1; i++) {
        char user[24];
        (void)snprintf(user, sizeof(user), "user%d", i);
        OK(dunlin_follow(device->store, DUNLIN_USER, user, NULL));
    }
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_commit(device->store, NULL));
    device_sync_ok(device);
}

/* Syncs what one edit left behind; returns how large the one request with it was. */
static size_t push_one(struct device *device) {
    struct tap tap;
    dunlin_sync_result result;
    tap_init(&tap, &device->remote, NULL);
    OK(dunlin_sync(device->store, &tap.remote, &result, NULL));
    assert_int_equal(tap.records, 1);
    assert_int_equal(result.pushed, 1);
    size_t bytes = tap.bytes_greatest;
    tap_free(&tap);
    return bytes;
}

static size_t count_follows(struct device *device) {
    return sight_count(sight_subscriptions(device), "=!");
}

static void edits_of_two_devices_meet(bool first_goes_first) {
    struct device *d1 = world_device(&world, "aoi", 0);
    follow_many(d1, 500);
    struct device *d2 = world_device(&world, "aoi", 0);
    OK(dunlin_follow(d2->store, DUNLIN_USER, "emi", NULL)); /* nothing has arrived yet */
    size_t fresh = push_one(d2);
    assert_int_equal(count_follows(d2), 501);
    device_sync_ok(d1);
    assert_int_equal(count_follows(d1), 501);
    world.now_ms += 1000;
    OK(dunlin_follow(d1->store, DUNLIN_USER, "dai", NULL));
    OK(dunlin_unfollow(d2->store, DUNLIN_USER, "ben", NULL));
    size_t one = push_one(first_goes_first ? d1 : d2);
    size_t other = push_one(first_goes_first ? d2 : d1);
    device_sync_ok(d1);
    device_sync_ok(d2);
    assert_int_equal(count_follows(d1), 501);
    assert_string_equal(sight_line(d1, "\"follow\"", "\"ben\""), "");
    assert_string_not_equal(sight_line(d1, "\"follow\"", "\"dai\""), "");
    assert_string_not_equal(sight_line(d1, "\"follow\"", "\"emi\""), "");
    sight_agree((struct device *[]){d1, d2}, 2);
    assert_true(fresh < 1024 && one < 1024 && other < 1024);
}

static void b14_stale_client_adds_and_removes_one(void **state) {
    (void)state;
    edits_of_two_devices_meet(true);
}

static void b14_in_the_other_order(void **state) {
    (void)state;
    edits_of_two_devices_meet(false);
}

static void b14_request_size_is_that_of_one_edit(void **state) {
    static const int counts[] = {5, 500, 5000};
    size_t bytes[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct world own;
        world_open(&own, 14, NULL);
        struct device *device = world_device(&own, "aoi", 0);
        follow_many(device, counts[i]);
        own.now_ms += 1000;
        OK(dunlin_unfollow(device->store, DUNLIN_USER, "ben", NULL));
        bytes[i] = push_one(device);
        world_close(&own);
    }
    assert_in_range(bytes[1], bytes[0] - DIGITS, bytes[0] + DIGITS);
    assert_in_range(bytes[2], bytes[0] - DIGITS, bytes[0] + DIGITS);
}

/* ---- B16 */

#define MISSED "\xe8\xa6\x8b\xe9\x80\x83\xe3\x81\x97\xe3\x83\x93\xe3\x83\x87\xe3\x82\xaa"

static void make_list(struct device *device, char list[DUNLIN_NEW_ID_SIZE],
                      const char *const *videos) {
    OK(dunlin_list_create(device->store, list, NULL, MISSED, NULL));
    for (int i = 0; i < 3; i++) {
        OK(dunlin_list_add(device->store, list, "video", videos[i], NULL, NULL));
    }
}

static void b16_two_lists_of_one_name(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    struct device *all[] = {d1, d2};
    char l1[DUNLIN_NEW_ID_SIZE], l2[DUNLIN_NEW_ID_SIZE];
    dunlin_sync_result result;
    make_list(d1, l1, (const char *[]){"v1", "v2", "v3"});
    make_list(d2, l2, (const char *[]){"v1", "v4", "v5"});
    assert_string_not_equal(l1, l2);
    for (int i = 0; i < 4; i++) {
        OK(device_sync(all[i % 2], &result));
        assert_int_equal(result.rejected, 0);
    }
    for (int i = 0; i < 2; i++) {
        dunlin_iter *iter = NULL;
        assert_string_equal(sight_items(all[i], l1), "video/v1 video/v2 video/v3");
        assert_string_equal(sight_items(all[i], l2), "video/v1 video/v4 video/v5");
        OK(dunlin_lists_named(all[i]->store, &iter, MISSED, NULL));
        const char *named = show_list_rows(iter);
        assert_int_equal(sight_count(named, MISSED ":3"), 2);
        assert_string_equal(named, sight_lists(all[i]));
        assert_int_equal(device_pending(all[i]), 0);
        assert_int_equal(device_rejected(all[i]), 0);
    }
    sight_agree(all, 2);
    OK(device_sync(d1, &result));
    assert_int_equal(result.exchanges, 1);
    assert_int_equal(result.pulled, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b14_stale_client_adds_and_removes_one),
        TEST(b14_in_the_other_order),
        cmocka_unit_test(b14_request_size_is_that_of_one_edit),
        TEST(b16_two_lists_of_one_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
