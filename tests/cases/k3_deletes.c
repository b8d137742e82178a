/* ctest: engines
 *
 * K3: a removal is a fact with an identity. B11, B13. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "tests/support/sight.h"
#include "tests/support/tap.h"
#include "tests/support/versions.h"

#define DAY_MS INT64_C(86400000)

static struct world world;

static int set_up(void **state) {
    (void)state;
    world_open(&world, 11, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

static void sync_both(struct device *d1, struct device *d2) {
    device_sync_ok(d1);
    device_sync_ok(d2);
    world.now_ms += 1000;
}

/* ---- B11 */

static void b11_followed_again_comes_back_everywhere(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    OK(dunlin_follow(d1->store, DUNLIN_USER, "ben", NULL));
    sync_both(d1, d2);
    assert_string_equal(sight_subscriptions(d2), "ben=!");
    OK(dunlin_unfollow(d1->store, DUNLIN_USER, "ben", NULL));
    sync_both(d1, d2);
    assert_string_equal(sight_subscriptions(d2), "");
    OK(dunlin_follow(d1->store, DUNLIN_USER, "ben", NULL));
    sync_both(d1, d2);
    struct device *d3 = world_device(&world, "aoi", 0);
    device_sync_ok(d3);
    assert_string_equal(sight_subscriptions(d1), "ben=!");
    assert_string_equal(sight_subscriptions(d2), "ben=!");
    assert_string_equal(sight_subscriptions(d3), "ben=!");
    sight_agree((struct device *[]){d1, d2, d3}, 3); /* stamps are in the dumps */
}

/* Central has the older create before the device deletes what it made. */
static void b11_own_older_create_does_not_revive(void **state) {
    (void)state;
    struct device *device = world_device(&world, "aoi", 0);
    OK(dunlin_follow(device->store, DUNLIN_USER, "chika", NULL));
    device->faults = FAULT_LOST_ANSWER;
    assert_int_equal(device_sync(device, NULL), DUNLIN_CONN_CLOSED);
    OK(dunlin_unfollow(device->store, DUNLIN_USER, "chika", NULL));
    assert_int_equal(device_pending(device), 1); /* the delete must reach central */
    device_sync_ok(device);
    assert_string_equal(sight_following(device), "");
    assert_string_equal(sight_central_line(device, "\"follow\"", "chika"), "");
    assert_int_equal(device_pending(device), 0);
    sight_agree(&device, 1);
}

/* What a page delivers, in this order. */
struct script {
    struct scripted scripted;
    const int *seqs; /* of life 1, 2 and 3, or fewer; 0 ends */
    const char *user;
    bool silent; /* nothing is acknowledged, nothing judged */
    int deletes; /* pushed records that say "not present" */
};

static dunlin_status deliver(void *payload, struct dln_arena *arena,
                             const struct dln_sync_request *request, struct dln_sync_answer *answer,
                             dunlin_error *err) {
    struct script *script = payload;
    struct dln_version versions[3];
    size_t count = 0;
    (void)err;
    scripted_nothing_new(arena, request, answer);
    for (size_t i = 0; i < request->record_count; i++) {
        const struct dln_field *present = &request->records[i].fields[DLN_FOLLOW_PRESENT];
        script->deletes += present->stamp != 0 && present->value.type == DLN_FALSE;
    }
    for (; script->seqs != NULL && script->seqs[count] != 0; count++) {
        int seq = script->seqs[count];
        versions[count] = version_follow(arena, seq, script->user, seq, seq != 2);
    }
    if (count > 0 && answer->scope_count > 0) {
        version_page(arena, &answer->scopes[0], versions, count, 3, false);
    }
    if (!script->silent) {
        scripted_ack_all(arena, request, answer, 10);
    }
    return DUNLIN_OK;
}

static void b11_lives_out_of_order(void **state) {
    struct notebook *notebook = *state;
    static const int order[] = {3, 1, 2, 0};
    struct script script = {.seqs = order, .user = "ben"};
    scripted_init(&script.scripted, deliver, &script, notebook->now_ms);
    OK(dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    assert_string_equal(show_subscriptions(notebook, NULL), "ben=!");
    /* One by one, in that order again, and ending with the removal of the second life. */
    for (int i = 0; i < 3; i++) {
        const int one[] = {order[i], 0};
        script.seqs = one;
        OK(dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
        assert_string_equal(show_subscriptions(notebook, NULL), "ben=!");
    }
    script.seqs = NULL;
    scripted_free(&script.scripted);
}

static void b11_echo_of_the_own_create(void **state) {
    struct notebook *notebook = *state;
    static const int create[] = {1, 0};
    struct script script = {.user = "chika"};
    scripted_init(&script.scripted, deliver, &script, notebook->now_ms);
    notebook->now_ms += 60000; /* behind the scripted stamps */
    OK(dunlin_follow(notebook->store, DUNLIN_USER, "chika", NULL));
    OK(dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    OK(dunlin_unfollow(notebook->store, DUNLIN_USER, "chika", NULL));
    script.seqs = create; /* the page has the create, the delete is not judged yet */
    script.silent = true;
    OK(dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    assert_true(script.deletes >= 1);
    assert_string_equal(show_following(notebook, NULL), "");
    assert_string_equal(show_subscriptions(notebook, NULL), "");
    int before = script.deletes;
    script.seqs = NULL;
    script.silent = false;
    OK(dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    assert_int_equal(script.deletes, before + 1); /* the delete reaches the server */
    assert_string_equal(show_following(notebook, NULL), "");
    scripted_free(&script.scripted);
}

/* ---- B13 */

static void b13_long_absent_device_revives_nothing(void **state) {
    (void)state;
    dunlin_central_options options = DUNLIN_CENTRAL_OPTIONS_INIT;
    struct world own;
    dunlin_maintenance done;
    dunlin_sync_result result;
    options.horizon_ms = 30 * DAY_MS;
    world_open(&own, 13, &options);
    struct device *d1 = world_device(&own, "aoi", 0);
    struct device *d2 = world_device(&own, "aoi", 0);
    for (int i = 0; i < 20; i++) {
        char user[24];
        (void)snprintf(user, sizeof(user), "u%d", i);
        OK(dunlin_follow(d1->store, DUNLIN_USER, user, NULL));
    }
    OK(dunlin_follow(d1->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_list_create(d1->store, NULL, "l1", "old", NULL));
    device_sync_ok(d1);
    device_sync_ok(d2);
    own.now_ms += 1000;
    OK(dunlin_unfollow(d1->store, DUNLIN_USER, "ben", NULL));
    device_sync_ok(d1);
    OK(dunlin_follow(d1->store, DUNLIN_USER, "chika", NULL)); /* the newest entry never goes */
    device_sync_ok(d1);

    own.now_ms += 31 * DAY_MS;
    OK(dunlin_central_maintain(own.central, &done, NULL));
    assert_int_equal(done.expired, 1);
    assert_int_equal(sight_versions(&own, "user/aoi", "follow/user/ben"), 0);

    OK(dunlin_list_rename(d2->store, "l1", "d2's", NULL));
    OK(device_sync(d2, &result));
    assert_int_equal(result.pushed, 1);
    assert_int_equal(result.rejected, 0);
    assert_true(result.exchanges > 2); /* refused, rebuilt, pushed */
    assert_int_equal(device_pending(d2), 0);
    device_sync_ok(d1);
    assert_string_equal(sight_line(d1, "\"follow\"", "ben"), "");
    assert_string_equal(sight_line(d2, "\"follow\"", "ben"), "");
    assert_string_equal(sight_central_line(d2, "\"follow\"", "ben"), "");
    assert_string_equal(sight_lists(d1), "l1:d2's:0");
    assert_int_equal(sight_versions(&own, "user/aoi", "follow/user/ben"), 0);
    assert_int_equal(sight_count(sight_subscriptions(d2), "=!"), 21); /* and chika */
    sight_agree((struct device *[]){d1, d2}, 2);
    world_close(&own);
}

/* The same for what was edited here and is gone there: a dead letter, never a resurrection. */
static void b13_edit_of_what_is_gone_is_a_dead_letter(void **state) {
    (void)state;
    struct world own;
    dunlin_maintenance done;
    dunlin_sync_result result;
    dunlin_item_options title = DUNLIN_ITEM_OPTIONS_INIT;
    world_open(&own, 14, NULL);
    struct device *d1 = world_device(&own, "aoi", 0);
    struct device *d2 = world_device(&own, "aoi", 0);
    OK(dunlin_list_create(d1->store, NULL, "l1", "list", NULL));
    OK(dunlin_list_add(d1->store, "l1", "video", "v1", NULL, NULL));
    OK(dunlin_list_add(d1->store, "l1", "video", "v2", NULL, NULL));
    device_sync_ok(d1);
    device_sync_ok(d2);
    own.now_ms += 1000;
    OK(dunlin_list_remove(d1->store, "l1", "video", "v1", NULL));
    device_sync_ok(d1);
    OK(dunlin_follow(d1->store, DUNLIN_USER, "chika", NULL));
    device_sync_ok(d1);
    own.now_ms += 91 * DAY_MS;
    OK(dunlin_central_maintain(own.central, &done, NULL));
    assert_int_equal(done.expired, 1);
    title.title = "still here?";
    OK(dunlin_item_set(d2->store, "l1", "video", "v1", &title, NULL));
    OK(device_sync(d2, &result));
    assert_int_equal(result.rejected, 1);
    assert_int_equal(result.pushed, 0);
    assert_int_equal(device_rejected(d2), 1);
    assert_string_equal(sight_items(d2, "l1"), "video/v2");
    sight_agree((struct device *[]){d1, d2}, 2);
    world_close(&own);
}

/* The same for what was made here and taken there without this device hearing of it: what central
 * lacks after that was removed. */
static void b13_creation_with_a_lost_answer_does_not_come_back(void **state) {
    (void)state;
    struct world own;
    dunlin_maintenance done;
    dunlin_sync_result result;
    world_open(&own, 15, NULL);
    struct device *d1 = world_device(&own, "aoi", 0);
    struct device *d2 = world_device(&own, "aoi", 0);
    OK(dunlin_follow(d1->store, DUNLIN_USER, "dai", NULL));
    device_sync_ok(d1);
    device_sync_ok(d2);
    OK(dunlin_follow(d2->store, DUNLIN_USER, "ben", NULL));
    d2->faults = FAULT_LOST_ANSWER;
    assert_int_equal(device_sync(d2, &result), DUNLIN_CONN_CLOSED);
    device_sync_ok(d1);
    assert_string_equal(sight_following(d1), "user:ben user:dai");
    own.now_ms += 1000;
    OK(dunlin_unfollow(d1->store, DUNLIN_USER, "ben", NULL));
    device_sync_ok(d1);
    OK(dunlin_follow(d1->store, DUNLIN_USER, "chika", NULL));
    device_sync_ok(d1);
    own.now_ms += 91 * DAY_MS;
    OK(dunlin_central_maintain(own.central, &done, NULL));
    assert_int_equal(done.expired, 1);
    OK(device_sync(d2, &result));
    assert_int_equal(result.pushed, 0);
    assert_int_equal(result.rejected, 1);
    assert_int_equal(device_rejected(d2), 1); /* the person decides */
    assert_string_equal(sight_following(d2), "user:chika user:dai");
    sight_agree((struct device *[]){d1, d2}, 2);
    world_close(&own);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define SCRIPTED(name) cmocka_unit_test_setup_teardown(name, notebook_setup, notebook_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b11_followed_again_comes_back_everywhere),
        TEST(b11_own_older_create_does_not_revive),
        SCRIPTED(b11_lives_out_of_order),
        SCRIPTED(b11_echo_of_the_own_create),
        cmocka_unit_test(b13_long_absent_device_revives_nothing),
        cmocka_unit_test(b13_edit_of_what_is_gone_is_a_dead_letter),
        cmocka_unit_test(b13_creation_with_a_lost_answer_does_not_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
