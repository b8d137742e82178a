/* What happens when the server, or the way to it, fails in the middle. The server is made to fail
 * by its own fail points, where it has them; else the test leaves itself out. */
/* ctest: labels=mongo serial */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/mongo.h"
#include "tests/support/shared_side.h"

#define AOI "user/aoi"

static struct shared shared;

/* Servers that do not tell of an election by themselves are asked twice a second. */
static void look_often(struct shared *opened) {
    size_t size = strlen(opened->url) + 64;
    char *url = malloc(size);
    assert_non_null(url);
    (void)snprintf(url, size, "%s%cheartbeatFrequencyMS=500", opened->url,
                   strchr(opened->url, '?') != NULL ? '&' : '?');
    free(opened->url);
    opened->url = url;
    shared_reopen(opened);
}

static int set_up(void **state) {
    (void)state;
    (void)setenv("DUNLIN_TEST_ENGINE", "mongo", 1);
    shared_open(&shared, NULL);
    look_often(&shared);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    (void)mongo_try(shared.url, true,
                    "{\"configureFailPoint\": \"failCommand\", \"mode\": \"off\"}");
    shared_close(&shared);
    return 0;
}

/* The next `times` commands of that name fail. */
static void fail_command(const char *command, int times, const char *how) {
    char json[512];
    (void)snprintf(json, sizeof(json),
                   "{\"configureFailPoint\": \"failCommand\", \"mode\": {\"times\": %d},"
                   " \"data\": {\"failCommands\": [\"%s\"], %s}}",
                   times, command, how);
    if (!mongo_try(shared.url, true, json)) {
        skip(); /* this server has no fail points */
    }
}

static void fill_push(const char *key) {
    shared_begin(&shared);
    shared_ask(&shared, AOI)->pull = false;
    (void)shared_record(&shared, AOI, key);
    shared_set(&shared, "present", shared_stamp(&shared, 0), "true");
}

static void assert_pushes(const char *key) {
    fill_push(key);
    shared_send(&shared, "aoi");
    assert_true(shared_ack(&shared, 0) > 0);
}

static void reads_outlive_a_failover(void **state) {
    (void)state;
    static const char *const ways[] = {"\"errorCode\": 10107", "\"errorCode\": 11602",
                                       "\"closeConnection\": true"};
    char key[32];
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        (void)snprintf(key, sizeof(key), "follow/user/u%zu", i);
        fail_command("find", 2, ways[i]);
        assert_pushes(key);
        assert_int_equal(shared_last(&shared, AOI), (int64_t)i + 1);
    }
}

static void hints_outlive_a_failover(void **state) {
    (void)state;
    fail_command("update", 2, "\"errorCode\": 10107");
    assert_pushes("follow/user/ben");
    fail_command("update", 1, "\"closeConnection\": true");
    assert_pushes("follow/user/chika");
    assert_int_equal(shared_last(&shared, AOI), 2);
}

/* An insert is never sent again by itself: whoever pushes starts over. */
static void insert_that_fails_is_left_to_the_caller(void **state) {
    (void)state;
    static const char *const ways[] = {"\"errorCode\": 10107", "\"closeConnection\": true"};
    char key[32];
    assert_pushes("follow/user/first");
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        (void)snprintf(key, sizeof(key), "follow/user/u%zu", i);
        fill_push(key);
        fail_command("insert", 1, ways[i]);
        mongo_listen();
        assert_int_equal(shared_try(&shared, "aoi"), DUNLIN_UNAVAILABLE);
        const char *insert = strstr(mongo_heard_text(), "insert changes");
        assert_non_null(insert);
        assert_null(strstr(insert + 1, "insert changes"));
        assert_pushes(key);
        assert_int_equal(shared_last(&shared, AOI), (int64_t)i + 2);
    }
}

/* A majority did not get it in time: it may be there, or not. */
static void insert_without_a_majority_is_not_acknowledged(void **state) {
    (void)state;
    assert_pushes("follow/user/first");
    fill_push("follow/user/ben");
    fail_command("insert", 1,
                 "\"writeConcernError\": {\"code\": 64, \"errmsg\": \"waited in vain\"}");
    assert_int_equal(shared_try(&shared, "aoi"), DUNLIN_UNAVAILABLE);
    assert_pushes("follow/user/ben");
    assert_int_equal(shared_last(&shared, AOI), 2);
    assert_int_equal(shared_versions(&shared, AOI), 2);
}

static void refusal_by_the_server_says_why(void **state) {
    (void)state;
    dunlin_error err = {0};
    struct dln_cursor last;
    struct dln_central_engine *engine = &shared.central->engine;
    fail_command("find", 1, "\"errorCode\": 13");
    assert_int_equal(engine->last(engine->self, DLN_TEXT(AOI), &last, &err), DUNLIN_UNAVAILABLE);
    assert_true(strncmp(err.message, "MongoDB: ", 9) == 0);
    fail_command("update", 1, "\"errorCode\": 14031");
    assert_int_equal(engine->raise_floor(engine->self, DLN_TEXT(AOI), 1, &err), DUNLIN_DISK_FULL);
}

/* What is missing is said when connecting, and named. */
static void b70_what_is_missing_is_named(void **state) {
    (void)state;
    static const struct {
        const char *command;
        const char *how;
        dunlin_status status;
        const char *named;
    } lacks[] = {
        {"createIndexes", "\"errorCode\": 59", DUNLIN_UNSUPPORTED, "lacks indexes"},
        {"insert", "\"errorCode\": 72", DUNLIN_UNSUPPORTED, "lacks journaled"},
        {"find", "\"errorCode\": 148", DUNLIN_UNSUPPORTED, "lacks majority reads"},
        {"insert", "\"errorCode\": 13", DUNLIN_NOT_ALLOWED, "MongoDB: "},
        {"insert", "\"errorCode\": 10107", DUNLIN_UNAVAILABLE, "MongoDB: "},
    };
    for (size_t i = 0; i < sizeof(lacks) / sizeof(*lacks); i++) {
        struct dln_mongo *mongo = NULL;
        dunlin_error err = {0};
        fail_command(lacks[i].command, 1, lacks[i].how);
        assert_int_equal(dln_mongo_connect(&mongo, shared.url, &err), lacks[i].status);
        assert_null(mongo);
        if (strstr(err.message, lacks[i].named) == NULL) {
            fail_msg("%s does not say %s", err.message, lacks[i].named);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_outlive_a_failover, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hints_outlive_a_failover, set_up, tear_down),
        cmocka_unit_test_setup_teardown(insert_that_fails_is_left_to_the_caller, set_up, tear_down),
        cmocka_unit_test_setup_teardown(insert_without_a_majority_is_not_acknowledged, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(refusal_by_the_server_says_why, set_up, tear_down),
        cmocka_unit_test_setup_teardown(b70_what_is_missing_is_named, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
