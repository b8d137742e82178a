/* A real dunlind, and between it and the device a way that refuses, cuts, loses, doubles, delays,
 * repeats and answers by itself. Each fault hits the first, the second, … request of a story;
 * whatever happens, nothing is lost or doubled, and the device comes into step without anybody's
 * help.
 *
 * ctest: timeout=600
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dunlin/http.h>

#include "tests/support/bridge_process.h"
#include "tests/support/notebook.h"
#include "tests/support/random.h"
#include "tests/support/temp.h"

enum { ITEMS = 30, TRIES_MAX = 12 };

struct stage {
    char *dir;
    struct bridge bridge;
    struct way way;
    dunlin_store *store;
    dunlin_remote *remote;
    int fault_from; /* requests that are hit, by number */
    int fault_until;
    enum way_fault fault;
    struct test_random random;
};

static enum way_fault choose(void *payload, int number) {
    const struct stage *stage = payload;
    return number >= stage->fault_from && number < stage->fault_until ? stage->fault : WAY_CLEAR;
}

static void open_stage(struct stage *stage, enum way_fault (*chooser)(void *payload, int number)) {
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    memset(stage, 0, sizeof(*stage));
    stage->dir = temp_new();
    bridge_start(&stage->bridge, stage->dir, 0);
    way_open(&stage->way, &stage->bridge, chooser, stage);
    options.user = "aoi";
    OK(dunlin_store_open(&stage->store, temp_file(stage->dir, "device.db"), "aoi", NULL, NULL));
    OK(dunlin_http_remote(&stage->remote, stage->way.web.url, &options, NULL));
}

static void close_stage(struct stage *stage) {
    dunlin_remote_close(stage->remote);
    dunlin_store_close(stage->store);
    way_close(&stage->way);
    bridge_stop(&stage->bridge);
    temp_remove(stage->dir);
}

/* What a fault may look like from here. */
static bool is_expected(enum way_fault fault, dunlin_status status) {
    switch (fault) {
    case WAY_ANSWERS:
        return status == DUNLIN_NOT_OUR_SERVER || status == DUNLIN_OK;
    case WAY_REPEATS:
        return status == DUNLIN_OK; /* asked again at once */
    case WAY_DOUBLES:
    case WAY_DELAYS:
    case WAY_CLEAR:
        return status == DUNLIN_OK;
    default:
        return status == DUNLIN_CONN_CLOSED || status == DUNLIN_NOT_OUR_SERVER ||
               status == DUNLIN_OK;
    }
}

static void make_edits(struct stage *stage, int round) {
    char id[32];
    (void)snprintf(id, sizeof(id), "l%d", round);
    OK(dunlin_list_create(stage->store, NULL, id, "見逃し", NULL));
    for (int i = 0; i < ITEMS; i++) {
        char item[32];
        (void)snprintf(item, sizeof(item), "v%d-%d", round, i);
        OK(dunlin_list_add(stage->store, id, "video", item, NULL, NULL));
    }
    (void)snprintf(id, sizeof(id), "u%d", round);
    OK(dunlin_follow(stage->store, DUNLIN_USER, id, NULL));
    web_settle(&stage->way.web);
}

/* Syncs until it succeeds; returns how often it did not. */
static int sync_until_ok(struct stage *stage) {
    for (int i = 0; i < TRIES_MAX; i++) {
        dunlin_error err = {0};
        dunlin_status status = dunlin_sync(stage->store, stage->remote, NULL, &err);
        if (!is_expected(stage->fault, status)) {
            fail_msg("fault %d: %s: %s", (int)stage->fault, dunlin_status_name(status),
                     err.message);
        }
        if (status == DUNLIN_OK) {
            return i;
        }
    }
    fail_msg("fault %d: not in step after %d tries", (int)stage->fault, TRIES_MAX);
    return TRIES_MAX;
}

/* Nothing is left to send, and the device and central are equal. */
static void assert_in_step(struct stage *stage) {
    dunlin_store_status status = {0};
    dunlin_divergence divergence = {0};
    OK(dunlin_store_get_status(stage->store, &status, NULL));
    assert_int_equal(status.pending, 0);
    assert_int_equal(status.rejected, 0);
    web_settle(&stage->way.web);
    stage->fault_from = stage->fault_until = 0;
    OK(dunlin_verify_remote(stage->store, stage->remote, 0, &divergence, NULL, NULL, NULL));
    assert_int_equal(divergence.differ, 0);
    assert_true(divergence.scopes > 0);
}

/* Every record once: a fresh device sees what there should be. */
static void assert_items(struct stage *stage, int64_t lists, int64_t items) {
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    dunlin_store_status status = {0};
    dunlin_store *fresh = NULL;
    dunlin_remote *remote = NULL;
    options.user = "aoi";
    OK(dunlin_store_open(&fresh, temp_file(stage->dir, "fresh.db"), "aoi", NULL, NULL));
    OK(dunlin_http_remote(&remote, stage->bridge.url, &options, NULL));
    OK(dunlin_sync(fresh, remote, NULL, NULL));
    OK(dunlin_store_get_status(fresh, &status, NULL));
    assert_int_equal(status.lists, lists);
    assert_int_equal(status.items, items);
    dunlin_remote_close(remote);
    dunlin_store_close(fresh);
}

static void every_fault_at_every_request(void **state) {
    (void)state;
    struct stage stage;
    int round = 0, failed = 0;
    open_stage(&stage, choose);
    for (int fault = WAY_CLEAR; fault < WAY_FAULTS; fault++) {
        for (int nth = 0; nth < 3; nth++) {
            make_edits(&stage, round++);
            stage.fault = (enum way_fault)fault;
            stage.way.cut_at = (size_t)(nth * 150);
            stage.fault_from = stage.way.web.requests + 1;
            stage.fault_until = stage.fault_from + 1 + nth; /* one request, two, three in a row */
            stage.fault_until -= fault == WAY_REPEATS && nth == 2; /* three would be given up */
            failed += sync_until_ok(&stage);
            assert_in_step(&stage);
        }
    }
    print_message("%d stories, %d syncs failed, %d requests\n", round, failed,
                  stage.way.web.requests);
    assert_true(failed > 10);
    assert_items(&stage, round, (int64_t)round * ITEMS);
    close_stage(&stage);
}

static enum way_fault at_random(void *payload, int number) {
    struct stage *stage = payload;
    (void)number;
    if (stage->fault == WAY_CLEAR) {
        return WAY_CLEAR;
    }
    stage->way.cut_at = test_random_next(&stage->random) % 600;
    return test_random_next(&stage->random) % 3 == 0
               ? (enum way_fault)(test_random_next(&stage->random) % WAY_FAULTS)
               : WAY_CLEAR;
}

static void many_faults_at_random(void **state) {
    (void)state;
    enum { ROUNDS = 40 };
    struct stage stage;
    open_stage(&stage, at_random);
    stage.random.state = 4711;
    for (int i = 0; i < ROUNDS; i++) {
        make_edits(&stage, i);
        stage.fault = WAY_CUTS_ANSWER; /* not WAY_CLEAR: whatever comes */
        for (int tries = 0; tries < 3; tries++) {
            dunlin_status status = dunlin_sync(stage.store, stage.remote, NULL, NULL);
            assert_true(status == DUNLIN_OK || status == DUNLIN_CONN_CLOSED ||
                        status == DUNLIN_NOT_OUR_SERVER || status == DUNLIN_STALE_REPLY);
        }
    }
    web_settle(&stage.way.web);
    stage.fault = WAY_CLEAR;
    OK(dunlin_sync(stage.store, stage.remote, NULL, NULL));
    assert_in_step(&stage);
    assert_items(&stage, ROUNDS, (int64_t)ROUNDS * ITEMS);
    close_stage(&stage);
}

/* The bridge is killed and started again under the same remote. */
static void killed_bridge(void **state) {
    (void)state;
    struct stage stage;
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    dunlin_remote *direct = NULL;
    open_stage(&stage, choose);
    options.user = "aoi";
    OK(dunlin_http_remote(&direct, stage.bridge.url, &options, NULL));
    for (int i = 0; i < 5; i++) {
        int port = stage.bridge.port;
        make_edits(&stage, i);
        OK(dunlin_sync(stage.store, direct, NULL, NULL));
        bridge_kill(&stage.bridge);
        OK(dunlin_follow(stage.store, DUNLIN_USER, "chika", NULL));
        dunlin_status status = dunlin_sync(stage.store, direct, NULL, NULL);
        assert_int_equal(status, DUNLIN_OFFLINE); /* and only because nothing was sent */
        OK(dunlin_unfollow(stage.store, DUNLIN_USER, "chika", NULL));
        bridge_start(&stage.bridge, stage.dir, port);
    }
    OK(dunlin_sync(stage.store, direct, NULL, NULL));
    assert_in_step(&stage);
    dunlin_remote_close(direct);
    close_stage(&stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_at_every_request),
        cmocka_unit_test(many_faults_at_random),
        cmocka_unit_test(killed_bridge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
