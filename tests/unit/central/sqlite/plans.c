/* How SQLite means to run each query: never by reading a whole table or a whole scope. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>
#include <cmocka.h>

#include "central/sqlite/central_sql.h"

/* All steps of the plan, one a line. */
static void plan_of(sqlite3 *db, int query, char *out, size_t size) {
    char sql[2048];
    sqlite3_stmt *stmt = NULL;
    size_t len = 0;
    out[0] = '\0';
    (void)snprintf(sql, sizeof(sql), "EXPLAIN QUERY PLAN %s", dln_central_queries[query]);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    }
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(stmt, 3);
        len += (size_t)snprintf(out + len, size - len, "%s\n", step);
    }
    (void)sqlite3_finalize(stmt);
}

static void queries_walk_their_indexes(void **state) {
    (void)state;
    sqlite3 *db = NULL;
    char plan[1024];
    static const struct {
        int query;
        const char *step;
    } expected[] = {
        {DLN_CENTRAL_LOG_CURRENT, "INDEX changes_by_key (scope=? AND key=?)"},
        {DLN_CENTRAL_LOG_WALK, "INDEX changes_by_key (scope=? AND (key,seq)>(?,?) AND key<?)"},
        {DLN_CENTRAL_LOG_AFTER, "PRIMARY KEY (scope=? AND seq>?)"},
        {DLN_CENTRAL_LOG_LAST, "PRIMARY KEY (scope=?)"},
        {DLN_CENTRAL_LOG_SALT, "PRIMARY KEY (scope=? AND seq=?)"},
        {DLN_CENTRAL_SCOPE_NAMES, "(name>?)"},
        {DLN_CENTRAL_SCOPE_TOUCHED, "INDEX scopes_by_touched (touched>?)"},
    };
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    for (int i = 0; i < dln_central_migration_count; i++) {
        assert_int_equal(sqlite3_exec(db, dln_central_migrations[i].sql, NULL, NULL, NULL),
                         SQLITE_OK);
    }
    for (int query = 0; query < DLN_CENTRAL_QUERY_COUNT; query++) {
        plan_of(db, query, plan, sizeof(plan));
        if (query != DLN_CENTRAL_EPOCH_NEWEST) { /* its last row */
            assert_null(strstr(plan, "SCAN"));
        }
        assert_null(strstr(plan, "TEMP B-TREE")); /* nothing is sorted */
    }
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        plan_of(db, expected[i].query, plan, sizeof(plan));
        if (strstr(plan, expected[i].step) == NULL) {
            fail_msg("%s: %s", dln_central_queries[expected[i].query], plan);
        }
    }
    (void)sqlite3_close(db);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_walk_their_indexes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
