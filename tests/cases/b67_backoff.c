/* B67: central is away for ten hours of the device's clock; every connection is refused at once.
 * The device tries seldom, and the edit arrives soon after central is back, without anybody's
 * doing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "client/handle.h"
#include "client/sync_port.h"
#include "sync/message.h"
#include "tests/support/sight.h"

enum { HOUR_MS = 60 * 60 * 1000, AWAY_HOURS = 10, ATTEMPTS_MAX = 150, CAP_MS = 15 * 60 * 1000 };

static struct world world;
static struct device *device;

static int set_up(void **state) {
    (void)state;
    world_open(&world, 67, NULL);
    device = world_device(&world, "aoi", 0);
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

/* Syncs whenever the last one said so; returns how often until that time. */
static int try_until(int64_t end_ms, uint64_t *bytes) {
    dunlin_sync_result result = {0};
    int attempts = 0;
    while (world.now_ms < end_ms) {
        device->faults = FAULT_OFFLINE;
        REFUSED("OFFLINE", dunlin_sync(device->store, &device->remote, &result, NULL));
        attempts++;
        *bytes += result.bytes_sent;
        assert_true(result.retry_at_ms >= world.now_ms);
        assert_true(result.retry_at_ms <= world.now_ms + CAP_MS);
        world.now_ms = result.retry_at_ms + 1;
    }
    return attempts;
}

static void b67_central_is_away(void **state) {
    (void)state;
    const int64_t back_ms = world.now_ms + (int64_t)AWAY_HOURS * HOUR_MS;
    uint64_t bytes = 0;
    int attempts = try_until(back_ms, &bytes);
    print_message("%d attempts, %llu bytes\n", attempts, (unsigned long long)bytes);
    assert_true(attempts <= ATTEMPTS_MAX);
    assert_true(attempts >= AWAY_HOURS * HOUR_MS / CAP_MS / 2); /* it does not give up */
    assert_true(bytes < 1000 * 1000);
    assert_true(world.now_ms <= back_ms + CAP_MS); /* the next try, which nothing hastened */
    device->faults = 0;
    device_sync_ok(device);
    assert_int_equal(device_pending(device), 0);
    sight_agree(&device, 1);
}

/* After a success the first failure waits a second at most again. */
static void b67_success_forgets(void **state) {
    (void)state;
    dunlin_sync_result result = {0};
    uint64_t bytes = 0;
    (void)try_until(world.now_ms + HOUR_MS, &bytes);
    device_sync_ok(device);
    for (int i = 0; i < 20; i++) {
        device->faults = FAULT_OFFLINE;
        OK(dunlin_follow(device->store, DUNLIN_USER, "chika", NULL));
        REFUSED("OFFLINE", dunlin_sync(device->store, &device->remote, &result, NULL));
        assert_true(result.retry_at_ms <= world.now_ms + 1000);
        device->faults = 0;
        device_sync_ok(device);
    }
}

/* ---- the host knows of the network: the engine as the background thread drives it */

static uint64_t random_bits(void *self) {
    (void)self;
    return world_random(&world);
}

static void fail_once(struct dln_engine *engine, struct dln_action *action) {
    struct dln_event event = {.kind = DLN_EVENT_FAILED, .now_ms = world.now_ms};
    event.failure.code = DUNLIN_OFFLINE;
    dln_engine_step(engine, &event, action);
}

static void b67_network_comes_back(void **state) {
    (void)state;
    const struct dln_engine_options options = {.store = dln_sync_port(device->store->store),
                                               .random = random_bits};
    struct dln_engine *engine = NULL;
    struct dln_action action;
    OK(dln_engine_new(&engine, &options, NULL));
    for (int i = 0; i < 12; i++) { /* up to the longest wait */
        struct dln_event event = {.kind = DLN_EVENT_SYNC, .now_ms = world.now_ms};
        dln_engine_step(engine, &event, &action);
        assert_int_equal(action.kind, DLN_ACTION_SEND);
        fail_once(engine, &action);
        assert_int_equal(action.kind, DLN_ACTION_WAIT);
        world.now_ms = action.wake_ms;
    }
    world.now_ms += (int64_t)AWAY_HOURS * HOUR_MS; /* "no network": nobody asks for anything */
    struct dln_event event = {.kind = DLN_EVENT_NETWORK, .now_ms = world.now_ms};
    dln_engine_step(engine, &event, &action);
    assert_int_equal(action.kind, DLN_ACTION_SEND); /* at once */
    fail_once(engine, &action);
    assert_true(action.wake_ms <= world.now_ms + 1000); /* and soon again */
    dln_engine_free(engine);
    device_sync_ok(device);
    assert_int_equal(device_pending(device), 0);
}

/* What the other side asks for is heeded, up to the cap: in an answer's error message, too. */
static void b67_retry_after(void **state) {
    (void)state;
    const struct dln_engine_options options = {.store = dln_sync_port(device->store->store),
                                               .random = random_bits};
    static const int64_t asked_ms[] = {60 * 1000, CAP_MS, 24 * HOUR_MS};
    for (size_t i = 0; i < sizeof(asked_ms) / sizeof(asked_ms[0]); i++) {
        for (int in_body = 0; in_body < 2; in_body++) {
            const int64_t expected_ms = asked_ms[i] < CAP_MS ? asked_ms[i] : CAP_MS;
            const dunlin_error why = {DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_CENTRAL, "too busy"};
            struct dln_event event = {.kind = DLN_EVENT_SYNC, .now_ms = world.now_ms};
            struct dln_buf body = DLN_BUF_INIT(4096);
            struct dln_engine *engine = NULL;
            struct dln_action action;
            OK(dln_engine_new(&engine, &options, NULL));
            dln_engine_step(engine, &event, &action);
            event = (struct dln_event){.kind = DLN_EVENT_FAILED, .now_ms = world.now_ms};
            event.failure = why;
            event.retry_after_ms = asked_ms[i];
            if (in_body) {
                OK(dln_failure_encode(&body, NULL, &why, asked_ms[i], NULL));
                event = (struct dln_event){.kind = DLN_EVENT_ANSWER,
                                           .now_ms = world.now_ms,
                                           .body = {body.data, body.len}};
            }
            dln_engine_step(engine, &event, &action);
            assert_int_equal(action.kind, DLN_ACTION_WAIT);
            assert_int_equal(action.error.code, DUNLIN_UNAVAILABLE);
            assert_true(action.wake_ms >= world.now_ms + expected_ms);
            assert_true(action.wake_ms <= world.now_ms + expected_ms + 1000);
            dln_engine_free(engine);
            dln_buf_free(&body);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b67_central_is_away),
        TEST(b67_success_forgets),
        TEST(b67_network_comes_back),
        TEST(b67_retry_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
