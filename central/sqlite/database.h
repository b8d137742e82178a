/* The file of the SQLite engine: opening and upgrading it, prepared statements, sticky binding.
 * Only for the files of this folder: it shows sqlite3. */
#ifndef DLN_CENTRAL_SQLITE_DATABASE_H
#define DLN_CENTRAL_SQLITE_DATABASE_H

#include <sqlite3.h>

#include "base/error.h"
#include "base/text.h"
#include "central/central.h"
#include "central/sqlite/central_sql.h"

struct dln_database {
    sqlite3 *db;
    sqlite3_stmt *statements[DLN_CENTRAL_QUERY_COUNT]; /* prepared when first used */
    const struct dln_central_ports *ports;
    struct dln_buf buf; /* for encoding a record */
    struct dln_buf more;
    int depth; /* of begin() */
};

/* NOT_A_STORE and NEWER_SCHEMA leave the file as it was. */
DUNLIN_MUST_USE dunlin_status dln_database_open(struct dln_database **out, const char *path,
                                                int busy_timeout_ms,
                                                const struct dln_central_ports *ports,
                                                dunlin_error *err);
void dln_database_close(struct dln_database *database);

/* Fills err with what SQLite says of its last failure. */
dunlin_status dln_database_fail(struct dln_database *database, int code, dunlin_error *err);

/* A run of one statement. Sticky: after the first failure every further call does nothing, and
 * dln_query_end() returns it. Ended always, or the statement would stay busy. */
struct dln_query {
    struct dln_database *database;
    sqlite3_stmt *stmt;
    int bound;
    int code; /* of SQLite; SQLITE_OK, SQLITE_ROW and SQLITE_DONE are none */
};

void dln_query_start(struct dln_query *query, struct dln_database *database,
                     enum dln_central_query which);
void dln_query_integer(struct dln_query *query, int64_t value); /* binds the next parameter */
void dln_query_text(struct dln_query *query, struct dln_text text);
void dln_query_blob(struct dln_query *query, const void *data, size_t len);
bool dln_query_row(struct dln_query *query); /* steps; false at the end and after a failure */
struct dln_text dln_query_column(struct dln_query *query, int column); /* until the next step */
void dln_query_again(struct dln_query *query); /* resets, to be bound and stepped anew */
DUNLIN_MUST_USE dunlin_status dln_query_end(struct dln_query *query, dunlin_error *err);

/* The write lock. Nested calls are one transaction. */
DUNLIN_MUST_USE dunlin_status dln_database_begin(struct dln_database *database, dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_database_end(struct dln_database *database, bool keep,
                                               dunlin_error *err);

/* The id of the scope with that name; 0 where there is none and none is made. */
DUNLIN_MUST_USE dunlin_status dln_database_scope(struct dln_database *database,
                                                 struct dln_text name, bool make, int64_t *out,
                                                 dunlin_error *err);

#endif
