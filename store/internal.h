/* Inside store/ only: the struct, statements, and interning.
 *
 * What is cached (names, places in the outbox, the clock's bound) is only used inside a
 * transaction, and dropped when one is rolled back or when another connection has written since the
 * last: dln_store_begin() looks at SQLite's data version for that.
 *
 * A failure of the file or of memory inside a transaction poisons it: every further statement
 * fails with the same error, and so does the commit, which rolls back. So nothing half-written is
 * ever committed, though a single edit has no savepoint of its own. */
#ifndef DLN_STORE_INTERNAL_H
#define DLN_STORE_INTERNAL_H

#include <sqlite3.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "store/store.h"
#include "store/store_sql.h"

enum {
    DLN_APPLICATION_ID = 1684827758,    /* "dlnn"; also in the first migration */
    DLN_COUNTS_MAX = 8,                 /* counts that are added up in memory */
    DLN_ENDS = 16,                      /* lists whose ends are cached, see ends.h */
    DLN_OUTBOX_RANGES = 16,             /* see outbox.h */
    DLN_NAME_SLOTS = 16384,             /* of the cache of interned names */
    DLN_DEVICE_LEN = 32,                /* hex digits */
    DLN_ROW_BYTES_MAX = 4 * 1024 * 1024 /* of one row in memory, with all its fields */
};

/* An interned text in the cache; a slot of another generation than the store's is free. */
struct dln_name {
    int64_t id;
    uint64_t generation;
    char *text;
    size_t len;
};

/* What is to be added to a count, see counts.h. */
struct dln_count {
    int64_t what;
    int64_t more;
};

/* A live list, and the greatest rank of its items; list 0: none. */
struct dln_end {
    int64_t list;
    size_t len;
    char rank[DLN_RANK_MAX];
};

struct dln_store {
    sqlite3 *db;
    sqlite3_stmt *statements[DLN_STORE_QUERY_COUNT]; /* prepared at their first use */
    dunlin_ports ports;
    char *owner;
    int64_t owner_name; /* interned */
    char *own_scope_text;
    struct dln_text own_scope; /* "user/…" of the owner, own_scope_text */
    char device[DLN_DEVICE_LEN + 1];
    bool search; /* the file has a search index */
    bool in_transaction;
    dunlin_error failure; /* code OK: the transaction is sound */
    bool fresh;           /* what is cached agreed with the file at data_version */
    unsigned data_version;
    struct dln_clock clock;
    bool raised_bound; /* by this connection, since it was opened */
    struct dln_count counts[DLN_COUNTS_MAX];
    int count_count;
    struct dln_end ends[DLN_ENDS];
    int64_t last_places[DLN_OUTBOX_RANGES]; /* given out last in each range; 0: not known */
    uint64_t names_generation;
    struct dln_name *names;  /* DLN_NAME_SLOTS, by hash of the text */
    struct dln_arena before; /* the old version of the row that is being written */
    struct dln_buf stamps;   /* scratch of row.c */
    struct dln_buf extras;
    struct dln_buf key_text; /* scratch: a key as text */
    struct dln_buf decoded;  /* scratch: an id that stands encoded in a scope's name */
};

/* ---- statement.c */

/* A statement in use. Binding is sticky: after the first failure nothing more is done, and the next
 * step tells. Every use ends in dln_run(), in a dln_step() without a row, or in dln_done(). */
struct dln_statement {
    struct dln_store *store;
    sqlite3_stmt *stmt; /* NULL: could not be prepared */
    int bound;          /* parameters bound so far */
    int code;           /* SQLite's */
};

/* Starts using a named query; parameters are bound in order, ?1 first. Texts and blobs are not
 * copied: they must stay until the statement is done. */
struct dln_statement dln_use(struct dln_store *store, enum dln_store_query query);
void dln_bind_int(struct dln_statement *statement, int64_t value);
void dln_bind_text(struct dln_statement *statement, struct dln_text text);  /* no text: NULL */
void dln_bind_blob(struct dln_statement *statement, struct dln_text bytes); /* no text: NULL */
void dln_bind_null(struct dln_statement *statement);
/* *row tells whether there is one; when there is none, or on failure, the statement is done. */
DUNLIN_MUST_USE dunlin_status dln_step(struct dln_statement *statement, bool *row,
                                       dunlin_error *err);
/* Runs a statement that gives no rows. */
DUNLIN_MUST_USE dunlin_status dln_run(struct dln_statement *statement, dunlin_error *err);
/* Resets it before its last row; harmless when it is done already. */
void dln_done(struct dln_statement *statement);
/* How many rows the last statement that wrote has changed. */
int dln_changed(const struct dln_store *store);

/* Columns of the current row. Text is borrowed until the next step; NULL gives no text. */
int64_t dln_column_int(const struct dln_statement *statement, int column);
struct dln_text dln_column_text(const struct dln_statement *statement, int column);
struct dln_text dln_column_blob(const struct dln_statement *statement, int column);
bool dln_column_is_null(const struct dln_statement *statement, int column);

/* Runs a query that gives one number; *out is 0 when it gives no row. */
DUNLIN_MUST_USE dunlin_status dln_get_int(struct dln_statement *statement, int64_t *out,
                                          dunlin_error *err);

/* The status for a code of SQLite's, with its message. Notes a failure that poisons. */
dunlin_status dln_sqlite_failed(struct dln_store *store, int code, dunlin_error *err);
/* The transaction that runs, if any, cannot be committed any more. Returns status. */
dunlin_status dln_poison(struct dln_store *store, dunlin_status status, const dunlin_error *err);
static inline dunlin_status dln_no_memory(dunlin_error *err) {
    return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_STORE, "out of memory");
}

/* A read of several statements that sees one moment: BEGIN, unless a transaction runs. Reads nest.
 */
DUNLIN_MUST_USE dunlin_status dln_read_begin(struct dln_store *store, bool *own, dunlin_error *err);
void dln_read_end(struct dln_store *store, bool own);

/* ---- intern.c */

/* The number of a text; find gives 0 where there is none, make adds it (in a transaction). */
DUNLIN_MUST_USE dunlin_status dln_name_find(struct dln_store *store, struct dln_text text,
                                            int64_t *out, dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_name_make(struct dln_store *store, struct dln_text text,
                                            int64_t *out, dunlin_error *err);
/* The text of a number, in the arena; CORRUPT where there is none. */
DUNLIN_MUST_USE dunlin_status dln_name_text(struct dln_store *store, struct dln_arena *arena,
                                            int64_t id, struct dln_text *out, dunlin_error *err);
void dln_names_drop(struct dln_store *store); /* empties the cache */

#endif
