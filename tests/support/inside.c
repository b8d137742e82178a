#include "tests/support/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dunlin/http.h>

#include "bridge/server.h"
#include "tests/support/random.h"

struct inside {
    struct dln_server server;
    struct dln_options options;
    dunlin_central_options central;
    dunlin_ports ports;
    _Atomic int64_t now_ms;
    _Atomic uint64_t random;
    char store_url[1024];
};

static int64_t now(void *self) {
    return atomic_load(&((struct inside *)self)->now_ms);
}

static void fill(void *self, void *out, size_t len) {
    struct inside *inside = self;
    struct test_random random = {atomic_fetch_add(&inside->random, 1) * UINT64_C(0x9e3779b97f4a7)};
    for (size_t i = 0; i < len; i++) {
        ((unsigned char *)out)[i] = (unsigned char)test_random_next(&random);
    }
}

struct inside *inside_start(const char *store_url, const dunlin_central_options *options,
                            int64_t now_ms) {
    struct inside *inside = calloc(1, sizeof(*inside));
    dunlin_error err;
    assert_non_null(inside);
    (void)snprintf(inside->store_url, sizeof(inside->store_url), "%s", store_url);
    char *const arguments[] = {(char[]){"dunlind"},     (char[]){"--store"},
                               inside->store_url,       (char[]){"--listen"},
                               (char[]){"127.0.0.1:0"}, (char[]){"--insecure"},
                               (char[]){"--threads"},   (char[]){"2"},
                               (char[]){"--log"},       (char[]){"/dev/null"}};
    inside->now_ms = now_ms;
    inside->random = 1;
    inside->ports = (dunlin_ports){inside, now, fill};
    inside->central = *options;
    inside->central.ports = &inside->ports;
    dunlin_status status = dln_options_read(
        &inside->options, (int)(sizeof(arguments) / sizeof(*arguments)), arguments, &err);
    inside->options.central = &inside->central;
    if (status != DUNLIN_OK ||
        (status = dln_server_open(&inside->server, &inside->options, &err)) != DUNLIN_OK) {
        fail_msg("the bridge: %s: %s", dunlin_status_name(status), err.message);
    }
    return inside;
}

void inside_set_now(struct inside *inside, int64_t now_ms) {
    atomic_store(&inside->now_ms, now_ms);
}

dunlin_remote *inside_remote(struct inside *inside, const char *user) {
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    dunlin_remote *remote = NULL;
    dunlin_error err;
    char url[160];
    options.user = user;
    (void)snprintf(url, sizeof(url), "http://%s", inside->server.address);
    if (dunlin_http_remote(&remote, url, &options, &err) != DUNLIN_OK) {
        fail_msg("a remote: %s", err.message);
    }
    return remote;
}

void inside_stop(struct inside *inside) {
    if (inside != NULL) {
        assert_true(dln_server_drain(&inside->server));
        dln_server_close(&inside->server);
        free(inside);
    }
}
