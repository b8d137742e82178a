/* B36: a migration that is killed behind any statement leaves version 1 whole or version 2 whole;
 * version 1 refuses version 2's file and does not touch it. The second step is made up. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/migrate.h"
#include "tests/support/sight.h"

enum { LISTS = 1000, PENDING = 5, STATEMENTS_MAX = 100, FILE_BYTES_MAX = 16 * 1024 * 1024 };

static const char second_step[] =
    "CREATE TABLE mood (list INTEGER PRIMARY KEY, mood TEXT NOT NULL) STRICT;\n"
    "INSERT INTO mood (list, mood) SELECT list, 'calm' FROM list;\n"
    "ALTER TABLE list ADD COLUMN mood TEXT;\n"
    "UPDATE list SET mood = 'calm';\n"
    "CREATE INDEX list_mood ON list (mood);\n"
    "DELETE FROM mood WHERE list % 2 = 0;\n"
    "PRAGMA user_version = 2;\n";

static struct world world;
static struct device *device;
static struct dln_store_migration steps[2];

static void kill_when_due(void *self) {
    int *left = self;
    if ((*left)-- == 0) {
        (void)raise(SIGKILL);
    }
}

/* Version 2's code opens the file; it is killed in front of that many statements (-1: never). */
static dunlin_status open_second(int left) {
    struct dln_migrations migrations = {
        .steps = steps, .count = 2, .before_statement = kill_when_due, .self = &left};
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    struct dln_store *store = NULL;
    options.ports = &device->ports;
    dunlin_status status =
        dln_store_open_with(&store, device->path, "aoi", &options, &migrations, NULL);
    dln_store_close(store);
    return status;
}

/* Version 1's code. */
static dunlin_status open_first(void) {
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    options.ports = &device->ports;
    return dunlin_store_open(&device->store, device->path, "aoi", &options, NULL);
}

/* Whether the process was killed. */
static bool open_second_and_kill(int left) {
    int result = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(open_second(left) == DUNLIN_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result) || WEXITSTATUS(result) == 0);
    return WIFSIGNALED(result);
}

static int64_t number(const char *sql) {
    struct notebook file = {0};
    (void)snprintf(file.path, sizeof(file.path), "%s", device->path);
    return notebook_number(&file, sql);
}

static char *read_file(size_t *len) {
    char *bytes = malloc(FILE_BYTES_MAX);
    FILE *file = fopen(device->path, "rb");
    assert_non_null(bytes);
    assert_non_null(file);
    *len = fread(bytes, 1, FILE_BYTES_MAX, file);
    assert_int_equal(fclose(file), 0);
    assert_in_range(*len, 1, FILE_BYTES_MAX - 1);
    return bytes;
}

static int set_up(void **state) {
    (void)state;
    steps[0] = dln_store_migrations[0];
    steps[1] = (struct dln_store_migration){2, second_step};
    world_open(&world, 36, NULL);
    device = world_device(&world, "aoi", 0);
    OK(dunlin_begin(device->store, NULL));
    for (int i = 0; i < LISTS; i++) {
        char id[24];
        (void)snprintf(id, sizeof(id), "l%d", i);
        OK(dunlin_list_create(device->store, NULL, id, "list", NULL));
    }
    OK(dunlin_commit(device->store, NULL));
    device_sync_ok(device);
    for (int i = 0; i < PENDING; i++) {
        char id[24];
        (void)snprintf(id, sizeof(id), "l%d", i * 7);
        OK(dunlin_list_rename(device->store, id, "renamed", NULL));
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

static void assert_second_is_complete(void) {
    assert_int_equal(number("PRAGMA user_version"), 2);
    assert_int_equal(number("SELECT count(*) FROM list WHERE mood = 'calm'"), LISTS);
    assert_int_equal(number("SELECT count(*) FROM list WHERE pending <> 0"), PENDING);
    assert_int_equal(number("SELECT count(*) FROM mood"),
                     number("SELECT count(*) FROM list WHERE list % 2 = 1"));
    assert_int_equal(number("SELECT count(*) FROM sqlite_schema WHERE name = 'list_mood'"), 1);
}

static void b36_killed_behind_every_statement(void **state) {
    bool killed = true;
    int trials = 0;
    (void)state;
    char *before = device_dump(device);
    for (; killed; trials++) {
        assert_true(trials < STATEMENTS_MAX);
        device_close(device);
        killed = open_second_and_kill(trials);
        dunlin_status status = open_first();
        if (status == DUNLIN_NEWER_SCHEMA) {
            assert_second_is_complete();
            OK(open_second(-1)); /* up again: nothing is done twice */
            assert_second_is_complete();
            break;
        }
        OK(status);
        char *after = device_dump(device);
        assert_string_equal(after, before);
        assert_int_equal(device_pending(device), PENDING);
        free(after);
    }
    free(before);
    assert_true(trials >= 7); /* one in front of each statement of the step at least */
    assert_int_equal(number("PRAGMA user_version"), 2);
}

static void b36_first_refuses_second(void **state) {
    size_t before_len = 0;
    size_t after_len = 0;
    (void)state;
    device_close(device);
    OK(open_second(-1));
    assert_second_is_complete();
    char *before = read_file(&before_len);
    REFUSED("NEWER_SCHEMA", open_first());
    assert_null(device->store);
    char *after = read_file(&after_len);
    assert_int_equal(before_len, after_len);
    assert_memory_equal(before, after, after_len);
    assert_second_is_complete();
    free(before);
    free(after);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b36_killed_behind_every_statement),
        TEST(b36_first_refuses_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
