/* B05: a writer that took its place in the log and stalls is never overtaken by readers: nothing
 * becomes visible behind a slot that is still to be filled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/error.h"
#include "central/central.h"
#include "tests/support/sight.h"
#include "tests/support/tap.h"

enum { BEFORE = 99, TWO_HOURS_MS = 2 * 3600 * 1000 };

/* Two processes over one file: the world's central, where the stalled writer works, and another. */
static struct {
    struct world world;
    struct dln_central_engine inner;
    struct device *stalled, *writer, *reader;
    dunlin_central *other;
    dunlin_remote *other_way;
    struct tap tap; /* of the reader */
    int64_t stall_ms;
    bool has_stalled;
    bool aborts;
} stage;

static int64_t last_seq(void) {
    return sight_central_number(&stage.world, "SELECT max(seq) FROM changes");
}

static int64_t reader_cursor(void) {
    struct notebook file = {0};
    (void)snprintf(file.path, sizeof(file.path), "%s", stage.reader->path);
    return notebook_number(&file, "SELECT max(seq) FROM scope");
}

static void read_all(void) {
    OK(dunlin_sync(stage.reader->store, &stage.tap.remote, NULL, NULL));
    assert_int_equal(reader_cursor(), last_seq()); /* never above what is decided */
}

/* The stalled writer has read the last seq; the other one writes, the reader reads. */
static dunlin_status stall(void *self, struct dln_text scope, int64_t *out, dunlin_error *err) {
    dunlin_status status = stage.inner.floor(self, scope, out, err);
    if (!stage.has_stalled) {
        stage.has_stalled = true;
        assert_int_equal(last_seq(), BEFORE);
        OK(dunlin_sync(stage.writer->store, stage.other_way, NULL, NULL));
        assert_int_equal(last_seq(), BEFORE + 1);
        read_all();
        stage.world.now_ms += stage.stall_ms;
    }
    return status;
}

static dunlin_status abort_insert(void *self, struct dln_text scope, int64_t last_seq_read,
                                  const struct dln_entry *entries, size_t count,
                                  int64_t deadline_ms, size_t *inserted, dunlin_error *err) {
    if (stage.aborts) {
        return dln_fail(err, DUNLIN_IO, DUNLIN_DOMAIN_CENTRAL, "the writer is gone");
    }
    return stage.inner.insert(self, scope, last_seq_read, entries, count, deadline_ms, inserted,
                              err);
}

static int64_t steady_ms(void *self) {
    (void)self;
    return stage.world.now_ms;
}

static int set_up(void **state) {
    char url[600];
    (void)state;
    world_open(&stage.world, 5, NULL);
    stage.stalled = world_device(&stage.world, "aoi", 0);
    stage.writer = world_device(&stage.world, "aoi", 0);
    stage.reader = world_device(&stage.world, "aoi", 0);
    OK(dunlin_begin(stage.stalled->store, NULL));
    for (int i = 0; i < BEFORE; i++) {
        char user[24];
        (void)snprintf(user, sizeof(user), "u%d", i);
        OK(dunlin_follow(stage.stalled->store, DUNLIN_USER, user, NULL));
    }
    OK(dunlin_commit(stage.stalled->store, NULL));
    device_sync_ok(stage.stalled);
    device_sync_ok(stage.writer);
    (void)snprintf(url, sizeof(url), "sqlite:%s/central.db", stage.world.dir);
    OK(dunlin_central_open(&stage.other, url, &stage.world.central_options, NULL));
    OK(dunlin_central_remote(stage.other, &stage.other_way, "aoi", NULL));
    tap_init(&stage.tap, stage.other_way, NULL);
    read_all();
    stage.has_stalled = false;
    stage.aborts = false;
    stage.inner = stage.world.central->engine;
    stage.world.central->engine.floor = stall;
    stage.world.central->engine.insert = abort_insert;
    stage.world.central->ports.steady_ms = steady_ms;
    OK(dunlin_follow(stage.stalled->store, DUNLIN_USER, "stalled", NULL));
    OK(dunlin_follow(stage.writer->store, DUNLIN_USER, "quick", NULL));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tap_free(&stage.tap);
    dunlin_remote_close(stage.other_way);
    dunlin_central_close(stage.other);
    world_close(&stage.world);
    return 0;
}

static void late_commit(int64_t stall_ms) {
    stage.stall_ms = stall_ms;
    device_sync_ok(stage.stalled);
    assert_true(stage.has_stalled);
    assert_int_equal(last_seq(), BEFORE + 2);
    assert_int_equal(sight_count(sight_subscriptions(stage.reader), "=!"), BEFORE + 1);
    read_all();
    assert_int_equal(sight_count(sight_subscriptions(stage.reader), "=!"), BEFORE + 2);
    device_sync_ok(stage.writer);
    device_sync_ok(stage.stalled);
    sight_agree((struct device *[]){stage.reader, stage.writer, stage.stalled}, 3);
}

static void b05_late_commit_at_once(void **state) {
    (void)state;
    late_commit(0);
}

static void b05_late_commit_two_hours_later(void **state) {
    (void)state;
    late_commit(TWO_HOURS_MS);
}

static void b05_aborted_commit_leaves_no_hole(void **state) {
    (void)state;
    stage.aborts = true;
    REFUSED("IO", device_sync(stage.stalled, NULL));
    assert_int_equal(last_seq(), BEFORE + 1);
    read_all();
    OK(dunlin_follow(stage.writer->store, DUNLIN_USER, "next", NULL));
    OK(dunlin_sync(stage.writer->store, stage.other_way, NULL, NULL));
    assert_int_equal(last_seq(), BEFORE + 2);
    read_all();
    assert_int_equal(sight_count(sight_subscriptions(stage.reader), "=!"), BEFORE + 2);
    stage.aborts = false;
    device_sync_ok(stage.stalled); /* its edit waited */
    read_all();
    device_sync_ok(stage.writer);
    sight_agree((struct device *[]){stage.reader, stage.writer, stage.stalled}, 3);
    assert_int_equal(sight_count(sight_subscriptions(stage.reader), "=!"), BEFORE + 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b05_late_commit_at_once),
        TEST(b05_late_commit_two_hours_later),
        TEST(b05_aborted_commit_leaves_no_hole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
