/* Connecting: what an url may say, what of it is overruled, and a deployment without sessions. */
/* ctest: labels=mongo */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <dunlin/mongo.h>

#include "tests/support/mongo.h"
#include "tests/support/shared_side.h"

#define AOI "user/aoi"

static char *url;

static int set_up(void **state) {
    (void)state;
    (void)setenv("DUNLIN_TEST_ENGINE", "mongo", 1);
    url = mongo_new();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    mongo_drop(url);
    return 0;
}

static void bad_urls(void **state) {
    (void)state;
    static const struct {
        const char *url;
        dunlin_status status;
    } bad[] = {
        {"", DUNLIN_UNSUPPORTED},
        {"http://127.0.0.1/db", DUNLIN_UNSUPPORTED},
        {"mongodb:/127.0.0.1/db", DUNLIN_UNSUPPORTED},
        {"mongodb://", DUNLIN_MISUSE},
        {"mongodb://127.0.0.1", DUNLIN_MISUSE},
        {"mongodb://127.0.0.1/", DUNLIN_MISUSE},
        {"mongodb://127.0.0.1/?ssl=true", DUNLIN_MISUSE},
        {"mongodb://127.0.0.1:0/db", DUNLIN_MISUSE},
        {"mongodb://127.0.0.1/a\xff", DUNLIN_INVALID_TEXT},
        {"mongodb://127.0.0.1:1/db?serverSelectionTimeoutMS=50", DUNLIN_OFFLINE},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct dln_mongo *mongo = NULL;
        dunlin_error err = {0};
        dunlin_status status = dln_mongo_connect(&mongo, bad[i].url, &err);
        if (status != bad[i].status) {
            fail_msg("%s: %s: %s", bad[i].url, dunlin_status_name(status), err.message);
        }
        assert_null(mongo);
        assert_int_equal(err.code, bad[i].status);
        assert_true(err.message[0] != '\0');
    }
}

static void password_stands_in_no_message(void **state) {
    (void)state;
    static const char *const urls[] = {
        "mongodb://aoi:geheim@127.0.0.1:1/db?serverSelectionTimeoutMS=50",
        "mongodb://aoi:geheim@127.0.0.1:1/", "mongodb://aoi:geheim@/db",
        "mongodb://aoi:geheim@127.0.0.1/db?authMechanism=NONE"};
    for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
        struct dln_mongo *mongo = NULL;
        dunlin_error err = {0};
        assert_int_not_equal(dln_mongo_connect(&mongo, urls[i], &err), DUNLIN_OK);
        assert_null(strstr(err.message, "geheim"));
    }
}

/* The kernel takes the connection; nobody reads from it. */
static void silent_server_is_given_up(void **state) {
    (void)state;
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    char silent[128];
    (void)snprintf(silent, sizeof(silent),
                   "mongodb://127.0.0.1:%d/db?connectTimeoutMS=200&serverSelectionTimeoutMS=400",
                   ntohs(address.sin_port));
    struct dln_mongo *mongo = NULL;
    dunlin_error err = {0};
    assert_int_equal(dln_mongo_connect(&mongo, silent, &err), DUNLIN_OFFLINE);
    assert_null(mongo);
    (void)close(fd);
}

static void remote_connects(void **state) {
    (void)state;
    dunlin_remote *remote = NULL;
    dunlin_error err = {0};
    assert_int_equal(dunlin_mongo_remote(&remote, url, "aoi", NULL, &err), DUNLIN_OK);
    dunlin_remote_close(remote);
}

/* Reading from secondaries, retries by the driver, endless time-outs: nothing of it is obeyed. */
static void dangerous_options_are_overruled(void **state) {
    (void)state;
    char wild[1024];
    (void)snprintf(wild, sizeof(wild),
                   "%s%creadPreference=secondary&retryWrites=true&retryReads=true&w=1&"
                   "readConcernLevel=local&socketTimeoutMS=3600000&serverSelectionTimeoutMS=90000",
                   url, strchr(url, '?') != NULL ? '&' : '?');
    struct dln_mongo *mongo = mongo_connect(wild);
    mongoc_client_t *client = mongoc_client_pool_pop(mongo->pool);
    const mongoc_uri_t *uri = mongoc_client_get_uri(client);
    assert_int_equal(mongoc_read_prefs_get_mode(mongoc_client_get_read_prefs(client)),
                     MONGOC_READ_PRIMARY);
    assert_false(mongoc_uri_get_option_as_bool(uri, MONGOC_URI_RETRYWRITES, true));
    assert_false(mongoc_uri_get_option_as_bool(uri, MONGOC_URI_RETRYREADS, true));
    assert_true(mongoc_uri_get_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS, 0) <=
                DLN_MONGO_SOCKET_MS);
    assert_true(mongoc_uri_get_option_as_int32(uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS, 0) <=
                DLN_MONGO_SELECT_MS);
    mongoc_client_pool_push(mongo->pool, client);
    dln_mongo_close(mongo);
}

static void name_of_a_database_may_be_any_text(void **state) {
    (void)state;
    char odd[1024];
    size_t end = strcspn(url, "?");
    (void)snprintf(odd, sizeof(odd), "%.*s_\xe3\x83\x93%%E3%%83%%87%%E3%%82%%AA%s", (int)end, url,
                   url + end);
    struct dln_mongo *mongo = mongo_connect(odd);
    assert_non_null(strstr(mongo->database, "_\xe3\x83\x93\xe3\x83\x87\xe3\x82\xaa"));
    dln_mongo_close(mongo);
    mongo_drop(strdup(odd));
}

static void newer_schema_is_left_alone(void **state) {
    (void)state;
    struct dln_mongo *mongo = mongo_connect(url);
    dln_mongo_close(mongo);
    assert_true(mongo_try(url, false,
                          "{\"update\": \"scopes\", \"updates\": [{\"q\": {\"_id\": \"schema\"},"
                          " \"u\": {\"$set\": {\"version\": 2}}}]}"));
    dunlin_error err = {0};
    assert_int_equal(dln_mongo_connect(&mongo, url, &err), DUNLIN_NEWER_SCHEMA);
}

/* The server's time, not this machine's. */
static void clock_is_the_servers(void **state) {
    (void)state;
    dunlin_central *central = mongo_central(url, NULL);
    int64_t now_ms = 0;
    struct timespec here = {0};
    assert_int_equal(central->engine.now(central->engine.self, &now_ms, NULL), DUNLIN_OK);
    (void)clock_gettime(CLOCK_REALTIME, &here); /* the tests' server runs on this machine */
    int64_t off_ms = now_ms - (int64_t)here.tv_sec * 1000;
    assert_true(off_ms > -60000 && off_ms < 60000);
    dunlin_central_close(central);
}

/* As a single server says of itself: no sessions, no majority. */
static void deployment_without_sessions(void **state) {
    (void)state;
    dunlin_central *central = NULL;
    struct dln_mongo *mongo = mongo_connect(url);
    mongo->sessions = false;
    mongo->majority = false;
    mongo_ear_mine = true; /* it knows better what the server is */
    assert_int_equal(dln_mongo_central(mongo, &central, NULL, NULL), DUNLIN_OK);
    struct dln_central_engine *engine = &central->engine;
    struct dln_record record = {.key = {.collection = dln_collection_by_id(DLN_FOLLOW)}};
    record.key.name = DLN_TEXT("follow");
    record.fields[DLN_FOLLOW_PRESENT] = (struct dln_field){1, dln_value_bool(true)};
    struct dln_entry entries[] = {{7, DLN_TEXT("follow/user/ben"), &record},
                                  {8, DLN_TEXT("follow/user/chika"), &record}};
    struct dln_cursor last;
    size_t inserted = 0;
    for (int i = 0; i < 2; i++) { /* the second time both slots are taken */
        assert_int_equal(
            engine->insert(engine->self, DLN_TEXT(AOI), 0, entries, 2, INT64_MAX, &inserted, NULL),
            DUNLIN_OK);
        assert_int_equal(inserted, i == 0 ? 2 : 0);
    }
    assert_int_equal(engine->settle(engine->self, NULL), DUNLIN_OK);
    assert_int_equal(engine->last(engine->self, DLN_TEXT(AOI), &last, NULL), DUNLIN_OK);
    assert_int_equal(last.seq, 2);
    assert_int_equal(last.salt, 8);
    dunlin_central_close(central);
    mongo_ear_mine = false;
    dln_mongo_close(mongo);
}

/* Whoever is last takes the pool along. */
static void centrals_outlive_their_deployment(void **state) {
    (void)state;
    enum { CENTRALS = 3 };
    dunlin_central *centrals[CENTRALS] = {NULL};
    struct dln_mongo *mongo = mongo_connect(url);
    struct dln_cursor last;
    for (int i = 0; i < CENTRALS; i++) {
        assert_int_equal(dln_mongo_central(mongo, &centrals[i], NULL, NULL), DUNLIN_OK);
    }
    dln_mongo_close(mongo);
    for (int i = 0; i < CENTRALS; i++) {
        struct dln_central_engine *engine = &centrals[i]->engine;
        assert_int_equal(engine->last(engine->self, DLN_TEXT(AOI), &last, NULL), DUNLIN_OK);
        dunlin_central_close(centrals[i]);
    }
}

static void pool_that_is_empty_says_so(void **state) {
    (void)state;
    char small[1024];
    dunlin_central *first = NULL;
    dunlin_central *second = NULL;
    dunlin_error err = {0};
    (void)snprintf(small, sizeof(small), "%s%cmaxPoolSize=1&waitQueueTimeoutMS=50", url,
                   strchr(url, '?') != NULL ? '&' : '?');
    struct dln_mongo *mongo = mongo_connect(small);
    assert_int_equal(dln_mongo_central(mongo, &first, NULL, NULL), DUNLIN_OK);
    assert_int_equal(dln_mongo_central(mongo, &second, NULL, &err), DUNLIN_UNAVAILABLE);
    assert_null(second);
    assert_non_null(strstr(err.message, "maxPoolSize"));
    dunlin_central_close(first);
    assert_int_equal(dln_mongo_central(mongo, &second, NULL, NULL), DUNLIN_OK);
    dunlin_central_close(second);
    dln_mongo_close(mongo);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bad_urls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(password_stands_in_no_message, set_up, tear_down),
        cmocka_unit_test(silent_server_is_given_up),
        cmocka_unit_test_setup_teardown(remote_connects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dangerous_options_are_overruled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(name_of_a_database_may_be_any_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(newer_schema_is_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(clock_is_the_servers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deployment_without_sessions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(centrals_outlive_their_deployment, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pool_that_is_empty_says_so, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
