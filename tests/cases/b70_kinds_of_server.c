/* ctest: labels=mongo timeout=600
 *
 * B70: what works on a replica set works on a single server too, and comes to the same records; a
 * push that is cut is repeated whole. That a deployment which lacks something is refused at connect
 * stands in unit/central/mongo/failover.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/history.h"
#include "tests/support/mongo.h"
#include "tests/support/sight.h"

enum { HISTORIES = 4, FOLLOWS = 300 };

static void run_all(char *dumps[HISTORIES], const char *engine, const char *remote) {
    struct history history;
    for (int i = 0; i < HISTORIES; i++) {
        history_generate(&history, (uint64_t)i + 70);
        dumps[i] = history_run_over(&history, engine, remote);
        assert_non_null(dumps[i]);
    }
}

static void assert_same(char *dumps[HISTORIES], char *others[HISTORIES]) {
    for (int i = 0; i < HISTORIES; i++) {
        assert_string_equal(dumps[i], others[i]);
        free(others[i]);
    }
}

/* The connection breaks at each of the push's commands in turn, before the server does it. */
static void assert_cut_push_is_repeated(void) {
    static const char *const commands[] = {"find", "insert", "update"};
    struct world world;
    (void)setenv("DUNLIN_TEST_ENGINE", "mongo", 1);
    (void)setenv("DUNLIN_TEST_REMOTE", "driver", 1);
    world_open(&world, 70, NULL);
    struct device *device = world_device(&world, "aoi", 0);
    struct device *other = world_device(&world, "aoi", 0);
    device_sync_ok(device);
    for (int cut = 0; cut < 3; cut++) {
        for (int i = 0; i < FOLLOWS; i++) {
            char user[32];
            (void)snprintf(user, sizeof(user), "u%d-%d", cut, i);
            OK(dunlin_follow(device->store, DUNLIN_USER, user, NULL));
        }
        char json[256];
        (void)snprintf(json, sizeof(json),
                       "{\"configureFailPoint\": \"failCommand\", \"mode\": {\"times\": 1},"
                       " \"data\": {\"failCommands\": [\"%s\"], \"closeConnection\": true}}",
                       commands[cut]);
        if (!mongo_try(world.mongo, true, json)) {
            print_message("this server has no fail points: nothing was cut\n");
        }
        for (int tries = 0; tries < 5 && device_pending(device) > 0; tries++) {
            dunlin_status status = device_sync(device, NULL);
            assert_true(status == DUNLIN_OK || dunlin_status_is_retryable(status));
            world.now_ms += 60000;
        }
        assert_int_equal(device_pending(device), 0);
        assert_int_equal(device_rejected(device), 0);
        assert_int_equal(sight_versions(&world, "user/aoi", NULL), FOLLOWS * (cut + 1));
    }
    device_sync_ok(other);
    sight_agree((struct device *[]){device, other}, 2);
    world_close(&world);
}

static void b70_same_records_on_every_kind_of_server(void **state) {
    (void)state;
    char *expected[HISTORIES];
    char *dumps[HISTORIES];
    run_all(expected, NULL, NULL);
    run_all(dumps, "mongo", "driver");
    assert_same(expected, dumps);
    assert_cut_push_is_repeated();

    if (!mongo_stand_alone()) {
        fail_msg("there is no server to start as a standalone");
    }
    run_all(dumps, "mongo", "driver");
    assert_same(expected, dumps);
    run_all(dumps, "mongo", "http");
    assert_same(expected, dumps);
    assert_cut_push_is_repeated();
    for (int i = 0; i < HISTORIES; i++) {
        free(expected[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(b70_same_records_on_every_kind_of_server)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
