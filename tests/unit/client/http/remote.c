/* What dunlin_http_remote() takes, without a server; and where nobody answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <dunlin/http.h>

#include "tests/support/notebook.h"

static dunlin_status open_url(const char *url, const dunlin_http_options *options) {
    dunlin_remote *remote = NULL;
    dunlin_error err = {0};
    dunlin_status status = dunlin_http_remote(&remote, url, options, &err);
    assert_true((status == DUNLIN_OK) == (remote != NULL));
    assert_true(status == DUNLIN_OK || (err.code == status && *err.message));
    dunlin_remote_close(remote);
    return status;
}

static void urls(void **state) {
    (void)state;
    OK(open_url("https://example.org", NULL));
    OK(open_url("http://127.0.0.1:8765/", NULL));
    OK(open_url("https://[::1]:8765/a/prefix//", NULL));
    OK(open_url("HTTPS://EXAMPLE.ORG", NULL));
}

static void options(void **state) {
    (void)state;
    static const char url[] = "https://example.org";
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    OK(open_url(url, &options));
}

static dunlin_status take(void *self, const void *data, size_t len) {
    (void)self;
    (void)data;
    (void)len;
    fail_msg("there is no answer");
    return DUNLIN_OK;
}

static void nobody_answers(void **state) {
    (void)state;
    const dunlin_sink sink = {NULL, take};
    dunlin_remote *remote = NULL;
    int64_t retry_after_ms = 0;
    int news = 0;
    OK(dunlin_http_remote(&remote, "http://127.0.0.1:1", NULL, NULL));
    REFUSED("OFFLINE",
            remote->exchange(remote->self, "sync", "{}\n", 3, &sink, &retry_after_ms, NULL));
    REFUSED("OFFLINE", remote->wait(remote->self, 300, &news, NULL));
    assert_int_equal(news, 0);
    REFUSED("MISUSE", remote->wait(remote->self, -1, &news, NULL));
    REFUSED("MISUSE", remote->wait(remote->self, 0, NULL, NULL));
    REFUSED("MISUSE",
            remote->exchange(remote->self, NULL, "{}\n", 3, &sink, &retry_after_ms, NULL));
    REFUSED("MISUSE",
            remote->exchange(remote->self, "sync", "{}\n", 3, NULL, &retry_after_ms, NULL));
    dunlin_remote_close(remote);
    OK(dunlin_http_remote(&remote, "https://no-such-host.invalid", NULL, NULL));
    REFUSED("OFFLINE",
            remote->exchange(remote->self, "sync", "{}\n", 3, &sink, &retry_after_ms, NULL));
    dunlin_remote_close(remote);
    assert_int_equal(retry_after_ms, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls),
        cmocka_unit_test(options),
        cmocka_unit_test(nobody_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
