/* B20: a group that is followed now is filled in whole, whatever the general cursor says; only that
 * group is read from its beginning, and a kill in the middle resumes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/sight.h"
#include "tests/support/tap.h"

enum { EDITS = 300, MEMBERS = 2500 };

struct asked {
    int64_t own;   /* the least cursor of user/aoi that was asked for */
    int64_t group; /* the first of group/run; -1: none yet */
};

static struct {
    struct world world;
    struct device *star, *d1;
    struct tap tap;
    struct asked asked;
} stage;

static dunlin_status note(void *payload, const struct dln_sync_request *request, size_t bytes,
                          dunlin_error *err) {
    struct asked *asked = payload;
    (void)bytes;
    (void)err;
    for (size_t i = 0; i < request->scope_count; i++) {
        const struct dln_scope_ask *ask = &request->scopes[i];
        if (dln_text_equal(ask->scope, DLN_TEXT("user/aoi"))) {
            asked->own = ask->cursor.seq < asked->own ? ask->cursor.seq : asked->own;
        } else if (dln_text_equal(ask->scope, DLN_TEXT("group/run")) && asked->group < 0) {
            asked->group = ask->cursor.seq;
        }
    }
    return DUNLIN_OK;
}

static void sync_noting(void) {
    stage.asked = (struct asked){INT64_MAX, -1};
    OK(dunlin_sync(stage.d1->store, &stage.tap.remote, NULL, NULL));
}

static void add_members(int count) {
    OK(dunlin_begin(stage.star->store, NULL));
    for (int i = 0; i < count; i++) {
        char user[24];
        (void)snprintf(user, sizeof(user), "member%d", i);
        OK(dunlin_group_add(stage.star->store, "run", user, DUNLIN_ROLE_MEMBER, NULL));
    }
    OK(dunlin_commit(stage.star->store, NULL));
}

static int set_up(void **state) {
    (void)state;
    world_open(&stage.world, 20, NULL);
    stage.star = world_device(&stage.world, "star", 0);
    stage.d1 = world_device(&stage.world, "aoi", 0);
    tap_init(&stage.tap, &stage.d1->remote, &stage.asked);
    stage.tap.before = note;
    OK(dunlin_group_create(stage.star->store, "run", NULL, DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_group_add(stage.star->store, "run", "ben", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_group_add(stage.star->store, "run", "chika", DUNLIN_ROLE_MEMBER, NULL));
    device_sync_ok(stage.star);
    for (int i = 0; i < EDITS; i++) { /* a general cursor far from 0 */
        char list[24];
        (void)snprintf(list, sizeof(list), "l%d", i);
        OK(dunlin_list_create(stage.d1->store, NULL, list, "list", NULL));
    }
    device_sync_ok(stage.d1);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tap_free(&stage.tap);
    world_close(&stage.world);
    return 0;
}

static void b20_followed_late_and_again(void **state) {
    (void)state;
    OK(dunlin_follow(stage.d1->store, DUNLIN_GROUP, "run", NULL));
    sync_noting();
    assert_string_equal(sight_subscriptions(stage.d1), "ben=run chika=run");
    assert_int_equal(stage.asked.own, EDITS);
    assert_int_equal(stage.asked.group, 0);

    OK(dunlin_unfollow(stage.d1->store, DUNLIN_GROUP, "run", NULL));
    sync_noting();
    assert_string_equal(sight_subscriptions(stage.d1), "");
    OK(dunlin_group_add(stage.star->store, "run", "dai", DUNLIN_ROLE_MEMBER, NULL));
    device_sync_ok(stage.star);
    sync_noting();

    OK(dunlin_follow(stage.d1->store, DUNLIN_GROUP, "run", NULL));
    sync_noting();
    assert_string_equal(sight_subscriptions(stage.d1), "ben=run chika=run dai=run");
    assert_true(stage.asked.own > EDITS);
    sight_agree(&stage.d1, 1);
}

/* Killed behind every page: what was asked for and the page are in, the next step is not. */
static void b20_killed_in_the_middle_resumes(void **state) {
    (void)state;
    int kills = 0;
    int64_t furthest = 0;
    add_members(MEMBERS);
    device_sync_ok(stage.star);
    OK(dunlin_follow(stage.d1->store, DUNLIN_GROUP, "run", NULL));
    for (; furthest < MEMBERS; kills++) {
        assert_true(kills < 10);
        device_kill_at(stage.d1, 3);
        stage.asked = (struct asked){INT64_MAX, -1};
        assert_int_not_equal(dunlin_sync(stage.d1->store, &stage.tap.remote, NULL, NULL),
                             DUNLIN_OK);
        assert_true(device_was_killed(stage.d1));
        assert_true(stage.asked.own >= EDITS);
        assert_true(kills == 0 ? stage.asked.group == 0 : stage.asked.group > furthest);
        furthest = stage.asked.group;
        device_close(stage.d1);
        device_open(stage.d1);
    }
    assert_true(kills >= 3);
    sync_noting();
    assert_int_equal(sight_count(sight_subscriptions(stage.d1), "=run"), MEMBERS + 2);
    sight_agree(&stage.d1, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b20_followed_late_and_again),
        TEST(b20_killed_in_the_middle_resumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
