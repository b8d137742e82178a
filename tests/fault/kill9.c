/* ctest: labels=long,no-sanitizer timeout=600
 *
 * kill -9 at random moments of edits, batches and syncs, 200 times over one store and one central:
 * the files stay sound, what was acknowledged to the caller is there, and the next sync completes.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <dunlin/central.h>
#include <dunlin/dunlin.h>

#include "tests/support/random.h"
#include "tests/support/temp.h"

enum { KILLS = 200, EDITS_MAX = 1000000, BATCH = 7, URL_BYTES = 600, LONGEST_US = 60000 };

static char *dir;
static char url[URL_BYTES];
static unsigned char acknowledged[EDITS_MAX]; /* by number of the edit */

static void must(dunlin_status status, const dunlin_error *err) {
    if (status != DUNLIN_OK) {
        (void)fprintf(stderr, "%s: %s\n", dunlin_status_name(status), err->message);
        abort();
    }
}

static dunlin_store *open_store(void) {
    dunlin_store *store = NULL;
    dunlin_error err;
    must(dunlin_store_open(&store, temp_file(dir, "device.db"), "aoi", NULL, &err), &err);
    return store;
}

static dunlin_status sync_once(dunlin_store *store, dunlin_error *err) {
    dunlin_remote *remote = NULL;
    dunlin_status status = dunlin_embedded_remote(&remote, url, "aoi", NULL, err);
    if (status == DUNLIN_OK) {
        status = dunlin_sync(store, remote, NULL, err);
        dunlin_remote_close(remote);
    }
    return status;
}

static void follow(dunlin_store *store, int number) {
    char id[32];
    dunlin_error err;
    (void)snprintf(id, sizeof(id), "u%d", number);
    must(dunlin_follow(store, DUNLIN_USER, id, &err), &err);
}

static void tell(int pipe_end, int from, int to) {
    int range[2] = {from, to};
    if (write(pipe_end, range, sizeof(range)) != (ssize_t)sizeof(range)) {
        abort();
    }
}

/* Edits, batches and syncs until it is killed; tells of every edit once its call has returned. */
static void work_until_killed(int number, int pipe_end) {
    dunlin_store *store = open_store();
    dunlin_error err;
    for (;; number += 1 + BATCH) {
        follow(store, number);
        tell(pipe_end, number, number + 1);
        must(dunlin_begin(store, &err), &err);
        for (int i = 1; i <= BATCH; i++) {
            follow(store, number + i);
        }
        must(dunlin_commit(store, &err), &err);
        tell(pipe_end, number + 1, number + 1 + BATCH);
        if (number % 5 == 0) {
            must(sync_once(store, &err), &err);
        }
    }
}

/* Reads what was told; returns the number behind the last edit that may have been made. */
static int read_told(int pipe_end, int number) {
    int range[2];
    while (read(pipe_end, range, sizeof(range)) == (ssize_t)sizeof(range)) {
        for (int i = range[0]; i < range[1]; i++) {
            acknowledged[i] = 1;
        }
        number = range[1];
    }
    return number + 1 + BATCH;
}

static int work_and_kill(int number, struct test_random *random) {
    int ends[2];
    int status = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(ends[0]);
        work_until_killed(number, ends[1]);
    }
    (void)close(ends[1]);
    struct timespec span = {0, 1000 * (long)test_random_below(random, LONGEST_US)};
    (void)nanosleep(&span, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    number = read_told(ends[0], number);
    (void)close(ends[0]);
    return number;
}

static void check_store(dunlin_store *store) {
    dunlin_check check = {0};
    dunlin_error err;
    must(dunlin_store_verify(store, 0, &check, &err), &err);
    assert_int_equal(check.file_damaged, 0);
    assert_int_equal(check.subscriptions_off, 0);
    assert_int_equal(check.counts_off, 0);
    assert_int_equal(check.search_off, 0);
}

/* Every acknowledged follow is among the subscriptions; returns how many there are. */
static int check_acknowledged(dunlin_store *store) {
    static unsigned char found[EDITS_MAX];
    dunlin_iter *iter = NULL;
    const dunlin_subscription *row = NULL;
    dunlin_error err;
    int count = 0;
    memset(found, 0, sizeof(found));
    must(dunlin_subscriptions(store, &iter, NULL, &err), &err);
    for (;;) {
        must(dunlin_subscriptions_next(iter, &row, &err), &err);
        if (row == NULL) {
            break;
        }
        found[strtol(row->user + 1, NULL, 10)] = 1;
        count++;
    }
    dunlin_iter_free(iter);
    for (int i = 0; i < EDITS_MAX; i++) {
        if (acknowledged[i] && !found[i]) {
            fail_msg("u%d was acknowledged and is lost", i);
        }
    }
    return count;
}

static dunlin_status count_line(const char *line, size_t len, void *payload) {
    (void)line;
    (void)len;
    ++*(int *)payload;
    return DUNLIN_OK;
}

static void killed_at_random_moments(void **state) {
    (void)state;
    struct test_random random = {99};
    dunlin_error err;
    int number = 0;
    dir = temp_new();
    (void)snprintf(url, sizeof(url), "sqlite:%s", temp_file(dir, "central.db"));
    for (int i = 0; i < KILLS; i++) {
        number = work_and_kill(number, &random);
        dunlin_store *store = open_store();
        check_store(store);
        (void)check_acknowledged(store);
        dunlin_store_close(store);
    }
    dunlin_store *store = open_store();
    must(sync_once(store, &err), &err);
    int count = check_acknowledged(store);
    int lines = 0;
    dunlin_remote *remote = NULL;
    must(dunlin_embedded_remote(&remote, url, "aoi", NULL, &err), &err);
    must(dunlin_dump_remote(store, remote, count_line, &lines, &err), &err);
    assert_int_equal(lines, count); /* central holds one follow a subscription */
    dunlin_remote_close(remote);
    dunlin_store_close(store);
    print_message("%d kills, %d follows, all of them here and at central\n", KILLS, count);
    temp_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(killed_at_random_moments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
