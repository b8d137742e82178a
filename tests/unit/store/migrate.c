/* Schema steps with a second one that is made up: killed in front of every statement (case B36). */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/migrate.h"
#include "tests/support/bare.h"
#include "tests/support/temp.h"

static const char second_step[] = "ALTER TABLE list ADD COLUMN colour TEXT;\n"
                                  "UPDATE list SET colour = 'teal';\n"
                                  "CREATE TABLE shelf (shelf INTEGER PRIMARY KEY, list INTEGER);\n"
                                  "INSERT INTO shelf (list) SELECT list FROM list;\n"
                                  "DELETE FROM setting WHERE name = 'old';\n"
                                  "PRAGMA user_version = 2;\n";

enum { STATEMENTS = 8 }; /* of that step: before each, before its commit, and behind it */

static struct dln_store_migration steps[2];

struct killer {
    int left; /* statements to let pass */
};

static void kill_at_zero(void *self) {
    struct killer *killer = self;
    if (killer->left-- == 0) {
        (void)raise(SIGKILL);
    }
}

static dunlin_status open_with(struct bare *bare, int count, struct killer *killer,
                               struct dln_store **out) {
    struct dln_migrations migrations = {.steps = steps, .count = count};
    if (killer) {
        migrations.before_statement = kill_at_zero;
        migrations.self = killer;
    }
    return dln_store_open_with(out, bare->path, "alice", &bare->options, &migrations, NULL);
}

static int64_t number(struct bare *bare, const char *sql) {
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_prepare_v2(bare->store->db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

/* 1,000 rows, five of them waiting. */
static void fill(struct bare *bare) {
    bare_begin(bare);
    for (int i = 0; i < 1000; i++) {
        char id[8];
        (void)snprintf(id, sizeof(id), "l%d", i);
        bare_put_list(bare, id, "name");
        if (i >= 5) {
            struct dln_key key = bare_list(bare, id);
            bare_settle(bare, &key, i);
        }
    }
    assert_int_equal(dln_store_setting_put(bare->store, "old", 1, NULL), DUNLIN_OK);
    bare_commit(bare);
    dln_store_close(bare->store);
    bare->store = NULL;
}

static void assert_whole(struct bare *bare) {
    int64_t version = number(bare, "PRAGMA user_version");
    assert_int_equal(number(bare, "SELECT count(*) FROM list"), 1000);
    assert_int_equal(number(bare, "SELECT count(*) FROM list WHERE pending <> 0"), 5);
    assert_int_equal(number(bare, "SELECT count(*) FROM setting WHERE name = 'old'"), version == 1);
    assert_int_equal(number(bare, "SELECT count(*) FROM sqlite_schema WHERE name = 'shelf'"),
                     version == 2);
    assert_int_equal(
        number(bare, "SELECT count(*) FROM pragma_table_info('list') WHERE name = 'colour'"),
        version == 2);
    if (version == 2) {
        assert_int_equal(number(bare, "SELECT count(*) FROM shelf"), 1000);
        assert_int_equal(number(bare, "SELECT count(*) FROM list WHERE colour = 'teal'"), 1000);
    }
}

static void B36_killed_in_front_of_any_statement(void **state) {
    struct bare *bare = *state;
    bool went_up = false;
    fill(bare);
    for (int at = 0; at <= STATEMENTS; at++) {
        pid_t child = fork();
        if (child == 0) {
            struct killer killer = {at};
            struct dln_store *store;
            _exit(open_with(bare, 2, &killer, &store) == DUNLIN_OK ? 0 : 1);
        }
        int result;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFSIGNALED(result) == (at < STATEMENTS));
        dunlin_status status = open_with(bare, 1, NULL, &bare->store);
        went_up = at >= STATEMENTS - 1; /* behind the commit */
        assert_int_equal(status, went_up ? DUNLIN_NEWER_SCHEMA : DUNLIN_OK);
        if (went_up) {
            assert_int_equal(open_with(bare, 2, NULL, &bare->store), DUNLIN_OK);
        }
        assert_whole(bare);
        dln_store_close(bare->store);
        bare->store = NULL;
        if (went_up) {
            break;
        }
    }
    assert_true(went_up);
}

static void B36_up_down_and_up_again(void **state) {
    struct bare *bare = *state;
    size_t before_len, after_len;
    fill(bare);
    assert_int_equal(open_with(bare, 2, NULL, &bare->store), DUNLIN_OK);
    assert_whole(bare);
    dln_store_close(bare->store);
    char *before = bare_read_file(bare->path, &before_len);
    assert_int_equal(open_with(bare, 1, NULL, &bare->store), DUNLIN_NEWER_SCHEMA);
    assert_null(bare->store);
    char *after = bare_read_file(bare->path, &after_len);
    assert_int_equal(before_len, after_len);
    assert_memory_equal(before, after, after_len);
    free(before);
    free(after);
    assert_int_equal(open_with(bare, 2, NULL, &bare->store), DUNLIN_OK);
    assert_whole(bare);
}

static void a_step_that_fails_changes_nothing(void **state) {
    struct bare *bare = *state;
    fill(bare);
    steps[1].sql = "ALTER TABLE list ADD COLUMN colour TEXT; INSERT INTO nowhere VALUES (1);";
    assert_int_equal(open_with(bare, 2, NULL, &bare->store), DUNLIN_CORRUPT);
    assert_int_equal(open_with(bare, 1, NULL, &bare->store), DUNLIN_OK);
    assert_whole(bare);
    steps[1].sql = second_step;
}

/* A new file: killed anywhere, the next one makes it. */
static void killed_while_it_is_made(void **state) {
    struct bare *bare = *state;
    bool made = false;
    const char *first_path = bare->path;
    for (int at = 0; !made && at < 1000; at++) {
        char name[24];
        (void)snprintf(name, sizeof(name), "new%d.db", at);
        bare->path = temp_file(bare->dir, name);
        pid_t child = fork();
        if (child == 0) {
            struct killer killer = {at};
            struct dln_store *store;
            _exit(open_with(bare, 1, &killer, &store) == DUNLIN_OK ? 0 : 1);
        }
        int result;
        assert_int_equal(waitpid(child, &result, 0), child);
        made = WIFEXITED(result);
        dln_store_close(bare->store);
        assert_int_equal(open_with(bare, 1, NULL, &bare->store), DUNLIN_OK);
        assert_string_equal(dln_store_owner(bare->store), "alice");
    }
    assert_true(made);
    bare->path = first_path;
}

static int set_up(void **state) {
    steps[0] = dln_store_migrations[0];
    steps[1] = (struct dln_store_migration){2, second_step};
    return bare_set_up(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, bare_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(B36_killed_in_front_of_any_statement),
        TEST(B36_up_down_and_up_again),
        TEST(a_step_that_fails_changes_nothing),
        TEST(killed_while_it_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
