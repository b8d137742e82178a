/* Opening decides first whose file it is, by reading only: a file that is not central's, or that a
 * newer version wrote, is left as it was (on that way no checkpoint runs at close either). What is
 * ours is brought up to date under the write lock, where everything is looked at again, since
 * another process may have opened it at the same moment.
 *
 * Every write takes the write lock at its start (BEGIN IMMEDIATE): a transaction that turns from
 * reading to writing is refused at once when somebody committed in between, whatever the time-out.
 */
#include "central/sqlite/database.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    APPLICATION_ID = 0x644c6e43, /* "dLnC" */
    RECORD_BYTES_MAX = 4 * 1024 * 1024,
    WAL_RETRY_MS = 5
};

static dunlin_status status_of(int code) {
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return DUNLIN_BUSY;
    case SQLITE_NOMEM:
        return DUNLIN_OUT_OF_MEMORY;
    case SQLITE_FULL:
        return DUNLIN_DISK_FULL;
    case SQLITE_NOTADB:
        return DUNLIN_NOT_A_STORE;
    case SQLITE_CORRUPT:
        return DUNLIN_CORRUPT;
    case SQLITE_READONLY:
        return DUNLIN_READ_ONLY;
    default:
        return DUNLIN_IO;
    }
}

dunlin_status dln_database_fail(struct dln_database *database, int code, dunlin_error *err) {
    return dln_fail(err, status_of(code), DUNLIN_DOMAIN_CENTRAL, "central's file: %s",
                    database->db != NULL ? sqlite3_errmsg(database->db) : sqlite3_errstr(code));
}

static dunlin_status execute(struct dln_database *database, const char *sql, dunlin_error *err) {
    int code = sqlite3_exec(database->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? DUNLIN_OK : dln_database_fail(database, code, err);
}

static dunlin_status read_number(struct dln_database *database, const char *sql, int64_t *out,
                                 dunlin_error *err) {
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(database->db, sql, -1, &stmt, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(stmt);
        if (code == SQLITE_ROW) {
            *out = sqlite3_column_int64(stmt, 0);
            code = SQLITE_OK;
        }
    }
    dunlin_status status = code == SQLITE_OK ? DUNLIN_OK : dln_database_fail(database, code, err);
    sqlite3_finalize(stmt);
    return status;
}

/* Whether the file is empty, or central's of a version that this one knows. */
static dunlin_status identify(struct dln_database *database, int64_t *version, dunlin_error *err) {
    dunlin_status status;
    int64_t application = 0;
    int64_t tables = 0;
    if ((status = read_number(database, "PRAGMA application_id", &application, err)) ||
        (status = read_number(database, "PRAGMA user_version", version, err)) ||
        (status = read_number(database, "SELECT count(*) FROM sqlite_schema", &tables, err))) {
        return status;
    }
    if (application == 0 && *version == 0 && tables == 0) {
        return DUNLIN_OK;
    }
    if (application != APPLICATION_ID || *version < 1) {
        return dln_fail(err, DUNLIN_NOT_A_STORE, DUNLIN_DOMAIN_CENTRAL,
                        "the file is an SQLite database, but not central's");
    }
    if (*version > dln_central_migration_count) {
        return dln_fail(err, DUNLIN_NEWER_SCHEMA, DUNLIN_DOMAIN_CENTRAL,
                        "central's file has schema %lld, this version knows %d",
                        (long long)*version, dln_central_migration_count);
    }
    return DUNLIN_OK;
}

/* Switching to write-ahead logging needs the file for itself; SQLite does not wait for that. */
static dunlin_status switch_to_wal(struct dln_database *database, int busy_timeout_ms,
                                   dunlin_error *err) {
    for (int waited_ms = 0;; waited_ms += WAL_RETRY_MS) {
        int code = sqlite3_exec(database->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (code == SQLITE_OK) {
            return DUNLIN_OK;
        }
        if ((code & 0xff) != SQLITE_BUSY || waited_ms >= busy_timeout_ms) {
            return dln_database_fail(database, code, err);
        }
        sqlite3_sleep(WAL_RETRY_MS);
    }
}

static dunlin_status migrate(struct dln_database *database, dunlin_error *err) {
    dunlin_status status;
    int64_t version = 0;
    char pragma[64];
    if ((status = execute(database, "BEGIN IMMEDIATE", err))) {
        return status;
    }
    if ((status = identify(database, &version, err))) {
        goto done;
    }
    for (const struct dln_central_migration *step = &dln_central_migrations[version];
         step->sql != NULL; step++) {
        snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", step->version);
        if ((status = execute(database, step->sql, err)) ||
            (status = execute(database, pragma, err))) {
            goto done;
        }
    }
    if (version == 0) {
        snprintf(pragma, sizeof(pragma), "PRAGMA application_id = %d", APPLICATION_ID);
        status = execute(database, pragma, err);
    }
done:
    if (status == DUNLIN_OK) {
        status = execute(database, "COMMIT", err);
    }
    if (status != DUNLIN_OK) {
        (void)sqlite3_exec(database->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}

static dunlin_status set_up(struct dln_database *database, int busy_timeout_ms, dunlin_error *err) {
    dunlin_status status;
    int64_t version = 0;
    (void)sqlite3_extended_result_codes(database->db, 1);
    (void)sqlite3_busy_timeout(database->db, busy_timeout_ms);
    (void)sqlite3_db_config(database->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(database->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(database->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    /* One read transaction, so that all of it is of one moment. */
    if ((status = execute(database, "BEGIN", err))) {
        return status;
    }
    status = identify(database, &version, err);
    (void)sqlite3_exec(database->db, "ROLLBACK", NULL, NULL, NULL);
    if (status != DUNLIN_OK) {
        return status;
    }
    (void)sqlite3_db_config(database->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    if ((status = switch_to_wal(database, busy_timeout_ms, err)) ||
        (status = execute(database, "PRAGMA synchronous = FULL", err))) {
        return status;
    }
    return version < dln_central_migration_count ? migrate(database, err) : DUNLIN_OK;
}

dunlin_status dln_database_open(struct dln_database **out, const char *path, int busy_timeout_ms,
                                const struct dln_central_ports *ports, dunlin_error *err) {
    dunlin_status status;
    struct dln_database *database = calloc(1, sizeof(*database));
    if (database == NULL) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_CENTRAL, "out of memory");
    }
    database->ports = ports;
    database->buf = DLN_BUF_INIT(RECORD_BYTES_MAX);
    database->more = DLN_BUF_INIT(RECORD_BYTES_MAX);
    int code =
        sqlite3_open_v2(path, &database->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    status = code == SQLITE_OK ? set_up(database, busy_timeout_ms, err)
                               : dln_database_fail(database, code, err);
    if (status != DUNLIN_OK) {
        dln_database_close(database);
        return status;
    }
    *out = database;
    return DUNLIN_OK;
}

void dln_database_close(struct dln_database *database) {
    if (database == NULL) {
        return;
    }
    for (int i = 0; i < DLN_CENTRAL_QUERY_COUNT; i++) {
        sqlite3_finalize(database->statements[i]);
    }
    int code = sqlite3_close(database->db);
    assert(code == SQLITE_OK);
    (void)code;
    dln_buf_free(&database->buf);
    dln_buf_free(&database->more);
    free(database);
}

void dln_query_start(struct dln_query *query, struct dln_database *database,
                     enum dln_central_query which) {
    sqlite3_stmt **stmt = &database->statements[which];
    *query = (struct dln_query){.database = database, .code = SQLITE_OK};
    if (*stmt == NULL) {
        query->code = sqlite3_prepare_v3(database->db, dln_central_queries[which], -1,
                                         SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    }
    query->stmt = *stmt;
    assert(query->stmt == NULL || !sqlite3_stmt_busy(query->stmt));
}

static bool is_failure(int code) {
    return code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE;
}

void dln_query_integer(struct dln_query *query, int64_t value) {
    if (!is_failure(query->code)) {
        query->code = sqlite3_bind_int64(query->stmt, ++query->bound, value);
    }
}

void dln_query_text(struct dln_query *query, struct dln_text text) {
    if (!is_failure(query->code)) {
        const char *data = text.data != NULL ? text.data : "";
        query->code = sqlite3_bind_text64(query->stmt, ++query->bound, data, text.len,
                                          SQLITE_STATIC, SQLITE_UTF8);
    }
}

void dln_query_blob(struct dln_query *query, const void *data, size_t len) {
    if (!is_failure(query->code)) {
        query->code = sqlite3_bind_blob64(query->stmt, ++query->bound, data != NULL ? data : "",
                                          len, SQLITE_STATIC);
    }
}

bool dln_query_row(struct dln_query *query) {
    if (is_failure(query->code)) {
        return false;
    }
    query->code = sqlite3_step(query->stmt);
    return query->code == SQLITE_ROW;
}

struct dln_text dln_query_column(struct dln_query *query, int column) {
    struct dln_text text = {sqlite3_column_blob(query->stmt, column), 0};
    text.len = (size_t)sqlite3_column_bytes(query->stmt, column);
    if (text.data == NULL) {
        text.data = "";
        if (sqlite3_errcode(query->database->db) == SQLITE_NOMEM) {
            query->code = SQLITE_NOMEM;
        }
    }
    return text;
}

void dln_query_again(struct dln_query *query) {
    if (!is_failure(query->code)) {
        query->code = sqlite3_reset(query->stmt);
    }
    query->bound = 0;
}

dunlin_status dln_query_end(struct dln_query *query, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    if (is_failure(query->code)) {
        status = dln_database_fail(query->database, query->code, err);
    }
    if (query->stmt != NULL) {
        (void)sqlite3_reset(query->stmt);
        (void)sqlite3_clear_bindings(query->stmt);
    }
    return status;
}

dunlin_status dln_database_begin(struct dln_database *database, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    if (database->depth == 0) {
        status = execute(database, "BEGIN IMMEDIATE", err);
    }
    if (status == DUNLIN_OK) {
        database->depth++;
    }
    return status;
}

dunlin_status dln_database_end(struct dln_database *database, bool keep, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    if (database->depth == 0) { /* an inner end() took everything back */
        assert(!keep);
        return DUNLIN_OK;
    }
    if (keep && --database->depth > 0) {
        return DUNLIN_OK;
    }
    if (keep) {
        status = execute(database, "COMMIT", err);
    }
    /* A failed commit, or a failure that made SQLite roll back by itself, may leave either state.
     */
    if (!sqlite3_get_autocommit(database->db)) {
        (void)sqlite3_exec(database->db, "ROLLBACK", NULL, NULL, NULL);
    }
    database->depth = 0;
    return status;
}

dunlin_status dln_database_scope(struct dln_database *database, struct dln_text name, bool make,
                                 int64_t *out, dunlin_error *err) {
    dunlin_status status;
    struct dln_query query;
    *out = 0;
    dln_query_start(&query, database, DLN_CENTRAL_SCOPE_ID);
    dln_query_text(&query, name);
    if (dln_query_row(&query)) {
        *out = sqlite3_column_int64(query.stmt, 0);
    }
    if ((status = dln_query_end(&query, err)) || *out != 0 || !make) {
        return status;
    }
    dln_query_start(&query, database, DLN_CENTRAL_SCOPE_ADD);
    dln_query_text(&query, name);
    (void)dln_query_row(&query);
    if ((status = dln_query_end(&query, err))) {
        return status;
    }
    return dln_database_scope(database, name, false, out, err);
}
