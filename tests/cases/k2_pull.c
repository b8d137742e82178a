/* K2: the place in central's log is central's word, and covers only what is durably here. B07, B10;
 * B05 and B08 have files of their own. */
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

/* ---- B07 */

#define DAY_MS INT64_C(86400000)

static struct world world;

static int set_up(void **state) {
    (void)state;
    world_open(&world, 7, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

/* Every position asked for is one that central gave: the start, or a place of its log. */
static dunlin_status position_is_centrals(void *payload, const struct dln_sync_request *request,
                                          size_t bytes, dunlin_error *err) {
    (void)payload;
    (void)bytes;
    (void)err;
    for (size_t i = 0; i < request->scope_count; i++) {
        const struct dln_cursor *cursor = &request->scopes[i].cursor;
        char sql[128];
        (void)snprintf(sql, sizeof(sql),
                       "SELECT count(*) FROM changes WHERE seq = %lld AND salt = %lld",
                       (long long)cursor->seq, (long long)cursor->salt);
        assert_int_equal(sight_central_number(&world, sql), cursor->seq == 0 ? 0 : 1);
    }
    return DUNLIN_OK;
}

static void b07_clock_days_ahead_skips_nothing(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 3 * DAY_MS);
    struct device *d2 = world_device(&world, "aoi", 0);
    struct tap tap;
    tap_init(&tap, &d1->remote, NULL);
    tap.before = position_is_centrals;
    OK(dunlin_follow(d2->store, DUNLIN_USER, "ben", NULL));
    device_sync_ok(d2);
    OK(dunlin_sync(d1->store, &tap.remote, NULL, NULL));
    for (int i = 0; i < 20; i++) {
        char user[24];
        (void)snprintf(user, sizeof(user), "u%d", i);
        world.now_ms += 3 * 60 * 1000;
        OK(dunlin_follow(d2->store, DUNLIN_USER, user, NULL));
        device_sync_ok(d2);
    }
    OK(dunlin_sync(d1->store, &tap.remote, NULL, NULL));
    assert_int_equal(tap.exchanges, 2);
    assert_int_equal(sight_count(sight_subscriptions(d1), "=!"), 21);
    sight_agree((struct device *[]){d1, d2}, 2);
    tap_free(&tap);
}

static void b07_clock_years_behind_wins_when_later(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", -5 * 365 * DAY_MS);
    struct device *d2 = world_device(&world, "aoi", 0);
    OK(dunlin_list_create(d2->store, NULL, "l1", "first", NULL));
    OK(dunlin_list_rename(d2->store, "l1", "d2's", NULL));
    device_sync_ok(d2);
    device_sync_ok(d1);
    assert_string_equal(sight_lists(d1), "l1:d2's:0");
    world.now_ms += 1000;
    OK(dunlin_list_rename(d1->store, "l1", "d1's", NULL));
    device_sync_ok(d1);
    device_sync_ok(d2);
    assert_string_equal(sight_lists(d1), "l1:d1's:0");
    assert_string_equal(sight_lists(d2), "l1:d1's:0");
    sight_agree((struct device *[]){d1, d2}, 2);
}

/* The device has never heard of central's clock when it edits what it once pulled. */
static void b07_edit_beats_what_its_author_saw(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    OK(dunlin_list_create(d2->store, NULL, "l1", "d2's", NULL));
    device_sync_ok(d2);
    device_sync_ok(d1);
    d1->skew_ms = -world.now_ms; /* 1970 */
    device_close(d1);
    device_open(d1);
    OK(dunlin_list_rename(d1->store, "l1", "d1's", NULL));
    device_sync_ok(d1);
    device_sync_ok(d2);
    assert_string_equal(sight_lists(d2), "l1:d1's:0");
    sight_agree((struct device *[]){d1, d2}, 2);
}

/* ---- B10 */

struct script {
    struct scripted scripted;
    int64_t asked;  /* the cursor of the last request */
    int64_t cut_at; /* the connection breaks when that cursor is asked for; -1: never */
    int64_t newest; /* seqs that the log has so far */
};

/* Items i1 and i2 of l9, then l9; later l9's end, then its items'. Two versions a page. */
static struct dln_version logged(struct dln_arena *arena, int64_t seq) {
    switch (seq) {
    case 1:
        return version_item(arena, seq, "l9", "i1", 1, true);
    case 2:
        return version_item(arena, seq, "l9", "i2", 2, true);
    case 3:
        return version_list(arena, seq, "l9", 3, "nine", false);
    case 4:
        return version_list(arena, seq, "l9", 4, "nine", true);
    case 5:
        return version_item(arena, seq, "l9", "i1", 5, false);
    default:
        return version_item(arena, seq, "l9", "i2", 6, false);
    }
}

static dunlin_status next_page(void *payload, struct dln_arena *arena,
                               const struct dln_sync_request *request,
                               struct dln_sync_answer *answer, dunlin_error *err) {
    struct script *script = payload;
    struct dln_version versions[2];
    size_t count = 0;
    assert_int_equal(request->scope_count, 1);
    scripted_nothing_new(arena, request, answer);
    script->asked = request->scopes[0].cursor.seq;
    if (script->asked == script->cut_at) {
        script->cut_at = -1;
        return dln_fail(err, DUNLIN_CONN_CLOSED, DUNLIN_DOMAIN_REMOTE, "as the test says");
    }
    while (count < 2 && script->asked + (int64_t)count < script->newest) {
        versions[count] = logged(arena, script->asked + (int64_t)count + 1);
        count++;
    }
    if (count > 0) {
        int64_t cursor = script->asked + (int64_t)count;
        version_page(arena, &answer->scopes[0], versions, count, cursor, cursor < script->newest);
    }
    return DUNLIN_OK;
}

static dunlin_store_status status_of(struct notebook *notebook) {
    dunlin_store_status status = {0};
    OK(dunlin_store_get_status(notebook->store, &status, NULL));
    return status;
}

static const char *list_nine(struct notebook *notebook) {
    dunlin_iter *iter = NULL;
    OK(dunlin_list_get(notebook->store, &iter, "l9", NULL));
    return show_list_rows(iter);
}

static void refuses_items(struct notebook *notebook) {
    dunlin_iter *iter = NULL;
    REFUSED("NOT_FOUND", dunlin_items(notebook->store, &iter, "l9", NULL, NULL));
    assert_null(iter);
}

static dunlin_status no_line(const char *line, size_t len, void *payload) {
    (void)payload;
    fail_msg("left over: %.*s", (int)len, line);
    return DUNLIN_OK;
}

static void b10_child_before_its_parent(void **state) {
    struct notebook *notebook = *state;
    struct script script = {.cut_at = 2, .newest = 3};
    dunlin_check check = {0};
    scripted_init(&script.scripted, next_page, &script, notebook->now_ms);
    REFUSED("CONN_CLOSED", dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    assert_int_equal(script.asked, 2); /* the first page moved the cursor */
    assert_string_equal(list_nine(notebook), "");
    assert_string_equal(show_lists(notebook, NULL), "");
    refuses_items(notebook);
    assert_int_equal(status_of(notebook).items, 0);

    OK(dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    assert_int_equal(script.asked, 2);
    assert_string_equal(list_nine(notebook), "l9:nine:2");
    assert_string_equal(show_items(notebook, "l9", NULL), "video/i1 video/i2");
    assert_int_equal(status_of(notebook).items, 2);

    script.newest = 6;
    script.cut_at = 5; /* between l9's end and the end of its items */
    REFUSED("CONN_CLOSED", dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    assert_string_equal(list_nine(notebook), "");
    OK(dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    assert_int_equal(script.asked, 5);
    assert_string_equal(list_nine(notebook), "");
    refuses_items(notebook);
    assert_int_equal(status_of(notebook).lists, 0);
    assert_int_equal(status_of(notebook).items, 0);
    OK(dunlin_dump(notebook->store, no_line, NULL, NULL));
    OK(dunlin_store_verify(notebook->store, 0, &check, NULL));
    assert_int_equal(check.counts_off, 0);
    assert_int_equal(check.search_off, 0);
    OK(dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    assert_int_equal(script.asked, 6);
    scripted_free(&script.scripted);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b07_clock_days_ahead_skips_nothing),
        TEST(b07_clock_years_behind_wins_when_later),
        TEST(b07_edit_beats_what_its_author_saw),
        cmocka_unit_test_setup_teardown(b10_child_before_its_parent, notebook_setup,
                                        notebook_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
