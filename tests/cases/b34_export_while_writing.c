/* B34: an export made while another thread writes opens alone and holds the rows of one moment. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <dunlin/dunlin.h>

#include "tests/support/notebook.h"
#include "tests/support/temp.h"

enum { ROWS = 10000, BATCH = 5, EXPORTS_LEAST = 3 };

struct writer {
    const char *path;
    atomic_int committed; /* rows */
    dunlin_status failure;
};

static dunlin_status write_batch(dunlin_store *store, int from) {
    dunlin_status status = dunlin_begin(store, NULL);
    for (int i = from; status == DUNLIN_OK && i < from + BATCH; i++) {
        char user[24];
        (void)snprintf(user, sizeof(user), "u%05d", i);
        status = dunlin_follow(store, DUNLIN_USER, user, NULL);
    }
    return status == DUNLIN_OK ? dunlin_commit(store, NULL) : status;
}

static void *write_rows(void *payload) {
    struct writer *writer = payload;
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_store *store = NULL;
    options.durability = DUNLIN_DURABILITY_NORMAL;
    dunlin_status status = dunlin_store_open(&store, writer->path, "aoi", &options, NULL);
    for (int i = 0; status == DUNLIN_OK && i < ROWS; i += BATCH) {
        status = write_batch(store, i);
        atomic_store(&writer->committed, i + BATCH);
    }
    dunlin_store_close(store);
    writer->failure = status;
    atomic_store(&writer->committed, ROWS);
    return NULL;
}

/* Rows u00000 to the last one without a hole; returns how many. */
static int count_rows(dunlin_store *store) {
    const dunlin_subscription *row = NULL;
    dunlin_iter *iter = NULL;
    int count = 0;
    OK(dunlin_subscriptions(store, &iter, NULL, NULL));
    for (;;) {
        OK(dunlin_subscriptions_next(iter, &row, NULL));
        if (row == NULL) {
            break;
        }
        assert_int_equal(strtol(row->user + 1, NULL, 10), count);
        count++;
    }
    dunlin_iter_free(iter);
    return count;
}

/* Opens the copy where nothing else is, and returns its rows. */
static int check_export(const char *path) {
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_store *copy = NULL;
    dunlin_store_status status = {0};
    dunlin_check check = {0};
    char *alone = temp_new();
    const char *moved = temp_file(alone, "copy.db");
    assert_int_equal(rename(path, moved), 0);
    options.must_exist = 1;
    OK(dunlin_store_open(&copy, moved, "aoi", &options, NULL));
    OK(dunlin_store_verify(copy, 0, &check, NULL));
    assert_int_equal(check.file_damaged, 0);
    assert_int_equal(check.subscriptions_off + check.counts_off + check.search_off, 0);
    int rows = count_rows(copy);
    OK(dunlin_store_get_status(copy, &status, NULL));
    assert_int_equal(status.pending, rows);
    assert_int_equal(status.following, rows);
    assert_int_equal(rows % BATCH, 0); /* no half of a transaction */
    dunlin_store_close(copy);
    temp_remove(alone);
    return rows;
}

static void b34_export_is_of_one_moment(void **state) {
    struct notebook *notebook = *state;
    struct writer writer = {.path = notebook->path};
    const char *path = temp_file(notebook->dir, "export.db");
    pthread_t thread;
    int exports = 0;
    int between = 0;
    atomic_init(&writer.committed, 0);
    assert_int_equal(pthread_create(&thread, NULL, write_rows, &writer), 0);
    for (bool last = false; !last; exports++) {
        int before = atomic_load(&writer.committed);
        last = before == ROWS;
        OK(dunlin_store_backup(notebook->store, path, NULL));
        int after = atomic_load(&writer.committed);
        int rows = check_export(path);
        assert_in_range(rows, before, after + BATCH); /* committed and not yet told */
        between += rows > 0 && rows < ROWS;
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    OK(writer.failure);
    assert_true(exports >= EXPORTS_LEAST);
    assert_true(between > 0); /* the writer was at work */
    assert_int_equal(count_rows(notebook->store), ROWS);
}

static void b34_export_replaces_nothing(void **state) {
    struct notebook *notebook = *state;
    const char *path = temp_file(notebook->dir, "export.db");
    OK(dunlin_follow(notebook->store, DUNLIN_USER, "u00000", NULL));
    OK(dunlin_store_backup(notebook->store, path, NULL));
    REFUSED("EXISTS", dunlin_store_backup(notebook->store, path, NULL));
    assert_int_equal(access(temp_file(notebook->dir, "export.db-wal"), F_OK), -1);
    dunlin_store_close(notebook->store);
    OK(dunlin_store_open(&notebook->store, path, "aoi", NULL, NULL));
    assert_int_equal(count_rows(notebook->store), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, notebook_setup, notebook_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b34_export_is_of_one_moment),
        TEST(b34_export_replaces_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
