/* B29: a transaction that reads first and then writes is never refused because somebody committed
 * in between: it holds the write lock from its start, and waits for it. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include <dunlin/dunlin.h>

#include "tests/support/notebook.h"
#include "tests/support/random.h"

enum { THREADS = 8, CALLS = 1000, USERS = 50, SHORT_MS = 100, HOLD_MS = 300 };

static void pause_ms(long ms) {
    struct timespec span = {0, ms * 1000 * 1000};
    (void)nanosleep(&span, NULL);
}

/* Reads the outbox to its end; returns how many rows it has. */
static dunlin_status read_outbox(dunlin_store *store, int *count) {
    const dunlin_pending *row = NULL;
    dunlin_iter *iter = NULL;
    dunlin_status status = dunlin_outbox(store, &iter, NULL, NULL);
    *count = 0;
    while (status == DUNLIN_OK && (status = dunlin_outbox_next(iter, &row, NULL)) == DUNLIN_OK &&
           row != NULL) {
        ++*count;
    }
    dunlin_iter_free(iter);
    return status;
}

static dunlin_store *open_other(const struct notebook *notebook, int busy_timeout_ms) {
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_store *store = NULL;
    options.durability = DUNLIN_DURABILITY_NORMAL;
    options.busy_timeout_ms = busy_timeout_ms;
    OK(dunlin_store_open(&store, notebook->path, "aoi", &options, NULL));
    return store;
}

/* The other connection's commit, on a thread of its own: it waits for the first one's end. */
static void *follow_chika(void *payload) {
    static dunlin_status status;
    status = dunlin_follow(payload, DUNLIN_USER, "chika", NULL);
    return &status;
}

static void b29_commit_in_between(void **state) {
    struct notebook *notebook = *state;
    dunlin_store *other = open_other(notebook, 0);
    pthread_t thread;
    void *result = NULL;
    int count = 0;
    OK(dunlin_follow(notebook->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_begin(notebook->store, NULL));
    OK(read_outbox(notebook->store, &count));
    assert_int_equal(count, 1);
    assert_int_equal(pthread_create(&thread, NULL, follow_chika, other), 0);
    pause_ms(HOLD_MS);
    OK(read_outbox(notebook->store, &count)); /* nobody committed in between */
    assert_int_equal(count, 1);
    OK(dunlin_follow(notebook->store, DUNLIN_USER, "dai", NULL));
    OK(dunlin_commit(notebook->store, NULL));
    assert_int_equal(pthread_join(thread, &result), 0);
    OK(*(dunlin_status *)result);
    assert_string_equal(show_following(notebook, NULL), "user:ben user:chika user:dai");
    dunlin_store_close(other);
}

/* Without a transaction: an iterator is open while others commit, and the write goes through. */
static void b29_commit_behind_an_iterator(void **state) {
    struct notebook *notebook = *state;
    dunlin_store *other = open_other(notebook, SHORT_MS);
    const dunlin_pending *row = NULL;
    dunlin_iter *iter = NULL;
    OK(dunlin_follow(notebook->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_outbox(notebook->store, &iter, NULL, NULL));
    OK(dunlin_outbox_next(iter, &row, NULL));
    OK(dunlin_follow(other, DUNLIN_USER, "chika", NULL));
    OK(dunlin_unfollow(notebook->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_outbox_next(iter, &row, NULL));
    OK(dunlin_follow(other, DUNLIN_USER, "dai", NULL));
    OK(dunlin_follow(notebook->store, DUNLIN_USER, "emi", NULL));
    dunlin_iter_free(iter);
    assert_string_equal(show_following(notebook, NULL), "user:chika user:dai user:emi");
    dunlin_store_close(other);
}

static void b29_real_timeout_is_busy(void **state) {
    struct notebook *notebook = *state;
    dunlin_store *other = open_other(notebook, SHORT_MS);
    dunlin_error err = {0};
    OK(dunlin_begin(notebook->store, NULL));
    REFUSED("BUSY", dunlin_follow(other, DUNLIN_USER, "chika", &err));
    assert_int_equal(err.code, DUNLIN_BUSY);
    REFUSED("BUSY", dunlin_begin(other, NULL));
    OK(dunlin_follow(notebook->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_commit(notebook->store, NULL));
    assert_string_equal(show_following(notebook, NULL), "user:ben");
    OK(dunlin_follow(other, DUNLIN_USER, "chika", NULL));
    assert_string_equal(show_following(notebook, NULL), "user:ben user:chika");
    dunlin_store_close(other);
}

/* ---- threads, each with a handle of its own */

struct worker {
    const char *path;
    uint64_t seed;
    int calls; /* that succeeded */
    dunlin_status failure;
    char message[240];
    unsigned char last[USERS]; /* 1: followed, 2: unfollowed, of the users that are its own */
};

static dunlin_status one_call(struct worker *worker, dunlin_store *store,
                              struct test_random *random, dunlin_error *err) {
    char user[32];
    int number = (int)test_random_below(random, USERS);
    int count = 0;
    (void)snprintf(user, sizeof(user), "w%llu-%d", (unsigned long long)worker->seed, number);
    switch (test_random_below(random, 4)) {
    case 0:
    case 1:
        worker->last[number] = 1;
        return dunlin_follow(store, DUNLIN_USER, user, err);
    case 2:
        worker->last[number] = 2;
        return dunlin_unfollow(store, DUNLIN_USER, user, err);
    default:
        return read_outbox(store, &count);
    }
}

static void *work(void *payload) {
    struct worker *worker = payload;
    struct test_random random = {worker->seed + 29};
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_store *store = NULL;
    dunlin_error err = {0};
    options.durability = DUNLIN_DURABILITY_NORMAL;
    worker->failure = dunlin_store_open(&store, worker->path, "aoi", &options, &err);
    while (worker->failure == DUNLIN_OK && worker->calls < CALLS) {
        worker->failure = one_call(worker, store, &random, &err);
        worker->calls += worker->failure == DUNLIN_OK;
    }
    (void)snprintf(worker->message, sizeof(worker->message), "%s", err.message);
    dunlin_store_close(store);
    return NULL;
}

static int count_followed(const struct worker *workers) {
    int followed = 0;
    for (int i = 0; i < THREADS; i++) {
        for (int user = 0; user < USERS; user++) {
            followed += workers[i].last[user] == 1;
        }
    }
    return followed;
}

static void b29_eight_threads(void **state) {
    struct notebook *notebook = *state;
    static struct worker workers[THREADS];
    pthread_t threads[THREADS];
    dunlin_store_status status = {0};
    dunlin_check check = {0};
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.path = notebook->path, .seed = (uint64_t)i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        if (workers[i].failure != DUNLIN_OK) {
            fail_msg("call %d: %s: %s", workers[i].calls, dunlin_status_name(workers[i].failure),
                     workers[i].message);
        }
        assert_int_equal(workers[i].calls, CALLS);
    }
    OK(dunlin_store_get_status(notebook->store, &status, NULL));
    assert_int_equal(status.following, count_followed(workers));
    assert_int_equal(status.subscriptions, status.following);
    assert_int_equal(status.pending, status.following); /* what never left was annihilated */
    OK(dunlin_store_verify(notebook->store, 0, &check, NULL));
    assert_int_equal(check.file_damaged + check.subscriptions_off + check.counts_off, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, notebook_setup, notebook_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b29_commit_in_between),
        TEST(b29_commit_behind_an_iterator),
        TEST(b29_real_timeout_is_busy),
        TEST(b29_eight_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
