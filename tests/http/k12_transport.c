/* K12 over real sockets: is this really our server's whole answer? B55, B57, B58, B60. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "client/http/unpack.h"
#include "tests/support/hub.h"
#include "tests/support/sight.h"

static struct world world;
static struct device *device;
static struct hub hub;
static dunlin_remote *remote;

/* What the server answers to every request, until the script is taken away. */
struct script {
    int status;
    const char *headers;
    const char *body;
    size_t body_len;
    int times; /* so often; 0: always */
    int answered;
    char last_body[2][4096]; /* of requests, the newest first */
    size_t last_len[2];
    char authorization[128]; /* of the last request that had one */
};

static struct script script;

static void note(const struct web_request *request) {
    const char *found = web_header(request, "Authorization");
    memcpy(script.last_body[1], script.last_body[0], sizeof(script.last_body[0]));
    script.last_len[1] = script.last_len[0];
    script.last_len[0] = request->body_len < 4096 ? request->body_len : 4096;
    memcpy(script.last_body[0], request->body, script.last_len[0]);
    if (found) {
        (void)snprintf(script.authorization, sizeof(script.authorization), "%s", found);
    }
}

static bool by_script(struct hub *self, const struct web_request *request,
                      struct web_client *client, bool *keep) {
    (void)self;
    note(request);
    if (script.status == 0 || (script.times > 0 && script.answered >= script.times)) {
        return false;
    }
    script.answered++;
    *keep = web_reply(client, script.status, script.headers, script.body,
                      script.body_len ? script.body_len : strlen(script.body));
    return true;
}

static int set_up(void **state) {
    (void)state;
    world_open(&world, 12, NULL);
    device = world_device(&world, "aoi", 0);
    hub_start(&hub, &world, NULL);
    hub.before = by_script;
    script = (struct script){0};
    remote = hub_remote(&hub, "aoi", NULL);
    OK(dunlin_sync(device->store, remote, NULL, NULL));
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    dunlin_remote_close(remote);
    hub_stop(&hub);
    world_close(&world);
    return 0;
}

static void answers(int status, const char *headers, const char *body) {
    script = (struct script){.status = status, .headers = headers, .body = body};
}

/* The sync gives that status and changes nothing; without the script, the next one is complete. */
static void comes_to(const char *expected) {
    dunlin_sync_result result;
    dunlin_error err = {0};
    char *before = device_dump(device);
    dunlin_status status = dunlin_sync(device->store, remote, &result, &err);
    if (strcmp(dunlin_status_name(status), expected) != 0) {
        fail_msg("%s instead of %s: %s", dunlin_status_name(status), expected, err.message);
    }
    assert_int_equal(err.code, status);
    assert_true(*err.message != '\0');
    assert_int_equal(result.pushed, 0);
    assert_int_equal(result.rejected, 0);
    assert_true(result.retry_at_ms >= world.now_ms);
    assert_int_equal(device_pending(device), 1);
    char *after = device_dump(device);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void heals(void) {
    dunlin_sync_result result;
    script.status = 0;
    OK(dunlin_sync(device->store, remote, &result, NULL));
    assert_int_equal(result.pushed, 1);
    assert_int_equal(device_pending(device), 0);
    sight_agree(&device, 1);
}

/* ---- B55 */

static void b55_login_page(void **state) {
    (void)state;
    answers(200, WEB_HTML, "<html><form action=/login>…</form></html>");
    comes_to("NOT_OUR_SERVER");
    answers(403, WEB_HTML, "<html>sign in</html>");
    comes_to("NOT_OUR_SERVER");
    answers(511, WEB_HTML, "<html>sign in</html>");
    comes_to("NOT_OUR_SERVER");
    heals();
}

static void b55_empty_objects(void **state) {
    (void)state;
    static const char json[] = "Content-Type: application/json\r\n";
    static const char *const bodies[] = {"{}", "[]",   "{}\n",
                                         "",   "null", "{\"dunlin\":1}\n{\"end\":0}\n"};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        answers(200, json, bodies[i]);
        comes_to("NOT_OUR_SERVER");
        answers(200, WEB_OURS, bodies[i]); /* even if it calls itself ours */
        comes_to("NOT_OUR_SERVER");
        answers(200, "Content-Type: application/x-ndjson\r\n", bodies[i]);
        comes_to("NOT_OUR_SERVER");
    }
    heals();
}

static void b55_other_server(void **state) {
    (void)state;
    static const int statuses[] = {204, 206, 400, 404, 405, 409, 410, 418, 304};
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        answers(statuses[i], WEB_HTML, statuses[i] == 204 || statuses[i] == 304 ? "" : "<p>no</p>");
        comes_to("NOT_OUR_SERVER");
    }
    heals();
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
    hub.before = speaks_nonsense;
    comes_to("NOT_OUR_SERVER");
    hub.before = by_script;
    heals();
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
    hub.before = cuts;
    half_as_whole = false;
    comes_to("CONN_CLOSED");
    half_as_whole = true;
    comes_to("NOT_OUR_SERVER");
    hub.before = by_script;
    heals();
}

/* ---- B57 */

enum { BOMB_BYTES = 64 * 1024 * 1024, CEILING = 8 * 1024 * 1024, SLACK = 64 * 1024 };

static void make_bomb(struct dln_buf *out) {
    char *zeros = calloc(1, BOMB_BYTES);
    assert_non_null(zeros);
    assert_int_equal(dln_pack(out, zeros, BOMB_BYTES, NULL), DUNLIN_OK);
    free(zeros);
}

static size_t taken;

static dunlin_status counts_up_to_ceiling(void *self, const void *data, size_t len) {
    (void)self;
    (void)data;
    taken += len;
    return taken > CEILING ? DUNLIN_TOO_LARGE : DUNLIN_OK;
}

static void b57_bomb_is_stopped(void **state) {
    (void)state;
    struct dln_buf bomb = DLN_BUF_INIT(CEILING);
    const dunlin_sink sink = {NULL, counts_up_to_ceiling};
    int64_t retry_after_ms = 0;
    make_bomb(&bomb);
    assert_true(bomb.len < 512 * 1024);
    answers(200, WEB_OURS "Content-Encoding: gzip\r\n", bomb.data);
    script.body_len = bomb.len;
    taken = 0;
    REFUSED("TOO_LARGE",
            remote->exchange(remote->self, "sync", "{}\n", 3, &sink, &retry_after_ms, NULL));
    print_message("%zu bytes gzip, stopped after %zu\n", bomb.len, taken);
    assert_true(taken > CEILING && taken <= CEILING + SLACK);
    dln_buf_free(&bomb);
    script.status = 0;
}

static long resident_kib(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static void b57_memory_stays(void **state) {
    (void)state;
    struct dln_buf bomb = DLN_BUF_INIT(CEILING);
    dunlin_sync_result result;
    make_bomb(&bomb);
    long before_kib = resident_kib(); /* its greatest so far, the making of the bomb included */
    answers(200, WEB_OURS "Content-Encoding: gzip\r\n", bomb.data);
    script.body_len = bomb.len;
    REFUSED("TOO_LARGE", dunlin_sync(device->store, remote, &result, NULL));
    long grown_kib = resident_kib() - before_kib;
    print_message("grew by %ld KiB in %llu requests\n", grown_kib,
                  (unsigned long long)result.exchanges);
    assert_true(grown_kib < 16 * 1024);
    assert_int_equal(device_pending(device), 1);
    dln_buf_free(&bomb);
    heals();
}

/* The page was too large for us: a smaller one is asked for at once, and fits. */
static void b57_smaller_page_is_asked_for(void **state) {
    (void)state;
    struct dln_buf bomb = DLN_BUF_INIT(CEILING);
    dunlin_sync_result result;
    make_bomb(&bomb);
    answers(200, WEB_OURS "Content-Encoding: gzip\r\n", bomb.data);
    script.body_len = bomb.len;
    script.times = 2;
    OK(dunlin_sync(device->store, remote, &result, NULL));
    assert_true(strstr(script.last_body[0], "\"page\":250") != NULL);
    assert_int_equal(result.pushed, 1);
    dln_buf_free(&bomb);
    script.status = 0;
    sight_agree(&device, 1);
}

static void b57_gzip_in_gzip(void **state) {
    (void)state;
    struct dln_buf inner = DLN_BUF_INIT(CEILING), outer = DLN_BUF_INIT(CEILING);
    make_bomb(&inner);
    assert_int_equal(dln_pack(&outer, inner.data, inner.len, NULL), DUNLIN_OK);
    answers(200, WEB_OURS "Content-Encoding: gzip\r\n", outer.data);
    script.body_len = outer.len;
    comes_to("NOT_OUR_SERVER");
    answers(200, WEB_OURS "Content-Encoding: gzip, gzip\r\n", outer.data);
    script.body_len = outer.len;
    comes_to("NOT_OUR_SERVER");
    answers(200, WEB_OURS "Content-Encoding: br\r\n", "x");
    comes_to("NOT_OUR_SERVER");
    dln_buf_free(&inner);
    dln_buf_free(&outer);
    heals();
}

/* ---- B58 */

static char location[4096];

static void points_to(int status, const char *url) {
    (void)snprintf(location, sizeof(location), "Location: %s\r\n" WEB_HTML, url);
    answers(status, location, "<p>over there</p>");
}

static void b58_method_would_change(void **state) {
    (void)state;
    static const int statuses[] = {300, 301, 302, 303};
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        points_to(statuses[i], "/v1/sync");
        comes_to("REDIRECTED");
        assert_int_equal(script.answered, 1);
    }
    heals();
}

static void b58_same_origin_is_followed(void **state) {
    (void)state;
    static const int statuses[] = {307, 308};
    char absolute[128];
    (void)snprintf(absolute, sizeof(absolute), "%s/elsewhere/v1/sync", hub.web.url);
    const char *const targets[] = {absolute, "/elsewhere/v1/sync"};
    for (int i = 0; i < 2; i++) {
        dunlin_sync_result result;
        int exchanges = hub.exchanges;
        points_to(statuses[i], targets[i]);
        script.times = 1;
        OK(dunlin_sync(device->store, remote, &result, NULL));
        assert_int_equal(result.pushed, 1);
        assert_int_equal(hub.exchanges, exchanges + 1); /* applied once */
        assert_true(script.last_len[0] > 0);
        assert_int_equal(script.last_len[0], script.last_len[1]);
        assert_memory_equal(script.last_body[0], script.last_body[1], script.last_len[0]);
        OK(dunlin_follow(device->store, DUNLIN_USER, i == 0 ? "chika" : "dai", NULL));
    }
    heals();
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
    dunlin_remote_close(remote);
    remote = hub_remote(&hub, NULL, &options);
    web_start(&other, stranger, NULL);
    (void)snprintf(url, sizeof(url), "%s/v1/sync", other.url);
    for (int status = 307; status <= 308; status++) {
        points_to(status, url);
        comes_to("REDIRECTED");
        assert_string_equal(script.authorization, "Bearer secret-token");
        assert_int_equal(script.answered, 1);
        for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
            points_to(status, elsewhere[i]);
            comes_to("REDIRECTED");
        }
    }
    points_to(302, url);
    comes_to("REDIRECTED");
    web_stop(&other);
    assert_int_equal(strangers, 0);
    assert_false(stranger_knows);
    heals();
}

static void b58_loop_ends(void **state) {
    (void)state;
    points_to(307, "/v1/sync");
    comes_to("REDIRECTED");
    assert_int_equal(script.answered, 6); /* the request, and 5 times more */
    heals();
}

/* ---- B60 */

static char *cached;
static size_t cached_len;

/* Serves the first answer again and again, whatever is asked. */
static bool from_cache(struct hub *self, const struct web_request *request,
                       struct web_client *client, bool *keep) {
    if (!cached) {
        struct dln_buf answer = DLN_BUF_INIT(1024 * 1024);
        hub_exchange(self, request, &answer);
        cached = answer.data;
        cached_len = answer.len;
    }
    *keep = web_reply(client, 200, WEB_OURS "Age: 7\r\n", cached, cached_len);
    return true;
}

static void b60_cached_answers(void **state) {
    (void)state;
    dunlin_sync_result result;
    struct device *other = world_device(&world, "aoi", 0);
    cached = NULL;
    hub.before = from_cache;
    OK(dunlin_sync(device->store, remote, &result, NULL)); /* the cache learns this one */
    char *before = device_dump(device);
    for (int i = 0; i < 3; i++) {
        OK(dunlin_follow(other->store, DUNLIN_USER, (const char *[]){"u1", "u2", "u3"}[i], NULL));
        device_sync_ok(other);
        int requests = hub.web.requests;
        REFUSED("STALE_REPLY", dunlin_sync(device->store, remote, &result, NULL));
        assert_int_equal(hub.web.requests - requests, 3); /* three tries, then backoff */
        assert_true(result.retry_at_ms >= world.now_ms);
        char *after = device_dump(device);
        assert_string_equal(before, after);
        free(after);
    }
    free(before);
    free(cached);
    hub.before = NULL;
    OK(dunlin_sync(device->store, remote, &result, NULL));
    assert_int_equal(result.pulled, 3);
    device_sync_ok(other);
    sight_agree((struct device *[]){device, other}, 2);
}

static void b60_proxy_wants_password(void **state) {
    (void)state;
    answers(407, "Proxy-Authenticate: Basic realm=\"x\"\r\n" WEB_HTML, "<p>who are you?</p>");
    comes_to("PROXY_AUTH");
    heals();
}

static bool proxy(void *payload, const struct web_request *request, struct web_client *client) {
    int *asked = payload;
    (void)request;
    (*asked)++;
    return web_reply_text(client, 407, "Proxy-Authenticate: Basic realm=\"x\"\r\n", "");
}

/* The app's proxy is used, the environment's is not. */
static void b60_proxy_by_option_only(void **state) {
    (void)state;
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    struct web between;
    int asked = 0;
    web_start(&between, proxy, &asked);
    assert_int_equal(setenv("http_proxy", between.url, 1), 0);
    assert_int_equal(setenv("all_proxy", between.url, 1), 0);
    dunlin_remote_close(remote);
    remote = hub_remote(&hub, "aoi", NULL);
    OK(dunlin_sync(device->store, remote, NULL, NULL));
    assert_int_equal(asked, 0);
    assert_int_equal(unsetenv("http_proxy"), 0);
    assert_int_equal(unsetenv("all_proxy"), 0);
    OK(dunlin_follow(device->store, DUNLIN_USER, "chika", NULL));
    dunlin_remote_close(remote);
    options.proxy = between.url;
    remote = hub_remote(&hub, "aoi", &options);
    comes_to("PROXY_AUTH");
    assert_int_equal(asked, 1);
    dunlin_remote_close(remote);
    assert_int_equal(dunlin_http_remote(&remote, "https://127.0.0.1:1", &options, NULL), DUNLIN_OK);
    comes_to("PROXY_AUTH"); /* to its CONNECT */
    assert_int_equal(asked, 2);
    dunlin_remote_close(remote);
    remote = hub_remote(&hub, "aoi", NULL);
    heals();
    web_stop(&between);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b55_login_page),
        TEST(b55_empty_objects),
        TEST(b55_other_server),
        TEST(b55_no_http),
        TEST(b55_cut_answer),
        TEST(b57_bomb_is_stopped),
        TEST(b57_memory_stays),
        TEST(b57_smaller_page_is_asked_for),
        TEST(b57_gzip_in_gzip),
        TEST(b58_method_would_change),
        TEST(b58_same_origin_is_followed),
        TEST(b58_other_host_gets_nothing),
        TEST(b58_loop_ends),
        TEST(b60_cached_answers),
        TEST(b60_proxy_wants_password),
        TEST(b60_proxy_by_option_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
