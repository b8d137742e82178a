/* K5: derived subscriptions and their origins. B17, B18, B22; B20 is next door. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "tests/support/sight.h"
#include "tests/support/tap.h"

static struct world world;

static int set_up(void **state) {
    (void)state;
    world_open(&world, 17, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

static void make_group(struct device *owner, const char *group, const char *const *members) {
    OK(dunlin_group_create(owner->store, group, NULL, DUNLIN_JOIN_OPEN, NULL));
    for (; *members != NULL; members++) {
        OK(dunlin_group_add(owner->store, group, *members, DUNLIN_ROLE_MEMBER, NULL));
    }
    device_sync_ok(owner);
}

static void sync_all(struct device *const *devices, int count) {
    for (int i = 0; i < 2 * count; i++) {
        device_sync_ok(devices[i % count]);
        world.now_ms += 10;
    }
}

/* ---- B17 */

static struct device *follower_of_tea(struct device **owner) {
    *owner = world_device(&world, "star", 0);
    struct device *d1 = world_device(&world, "aoi", 0);
    make_group(*owner, "tea", (const char *[]){"ben", "chika", NULL});
    OK(dunlin_follow(d1->store, DUNLIN_GROUP, "tea", NULL));
    device_sync_ok(d1);
    assert_string_equal(sight_subscriptions(d1), "ben=tea chika=tea");
    return d1;
}

static void b17_removed_from_the_group(void **state) {
    (void)state;
    struct device *owner;
    struct device *d1 = follower_of_tea(&owner);
    OK(dunlin_group_remove(owner->store, "tea", "chika", NULL));
    device_sync_ok(owner);
    device_sync_ok(d1);
    assert_string_equal(sight_subscriptions(d1), "ben=tea");
    assert_string_equal(sight_line(d1, "\"member\"", "chika"), "");
    sight_agree(&d1, 1);
}

static void b17_group_unfollowed(void **state) {
    (void)state;
    struct device *owner;
    struct device *d1 = follower_of_tea(&owner);
    OK(dunlin_unfollow(d1->store, DUNLIN_GROUP, "tea", NULL));
    assert_string_equal(sight_subscriptions(d1), ""); /* offline already */
    device_sync_ok(d1);
    assert_string_equal(sight_subscriptions(d1), "");
    assert_string_equal(sight_line(d1, "tea", ""), "");
    sight_agree(&d1, 1);
}

static void b17_group_closed_or_deleted(void **state) {
    (void)state;
    struct device *owner;
    struct device *d1 = follower_of_tea(&owner);
    dunlin_join closed = DUNLIN_JOIN_CLOSED;
    OK(dunlin_group_set(owner->store, "tea", NULL, &closed, NULL));
    device_sync_ok(owner);
    device_sync_ok(d1);
    assert_string_equal(sight_subscriptions(d1), "");
    dunlin_join open = DUNLIN_JOIN_OPEN;
    OK(dunlin_group_set(owner->store, "tea", NULL, &open, NULL));
    device_sync_ok(owner);
    device_sync_ok(d1);
    assert_string_equal(sight_subscriptions(d1), "ben=tea chika=tea");
    OK(dunlin_group_delete(owner->store, "tea", NULL));
    device_sync_ok(owner);
    device_sync_ok(d1);
    assert_string_equal(sight_subscriptions(d1), "");
    sight_agree(&d1, 1);
}

/* ---- B18 */

/* Each path's end, and the origin that goes with it. */
enum { UNFOLLOW, LEAVE_RUN, LEAVE_TEA };

static void end_path(struct device *aoi, struct device *chika, int path) {
    if (path == UNFOLLOW) {
        OK(dunlin_unfollow(aoi->store, DUNLIN_USER, "chika", NULL));
    } else {
        const char *group = path == LEAVE_RUN ? "run" : "tea";
        OK(dunlin_group_remove(chika->store, group, "chika", NULL));
    }
}

static const char *origins_left(const bool ended[3]) {
    static char text[64];
    (void)snprintf(text, sizeof(text), "%s%s%s", ended[UNFOLLOW] ? "" : ",!",
                   ended[LEAVE_RUN] ? "" : ",run", ended[LEAVE_TEA] ? "" : ",tea");
    if (text[0] == '\0') {
        return text;
    }
    memmove(text + strlen("chika="), text + 1, strlen(text));
    memcpy(text, "chika=", strlen("chika="));
    return text;
}

static void three_paths_end(const int order[3]) {
    bool ended[3] = {false, false, false};
    struct world own;
    world_open(&own, 18, NULL);
    struct device *star = world_device(&own, "star", 0);
    struct device *d1 = world_device(&own, "aoi", 0);
    struct device *d2 = world_device(&own, "aoi", 0);
    struct device *chika = world_device(&own, "chika", 0);
    make_group(star, "run", (const char *[]){"chika", NULL});
    make_group(star, "tea", (const char *[]){"chika", NULL});
    OK(dunlin_follow(d1->store, DUNLIN_USER, "chika", NULL));
    OK(dunlin_follow(d1->store, DUNLIN_GROUP, "run", NULL));
    OK(dunlin_follow(d1->store, DUNLIN_GROUP, "tea", NULL));
    OK(dunlin_follow(chika->store, DUNLIN_GROUP, "run", NULL));
    OK(dunlin_follow(chika->store, DUNLIN_GROUP, "tea", NULL));
    sync_all((struct device *[]){d1, d2, chika}, 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(sight_subscriptions(d1), origins_left(ended));
        assert_string_equal(sight_subscriptions(d2), origins_left(ended));
        own.now_ms += 1000;
        end_path(d1, chika, order[i]);
        ended[order[i]] = true;
        sync_all((struct device *[]){d1, chika, d2}, 3);
    }
    assert_string_equal(sight_subscriptions(d1), "");
    assert_string_equal(sight_subscriptions(d2), "");
    sight_agree((struct device *[]){d1, d2}, 2);
    world_close(&own);
}

static void b18_paths_end_in_all_orders(void **state) {
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    (void)state;
    for (int i = 0; i < 6; i++) {
        three_paths_end(orders[i]);
    }
}

/* Both groups are aoi's own, so that each of his devices can end a path. */
static void two_devices_end_two_paths(bool first_goes_first) {
    struct world own;
    world_open(&own, 18, NULL);
    struct device *d1 = world_device(&own, "aoi", 0);
    struct device *d2 = world_device(&own, "aoi", 0);
    make_group(d1, "run", (const char *[]){"chika", NULL});
    make_group(d1, "tea", (const char *[]){"chika", NULL});
    OK(dunlin_follow(d1->store, DUNLIN_USER, "chika", NULL));
    OK(dunlin_follow(d1->store, DUNLIN_GROUP, "run", NULL));
    OK(dunlin_follow(d1->store, DUNLIN_GROUP, "tea", NULL));
    sync_all((struct device *[]){d1, d2}, 2);
    assert_string_equal(sight_subscriptions(d2), "chika=!,run,tea");
    OK(dunlin_unfollow(d1->store, DUNLIN_USER, "chika", NULL));
    OK(dunlin_group_remove(d2->store, "run", "chika", NULL));
    assert_string_equal(sight_subscriptions(d1), "chika=run,tea");
    assert_string_equal(sight_subscriptions(d2), "chika=!,tea");
    device_sync_ok(first_goes_first ? d1 : d2);
    sync_all((struct device *[]){d2, d1}, 2);
    assert_string_equal(sight_subscriptions(d1), "chika=tea");
    assert_string_equal(sight_subscriptions(d2), "chika=tea");
    OK(dunlin_group_remove(d1->store, "tea", "chika", NULL));
    sync_all((struct device *[]){d1, d2}, 2);
    assert_string_equal(sight_subscriptions(d2), "");
    sight_agree((struct device *[]){d1, d2}, 2);
    world_close(&own);
}

static void b18_two_devices_end_two_paths(void **state) {
    (void)state;
    two_devices_end_two_paths(true);
    two_devices_end_two_paths(false);
}

static void b18_doubled_join_ends_with_one_leave(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    struct device *both[] = {d1, d2};
    make_group(d1, "tea", (const char *[]){NULL});
    OK(dunlin_follow(d1->store, DUNLIN_GROUP, "tea", NULL));
    sync_all(both, 2);
    OK(dunlin_group_add(d1->store, "tea", "chika", DUNLIN_ROLE_MEMBER, NULL));
    world.now_ms += 1000;
    OK(dunlin_group_add(d2->store, "tea", "chika", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_group_add(d2->store, "tea", "chika", DUNLIN_ROLE_MEMBER, NULL));
    d1->faults = FAULT_DOUBLED;
    d2->faults = FAULT_DOUBLED;
    sync_all(both, 2);
    assert_string_equal(sight_subscriptions(d1), "chika=tea");
    OK(dunlin_group_remove(d1->store, "tea", "chika", NULL));
    assert_string_equal(sight_subscriptions(d1), "");
    sync_all(both, 2);
    assert_string_equal(sight_subscriptions(d1), "");
    assert_string_equal(sight_subscriptions(d2), "");
    sight_agree(both, 2);
}

/* ---- B22 */

static bool taps_once_more; /* follow again, as the last word */

/* The app goes on in the same file while the first request is out. */
static dunlin_status tap_again(void *payload) {
    struct device *device = payload;
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_store *app = NULL;
    options.ports = &device->ports;
    OK(dunlin_store_open(&app, device->path, device->owner, &options, NULL));
    world.now_ms += 20;
    OK(dunlin_unfollow(app, DUNLIN_USER, "ben", NULL));
    if (taps_once_more) {
        world.now_ms += 20;
        OK(dunlin_follow(app, DUNLIN_USER, "ben", NULL));
    }
    dunlin_store_close(app);
    world.now_ms += 1000; /* so long is the request delayed */
    return DUNLIN_OK;
}

static dunlin_status tap_again_before(void *payload, const struct dln_sync_request *request,
                                      size_t bytes, dunlin_error *err) {
    (void)bytes;
    (void)err;
    return request->scopes[0].cursor.seq == 0 ? tap_again(payload) : DUNLIN_OK;
}

static int answers;

static dunlin_status tap_again_after(void *payload, dunlin_error *err) {
    (void)err;
    return answers++ == 0 ? tap_again(payload) : DUNLIN_OK;
}

static void assert_follows_once(struct device *device) {
    assert_string_equal(sight_following(device), "user:ben");
    assert_string_equal(sight_subscriptions(device), "ben=!");
    assert_int_equal(device_pending(device), 0);
    assert_int_equal(device_rejected(device), 0);
    assert_string_not_equal(sight_central_line(device, "\"follow\"", "\"ben\""), "");
    sight_agree(&device, 1);
}

static void assert_follows_none(struct device *device) {
    assert_string_equal(sight_following(device), "");
    assert_int_equal(device_pending(device), 0);
    assert_int_equal(device_rejected(device), 0);
    assert_string_equal(sight_central_line(device, "\"follow\"", "\"ben\""), "");
    sight_agree(&device, 1);
}

/* before: while the request is out; else while its answer is. */
static void taps_meanwhile(bool before, bool once_more) {
    struct device *device = world_device(&world, "aoi", 0);
    struct tap tap;
    tap_init(&tap, &device->remote, device);
    tap.before = before ? tap_again_before : NULL;
    tap.after = before ? NULL : tap_again_after;
    answers = 0;
    taps_once_more = once_more;
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_sync(device->store, &tap.remote, NULL, NULL));
    if (once_more) {
        assert_follows_once(device);
    } else {
        assert_follows_none(device);
    }
    tap_free(&tap);
}

static void b22_taps_while_the_request_is_out(void **state) {
    (void)state;
    taps_meanwhile(true, true);
}

static void b22_taps_while_the_answer_is_out(void **state) {
    (void)state;
    taps_meanwhile(false, true);
}

static void b22_last_tap_is_the_unfollow(void **state) {
    (void)state;
    taps_meanwhile(true, false);
}

static void b22_last_tap_is_the_unfollow_behind_it(void **state) {
    (void)state;
    taps_meanwhile(false, false);
}

static dunlin_status refuse_first(void *payload, const struct dln_sync_request *request,
                                  size_t bytes, dunlin_error *err) {
    (void)request;
    (void)bytes;
    (void)payload;
    return dln_fail(err, DUNLIN_CONN_CLOSED, DUNLIN_DOMAIN_REMOTE, "it hangs somewhere");
}

static dunlin_status drop(void *self, const void *data, size_t len) {
    (void)self;
    (void)data;
    (void)len;
    return DUNLIN_OK;
}

/* The first request reaches central behind all later ones: follow, then unfollow (and follow). */
static void delayed_request_arrives_last(bool follows_again) {
    struct world own;
    struct tap tap;
    const dunlin_sink sink = {NULL, drop};
    int64_t retry_after_ms = 0;
    world_open(&own, 22, NULL);
    struct device *device = world_device(&own, "aoi", 0);
    tap_init(&tap, &device->remote, NULL);
    tap.before = refuse_first;
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    REFUSED("CONN_CLOSED", dunlin_sync(device->store, &tap.remote, NULL, NULL));
    own.now_ms += 20;
    OK(dunlin_unfollow(device->store, DUNLIN_USER, "ben", NULL));
    if (follows_again) {
        own.now_ms += 20;
        OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    }
    device_sync_ok(device);
    OK(device->way->exchange(device->way->self, "sync", tap.body.data, tap.bytes_last, &sink,
                             &retry_after_ms, NULL));
    device_sync_ok(device);
    if (follows_again) {
        assert_follows_once(device);
    } else {
        assert_follows_none(device);
    }
    tap_free(&tap);
    world_close(&own);
}

static void b22_first_tap_arrives_last(void **state) {
    (void)state;
    delayed_request_arrives_last(true);
    delayed_request_arrives_last(false);
}

static void b22_unfollowed_twice_is_none(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    OK(dunlin_follow(d1->store, DUNLIN_USER, "ben", NULL));
    sync_all((struct device *[]){d1, d2}, 2);
    assert_follows_once(d2); /* ben's followers: 1 */
    OK(dunlin_unfollow(d1->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_unfollow(d2->store, DUNLIN_USER, "ben", NULL));
    sync_all((struct device *[]){d1, d2}, 2);
    dunlin_store_status status = {0};
    OK(dunlin_store_get_status(d1->store, &status, NULL));
    assert_int_equal(status.following, 0);
    assert_int_equal(status.subscriptions, 0);
    assert_string_equal(sight_central_line(d1, "\"follow\"", "\"ben\""), "");
    sight_agree((struct device *[]){d1, d2}, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b17_removed_from_the_group),
        TEST(b17_group_unfollowed),
        TEST(b17_group_closed_or_deleted),
        cmocka_unit_test(b18_paths_end_in_all_orders),
        cmocka_unit_test(b18_two_devices_end_two_paths),
        TEST(b18_doubled_join_ends_with_one_leave),
        TEST(b22_taps_while_the_request_is_out),
        TEST(b22_taps_while_the_answer_is_out),
        TEST(b22_last_tap_is_the_unfollow),
        TEST(b22_last_tap_is_the_unfollow_behind_it),
        cmocka_unit_test(b22_first_tap_arrives_last),
        TEST(b22_unfollowed_twice_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
