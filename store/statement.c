/* Prepared statements: each named query is prepared once a store, bound in order, and reset before
 * the public call that used it returns.
 *
 * Failures: whatever SQLite says other than "row" or "done" ends the use of the statement; inside a
 * transaction it poisons that (see internal.h), since SQLite may have rolled back by itself. */
#include <assert.h>
#include <limits.h>
#include <string.h>

#include "store/internal.h"

static dunlin_status status_of(int code) {
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return DUNLIN_BUSY;
    case SQLITE_NOMEM:
        return DUNLIN_OUT_OF_MEMORY;
    case SQLITE_FULL:
        return DUNLIN_DISK_FULL;
    case SQLITE_IOERR:
        return code == SQLITE_IOERR_NOMEM ? DUNLIN_OUT_OF_MEMORY : DUNLIN_IO;
    case SQLITE_CANTOPEN:
        return DUNLIN_IO;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return DUNLIN_READ_ONLY;
    case SQLITE_INTERRUPT:
        return DUNLIN_INTERRUPTED;
    case SQLITE_TOOBIG:
        return DUNLIN_TOO_LARGE;
    default: /* CORRUPT, NOTADB, a table that is missing, a constraint that our own data breaks */
        return DUNLIN_CORRUPT;
    }
}

dunlin_status dln_poison(struct dln_store *store, dunlin_status status, const dunlin_error *err) {
    if (status != DUNLIN_OK && store->in_transaction && store->failure.code == DUNLIN_OK) {
        if (err) {
            store->failure = *err;
        } else {
            (void)dln_fail(&store->failure, status, DUNLIN_DOMAIN_STORE, "%s",
                           dunlin_status_text(status));
        }
        store->failure.code = status;
    }
    return status;
}

dunlin_status dln_sqlite_failed(struct dln_store *store, int code, dunlin_error *err) {
    dunlin_error failure = {0};
    dunlin_status status = dln_fail(
        &failure, status_of(code), DUNLIN_DOMAIN_STORE, "SQLite: %s",
        code == SQLITE_MISUSE || !store->db ? sqlite3_errstr(code) : sqlite3_errmsg(store->db));
    if (err) {
        *err = failure;
    }
    return dln_poison(store, status, &failure);
}

struct dln_statement dln_use(struct dln_store *store, enum dln_store_query query) {
    struct dln_statement statement = {.store = store, .code = SQLITE_OK};
    assert(query < DLN_STORE_QUERY_COUNT);
    if (!store->statements[query]) {
        statement.code =
            sqlite3_prepare_v3(store->db, dln_store_queries[query], -1, SQLITE_PREPARE_PERSISTENT,
                               &store->statements[query], NULL);
    }
    statement.stmt = store->statements[query];
    assert(!statement.stmt || !sqlite3_stmt_busy(statement.stmt));
    return statement;
}

void dln_bind_int(struct dln_statement *statement, int64_t value) {
    if (statement->code == SQLITE_OK) {
        statement->code = sqlite3_bind_int64(statement->stmt, ++statement->bound, value);
    }
}

void dln_bind_text(struct dln_statement *statement, struct dln_text text) {
    if (statement->code == SQLITE_OK) {
        assert(text.len <= INT_MAX);
        statement->code = sqlite3_bind_text(statement->stmt, ++statement->bound, text.data,
                                            (int)text.len, SQLITE_STATIC);
    }
}

void dln_bind_blob(struct dln_statement *statement, struct dln_text bytes) {
    if (statement->code == SQLITE_OK) {
        assert(bytes.len <= INT_MAX);
        statement->code = sqlite3_bind_blob(statement->stmt, ++statement->bound, bytes.data,
                                            (int)bytes.len, SQLITE_STATIC);
    }
}

void dln_bind_null(struct dln_statement *statement) {
    if (statement->code == SQLITE_OK) {
        statement->code = sqlite3_bind_null(statement->stmt, ++statement->bound);
    }
}

void dln_done(struct dln_statement *statement) {
    if (statement->stmt) {
        (void)sqlite3_reset(statement->stmt); /* repeats the step's code, which was handled there */
    }
}

dunlin_status dln_step(struct dln_statement *statement, bool *row, dunlin_error *err) {
    struct dln_store *store = statement->store;
    *row = false;
    if (store->in_transaction && store->failure.code != DUNLIN_OK) {
        dln_done(statement);
        if (err) {
            *err = store->failure;
        }
        return store->failure.code;
    }
    if (statement->code == SQLITE_OK) {
        assert(statement->bound == 0 ||
               statement->bound == sqlite3_bind_parameter_count(statement->stmt));
        statement->code = sqlite3_step(statement->stmt);
    }
    if (statement->code == SQLITE_ROW) {
        statement->code = SQLITE_OK;
        *row = true;
        return DUNLIN_OK;
    }
    dunlin_status status = DUNLIN_OK;
    if (statement->code != SQLITE_DONE) {
        status = dln_sqlite_failed(store, statement->code, err);
    }
    statement->code = SQLITE_MISUSE; /* a further step without dln_use() is our bug */
    dln_done(statement);
    return status;
}

dunlin_status dln_run(struct dln_statement *statement, dunlin_error *err) {
    bool row;
    dunlin_status status = dln_step(statement, &row, err);
    assert(!row);
    return status;
}

int dln_changed(const struct dln_store *store) {
    return sqlite3_changes(store->db);
}

int64_t dln_column_int(const struct dln_statement *statement, int column) {
    return sqlite3_column_int64(statement->stmt, column);
}

struct dln_text dln_column_text(const struct dln_statement *statement, int column) {
    const unsigned char *text = sqlite3_column_text(statement->stmt, column);
    int len = sqlite3_column_bytes(statement->stmt, column);
    return (struct dln_text){(const char *)text, text ? (size_t)len : 0};
}

struct dln_text dln_column_blob(const struct dln_statement *statement, int column) {
    const void *bytes = sqlite3_column_blob(statement->stmt, column);
    int len = sqlite3_column_bytes(statement->stmt, column);
    return (struct dln_text){bytes, bytes ? (size_t)len : 0};
}

bool dln_column_is_null(const struct dln_statement *statement, int column) {
    return sqlite3_column_type(statement->stmt, column) == SQLITE_NULL;
}

dunlin_status dln_get_int(struct dln_statement *statement, int64_t *out, dunlin_error *err) {
    bool row;
    *out = 0;
    dunlin_status status = dln_step(statement, &row, err);
    if (row) {
        *out = dln_column_int(statement, 0);
        dln_done(statement);
    }
    return status;
}
