#include "bench/raw.h"

#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "bench/measure.h"

enum statement {
    BEGIN,
    COMMIT,
    ITEM_ADD,
    ITEMS_NEWEST,
    FOLLOW_ADD,
    MEMBER_ADD,
    MEMBER_REMOVE,
    ORIGIN_ADD,
    ORIGIN_REMOVE,
    RECOMPUTE,
    SUBSCRIPTIONS,
    STATEMENT_COUNT
};

static const char *const texts[STATEMENT_COUNT] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ITEM_ADD] = "INSERT INTO item VALUES (?1, ?2, ?3, ?4, ?5)",
    [ITEMS_NEWEST] = "SELECT id, list, type, created_at, title FROM item"
                     " ORDER BY created_at DESC, id DESC LIMIT ?1",
    [FOLLOW_ADD] = "INSERT INTO follow VALUES (?1, ?2)",
    [MEMBER_ADD] = "INSERT INTO member VALUES (?1, ?2)",
    [MEMBER_REMOVE] = "DELETE FROM member WHERE grp = ?1 AND user = ?2",
    [ORIGIN_ADD] = "INSERT INTO origin VALUES (?1, ?2)",
    [ORIGIN_REMOVE] = "DELETE FROM origin WHERE user = ?1 AND origin = ?2",
    [RECOMPUTE] =
        "INSERT INTO origin"
        " SELECT target, 0 FROM follow WHERE kind = 0"
        " UNION ALL SELECT m.user, f.target FROM follow f JOIN member m ON m.grp = f.target"
        " WHERE f.kind = 1 ORDER BY 1, 2",
    [SUBSCRIPTIONS] = "SELECT count(DISTINCT user) FROM origin",
};

struct raw {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
};

static void check(struct raw *raw, int code) {
    if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) {
        bench_fail("raw SQLite", raw->db ? sqlite3_errmsg(raw->db) : sqlite3_errstr(code));
    }
}

void raw_execute(struct raw *raw, const char *sql) {
    check(raw, sqlite3_exec(raw->db, sql, NULL, NULL, NULL));
}

static void prepare(struct raw *raw, enum statement first, enum statement last) {
    for (int i = (int)first; i <= (int)last; i++) {
        check(raw, sqlite3_prepare_v3(raw->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                      &raw->statements[i], NULL));
    }
}

struct raw *raw_open(const char *path, bool full_durability) {
    struct raw *raw = calloc(1, sizeof(*raw));
    if (!raw) {
        bench_fail(path, "out of memory");
    }
    check(raw,
          sqlite3_open_v2(path, &raw->db,
                          SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
    raw_execute(raw, "PRAGMA journal_mode = WAL");
    raw_execute(raw, full_durability ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    raw_execute(raw, "PRAGMA cache_size = -8192");
    prepare(raw, BEGIN, COMMIT);
    return raw;
}

void raw_close(struct raw *raw) {
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        check(raw, sqlite3_finalize(raw->statements[i]));
    }
    check(raw, sqlite3_close(raw->db));
    free(raw);
}

void raw_checkpoint(const char *path) {
    struct raw *raw = raw_open(path, false);
    raw_execute(raw, "PRAGMA wal_checkpoint(TRUNCATE)");
    raw_close(raw);
}

void raw_compact(struct raw *raw, const char *path) {
    sqlite3_stmt *stmt = NULL;
    check(raw, sqlite3_prepare_v2(raw->db, "VACUUM INTO ?1", -1, &stmt, NULL));
    check(raw, sqlite3_bind_text(stmt, 1, path, -1, SQLITE_STATIC));
    check(raw, sqlite3_step(stmt));
    check(raw, sqlite3_finalize(stmt));
}

static void run(struct raw *raw, enum statement statement) {
    check(raw, sqlite3_step(raw->statements[statement]));
    check(raw, sqlite3_reset(raw->statements[statement]));
}

static void run_with(struct raw *raw, enum statement statement, int first, int second) {
    check(raw, sqlite3_bind_int(raw->statements[statement], 1, first));
    check(raw, sqlite3_bind_int(raw->statements[statement], 2, second));
    run(raw, statement);
}

void raw_begin(struct raw *raw) {
    run(raw, BEGIN);
}

void raw_commit(struct raw *raw) {
    run(raw, COMMIT);
}

/* ---- items */

void raw_items_make(struct raw *raw) {
    raw_execute(raw, "CREATE TABLE item (id TEXT PRIMARY KEY, list TEXT, type TEXT,"
                     " created_at INTEGER, title TEXT) WITHOUT ROWID;"
                     "CREATE INDEX item_time ON item (created_at, id)");
}

void raw_items_prepare(struct raw *raw) {
    prepare(raw, ITEM_ADD, ITEMS_NEWEST);
}

static void bind_text(struct raw *raw, sqlite3_stmt *stmt, int place, const char *text) {
    check(raw, sqlite3_bind_text(stmt, place, text, (int)strlen(text), SQLITE_STATIC));
}

void raw_item_add(struct raw *raw, const char *id, const char *list, const char *type,
                  int64_t created_at, const char *title) {
    sqlite3_stmt *stmt = raw->statements[ITEM_ADD];
    bind_text(raw, stmt, 1, id);
    bind_text(raw, stmt, 2, list);
    bind_text(raw, stmt, 3, type);
    check(raw, sqlite3_bind_int64(stmt, 4, created_at));
    bind_text(raw, stmt, 5, title);
    run(raw, ITEM_ADD);
}

int raw_items_newest(struct raw *raw, int limit) {
    sqlite3_stmt *stmt = raw->statements[ITEMS_NEWEST];
    int count = 0;
    check(raw, sqlite3_bind_int(stmt, 1, limit));
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        bool whole = sqlite3_column_text(stmt, 0) && sqlite3_column_text(stmt, 1) &&
                     sqlite3_column_text(stmt, 2) && sqlite3_column_int64(stmt, 3) > 0 &&
                     sqlite3_column_text(stmt, 4);
        count += whole;
    }
    check(raw, sqlite3_reset(stmt));
    return count;
}

/* ---- graph */

void raw_graph_make(struct raw *raw) {
    raw_execute(raw, "CREATE TABLE follow (kind INTEGER NOT NULL, target INTEGER NOT NULL,"
                     " PRIMARY KEY (kind, target)) WITHOUT ROWID;"
                     "CREATE TABLE member (grp INTEGER NOT NULL, user INTEGER NOT NULL,"
                     " PRIMARY KEY (grp, user)) WITHOUT ROWID;"
                     "CREATE TABLE origin (user INTEGER NOT NULL, origin INTEGER NOT NULL,"
                     " PRIMARY KEY (user, origin)) WITHOUT ROWID");
}

void raw_graph_prepare(struct raw *raw) {
    prepare(raw, FOLLOW_ADD, SUBSCRIPTIONS);
}

void raw_follow(struct raw *raw, int kind, int target) {
    run_with(raw, FOLLOW_ADD, kind, target);
}

void raw_member_row(struct raw *raw, int group, int user) {
    run_with(raw, MEMBER_ADD, group, user);
}

void raw_member_add(struct raw *raw, int group, int user) {
    run_with(raw, MEMBER_ADD, group, user);
    run_with(raw, ORIGIN_ADD, user, group);
}

void raw_member_remove(struct raw *raw, int group, int user) {
    run_with(raw, MEMBER_REMOVE, group, user);
    run_with(raw, ORIGIN_REMOVE, user, group);
}

void raw_recompute(struct raw *raw) {
    raw_begin(raw);
    run(raw, RECOMPUTE);
    raw_commit(raw);
}

int64_t raw_subscriptions(struct raw *raw) {
    sqlite3_stmt *stmt = raw->statements[SUBSCRIPTIONS];
    check(raw, sqlite3_step(stmt));
    int64_t count = sqlite3_column_int64(stmt, 0);
    check(raw, sqlite3_reset(stmt));
    return count;
}
