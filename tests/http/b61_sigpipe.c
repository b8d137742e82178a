/* B61: the server closes the kept TLS connection after every answer, without a word. The host has
 * the default SIGPIPE, which would end it; two threads sync, each with a remote of its own, 1,000
 * rounds.
 *
 * ctest: timeout=600
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/hub.h"
#include "tests/support/sight.h"
#include "tests/support/temp.h"

enum { THREADS = 2, ROUNDS = 500 };

static struct world world;
static struct hub hub;

struct user {
    struct device *device;
    dunlin_remote *remote;
    int ok, closed, other;
};

static void *run(void *self) {
    struct user *user = self;
    for (int i = 0; i < ROUNDS; i++) {
        dunlin_status status = dunlin_sync(user->device->store, user->remote, NULL, NULL);
        user->ok += status == DUNLIN_OK;
        user->closed += status == DUNLIN_CONN_CLOSED;
        user->other += status != DUNLIN_OK && status != DUNLIN_CONN_CLOSED;
    }
    return NULL;
}

/* Whether every signal is handled as it was. */
static void note_handlers(struct sigaction *out) {
    for (int number = 1; number < 32; number++) {
        memset(&out[number], 0, sizeof(out[number]));
        (void)sigaction(number, NULL, &out[number]);
    }
}

static void assert_handlers(const struct sigaction *before, const struct sigaction *after) {
    for (int number = 1; number < 32; number++) {
        assert_true(before[number].sa_handler == after[number].sa_handler);
        assert_int_equal(before[number].sa_flags, after[number].sa_flags);
    }
}

/* Drops what comes over a connection that has had an answer: the client has sent it already. */
static bool drops(struct hub *self, const struct web_request *request, struct web_client *client,
                  bool *keep) {
    static bool had_one[100000];
    (void)self;
    (void)client;
    assert_in_range(request->connection, 0, 99999);
    bool drop = had_one[request->connection];
    had_one[request->connection] = true;
    *keep = false;
    return drop;
}

static void run_with(bool silent) {
    static const unsigned char here[4] = {127, 0, 0, 1};
    struct certificate authority, server = {0};
    struct user users[THREADS] = {{0}};
    struct sigaction before[32], after[32];
    pthread_t threads[THREADS];
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    world_open(&world, 61, NULL);
    certificate_authority(&authority, "a test's authority");
    certificate_issue(&server, &authority, here, time(NULL) - 60, time(NULL) + 3600);
    options.ca_file = temp_file(world.dir, "authority.pem");
    certificate_write(&authority, options.ca_file);
    hub_start(&hub, &world, &server);
    hub.silent = silent;
    hub.before = silent ? NULL : drops;
    for (int i = 0; i < THREADS; i++) {
        users[i].device = world_device(&world, i == 0 ? "aoi" : "ben", 0);
        users[i].remote = hub_remote(&hub, users[i].device->owner, &options);
        OK(dunlin_follow(users[i].device->store, DUNLIN_USER, "chika", NULL));
    }
    note_handlers(before);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run, &users[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        print_message("%d synced, %d closed\n", users[i].ok, users[i].closed);
        assert_int_equal(users[i].other, 0);
        assert_true(users[i].ok > 0);
        assert_int_equal(device_pending(users[i].device), 0);
        dunlin_remote_close(users[i].remote);
    }
    note_handlers(after);
    assert_handlers(before, after);
    assert_true(hub.web.connections >= THREADS * (ROUNDS - 1));
    hub_stop(&hub);
    certificate_free(&server);
    certificate_free(&authority);
    world_close(&world);
}

static void b61_closed_after_each_answer(void **state) {
    (void)state;
    run_with(true);
}

static void b61_closed_under_a_request(void **state) {
    (void)state;
    run_with(false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b61_closed_after_each_answer),
        cmocka_unit_test(b61_closed_under_a_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
