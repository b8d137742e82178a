/* What operators read: the access log's line and the metrics' text. And routes and people, which
 * are as small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/access_log.h"
#include "bridge/metrics.h"
#include "bridge/people.h"
#include "bridge/route.h"

static const struct dln_access plain = {.time_ms = INT64_C(1577836805007),
                                        .id = "0123456789abcdef",
                                        .method = "POST",
                                        .path = "/v1/sync",
                                        .user = "alice",
                                        .http_status = 200,
                                        .bytes_in = 12,
                                        .bytes_out = 345,
                                        .duration_us = 6789};

static void line_is(const struct dln_access *access, const char *expected) {
    struct dln_buf line = DLN_BUF_INIT(8192);
    dln_access_line(&line, access);
    assert_int_equal(line.status, DUNLIN_OK);
    assert_string_equal(line.data, expected);
    dln_buf_free(&line);
}

static void access_lines(void **state) {
    struct dln_access access = plain;
    (void)state;
    line_is(&access, "{\"time\":\"2020-01-01T00:00:05.007Z\",\"request\":\"0123456789abcdef\","
                     "\"method\":\"POST\",\"path\":\"/v1/sync\",\"status\":200,\"user\":\"alice\","
                     "\"bytes_in\":12,\"bytes_out\":345,\"duration_ms\":6.789}\n");
    access.user = "";
    access.code = "NEED_LOGIN";
    access.path = "/\"\n\xff\xc3";
    access.duration_us = 1000005;
    line_is(&access, "{\"time\":\"2020-01-01T00:00:05.007Z\",\"request\":\"0123456789abcdef\","
                     "\"method\":\"POST\",\"path\":\"/\\\"\\n??\",\"status\":200,"
                     "\"code\":\"NEED_LOGIN\",\"bytes_in\":12,\"bytes_out\":345,"
                     "\"duration_ms\":1000.005}\n");
}

static void has(const struct dln_buf *text, const char *line) {
    const char *found = strstr(text->data, line);
    if (found == NULL) {
        fail_msg("there is no line %s", line);
    }
}

static void metrics_text(void **state) {
    static struct dln_metrics metrics;
    const struct dln_gauges gauges = {.pool = {3, 256, 2, 4}, .connections = 17, .listeners = 5};
    struct dln_buf text = DLN_BUF_INIT(64 * 1024);
    (void)state;
    dln_metrics_request(&metrics, DLN_ROUTE_SYNC, 200, 900, 10, 20);
    dln_metrics_request(&metrics, DLN_ROUTE_SYNC, 200, 1000, 10, 20);
    dln_metrics_request(&metrics, DLN_ROUTE_SYNC, 503, 1001, 1, 2);
    dln_metrics_request(&metrics, DLN_ROUTE_SYNC, 418, 99000000, 0, 0);
    dln_metrics_request(&metrics, DLN_ROUTE_LIVE, 200, 99000000, 0, 0);
    dln_metrics_text(&text, &metrics, &gauges);
    assert_int_equal(text.status, DUNLIN_OK);
    has(&text, "\ndunlin_requests_total{path=\"/v1/sync\",status=\"200\"} 2\n");
    has(&text, "\ndunlin_requests_total{path=\"/v1/sync\",status=\"503\"} 1\n");
    has(&text, "\ndunlin_requests_total{path=\"/v1/sync\",status=\"0\"} 1\n");
    has(&text, "\ndunlin_requests_total{path=\"/v1/live\",status=\"200\"} 1\n");
    has(&text, "\ndunlin_request_seconds_bucket{path=\"/v1/sync\",le=\"0.001\"} 2\n");
    has(&text, "\ndunlin_request_seconds_bucket{path=\"/v1/sync\",le=\"0.0025\"} 3\n");
    has(&text, "\ndunlin_request_seconds_bucket{path=\"/v1/sync\",le=\"30\"} 3\n");
    has(&text, "\ndunlin_request_seconds_bucket{path=\"/v1/sync\",le=\"+Inf\"} 4\n");
    has(&text, "\ndunlin_request_seconds_sum{path=\"/v1/sync\"} 99.002901\n");
    has(&text, "\ndunlin_request_seconds_count{path=\"/v1/sync\"} 4\n");
    has(&text, "\ndunlin_received_bytes_total 21\n");
    has(&text, "\ndunlin_queue_jobs 3\n");
    has(&text, "\ndunlin_pool_busy 2\n");
    has(&text, "\ndunlin_connections 17\n");
    has(&text, "\ndunlin_listeners 5\n");
    assert_null(strstr(text.data, "request_seconds_bucket{path=\"/v1/live\""));
    for (const char *at = text.data; *at != '\0'; at = strchr(at, '\n') + 1) {
        assert_true(strncmp(at, "dunlin_", 7) == 0 || strncmp(at, "# HELP dunlin_", 14) == 0 ||
                    strncmp(at, "# TYPE dunlin_", 14) == 0);
    }
    dln_buf_free(&text);
}

static void routes(void **state) {
    (void)state;
    assert_int_equal(dln_route_find(NULL, "/v1/sync"), DLN_ROUTE_SYNC);
    assert_int_equal(dln_route_find(NULL, "/"), DLN_ROUTE_PAGE);
    assert_int_equal(dln_route_find(NULL, "/v1/sync/"), DLN_ROUTE_NONE);
    assert_int_equal(dln_route_find(NULL, "/v1/syn"), DLN_ROUTE_NONE);
    assert_int_equal(dln_route_find(NULL, ""), DLN_ROUTE_NONE);
    assert_int_equal(dln_route_find("/a", "/a/v1/live"), DLN_ROUTE_LIVE);
    assert_int_equal(dln_route_find("/a", "/v1/live"), DLN_ROUTE_NONE);
    assert_int_equal(dln_route_find("/a", "/av1/live"), DLN_ROUTE_NONE);
    assert_true(dln_route_allows(DLN_ROUTE_HEALTH, "GET"));
    assert_true(dln_route_allows(DLN_ROUTE_HEALTH, "HEAD"));
    assert_false(dln_route_allows(DLN_ROUTE_HEALTH, "POST"));
    assert_false(dln_route_allows(DLN_ROUTE_HEALTH, "EAD"));
    assert_false(dln_route_allows(DLN_ROUTE_HEALTH, "GE"));
    assert_false(dln_route_allows(DLN_ROUTE_HEALTH, "GET, HEAD, X"));
    assert_false(dln_route_allows(DLN_ROUTE_HEALTH, ""));
    assert_false(dln_route_allows(DLN_ROUTE_SYNC, "GET"));
}

static void people(void **state) {
    static struct dln_people all;
    (void)state;
    dln_people_init(&all);
    assert_true(dln_people_enter(&all, "alice", DLN_PRESENCE_REQUEST, 2));
    assert_true(dln_people_enter(&all, "alice", DLN_PRESENCE_REQUEST, 2));
    assert_false(dln_people_enter(&all, "alice", DLN_PRESENCE_REQUEST, 2));
    assert_true(dln_people_enter(&all, "alice", DLN_PRESENCE_LISTENER, 1));
    assert_false(dln_people_enter(&all, "alice", DLN_PRESENCE_LISTENER, 1));
    assert_true(dln_people_enter(&all, "bob", DLN_PRESENCE_REQUEST, 2));
    dln_people_leave(&all, "alice", DLN_PRESENCE_REQUEST);
    assert_true(dln_people_enter(&all, "alice", DLN_PRESENCE_REQUEST, 2));
    dln_people_leave(&all, "alice", DLN_PRESENCE_REQUEST);
    dln_people_leave(&all, "alice", DLN_PRESENCE_REQUEST);
    dln_people_leave(&all, "alice", DLN_PRESENCE_LISTENER);
    dln_people_leave(&all, "bob", DLN_PRESENCE_REQUEST);
    for (size_t i = 0; i < DLN_PEOPLE_BUCKETS; i++) {
        assert_null(all.buckets[i]);
    }
    dln_people_free(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(access_lines),
                                       cmocka_unit_test(metrics_text), cmocka_unit_test(routes),
                                       cmocka_unit_test(people)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
