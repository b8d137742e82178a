#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>
#include <cmocka.h>

#include "store/migrate.h"
#include "tests/support/bare.h"
#include "tests/support/temp.h"

/* What opening says, with the owner or (NULL) whoever it is; the file must be the same afterwards.
 */
static void assert_refused(struct bare *bare, const char *path, const char *owner, int must_exist,
                           dunlin_status expected) {
    size_t before_len, after_len;
    struct dln_store *store = NULL;
    dunlin_error err = {0};
    dunlin_open_options options = bare->options;
    options.must_exist = must_exist;
    char *before = bare_read_file(path, &before_len);
    dunlin_status status = dln_store_open(&store, path, owner, &options, &err);
    char *after = bare_read_file(path, &after_len);
    assert_string_equal(dunlin_status_name(status), dunlin_status_name(expected));
    assert_int_equal(err.code, expected);
    assert_true(err.message[0] != '\0');
    assert_null(store);
    assert_int_equal(before_len, after_len);
    assert_true(!before == !after);
    assert_true(before_len == 0 || memcmp(before, after, before_len) == 0);
    free(before);
    free(after);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

static void run_sql(const char *path, const char *sql) {
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fail_msg("%s", message);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Runs SQL and dies without closing: what is in the log, or in the hot journal, stays there. */
static void run_sql_and_die(const char *path, const char *sql) {
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db;
        int code = sqlite3_open(path, &db);
        code = code ? code : sqlite3_exec(db, sql, NULL, NULL, NULL);
        _exit(code == SQLITE_OK ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
}

static void a_new_file_has_owner_and_device(void **state) {
    struct bare *bare = *state;
    char name[64];
    (void)snprintf(name, sizeof(name), "%s", dln_store_device(bare->store));
    assert_string_equal(dln_store_owner(bare->store), "alice");
    assert_int_equal(strlen(name), 32);
    assert_int_equal(strspn(name, "0123456789abcdef"), 32);
    bare_reopen(bare);
    assert_string_equal(dln_store_device(bare->store), name);
    dln_store_close(bare->store);
    assert_int_equal(dln_store_open(&bare->store, bare->path, NULL, &bare->options, NULL),
                     DUNLIN_OK);
    assert_string_equal(dln_store_owner(bare->store), "alice");
}

static void the_file_says_what_it_is(void **state) {
    struct bare *bare = *state;
    size_t len;
    dln_store_close(bare->store);
    bare->store = NULL;
    char *bytes = bare_read_file(bare->path, &len);
    assert_true(len > 100);
    assert_memory_equal(bytes + 68, "dlnn", 4);     /* application_id */
    assert_memory_equal(bytes + 60, "\0\0\0\1", 4); /* user_version */
    assert_memory_equal(bytes + 18, "\2\2", 2);     /* write-ahead log */
    free(bytes);
}

static void a_file_that_must_exist_is_not_made(void **state) {
    struct bare *bare = *state;
    const char *path = temp_file(bare->dir, "absent.db");
    assert_refused(bare, path, "alice", 1, DUNLIN_NOT_FOUND);
    assert_refused(bare, path, NULL, 0, DUNLIN_NOT_FOUND);
    assert_int_equal(access(path, F_OK), -1);
    assert_refused(bare, temp_file(bare->dir, "no/such/folder.db"), NULL, 0, DUNLIN_NOT_FOUND);
    assert_refused(bare, temp_file(bare->dir, "no/such/folder.db"), "alice", 0, DUNLIN_IO);
    assert_refused(bare, ":memory:", NULL, 0, DUNLIN_NOT_FOUND);
}

static void an_empty_file_counts_as_none(void **state) {
    struct bare *bare = *state;
    struct dln_store *store;
    const char *path = temp_file(bare->dir, "empty.db");
    write_file(path, "");
    assert_refused(bare, path, "alice", 1, DUNLIN_NOT_A_STORE);
    assert_refused(bare, path, NULL, 0, DUNLIN_NOT_A_STORE);
    assert_int_equal(dln_store_open(&store, path, "bob", &bare->options, NULL), DUNLIN_OK);
    assert_string_equal(dln_store_owner(store), "bob");
    dln_store_close(store);
}

static void what_is_no_store_stays_as_it_is(void **state) {
    struct bare *bare = *state;
    const char *path = temp_file(bare->dir, "text");
    write_file(path, "This is not a database, however long it may be. It only looks like a file.");
    assert_refused(bare, path, "alice", 0, DUNLIN_NOT_A_STORE);
    path = temp_file(bare->dir, "short");
    write_file(path, "x");
    assert_refused(bare, path, "alice", 0, DUNLIN_NOT_A_STORE);
    assert_refused(bare, bare->dir, "alice", 0, DUNLIN_NOT_A_STORE);
    path = temp_file(bare->dir, "other.db");
    run_sql(path, "CREATE TABLE t (x); INSERT INTO t VALUES (1);");
    assert_refused(bare, path, "alice", 0, DUNLIN_NOT_A_STORE);
    path = temp_file(bare->dir, "named.db");
    run_sql(path, "PRAGMA application_id = 77; CREATE TABLE t (x);");
    assert_refused(bare, path, "alice", 0, DUNLIN_NOT_A_STORE);
    path = temp_file(bare->dir, "versioned.db");
    run_sql(path, "PRAGMA user_version = 1;");
    assert_refused(bare, path, "alice", 0, DUNLIN_NOT_A_STORE);
    path = temp_file(bare->dir, "half.db");
    run_sql(path, "PRAGMA application_id = 1684827758; CREATE TABLE t (x);");
    assert_refused(bare, path, "alice", 0, DUNLIN_NOT_A_STORE);
}

static void a_strangers_log_and_journal_stay_his(void **state) {
    struct bare *bare = *state;
    const char *path = temp_file(bare->dir, "log.db");
    run_sql_and_die(path, "PRAGMA journal_mode = WAL; CREATE TABLE t (x); PRAGMA "
                          "wal_checkpoint; INSERT INTO t VALUES (1);");
    assert_refused(bare, path, "alice", 0, DUNLIN_NOT_A_STORE);
    path = temp_file(bare->dir, "hot.db");
    run_sql(path, "CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000));");
    run_sql_and_die(path, "PRAGMA cache_size = 1; BEGIN; UPDATE t SET x = randomblob(100000); "
                          "CREATE TABLE u AS SELECT randomblob(100000);");
    size_t len;
    free(bare_read_file(temp_file(bare->dir, "hot.db-journal"), &len));
    assert_true(len > 512); /* hot indeed */
    assert_refused(bare, path, "alice", 0, DUNLIN_NOT_A_STORE);
}

static void another_users_file_is_refused(void **state) {
    struct bare *bare = *state;
    assert_refused(bare, bare->path, "bob", 0, DUNLIN_WRONG_OWNER);
    assert_refused(bare, bare->path, "alic", 0, DUNLIN_WRONG_OWNER);
    dln_store_close(bare->store);
    bare->store = NULL;
    assert_refused(bare, bare->path, "bob", 0, DUNLIN_WRONG_OWNER);
}

static void refusing_moves_no_log_into_the_file(void **state) {
    struct bare *bare = *state;
    dln_store_close(bare->store);
    bare->store = NULL;
    run_sql_and_die(bare->path, "INSERT INTO setting VALUES ('left', 1);");
    assert_refused(bare, bare->path, "bob", 0, DUNLIN_WRONG_OWNER);
    bare_reopen(bare);
    int64_t left = 0;
    assert_int_equal(dln_store_setting_get(bare->store, "left", &left, NULL), DUNLIN_OK);
    assert_int_equal(left, 1);
}

static void a_newer_schema_is_refused(void **state) {
    struct bare *bare = *state;
    dln_store_close(bare->store);
    bare->store = NULL;
    run_sql(bare->path, "PRAGMA user_version = 2;");
    assert_refused(bare, bare->path, "alice", 0, DUNLIN_NEWER_SCHEMA);
    assert_refused(bare, bare->path, NULL, 1, DUNLIN_NEWER_SCHEMA);
    run_sql_and_die(bare->path, "PRAGMA user_version = 3;");
    assert_refused(bare, bare->path, "alice", 0, DUNLIN_NEWER_SCHEMA);
}

/* In a child that is nobody, since root may write everything. */
static void a_file_that_cannot_be_written_is_refused(void **state) {
    struct bare *bare = *state;
    dln_store_close(bare->store);
    bare->store = NULL;
    assert_int_equal(chmod(bare->path, 0444), 0);
    assert_int_equal(chmod(bare->dir, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        struct dln_store *store;
        if (geteuid() == 0 && setuid(65534) != 0) {
            _exit(2);
        }
        dunlin_status status = dln_store_open(&store, bare->path, "alice", &bare->options, NULL);
        _exit(status == DUNLIN_READ_ONLY ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(chmod(bare->dir, 0755), 0);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

static void a_store_in_memory_works(void **state) {
    struct bare *bare = *state;
    const char *paths[] = {":memory:", DLN_STORE_TEMPORARY};
    for (int i = 0; i < 2; i++) {
        dln_store_close(bare->store);
        assert_int_equal(dln_store_open(&bare->store, paths[i], "alice", &bare->options, NULL),
                         DUNLIN_OK);
        bare_begin(bare);
        bare_put_follow(bare, "user", "ben", true);
        bare_commit(bare);
        struct dln_key key = bare_follow(bare, "user", "ben");
        assert_true(bare_row(bare, &key).stored);
    }
}

enum { MAKERS = 6 };

static void many_may_make_it_at_once(void **state) {
    struct bare *bare = *state;
    const char *path = temp_file(bare->dir, "raced.db");
    pid_t makers[MAKERS];
    for (int i = 0; i < MAKERS; i++) {
        makers[i] = fork();
        if (makers[i] == 0) {
            struct dln_store *store;
            bare->random.state = (uint64_t)i;
            if (dln_store_open(&store, path, "alice", &bare->options, NULL) != DUNLIN_OK) {
                _exit(1);
            }
            dln_store_close(store);
            _exit(0);
        }
    }
    for (int i = 0; i < MAKERS; i++) {
        int result;
        assert_int_equal(waitpid(makers[i], &result, 0), makers[i]);
        assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    }
    struct dln_store *store;
    assert_int_equal(dln_store_open(&store, path, "alice", &bare->options, NULL), DUNLIN_OK);
    dln_store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bare_set_up, bare_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_new_file_has_owner_and_device),
        TEST(the_file_says_what_it_is),
        TEST(a_file_that_must_exist_is_not_made),
        TEST(an_empty_file_counts_as_none),
        TEST(what_is_no_store_stays_as_it_is),
        TEST(a_strangers_log_and_journal_stay_his),
        TEST(another_users_file_is_refused),
        TEST(refusing_moves_no_log_into_the_file),
        TEST(a_newer_schema_is_refused),
        TEST(a_file_that_cannot_be_written_is_refused),
        TEST(a_store_in_memory_works),
        TEST(many_may_make_it_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
