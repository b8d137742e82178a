/* ctest: engines timeout=900
 *
 * B68: two devices of one person write the same records at the same moment, and the network repeats
 * each request. Insert-if-absent decides who was first; nobody is told of the duplicate key, and
 * nothing counts twice. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dunlin/mongo.h>

#include "tests/support/mongo.h"
#include "tests/support/notebook.h"
#include "tests/support/shared_side.h"

enum { DEVICES = 2, TRIALS = 1000, TRIALS_WHERE_SCANNED = 100, NAME_BYTES = 24 };

struct writer {
    struct notebook *notebook;
    dunlin_remote *remote;
    dunlin_remote twice;
    pthread_t thread;
    uint64_t rejected;
};

static struct shared side; /* where central is */
static pthread_barrier_t start;
static int trials;

static dunlin_status drop(void *self, const void *data, size_t len) {
    (void)self;
    (void)data;
    (void)len;
    return DUNLIN_OK;
}

/* Central gets each request twice; the first answer is lost. */
static dunlin_status exchange_twice(void *self, const char *kind, const void *request, size_t len,
                                    const dunlin_sink *answer, int64_t *retry_after_ms,
                                    dunlin_error *err) {
    dunlin_remote *behind = self;
    const dunlin_sink nobody = {NULL, drop};
    dunlin_status status =
        behind->exchange(behind->self, kind, request, len, &nobody, retry_after_ms, err);
    return status != DUNLIN_OK
               ? status
               : behind->exchange(behind->self, kind, request, len, answer, retry_after_ms, err);
}

static void name_of(char out[NAME_BYTES], int trial) {
    (void)snprintf(out, NAME_BYTES, "chika%04d", trial);
}

static void *write_all(void *payload) {
    struct writer *writer = payload;
    dunlin_store *store = writer->notebook->store;
    for (int i = 0; i < trials; i++) {
        char chika[NAME_BYTES];
        dunlin_sync_result result = {0};
        name_of(chika, i);
        OK(dunlin_follow(store, DUNLIN_USER, chika, NULL));
        OK(dunlin_group_add(store, "tea", chika, DUNLIN_ROLE_MEMBER, NULL));
        (void)pthread_barrier_wait(&start);
        OK(dunlin_sync(store, &writer->twice, &result, NULL));
        writer->rejected += result.rejected;
    }
    return NULL;
}

static void open_writer(struct writer *writer) {
    void *notebook = NULL;
    assert_int_equal(notebook_setup(&notebook), 0);
    *writer = (struct writer){.notebook = notebook};
    OK(mongo_is_chosen() ? dunlin_mongo_remote(&writer->remote, side.url, "aoi", NULL, NULL)
                         : dunlin_embedded_remote(&writer->remote, side.url, "aoi", NULL, NULL));
    writer->twice = (dunlin_remote){.self = writer->remote, .exchange = exchange_twice};
}

static void close_writer(struct writer *writer) {
    void *notebook = writer->notebook;
    dunlin_remote_close(writer->remote);
    assert_int_equal(notebook_teardown(&notebook), 0);
}

static void assert_one_of_each(struct notebook *notebook) {
    dunlin_iter *iter = NULL;
    const dunlin_subscription *row = NULL;
    int seen = 0;
    OK(dunlin_subscriptions(notebook->store, &iter, NULL, NULL));
    while (dunlin_subscriptions_next(iter, &row, NULL) == DUNLIN_OK && row != NULL) {
        char chika[NAME_BYTES];
        name_of(chika, seen++);
        assert_string_equal(row->user, chika);
        assert_int_equal(row->origin_count, 2);
    }
    dunlin_iter_free(iter);
    assert_int_equal(seen, trials);
    dunlin_range first = DUNLIN_RANGE_INIT;
    first.limit = 1;
    assert_string_equal(show_subscriptions(notebook, &first), "chika0000=!,tea");
}

static void b68_written_at_once_counts_once(void **state) {
    (void)state;
    struct writer writers[DEVICES];
    trials = mongo_is_chosen() && mongo_scans() ? TRIALS_WHERE_SCANNED : TRIALS;
    shared_open(&side, NULL);
    for (int i = 0; i < DEVICES; i++) {
        open_writer(&writers[i]);
    }
    OK(dunlin_group_create(writers[0].notebook->store, "tea", "Tea", DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_follow(writers[0].notebook->store, DUNLIN_GROUP, "tea", NULL));
    for (int i = 0; i < DEVICES; i++) {
        OK(dunlin_sync(writers[i].notebook->store, writers[i].remote, NULL, NULL));
    }

    assert_int_equal(pthread_barrier_init(&start, NULL, DEVICES), 0);
    for (int i = 0; i < DEVICES; i++) {
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_all, &writers[i]), 0);
    }
    for (int i = 0; i < DEVICES; i++) {
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        assert_int_equal(writers[i].rejected, 0);
    }
    (void)pthread_barrier_destroy(&start);

    for (int i = 0; i < DEVICES; i++) {
        OK(dunlin_sync(writers[i].notebook->store, writers[i].remote, NULL, NULL));
        assert_one_of_each(writers[i].notebook);
        close_writer(&writers[i]);
    }
    struct writer fresh;
    open_writer(&fresh);
    OK(dunlin_sync(fresh.notebook->store, fresh.remote, NULL, NULL));
    assert_one_of_each(fresh.notebook);
    close_writer(&fresh);
    /* A repeated request appends nothing: at most one version from each device. */
    assert_in_range(shared_last(&side, "group/tea"), trials + 1, DEVICES * trials + 1);
    assert_in_range(shared_last(&side, "user/aoi"), trials + 1, DEVICES * trials + 1);
    shared_close(&side);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(b68_written_at_once_counts_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
