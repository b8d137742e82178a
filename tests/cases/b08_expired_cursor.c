/* ctest: engines
 *
 * B08: central says that the place is gone. The dead cursor is sent once, what waits in the outbox
 * survives, and one rebuild ends with central's rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/error.h"
#include "client/handle.h"
#include "client/sync_port.h"
#include "tests/support/notebook.h"
#include "tests/support/sight.h"
#include "tests/support/tap.h"
#include "tests/support/versions.h"

enum { DEAD = 1000, LOG_BEGINS = 5000, TRIES = 60 };

#define DAY_MS INT64_C(86400000)

static const int64_t backoff_cap_ms = 15 * 60 * 1000;

struct dead_cursor {
    int64_t seq;
    int sent;
    int rebuilds; /* that begin */
};

struct script {
    struct scripted scripted;
    int expired;   /* pages that are answered so, -1: all */
    int cut;       /* requests for the snapshot whose answer does not come */
    int dead_sent; /* requests with the dead cursor */
    int resets;
    int snapshots;
    size_t taken; /* records acknowledged */
};

/* What central has: the list and f2 of before, f1 is gone, f3 is new. */
static void snapshot(struct script *script, struct dln_arena *arena,
                     struct dln_scope_answer *page) {
    const struct dln_version versions[] = {
        version_list(arena, LOG_BEGINS + 1, "l1", 1, "list", false),
        version_follow(arena, LOG_BEGINS + 2, "f2", 2, true),
        version_follow(arena, LOG_BEGINS + 3, "f3", 9, true),
    };
    version_page(arena, page, versions, 3, LOG_BEGINS + 3, false);
    script->snapshots++;
}

static void first_page(struct dln_arena *arena, struct dln_scope_answer *page) {
    const struct dln_version versions[] = {
        version_list(arena, 1, "l1", 1, "list", false),
        version_follow(arena, 2, "f1", 2, true),
        version_follow(arena, 3, "f2", 2, true),
    };
    version_page(arena, page, versions, 3, DEAD, false);
}

static dunlin_status answer_as_told(void *payload, struct dln_arena *arena,
                                    const struct dln_sync_request *request,
                                    struct dln_sync_answer *answer, dunlin_error *err) {
    struct script *script = payload;
    const struct dln_scope_ask *ask = &request->scopes[0];
    assert_int_equal(request->scope_count, 1);
    scripted_nothing_new(arena, request, answer);
    if (script->resets == 0 && script->expired == 0) { /* long before */
        first_page(arena, &answer->scopes[0]);
        return DUNLIN_OK;
    }
    script->dead_sent += ask->cursor.seq == DEAD;
    if (script->expired != 0) {
        script->expired -= script->expired > 0;
        script->resets++;
        answer->scopes = scripted_scopes(arena, answer, 1);
        answer->scopes[0] = (struct dln_scope_answer){.scope = ask->scope,
                                                      .state = DLN_SCOPE_RESET,
                                                      .floor = LOG_BEGINS,
                                                      .horizon_ms = INT64_C(7776000000)};
        return DUNLIN_OK;
    }
    if (script->cut > 0) {
        script->cut--;
        return dln_fail(err, DUNLIN_CONN_CLOSED, DUNLIN_DOMAIN_REMOTE, "as the test says");
    }
    if (ask->cursor.seq == 0) {
        assert_true(ask->rebuilding);
        assert_int_equal(request->record_count, 0);
        snapshot(script, arena, &answer->scopes[0]);
    }
    scripted_ack_all(arena, request, answer, LOG_BEGINS + 10);
    script->taken += request->record_count;
    return DUNLIN_OK;
}

/* A device at the dead cursor, with three edits that wait. */
static void start(struct script *script, struct notebook *notebook) {
    *script = (struct script){0};
    scripted_init(&script->scripted, answer_as_told, script, notebook->now_ms);
    OK(dunlin_sync(notebook->store, &script->scripted.remote, NULL, NULL));
    assert_string_equal(show_following(notebook, NULL), "user:f1 user:f2");
    OK(dunlin_follow(notebook->store, DUNLIN_USER, "new", NULL));
    OK(dunlin_list_rename(notebook->store, "l1", "renamed", NULL));
    OK(dunlin_list_add(notebook->store, "l1", "video", "v1", NULL, NULL));
    script->scripted.exchanges = 0;
}

static dunlin_store_status status_of(struct notebook *notebook) {
    dunlin_store_status status = {0};
    OK(dunlin_store_get_status(notebook->store, &status, NULL));
    return status;
}

static void assert_started_over_once(struct script *script, struct notebook *notebook) {
    assert_int_equal(script->dead_sent, 1);
    assert_int_equal(script->snapshots, 1);
    assert_int_equal(script->taken, 3);
    assert_int_equal(status_of(notebook).pending, 0);
    assert_int_equal(status_of(notebook).rejected, 0);
    assert_string_equal(show_following(notebook, NULL), "user:f2 user:f3 user:new");
    assert_string_equal(show_subscriptions(notebook, NULL), "f2=! f3=! new=!");
    assert_string_equal(show_lists(notebook, NULL), "l1:renamed:1");
    uint64_t exchanges = script->scripted.exchanges;
    OK(dunlin_sync(notebook->store, &script->scripted.remote, NULL, NULL));
    assert_int_equal(script->scripted.exchanges, exchanges + 1);
    assert_int_equal(script->snapshots, 1);
    scripted_free(&script->scripted);
}

static void b08_expired_once(void **state) {
    struct script script;
    start(&script, *state);
    script.expired = 1;
    OK(dunlin_sync(((struct notebook *)*state)->store, &script.scripted.remote, NULL, NULL));
    assert_int_equal(script.scripted.exchanges, 3); /* dead, snapshot, what waited */
    assert_started_over_once(&script, *state);
}

static void b08_expired_three_times(void **state) {
    struct notebook *notebook = *state;
    struct script script;
    dunlin_sync_result result;
    start(&script, notebook);
    script.expired = 3;
    for (int i = 0; i < 2; i++) {
        REFUSED("RESYNC_FAILED",
                dunlin_sync(notebook->store, &script.scripted.remote, &result, NULL));
        assert_int_equal(result.exchanges, i == 0 ? 2 : 1);
        assert_true(result.retry_at_ms > 0);
        assert_int_equal(status_of(notebook).pending, 3);
        assert_string_equal(show_following(notebook, NULL), "user:f1 user:f2 user:new");
    }
    OK(dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    assert_started_over_once(&script, notebook);
}

static void b08_killed_before_the_snapshot(void **state) {
    struct notebook *notebook = *state;
    struct script script;
    start(&script, notebook);
    script.expired = 1;
    script.cut = 1; /* the cursor is cleared, the snapshot has not come */
    REFUSED("CONN_CLOSED", dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    notebook_reopen(notebook);
    assert_int_equal(status_of(notebook).pending, 3);
    OK(dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    assert_started_over_once(&script, notebook);
}

static uint64_t random_bits(void *self) {
    return test_random_next(self);
}

/* One engine all along, as a background thread has it. */
static void b08_endless_expiry_backs_off(void **state) {
    struct notebook *notebook = *state;
    struct dln_store *store = notebook->store->store;
    struct test_random random = {8};
    const struct dln_engine_options options = {
        .store = dln_sync_port(store), .random = random_bits, .random_self = &random};
    struct dln_engine *engine = NULL;
    struct dln_action action;
    struct script script;
    int64_t longest_ms = 0;
    int64_t most_ms = 1000;
    start(&script, notebook);
    script.expired = -1;
    OK(dln_engine_new(&engine, &options, NULL));
    for (int i = 0; i < TRIES; i++, most_ms *= most_ms < backoff_cap_ms ? 2 : 1) {
        REFUSED("RESYNC_FAILED",
                dln_run_engine(store, engine, &script.scripted.remote, &action, NULL));
        assert_int_equal(action.kind, DLN_ACTION_WAIT);
        int64_t wait_ms = action.wake_ms - notebook->now_ms;
        assert_true(wait_ms <= (most_ms < backoff_cap_ms ? most_ms : backoff_cap_ms));
        longest_ms = wait_ms > longest_ms ? wait_ms : longest_ms;
        notebook->now_ms += wait_ms > 0 ? wait_ms : 0;
    }
    assert_true(longest_ms > backoff_cap_ms / 2);
    assert_int_equal(script.dead_sent, 1);
    assert_int_equal(script.scripted.exchanges, TRIES + 1);
    assert_int_equal(status_of(notebook).pending, 3);
    dln_engine_free(engine);
    script.expired = 0;
    OK(dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    assert_started_over_once(&script, notebook);
}

/* ---- the real central */

static dunlin_status count_cursor(void *payload, const struct dln_sync_request *request,
                                  size_t bytes, dunlin_error *err) {
    struct dead_cursor *dead = payload;
    (void)bytes;
    (void)err;
    for (size_t i = 0; i < request->scope_count; i++) {
        const struct dln_scope_ask *ask = &request->scopes[i];
        dead->sent += ask->cursor.seq == dead->seq;
        dead->rebuilds += ask->rebuilding && ask->cursor.seq == 0;
    }
    return DUNLIN_OK;
}

/* Central's log of that scope begins behind the device's place: what it removed expired. */
static void b08_expired_at_central(void **state) {
    (void)state;
    struct world world;
    struct tap tap;
    struct dead_cursor dead = {0};
    dunlin_maintenance done;
    dunlin_sync_result result;
    world_open(&world, 8, NULL);
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    OK(dunlin_follow(d2->store, DUNLIN_USER, "f1", NULL));
    OK(dunlin_follow(d2->store, DUNLIN_USER, "f2", NULL));
    OK(dunlin_list_create(d2->store, NULL, "l1", "list", NULL));
    device_sync_ok(d2);
    device_sync_ok(d1);
    dead.seq = sight_versions(&world, "user/aoi", NULL);
    assert_int_equal(dead.seq, 3);
    OK(dunlin_follow(d1->store, DUNLIN_USER, "new", NULL));
    OK(dunlin_list_rename(d1->store, "l1", "renamed", NULL));
    OK(dunlin_list_add(d1->store, "l1", "video", "v1", NULL, NULL));
    world.now_ms += 1000;
    OK(dunlin_unfollow(d2->store, DUNLIN_USER, "f1", NULL));
    device_sync_ok(d2);
    OK(dunlin_follow(d2->store, DUNLIN_USER, "f3", NULL)); /* the newest entry never goes */
    device_sync_ok(d2);
    world.now_ms += 91 * DAY_MS;
    OK(dunlin_central_maintain(world.central, &done, NULL));
    assert_int_equal(done.expired, 1);

    tap_init(&tap, &d1->remote, &dead);
    tap.before = count_cursor;
    OK(dunlin_sync(d1->store, &tap.remote, &result, NULL));
    assert_int_equal(dead.sent, 1);
    assert_int_equal(dead.rebuilds, 1);
    assert_int_equal(result.pushed, 3);
    assert_int_equal(device_pending(d1), 0);
    assert_int_equal(device_rejected(d1), 0);
    assert_string_equal(sight_following(d1), "user:f2 user:f3 user:new");
    assert_string_equal(sight_lists(d1), "l1:renamed:1");
    OK(dunlin_sync(d1->store, &tap.remote, NULL, NULL));
    assert_int_equal(dead.sent, 1);
    assert_int_equal(dead.rebuilds, 1);
    device_sync_ok(d2);
    sight_agree((struct device *[]){d1, d2}, 2);
    tap_free(&tap);
    world_close(&world);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, notebook_setup, notebook_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b08_expired_once),
        TEST(b08_expired_three_times),
        TEST(b08_killed_before_the_snapshot),
        TEST(b08_endless_expiry_backs_off),
        cmocka_unit_test(b08_expired_at_central),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
