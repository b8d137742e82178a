/* Inside store/: how records stand in the typed tables. */
#ifndef DLN_STORE_ROW_H
#define DLN_STORE_ROW_H

#include "store/internal.h"

enum { DLN_KEY_COLUMNS_MAX = 6 };

/* What a key column holds. */
enum dln_key_source {
    DLN_FROM_NAME,  /* a key part, interned */
    DLN_FROM_TEXT,  /* a key part as it is */
    DLN_FROM_KIND,  /* follow's kind: 0 user, 1 group */
    DLN_FROM_GROUP, /* the group of the scope, interned; 0: the owner's own scope */
    DLN_FROM_LABEL, /* the collection's name */
    DLN_FROM_COUNT  /* how many parts the key has */
};

struct dln_key_column {
    enum dln_key_source source;
    int part;
};

/* One typed table; its queries are named after it. */
struct dln_table {
    enum dln_collection_id id;
    int key_count;
    struct dln_key_column keys[DLN_KEY_COLUMNS_MAX]; /* in the order of the primary key */
    enum dln_store_query get, insert, update, place, mark, remove, walk, forget;
};

const struct dln_table *dln_table_of(const struct dln_key *key);
const struct dln_table *dln_table_by_id(enum dln_collection_id id);

/* A key as its columns' values, in the order of the primary key. */
struct dln_key_value {
    bool is_text;
    int64_t number;
    struct dln_text text;
};

struct dln_key_values {
    bool known; /* false: something in it is not interned, so no row has that key */
    struct dln_key_value at[DLN_KEY_COLUMNS_MAX];
};

/* Borrows texts from the key. make: interns what is not yet. BAD_MESSAGE for a scope that this
 * device has nothing to do with. */
DUNLIN_MUST_USE dunlin_status dln_key_values_of(struct dln_store *store, const struct dln_key *key,
                                                bool make, struct dln_key_values *out,
                                                dunlin_error *err);
/* The values before the first key of a table; within a group's scope: of that group. */
struct dln_key_values dln_key_values_first(const struct dln_table *table, int64_t group);
void dln_bind_key(struct dln_statement *statement, const struct dln_table *table,
                  const struct dln_key_values *values);
/* The number of the group that a scope is of, 0 for the owner's own scope; -1: not interned (never
 * with make). BAD_MESSAGE as above. */
DUNLIN_MUST_USE dunlin_status dln_scope_number(struct dln_store *store, struct dln_text scope,
                                               bool make, int64_t *out, dunlin_error *err);

/* Writes a row that is said to be new. *written: it was; else there is one, and nothing changed. */
DUNLIN_MUST_USE dunlin_status dln_row_insert(struct dln_store *store, const struct dln_row *row,
                                             bool *written, dunlin_error *err);

/* Reads rows of one table, remembering the names of the row before. */
struct dln_row_reader {
    struct dln_store *store;
    struct dln_arena *arena;
    const struct dln_table *table;
    int64_t *places; /* may be NULL; else takes each row's place in the outbox */
    struct dln_text own_scope;
    int64_t ids[DLN_KEY_COLUMNS_MAX];
    struct dln_text names[DLN_KEY_COLUMNS_MAX]; /* for the group: its scope */
};

/* The key columns of the current row, which stand first in it. */
DUNLIN_MUST_USE dunlin_status dln_read_key(struct dln_row_reader *reader,
                                           const struct dln_statement *statement,
                                           struct dln_key *out, dunlin_error *err);
/* Fields and outbox state of the current row, which start at `column`; out->record.key must stand.
 * *place (may be NULL): its place in the outbox, 0 for none. */
DUNLIN_MUST_USE dunlin_status dln_read_fields(struct dln_store *store, struct dln_arena *arena,
                                              const struct dln_statement *statement, int column,
                                              struct dln_row *out, int64_t *place,
                                              dunlin_error *err);
/* Steps through a query whose rows are keys and fields and appends up to `limit` of them in all to
 * rows, which has that room. */
DUNLIN_MUST_USE dunlin_status dln_read_rows(struct dln_row_reader *reader,
                                            struct dln_statement *statement, struct dln_row *rows,
                                            size_t limit, size_t *count, dunlin_error *err);

#endif
