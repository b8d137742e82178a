/* Opening the file: whose it is, versions, several at once. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>
#include <cmocka.h>

#include <dunlin/central.h>

#include "central/sqlite/central_sql.h"
#include "tests/support/temp.h"

enum { OPENERS = 8 };

static char *dir;

static int set_up(void **state) {
    (void)state;
    dir = temp_new();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    temp_remove(dir);
    return 0;
}

static dunlin_status open_and_close(const char *name, dunlin_error *err) {
    char url[1200];
    dunlin_central *central = NULL;
    (void)snprintf(url, sizeof(url), "sqlite:%s", temp_file(dir, name));
    dunlin_status status = dunlin_central_open(&central, url, NULL, err);
    assert_true((status == DUNLIN_OK) == (central != NULL));
    dunlin_central_close(central);
    return status;
}

static char *read_file(const char *name, size_t *len) {
    FILE *file = fopen(temp_file(dir, name), "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    assert_non_null(bytes);
    *len = fread(bytes, 1, 1 << 20, file);
    (void)fclose(file);
    return bytes;
}

static void write_file(const char *name, const void *bytes, size_t len) {
    FILE *file = fopen(temp_file(dir, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    (void)fclose(file);
}

static void run_sql(const char *name, const char *sql) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(temp_file(dir, name), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static int64_t read_number(const char *name, const char *sql) {
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_open(temp_file(dir, name), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(stmt, 0);
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return number;
}

static void refused_untouched(const char *name, dunlin_status expected) {
    dunlin_error err = {0};
    size_t before_len;
    size_t after_len;
    char *before = read_file(name, &before_len);
    assert_int_equal(open_and_close(name, &err), expected);
    assert_int_equal(err.code, expected);
    assert_true(strlen(err.message) > 0);
    char *after = read_file(name, &after_len);
    assert_int_equal(before_len, after_len);
    assert_memory_equal(before, after, before_len);
    free(before);
    free(after);
}

static void new_file_is_made(void **state) {
    (void)state;
    assert_int_equal(open_and_close("c.db", NULL), DUNLIN_OK);
    assert_int_equal(read_number("c.db", "PRAGMA user_version"), dln_central_migration_count);
    assert_int_not_equal(read_number("c.db", "PRAGMA application_id"), 0);
    assert_int_equal(open_and_close("c.db", NULL), DUNLIN_OK);
    write_file("empty.db", "", 0);
    assert_int_equal(open_and_close("empty.db", NULL), DUNLIN_OK);
}

static void not_a_store(void **state) {
    (void)state;
    char noise[5000];
    memset(noise, 'x', sizeof(noise));
    write_file("noise.db", noise, sizeof(noise));
    refused_untouched("noise.db", DUNLIN_NOT_A_STORE);
    write_file("short.db", "hello", 5);
    refused_untouched("short.db", DUNLIN_NOT_A_STORE);
    run_sql("other.db", "CREATE TABLE t (a)");
    refused_untouched("other.db", DUNLIN_NOT_A_STORE);
    run_sql("wal.db", "PRAGMA journal_mode = WAL; CREATE TABLE t (a)");
    refused_untouched("wal.db", DUNLIN_NOT_A_STORE);
    run_sql("marked.db", "PRAGMA application_id = 77; PRAGMA user_version = 1");
    refused_untouched("marked.db", DUNLIN_NOT_A_STORE);
}

static void newer_schema(void **state) {
    (void)state;
    char sql[64];
    assert_int_equal(open_and_close("c.db", NULL), DUNLIN_OK);
    (void)snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", dln_central_migration_count + 1);
    run_sql("c.db", sql);
    refused_untouched("c.db", DUNLIN_NEWER_SCHEMA);
}

static void no_such_folder(void **state) {
    (void)state;
    dunlin_error err;
    assert_int_equal(open_and_close("no/such/folder.db", &err), DUNLIN_IO);
}

static void locked_file_is_busy(void **state) {
    (void)state;
    sqlite3 *db = NULL;
    dunlin_central *central = NULL;
    dunlin_central_options options = DUNLIN_CENTRAL_OPTIONS_INIT;
    char url[1200];
    options.busy_timeout_ms = 50;
    (void)snprintf(url, sizeof(url), "sqlite:%s", temp_file(dir, "c.db"));
    assert_int_equal(sqlite3_open(temp_file(dir, "c.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(dunlin_central_open(&central, url, &options, NULL), DUNLIN_BUSY);
    assert_null(central);
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(dunlin_central_open(&central, url, &options, NULL), DUNLIN_OK);
    dunlin_central_close(central);
}

/* Processes that all wait for one byte, and then open the same new file at once. */
static void opened_by_many_at_once(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        char name[16];
        int gate[2];
        pid_t children[OPENERS];
        (void)snprintf(name, sizeof(name), "c%d.db", round);
        assert_int_equal(pipe(gate), 0);
        for (int i = 0; i < OPENERS; i++) {
            children[i] = fork();
            assert_true(children[i] >= 0);
            if (children[i] == 0) {
                char byte;
                (void)close(gate[1]);
                (void)!read(gate[0], &byte, 1);
                _exit(open_and_close(name, NULL) == DUNLIN_OK ? 0 : 1);
            }
        }
        (void)close(gate[0]);
        (void)close(gate[1]); /* the end of the pipe wakes them all */
        for (int i = 0; i < OPENERS; i++) {
            int status;
            assert_int_equal(waitpid(children[i], &status, 0), children[i]);
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
        }
        assert_int_equal(read_number(name, "PRAGMA user_version"), dln_central_migration_count);
    }
}

static void memory_is_a_place_too(void **state) {
    (void)state;
    dunlin_central *central = NULL;
    assert_int_equal(dunlin_central_open(&central, "sqlite::memory:", NULL, NULL), DUNLIN_OK);
    assert_int_equal(dunlin_central_maintain(central, NULL, NULL), DUNLIN_OK);
    dunlin_central_close(central);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(new_file_is_made),      TEST(not_a_store),         TEST(newer_schema),
        TEST(no_such_folder),        TEST(locked_file_is_busy), TEST(opened_by_many_at_once),
        TEST(memory_is_a_place_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
