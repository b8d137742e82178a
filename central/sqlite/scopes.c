/* The engine over one SQLite file: hints, floors, epochs, bases, leases. */
#include <string.h>

#include "central/sqlite/engine.h"

/* Runs a bound statement that returns nothing. */
static dunlin_status run(struct dln_query *query, bool *changed, dunlin_error *err) {
    (void)dln_query_row(query);
    if (changed != NULL) {
        *changed = query->code == SQLITE_DONE && sqlite3_changes(query->database->db) == 1;
    }
    return dln_query_end(query, err);
}

/* Runs a statement that takes the scope's number, made where there is none, and then these. */
static dunlin_status write_scope(void *self, enum dln_central_query name, struct dln_text scope,
                                 const int64_t *values, size_t count, dunlin_error *err) {
    dunlin_status status;
    struct dln_query query;
    int64_t id;
    if ((status = dln_database_begin(self, err))) {
        return status;
    }
    if ((status = dln_database_scope(self, scope, true, &id, err)) == DUNLIN_OK) {
        dln_query_start(&query, self, name);
        dln_query_integer(&query, id);
        for (size_t i = 0; i < count; i++) {
            dln_query_integer(&query, values[i]);
        }
        status = run(&query, NULL, err);
    }
    dunlin_status ended = dln_database_end(self, status == DUNLIN_OK, err);
    return status != DUNLIN_OK ? status : ended;
}

static dunlin_status engine_raise_hint(void *self, struct dln_text scope,
                                       const struct dln_hint *hint, dunlin_error *err) {
    return write_scope(self, DLN_CENTRAL_SCOPE_RAISE_HINT, scope,
                       (const int64_t[]){hint->head, hint->touched_ms}, 2, err);
}

static dunlin_status engine_hints(void *self, const struct dln_text *scopes, size_t count,
                                  struct dln_hint *out, dunlin_error *err) {
    struct dln_query query;
    memset(out, 0, count * sizeof(*out));
    dln_query_start(&query, self, DLN_CENTRAL_SCOPE_HINT);
    for (size_t i = 0; i < count; i++) {
        dln_query_text(&query, scopes[i]);
        if (dln_query_row(&query)) {
            out[i].head = sqlite3_column_int64(query.stmt, 0);
            out[i].touched_ms = sqlite3_column_int64(query.stmt, 1);
        }
        dln_query_again(&query);
    }
    return dln_query_end(&query, err);
}

static dunlin_status engine_touched(void *self, struct dln_arena *arena, int64_t since_ms,
                                    size_t limit, struct dln_touched **out, size_t *count,
                                    dunlin_error *err) {
    struct dln_query query;
    *count = 0;
    if ((*out = dln_arena_alloc(arena, limit * sizeof(**out))) == NULL) {
        return dln_central_no_memory(err);
    }
    dln_query_start(&query, self, DLN_CENTRAL_SCOPE_TOUCHED);
    dln_query_integer(&query, since_ms);
    dln_query_integer(&query, (int64_t)limit);
    while (dln_query_row(&query)) {
        struct dln_touched *touched = &(*out)[*count];
        touched->scope = dln_arena_text(arena, dln_query_column(&query, 0));
        touched->hint.head = sqlite3_column_int64(query.stmt, 1);
        touched->hint.touched_ms = sqlite3_column_int64(query.stmt, 2);
        if (touched->scope.data == NULL) {
            query.code = SQLITE_NOMEM;
            break;
        }
        (*count)++;
    }
    return dln_query_end(&query, err);
}

static dunlin_status engine_floor(void *self, struct dln_text scope, int64_t *out,
                                  dunlin_error *err) {
    struct dln_query query;
    *out = 0;
    dln_query_start(&query, self, DLN_CENTRAL_SCOPE_FLOOR);
    dln_query_text(&query, scope);
    if (dln_query_row(&query)) {
        *out = sqlite3_column_int64(query.stmt, 0);
    }
    return dln_query_end(&query, err);
}

static dunlin_status engine_raise_floor(void *self, struct dln_text scope, int64_t floor,
                                        dunlin_error *err) {
    return write_scope(self, DLN_CENTRAL_SCOPE_RAISE_FLOOR, scope, &floor, 1, err);
}

static dunlin_status engine_scopes(void *self, struct dln_arena *arena, struct dln_text after,
                                   size_t limit, struct dln_text **out, size_t *count,
                                   dunlin_error *err) {
    struct dln_query query;
    *count = 0;
    if ((*out = dln_arena_alloc(arena, limit * sizeof(**out))) == NULL) {
        return dln_central_no_memory(err);
    }
    dln_query_start(&query, self, DLN_CENTRAL_SCOPE_NAMES);
    dln_query_text(&query, after);
    dln_query_integer(&query, (int64_t)limit);
    while (dln_query_row(&query)) {
        (*out)[*count] = dln_arena_text(arena, dln_query_column(&query, 0));
        if ((*out)[*count].data == NULL) {
            query.code = SQLITE_NOMEM;
            break;
        }
        (*count)++;
    }
    return dln_query_end(&query, err);
}

static dunlin_status engine_epoch(void *self, struct dln_arena *arena, struct dln_epoch *out,
                                  dunlin_error *err) {
    struct dln_query query;
    *out = (struct dln_epoch){0};
    dln_query_start(&query, self, DLN_CENTRAL_EPOCH_NEWEST);
    if (dln_query_row(&query)) {
        out->number = sqlite3_column_int64(query.stmt, 0);
        out->id = dln_arena_text(arena, dln_query_column(&query, 1));
        if (out->id.data == NULL) {
            query.code = SQLITE_NOMEM;
        }
    }
    return dln_query_end(&query, err);
}

static dunlin_status engine_insert_epoch(void *self, const struct dln_epoch *epoch, bool *inserted,
                                         dunlin_error *err) {
    struct dln_query query;
    dln_query_start(&query, self, DLN_CENTRAL_EPOCH_INSERT);
    dln_query_integer(&query, epoch->number);
    dln_query_text(&query, epoch->id);
    return run(&query, inserted, err);
}

static dunlin_status engine_base(void *self, int64_t epoch, struct dln_text scope, bool *noted,
                                 int64_t *seq, dunlin_error *err) {
    dunlin_status status;
    struct dln_query query;
    int64_t id;
    *noted = false;
    if ((status = dln_database_scope(self, scope, false, &id, err)) || id == 0) {
        return status;
    }
    dln_query_start(&query, self, DLN_CENTRAL_BASE_GET);
    dln_query_integer(&query, epoch);
    dln_query_integer(&query, id);
    if (dln_query_row(&query)) {
        *noted = true;
        *seq = sqlite3_column_int64(query.stmt, 0);
    }
    return dln_query_end(&query, err);
}

static dunlin_status engine_note_base(void *self, int64_t epoch, struct dln_text scope, int64_t seq,
                                      dunlin_error *err) {
    return write_scope(self, DLN_CENTRAL_BASE_NOTE, scope, (const int64_t[]){epoch, seq}, 2, err);
}

static dunlin_status engine_lease(void *self, struct dln_arena *arena, struct dln_text name,
                                  struct dln_lease *out, dunlin_error *err) {
    struct dln_query query;
    *out = (struct dln_lease){0};
    dln_query_start(&query, self, DLN_CENTRAL_LEASE_NEWEST);
    dln_query_text(&query, name);
    if (dln_query_row(&query)) {
        out->number = sqlite3_column_int64(query.stmt, 0);
        out->until_ms = sqlite3_column_int64(query.stmt, 1);
        out->holder = dln_arena_text(arena, dln_query_column(&query, 2));
        if (out->holder.data == NULL) {
            query.code = SQLITE_NOMEM;
        }
    }
    return dln_query_end(&query, err);
}

static dunlin_status engine_insert_lease(void *self, struct dln_text name,
                                         const struct dln_lease *lease, bool *inserted,
                                         dunlin_error *err) {
    struct dln_query query;
    dln_query_start(&query, self, DLN_CENTRAL_LEASE_INSERT);
    dln_query_text(&query, name);
    dln_query_integer(&query, lease->number);
    dln_query_text(&query, lease->holder);
    dln_query_integer(&query, lease->until_ms);
    return run(&query, inserted, err);
}

static dunlin_status engine_set_lease_end(void *self, struct dln_text name, int64_t number,
                                          int64_t until_ms, dunlin_error *err) {
    struct dln_query query;
    dln_query_start(&query, self, DLN_CENTRAL_LEASE_END);
    dln_query_text(&query, name);
    dln_query_integer(&query, number);
    dln_query_integer(&query, until_ms);
    return run(&query, NULL, err);
}

static dunlin_status engine_drop_leases(void *self, struct dln_text name, int64_t before,
                                        dunlin_error *err) {
    struct dln_query query;
    dln_query_start(&query, self, DLN_CENTRAL_LEASE_DROP);
    dln_query_text(&query, name);
    dln_query_integer(&query, before);
    return run(&query, NULL, err);
}

void dln_sqlite_scopes(struct dln_central_engine *out) {
    out->raise_hint = engine_raise_hint;
    out->hints = engine_hints;
    out->touched = engine_touched;
    out->floor = engine_floor;
    out->raise_floor = engine_raise_floor;
    out->scopes = engine_scopes;
    out->epoch = engine_epoch;
    out->insert_epoch = engine_insert_epoch;
    out->base = engine_base;
    out->note_base = engine_note_base;
    out->lease = engine_lease;
    out->insert_lease = engine_insert_lease;
    out->set_lease_end = engine_set_lease_end;
    out->drop_leases = engine_drop_leases;
}
