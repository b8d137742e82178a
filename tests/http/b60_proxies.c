/* B60: a proxy answers from its cache, or asks for a password. */
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
    struct device *other = world_device(&told.world, "aoi", 0);
    cached = NULL;
    told.hub.before = from_cache;
    OK(dunlin_sync(told.device->store, told.remote, &result, NULL)); /* the cache learns this one */
    char *before = device_dump(told.device);
    for (int i = 0; i < 3; i++) {
        OK(dunlin_follow(other->store, DUNLIN_USER, (const char *[]){"u1", "u2", "u3"}[i], NULL));
        device_sync_ok(other);
        int requests = told.hub.web.requests;
        REFUSED("STALE_REPLY", dunlin_sync(told.device->store, told.remote, &result, NULL));
        assert_int_equal(told.hub.web.requests - requests, 3); /* three tries, then backoff */
        assert_true(result.retry_at_ms >= told.world.now_ms);
        char *after = device_dump(told.device);
        assert_string_equal(before, after);
        free(after);
    }
    web_settle(&told.hub.web);
    told.hub.before = NULL;
    free(before);
    free(cached);
    OK(dunlin_sync(told.device->store, told.remote, &result, NULL));
    assert_int_equal(result.pulled, 3);
    device_sync_ok(other);
    sight_agree((struct device *[]){told.device, other}, 2);
}

static void b60_proxy_wants_password(void **state) {
    (void)state;
    told_says(407, "Proxy-Authenticate: Basic realm=\"x\"\r\n" WEB_HTML, "<p>who are you?</p>");
    told_comes_to("PROXY_AUTH");
    told_heals();
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
    dunlin_remote_close(told.remote);
    told.remote = hub_remote(&told.hub, "aoi", NULL);
    OK(dunlin_sync(told.device->store, told.remote, NULL, NULL));
    assert_int_equal(asked, 0);
    assert_int_equal(unsetenv("http_proxy"), 0);
    assert_int_equal(unsetenv("all_proxy"), 0);
    OK(dunlin_follow(told.device->store, DUNLIN_USER, "chika", NULL));
    dunlin_remote_close(told.remote);
    options.proxy = between.url;
    told.remote = hub_remote(&told.hub, "aoi", &options);
    told_comes_to("PROXY_AUTH");
    assert_int_equal(asked, 1);
    dunlin_remote_close(told.remote);
    assert_int_equal(dunlin_http_remote(&told.remote, "https://127.0.0.1:1", &options, NULL),
                     DUNLIN_OK);
    told_comes_to("PROXY_AUTH"); /* to its CONNECT */
    assert_int_equal(asked, 2);
    dunlin_remote_close(told.remote);
    told.remote = hub_remote(&told.hub, "aoi", NULL);
    told_heals();
    web_stop(&between);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, told_setup, told_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b60_cached_answers),
        TEST(b60_proxy_wants_password),
        TEST(b60_proxy_by_option_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
