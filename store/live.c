/* Live records, scope by scope, in the order of their keys' texts: what a dump shows and what
 * digests are made of. Numbers of interned ids are in no order that means anything, so these
 * queries join the texts and sort, in temporary files where it is much. */
#include <assert.h>
#include <stdlib.h>

#include "store/row.h"

enum { READER_BYTES = 1 << 20, LIVE_ARENA_BYTES = 64 << 20, SCOPES_AT_ONCE = 256 };

struct live {
    struct dln_store *store;
    int64_t group; /* of the scope; 0: the owner's own */
    dln_row_visit visit;
    void *self;
    struct dln_arena rows; /* of a few rows */
};

static dunlin_status visit_row(struct live *live, struct dln_row_reader *reader,
                               const struct dln_statement *statement, dunlin_error *err) {
    struct dln_row row = {0};
    if (live->rows.used_bytes > READER_BYTES) {
        dln_arena_clear(&live->rows);
        *reader = (struct dln_row_reader){
            .store = reader->store, .arena = reader->arena, .table = reader->table};
    }
    dunlin_status status = dln_read_key(reader, statement, &row.record.key, err);
    if (status == DUNLIN_OK) {
        status = dln_read_fields(live->store, &live->rows, statement, reader->table->key_count,
                                 &row, NULL, err);
    }
    if (status != DUNLIN_OK || !dln_record_exists(&row.record)) {
        return status;
    }
    return live->visit(live->self, &row, err);
}

static dunlin_status visit_rows(struct live *live, enum dln_collection_id id,
                                struct dln_statement *statement, dunlin_error *err) {
    struct dln_row_reader reader = {
        .store = live->store, .arena = &live->rows, .table = dln_table_by_id(id)};
    dunlin_status status = DUNLIN_OK;
    for (bool more = true; more && status == DUNLIN_OK;) {
        status = dln_step(statement, &more, err);
        if (more) {
            status = visit_row(live, &reader, statement, err);
            if (status != DUNLIN_OK) {
                dln_done(statement);
            }
        }
    }
    return status;
}

/* Known collections by name. */
static const struct {
    enum dln_collection_id id;
    enum dln_store_query query;
} known[] = {
    {DLN_FOLLOW, DLN_STORE_LIVE_FOLLOW}, {DLN_GROUP, DLN_STORE_LIVE_GRP},
    {DLN_ITEM, DLN_STORE_LIVE_ITEM},     {DLN_LIST, DLN_STORE_LIVE_LIST},
    {DLN_MEMBER, DLN_STORE_LIVE_MEMBER}, {DLN_MYGROUP, DLN_STORE_LIVE_MYGROUP},
};

enum { KNOWN_COUNT = sizeof(known) / sizeof(known[0]) };

static dunlin_status visit_known(struct live *live, int index, dunlin_error *err) {
    const struct dln_collection *collection = dln_collection_by_id(known[index].id);
    if ((collection->scope == DLN_SCOPE_GROUP) != (live->group != 0)) {
        return DUNLIN_OK;
    }
    struct dln_statement statement = dln_use(live->store, known[index].query);
    if (live->group != 0) {
        dln_bind_int(&statement, live->group);
    }
    return visit_rows(live, known[index].id, &statement, err);
}

static dunlin_status visit_other(struct live *live, struct dln_text collection, dunlin_error *err) {
    struct dln_statement statement = dln_use(live->store, DLN_STORE_LIVE_OTHER);
    dln_bind_int(&statement, live->group);
    dln_bind_text(&statement, collection);
    return visit_rows(live, DLN_OTHER, &statement, err);
}

/* The known collections and, among them by name, those that this version does not know. */
static dunlin_status visit_scope(struct live *live, dunlin_error *err) {
    struct dln_statement others = dln_use(live->store, DLN_STORE_OTHER_COLLECTIONS);
    int next = 0;
    dunlin_status status = DUNLIN_OK;
    dln_bind_int(&others, live->group);
    for (bool more = true; more && status == DUNLIN_OK;) {
        struct dln_text name = {NULL, 0};
        status = dln_step(&others, &more, err);
        if (more) {
            name = dln_column_text(&others, 0);
        }
        while (status == DUNLIN_OK && next < KNOWN_COUNT &&
               (!more || dln_text_compare(dln_text_of(dln_collection_by_id(known[next].id)->name),
                                          name) < 0)) {
            status = visit_known(live, next++, err);
        }
        if (status == DUNLIN_OK && more) {
            status = visit_other(live, name, err);
        }
    }
    dln_done(&others);
    return status;
}

dunlin_status dln_scope_live(struct dln_store *store, struct dln_text scope, dln_row_visit visit,
                             void *self, dunlin_error *err) {
    struct live live = {.store = store,
                        .visit = visit,
                        .self = self,
                        .rows = DLN_ARENA_INIT(READER_BYTES + DLN_ROW_BYTES_MAX)};
    bool own = false;
    dunlin_status status = dln_scope_number(store, scope, false, &live.group, err);
    if (status != DUNLIN_OK || live.group < 0) {
        return status;
    }
    status = dln_read_begin(store, &own, err);
    if (status == DUNLIN_OK) {
        status = visit_scope(&live, err);
    }
    dln_read_end(store, own);
    dln_arena_free(&live.rows);
    return status;
}

/* ---- all scopes that are synced */

struct scope_names {
    struct dln_arena arena;
    struct dln_text *names;
    size_t count;
    size_t size;
};

static int compare_names(const void *a, const void *b) {
    return dln_text_compare(*(const struct dln_text *)a, *(const struct dln_text *)b);
}

static dunlin_status add_name(struct scope_names *names, struct dln_text name, dunlin_error *err) {
    if (names->count == names->size) {
        size_t size = names->size ? names->size * 2 : SCOPES_AT_ONCE;
        struct dln_text *grown = realloc(names->names, size * sizeof(*grown));
        if (!grown) {
            return dln_no_memory(err);
        }
        names->names = grown;
        names->size = size;
    }
    struct dln_text copy = dln_arena_text(&names->arena, name);
    if (!copy.data) {
        return dln_no_memory(err);
    }
    names->names[names->count++] = copy;
    return DUNLIN_OK;
}

/* Sorted here: percent-encoding puts some ids into another order than SQLite has them in. */
static dunlin_status read_names(struct dln_store *store, struct scope_names *names,
                                dunlin_error *err) {
    struct dln_arena page = DLN_ARENA_INIT(LIVE_ARENA_BYTES);
    struct dln_text after = {NULL, 0};
    dunlin_status status = DUNLIN_OK;
    for (size_t count = SCOPES_AT_ONCE; count == SCOPES_AT_ONCE && status == DUNLIN_OK;) {
        struct dln_scope_row *rows;
        dln_arena_clear(&page);
        status = dln_scopes(store, &page, after, SCOPES_AT_ONCE, &rows, &count, err);
        for (size_t i = 0; i < count && status == DUNLIN_OK; i++) {
            if (rows[i].wanted) {
                status = add_name(names, rows[i].scope, err);
            }
        }
        if (status == DUNLIN_OK && count > 0) {
            after = dln_arena_text(&names->arena, rows[count - 1].scope);
            status = after.data ? DUNLIN_OK : dln_no_memory(err);
        }
    }
    if (status == DUNLIN_OK && names->count > 0) {
        qsort(names->names, names->count, sizeof(*names->names), compare_names);
    }
    dln_arena_free(&page);
    return status;
}

dunlin_status dln_live(struct dln_store *store, dln_row_visit visit, void *self,
                       dunlin_error *err) {
    struct scope_names names = {.arena = DLN_ARENA_INIT(LIVE_ARENA_BYTES)};
    bool own;
    dunlin_status status = dln_read_begin(store, &own, err);
    if (status == DUNLIN_OK) {
        status = read_names(store, &names, err);
    }
    for (size_t i = 0; i < names.count && status == DUNLIN_OK; i++) {
        status = dln_scope_live(store, names.names[i], visit, self, err);
    }
    dln_read_end(store, own);
    free(names.names);
    dln_arena_free(&names.arena);
    return status;
}

/* ---- one record */

dunlin_status dln_row_is_live(struct dln_store *store, const struct dln_row *row, bool *out,
                              dunlin_error *err) {
    const struct dln_key *key = &row->record.key;
    enum dln_collection_id id = key->collection ? key->collection->id : DLN_OTHER;
    int64_t parent;
    int64_t live = 0;
    dunlin_status status;
    *out = row->stored && dln_record_exists(&row->record);
    if (!*out || (id != DLN_ITEM && id != DLN_MEMBER)) {
        return DUNLIN_OK;
    }
    status = id == DLN_ITEM ? dln_name_find(store, key->parts[0], &parent, err)
                            : dln_scope_number(store, key->scope, false, &parent, err);
    if (status == DUNLIN_OK) {
        struct dln_statement statement =
            dln_use(store, id == DLN_ITEM ? DLN_STORE_LIST_IS_LIVE : DLN_STORE_GRP_IS_LIVE);
        dln_bind_int(&statement, parent);
        status = dln_get_int(&statement, &live, err);
    }
    *out = live != 0;
    return status;
}
