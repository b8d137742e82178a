/* Threads of one process that append to one scope: turns, and what is joined while it waits. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "central/gate.h"
#include "tests/support/shared_side.h"

enum { THREADS = 3, PATIENCE_MS = 60000 };

#define GROUP "group/tea"

struct person {
    const char *user;
    struct shared shared; /* a central of its own over the common file */
    pthread_t thread;
    dunlin_status status;
};

static struct dln_gate *gate;
static struct person people[THREADS];
static struct dln_central_engine inner;
static size_t inserts; /* written under the gate's turn */
static size_t wanted;  /* inside the gate before the first insert goes on */

static void await_inside(size_t count) {
    const struct timespec pause = {0, 1000000};
    for (int ms = 0; dln_gate_count(gate) < count && ms < PATIENCE_MS; ms++) {
        (void)nanosleep(&pause, NULL);
    }
}

static dunlin_status slow_insert(void *self, struct dln_text scope, int64_t last,
                                 const struct dln_entry *entries, size_t count, int64_t deadline_ms,
                                 size_t *inserted, dunlin_error *err) {
    if (wanted > 0 && inserts++ == 0) {
        await_inside(wanted);
    }
    return inner.insert(self, scope, last, entries, count, deadline_ms, inserted, err);
}

static int set_up(void **state) {
    static const char *const users[THREADS] = {"aoi", "ben", "chika"};
    (void)state;
    assert_int_equal(dln_gate_new(&gate, NULL), DUNLIN_OK);
    for (int i = 0; i < THREADS; i++) {
        struct shared *shared = &people[i].shared;
        people[i].user = users[i];
        shared_open(shared, NULL);
        if (i > 0) {
            free(shared->url);
            shared->url = strdup(people[0].shared.url);
            shared_reopen(shared);
        }
        shared->central->gate = gate;
        inner = shared->central->engine;
    }
    assert_int_equal(SHARED_PUSH(&people[0].shared, "aoi", GROUP, "group",
                                 shared_stamp(&people[0].shared, 0), "name", "Tea", "owner", "aoi",
                                 "deleted", "false"),
                     DUNLIN_OK);
    for (int i = 0; i < THREADS; i++) {
        people[i].shared.central->engine.insert = slow_insert;
    }
    inserts = 0;
    wanted = THREADS;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int i = THREADS - 1; i >= 0; i--) {
        shared_close(&people[i].shared);
    }
    dln_gate_free(gate);
    return 0;
}

static void *send(void *payload) {
    struct person *person = payload;
    person->status = shared_try(&person->shared, person->user);
    return NULL;
}

static void start(int person) {
    assert_int_equal(pthread_create(&people[person].thread, NULL, send, &people[person]), 0);
}

/* Each one's request goes off once the one before is inside, where the first stays until the last
 * one came, after whom nobody waits: all may be through at once. */
static void start_in_order(void) {
    for (int i = 0; i < THREADS; i++) {
        await_inside((size_t)i);
        start(i);
    }
}

static void join(void) {
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(people[i].thread, NULL), 0);
    }
}

static void send_all(void) {
    start_in_order();
    join();
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(people[i].status, DUNLIN_OK);
    }
}

static void ask(int person, const char *scope, const char *key, const char *field,
                const char *value) {
    struct shared *shared = &people[person].shared;
    shared_begin(shared);
    (void)shared_record(shared, scope, key);
    shared_set(shared, field, shared_stamp(shared, 1), value);
}

static void what_waits_becomes_one_append(void **state) {
    (void)state;
    ask(0, GROUP, "member/aoi", "present", "true");
    ask(1, GROUP, "member/ben", "present", "true");
    ask(2, GROUP, "member/chika", "present", "true");
    send_all();
    assert_int_equal(inserts, 2);
    assert_int_equal(shared_ack(&people[0].shared, 0), 2);
    assert_int_equal(shared_ack(&people[1].shared, 0), 3);
    assert_int_equal(shared_ack(&people[2].shared, 0), 4);
    for (int i = 0; i < THREADS; i++) {
        assert_string_equal(shared_value(&people[i].shared, GROUP, "member/chika", "present"),
                            "true");
    }
    assert_int_equal(shared_last(&people[0].shared, GROUP), 4);
    assert_int_equal(dln_gate_count(gate), 0);
}

static void each_is_judged_against_what_the_earlier_left(void **state) {
    (void)state;
    people[1].user = "aoi";
    ask(0, GROUP, "member/aoi", "present", "true");
    ask(1, GROUP, "group", "join", "closed");
    ask(2, GROUP, "member/chika", "present", "true");
    send_all();
    assert_int_equal(inserts, 2);
    assert_int_equal(shared_code(&people[1].shared, 0), DUNLIN_OK);
    assert_int_equal(shared_code(&people[2].shared, 0), DUNLIN_NOT_ALLOWED);
    assert_int_equal(shared_last(&people[0].shared, GROUP), 3);
}

static void same_record_twice_is_merged_in_order(void **state) {
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        static const char *const names[THREADS] = {"first", "second", "third"};
        people[i].user = "aoi";
        ask(i, GROUP, "group", "name", names[i]);
        people[i].shared.request.records[0].fields[0].stamp += (dln_stamp)i;
    }
    send_all();
    assert_int_equal(inserts, 2);
    assert_string_equal(shared_value(&people[0].shared, GROUP, "group", "name"), "third");
    assert_int_equal(shared_versions(&people[0].shared, GROUP), 4);
}

/* One's own request fails alone: no memory for it. */
static void part_that_fails_does_not_hold_up_the_others(void **state) {
    (void)state;
    ask(0, GROUP, "member/aoi", "present", "true");
    ask(1, GROUP, "member/ben", "present", "true");
    ask(2, GROUP, "member/chika", "present", "true");
    people[2].shared.central->attempt.max_bytes = 16;
    start_in_order();
    join();
    assert_int_equal(people[1].status, DUNLIN_OK);
    assert_int_equal(people[2].status, DUNLIN_OUT_OF_MEMORY);
    assert_int_equal(shared_last(&people[0].shared, GROUP), 3);
}

static void scopes_with_quotas_take_turns(void **state) {
    static const char *const keys[THREADS] = {"list/l1", "list/l2", "list/l3"};
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        people[i].user = "aoi";
        ask(i, "user/aoi", keys[i], "deleted", "false");
    }
    send_all();
    assert_int_equal(inserts, 3);
    assert_int_equal(shared_last(&people[0].shared, "user/aoi"), 3);
}

static void other_scopes_do_not_wait(void **state) {
    static const char *const scopes[THREADS] = {"user/aoi", "user/ben", "user/chika"};
    (void)state;
    wanted = 0; /* nobody stays inside for the others */
    for (int i = 0; i < THREADS; i++) {
        ask(i, scopes[i], "list/l1", "deleted", "false");
    }
    struct dln_waiter waiter = {.scope = DLN_TEXT(GROUP)};
    assert_true(dln_gate_enter(gate, &waiter)); /* somebody who never ends */
    for (int i = 0; i < THREADS; i++) {
        start(i);
    }
    join();
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(people[i].status, DUNLIN_OK);
        assert_int_equal(shared_last(&people[i].shared, scopes[i]), 1);
    }
    dln_gate_leave(gate, &waiter);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_waits_becomes_one_append),
        TEST(each_is_judged_against_what_the_earlier_left),
        TEST(same_record_twice_is_merged_in_order),
        TEST(part_that_fails_does_not_hold_up_the_others),
        TEST(scopes_with_quotas_take_turns),
        TEST(other_scopes_do_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
