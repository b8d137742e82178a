/* K1: an edit reaches central once, in order, and never vanishes. B01, B04; B03 is next door. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>
#include <cmocka.h>

#include "base/error.h"
#include "tests/support/sight.h"
#include "tests/support/tap.h"

static struct world world;

static int set_up(void **state) {
    (void)state;
    world_open(&world, 1, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

/* ---- B01 */

/* l1 is at central, v1 waits. */
static struct device *with_one_item_waiting(void) {
    struct device *device = world_device(&world, "aoi", 0);
    OK(dunlin_list_create(device->store, NULL, "l1", "later", NULL));
    device_sync_ok(device);
    OK(dunlin_list_add(device->store, "l1", "video", "v1", NULL, NULL));
    return device;
}

static void assert_taken_once(struct device *device) {
    assert_int_equal(device_pending(device), 0);
    assert_int_equal(device_rejected(device), 0);
    assert_string_equal(sight_items(device, "l1"), "video/v1");
    assert_int_equal(sight_versions(&world, "user/aoi", "item/l1/video/v1"), 1);
    assert_int_equal(sight_versions(&world, "user/aoi", NULL), 2); /* the list and the item */
    sight_agree(&device, 1);
}

static void b01_answer_is_lost(void **state) {
    (void)state;
    struct device *device = with_one_item_waiting();
    dunlin_sync_result result;
    device->faults = FAULT_LOST_ANSWER;
    assert_int_equal(device_sync(device, &result), DUNLIN_CONN_CLOSED);
    assert_int_equal(result.pushed, 0);
    assert_int_equal(result.rejected, 0);
    assert_int_equal(device_pending(device), 1);
    assert_int_equal(sight_versions(&world, "user/aoi", "item/l1/video/v1"), 1);
    OK(device_sync(device, &result));
    assert_int_equal(result.pushed, 1); /* held already, and that is a success */
    assert_int_equal(result.rejected, 0);
    assert_taken_once(device);
}

/* Another connection takes the store's write lock while the answer is on its way. */
static dunlin_status lock_store(void *payload, dunlin_error *err) {
    (void)err;
    assert_int_equal(sqlite3_exec(payload, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    return DUNLIN_OK;
}

static void b01_answer_cannot_be_booked(void **state) {
    (void)state;
    struct device *device = with_one_item_waiting();
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_sync_result result;
    struct tap tap;
    sqlite3 *other = NULL;
    device_close(device);
    options.busy_timeout_ms = 100;
    options.ports = &device->ports;
    OK(dunlin_store_open(&device->store, device->path, "aoi", &options, NULL));
    assert_int_equal(sqlite3_open(device->path, &other), SQLITE_OK);
    tap_init(&tap, &device->remote, other);
    tap.after = lock_store;
    REFUSED("BUSY", dunlin_sync(device->store, &tap.remote, &result, NULL));
    assert_int_equal(tap.exchanges, 1);
    assert_int_equal(result.rejected, 0);
    assert_true(result.retry_at_ms >= world.now_ms);
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    assert_int_equal(device_pending(device), 1);
    assert_int_equal(device_rejected(device), 0);
    OK(device_sync(device, &result));
    assert_int_equal(result.pushed, 1);
    assert_int_equal(result.rejected, 0);
    assert_taken_once(device);
    tap_free(&tap);
}

/* ---- B04 */

static void b04_created_and_deleted_sends_nothing(void **state) {
    (void)state;
    struct device *device = world_device(&world, "aoi", 0);
    struct tap tap;
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_unfollow(device->store, DUNLIN_USER, "ben", NULL));
    assert_int_equal(device_pending(device), 0);
    tap_init(&tap, &device->remote, NULL);
    OK(dunlin_sync(device->store, &tap.remote, NULL, NULL));
    assert_int_equal(tap.records, 0);
    assert_int_equal(tap.exchanges, 1);
    assert_int_equal(sight_versions(&world, "user/aoi", NULL), 0);
    assert_string_equal(sight_following(device), "");
    sight_agree(&device, 1);
    tap_free(&tap);
}

static void b04_deleted_and_edited_stays_deleted(void **state) {
    (void)state;
    struct device *device = with_one_item_waiting();
    dunlin_item_options title = DUNLIN_ITEM_OPTIONS_INIT;
    device_sync_ok(device);
    title.title = "too late";
    OK(dunlin_list_remove(device->store, "l1", "video", "v1", NULL));
    REFUSED("NOT_FOUND", dunlin_item_set(device->store, "l1", "video", "v1", &title, NULL));
    device_sync_ok(device);
    assert_string_equal(sight_items(device, "l1"), "");
    assert_string_equal(sight_central_line(device, "\"item\"", "v1"), "");
    assert_int_equal(device_pending(device), 0);
    assert_int_equal(device_rejected(device), 0);
    sight_agree(&device, 1);
}

static void b04_deleted_twice_is_a_success(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    dunlin_sync_result result;
    OK(dunlin_follow(d1->store, DUNLIN_USER, "ben", NULL));
    device_sync_ok(d1);
    device_sync_ok(d2);
    OK(dunlin_unfollow(d1->store, DUNLIN_USER, "ben", NULL)); /* offline */
    world.now_ms += 1000;
    OK(dunlin_unfollow(d2->store, DUNLIN_USER, "ben", NULL));
    device_sync_ok(d2);
    OK(device_sync(d1, &result));
    assert_int_equal(result.pushed, 1);
    assert_int_equal(result.exchanges, 1);
    assert_int_equal(device_pending(d1), 0);
    assert_int_equal(device_rejected(d1), 0);
    device_sync_ok(d2);
    assert_string_equal(sight_following(d1), "");
    sight_agree((struct device *[]){d1, d2}, 2);
}

/* The stamp of "present" in a dumped line: its incarnation. */
static unsigned long long incarnation(const char *line) {
    static const char before[] = "\"present\":[\"";
    const char *field = strstr(line, before);
    assert_non_null(field);
    unsigned long long stamp = strtoull(field + strlen(before), NULL, 10);
    assert_true(stamp > 0);
    return stamp;
}

static void b04_unfollow_and_follow_is_a_new_life(void **state) {
    (void)state;
    struct device *device = world_device(&world, "aoi", 0);
    dunlin_sync_result result;
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    device_sync_ok(device);
    unsigned long long first = incarnation(sight_central_line(device, "\"follow\"", "ben"));
    OK(dunlin_unfollow(device->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    assert_int_equal(device_pending(device), 1);
    OK(device_sync(device, &result));
    assert_int_equal(result.exchanges, 1);
    assert_int_equal(result.pushed, 1);
    assert_true(incarnation(sight_central_line(device, "\"follow\"", "ben")) > first);
    assert_string_equal(sight_subscriptions(device), "ben=!");
    assert_int_equal(device_pending(device), 0);
    sight_agree(&device, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b01_answer_is_lost),
        TEST(b01_answer_cannot_be_booked),
        TEST(b04_created_and_deleted_sends_nothing),
        TEST(b04_deleted_and_edited_stays_deleted),
        TEST(b04_deleted_twice_is_a_success),
        TEST(b04_unfollow_and_follow_is_a_new_life),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
