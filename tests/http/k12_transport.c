/* K12 over real sockets: is this really our server's whole answer? B55, B58; B57 and B60 are next
 * door.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "tests/support/sight.h"
#include "tests/support/told.h"

/* ---- B55 */

static void b55_login_page(void **state) {
    (void)state;
    told_says(200, WEB_HTML, "<html><form action=/login>…</form></html>");
    told_comes_to("NOT_OUR_SERVER");
    told_says(403, WEB_HTML, "<html>sign in</html>");
    told_comes_to("NOT_OUR_SERVER");
    told_says(511, WEB_HTML, "<html>sign in</html>");
    told_comes_to("NOT_OUR_SERVER");
    told_heals();
}

static void b55_empty_objects(void **state) {
    (void)state;
    static const char json[] = "Content-Type: application/json\r\n";
    static const char *const bodies[] = {"{}", "[]",   "{}\n",
                                         "",   "null", "{\"dunlin\":1}\n{\"end\":0}\n"};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        told_says(200, json, bodies[i]);
        told_comes_to("NOT_OUR_SERVER");
        told_says(200, WEB_OURS, bodies[i]); /* even if it calls itself ours */
        told_comes_to("NOT_OUR_SERVER");
        told_says(200, "Content-Type: application/x-ndjson\r\n", bodies[i]);
        told_comes_to("NOT_OUR_SERVER");
    }
    told_heals();
}

static void b55_other_server(void **state) {
    (void)state;
    static const int statuses[] = {204, 206, 400, 404, 405, 409, 410, 418, 304};
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        told_says(statuses[i], WEB_HTML,
                  statuses[i] == 204 || statuses[i] == 304 ? "" : "<p>no</p>");
        told_comes_to("NOT_OUR_SERVER");
    }
    told_heals();
}

static bool speaks_nonsense(struct hub *self, const struct web_request *request,
                            struct web_client *client, bool *keep) {
    (void)self;
    (void)request;
    (void)web_send(client, "SSH-2.0-OpenSSH_9.2\r\n", 21);
    *keep = false;
    return true;
}

static void b55_no_http(void **state) {
    (void)state;
    told.hub.before = speaks_nonsense;
    told_comes_to("NOT_OUR_SERVER");
    told.hub.before = told_before;
    told_heals();
}

/* A cut body: half of what the length says; half of the lines under the right length. */
static bool half_as_whole;

static bool cuts(struct hub *self, const struct web_request *request, struct web_client *client,
                 bool *keep) {
    struct dln_buf answer = DLN_BUF_INIT(1024 * 1024);
    char head[256];
    hub_exchange(self, request, &answer);
    int len =
        snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\n" WEB_OURS "Content-Length: %zu\r\n\r\n",
                 half_as_whole ? answer.len / 2 : answer.len);
    (void)web_send(client, head, (size_t)len);
    (void)web_send(client, answer.data, answer.len / 2);
    dln_buf_free(&answer);
    *keep = false;
    return true;
}

static void b55_cut_answer(void **state) {
    (void)state;
    told.hub.before = cuts;
    half_as_whole = false;
    told_comes_to("CONN_CLOSED");
    half_as_whole = true;
    told_comes_to("NOT_OUR_SERVER");
    told.hub.before = told_before;
    told_heals();
}

static bool stalls(struct hub *self, const struct web_request *request, struct web_client *client,
                   bool *keep) {
    (void)self;
    (void)request;
    (void)web_send(client, "HTTP/1.1 200 OK\r\n", 17);
    web_pause(client, 5000);
    *keep = false;
    return true;
}

/* Neither an end nor a byte: the exchange is given up. */
static void b55_stalled_answer(void **state) {
    (void)state;
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    time_t start = time(NULL);
    options.stall_timeout_ms = 400;
    dunlin_remote_close(told.remote);
    told.remote = hub_remote(&told.hub, "aoi", &options);
    told.hub.before = stalls;
    told_comes_to("CONN_CLOSED");
    assert_true(time(NULL) - start < 4);
    told.hub.before = told_before;
    told_heals();
}

/* ---- B58 */

static char location[4096];

static void points_to(int status, const char *url) {
    (void)snprintf(location, sizeof(location), "Location: %s\r\n" WEB_HTML, url);
    told_says(status, location, "<p>over there</p>");
}

static void b58_method_would_change(void **state) {
    (void)state;
    static const int statuses[] = {300, 301, 302, 303};
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        points_to(statuses[i], "/v1/sync");
        told_comes_to("REDIRECTED");
        assert_int_equal(told.answered, 1);
    }
    told_heals();
}

static void b58_same_origin_is_followed(void **state) {
    (void)state;
    static const int statuses[] = {307, 308};
    char absolute[128];
    (void)snprintf(absolute, sizeof(absolute), "%s/elsewhere/v1/sync", told.hub.web.url);
    const char *const targets[] = {absolute, "/elsewhere/v1/sync"};
    for (int i = 0; i < 2; i++) {
        dunlin_sync_result result;
        int exchanges = told.hub.exchanges;
        points_to(statuses[i], targets[i]);
        told.times = 1;
        OK(dunlin_sync(told.device->store, told.remote, &result, NULL));
        assert_int_equal(result.pushed, 1);
        assert_int_equal(told.hub.exchanges, exchanges + 1); /* applied once */
        assert_true(told.last_len[0] > 0);
        assert_int_equal(told.last_len[0], told.last_len[1]);
        assert_memory_equal(told.last_body[0], told.last_body[1], told.last_len[0]);
        OK(dunlin_follow(told.device->store, DUNLIN_USER, i == 0 ? "chika" : "dai", NULL));
    }
    told_heals();
}

static int strangers;       /* requests that reached the other host */
static bool stranger_knows; /* one of them brought a token */

static bool stranger(void *payload, const struct web_request *request, struct web_client *client) {
    (void)payload;
    strangers++;
    stranger_knows = stranger_knows || web_header(request, "Authorization") != NULL;
    return web_reply_text(client, 200, WEB_OURS, "{}");
}

static dunlin_status give_token(void *payload, int renew,
                                void (*take)(void *taker, const char *token), void *taker) {
    (void)payload;
    (void)renew;
    take(taker, "secret-token");
    return DUNLIN_OK;
}

static void b58_other_host_gets_nothing(void **state) {
    (void)state;
    static const char *const elsewhere[] = {"http://user:pass@127.0.0.1:1/v1/sync",
                                            "https://127.0.0.1/v1/sync",
                                            "ftp://127.0.0.1/v1/sync",
                                            "file:///etc/passwd",
                                            "//localhost/v1/sync",
                                            ""};
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    struct web other;
    char url[128];
    strangers = 0;
    stranger_knows = false;
    options.token = give_token;
    dunlin_remote_close(told.remote);
    told.remote = hub_remote(&told.hub, NULL, &options);
    web_start(&other, stranger, NULL);
    (void)snprintf(url, sizeof(url), "%s/v1/sync", other.url);
    for (int status = 307; status <= 308; status++) {
        points_to(status, url);
        told_comes_to("REDIRECTED");
        assert_string_equal(told.authorization, "Bearer secret-token");
        assert_int_equal(told.answered, 1);
        for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
            points_to(status, elsewhere[i]);
            told_comes_to("REDIRECTED");
        }
    }
    points_to(302, url);
    told_comes_to("REDIRECTED");
    web_stop(&other);
    assert_int_equal(strangers, 0);
    assert_false(stranger_knows);
    told_heals();
}

static void b58_loop_ends(void **state) {
    (void)state;
    points_to(307, "/v1/sync");
    told_comes_to("REDIRECTED");
    assert_int_equal(told.answered, 6); /* the request, and 5 times more */
    told_heals();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, told_setup, told_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b55_login_page),
        TEST(b55_empty_objects),
        TEST(b55_other_server),
        TEST(b55_no_http),
        TEST(b55_cut_answer),
        TEST(b55_stalled_answer),
        TEST(b58_method_would_change),
        TEST(b58_same_origin_is_followed),
        TEST(b58_other_host_gets_nothing),
        TEST(b58_loop_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
