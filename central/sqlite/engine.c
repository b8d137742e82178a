/* The engine over one SQLite file: the log. What is not a record: scopes.c.
 *
 * A slot of the log is a primary key, so inserting if absent is what SQLite does anyway. The lock
 * that an insert takes also makes its deadline exact: nobody can free a slot between the look at
 * the clock and the commit. Reads see what was committed last, hence settle() has nothing to do. */
#include <assert.h>
#include <string.h>

#include "central/sqlite/engine.h"
#include "central/sqlite/record.h"

enum { FIRST_PAGE_SIZE = 8 };

static dunlin_status engine_now(void *self, int64_t *now_ms, dunlin_error *err) {
    struct dln_database *database = self;
    (void)err;
    *now_ms = database->ports->app.now_ms(database->ports->app.self);
    return DUNLIN_OK;
}

static dunlin_status engine_settle(void *self, dunlin_error *err) {
    (void)self;
    (void)err;
    return DUNLIN_OK;
}

static dunlin_status engine_begin(void *self, dunlin_error *err) {
    return dln_database_begin(self, err);
}

static dunlin_status engine_end(void *self, bool keep, dunlin_error *err) {
    return dln_database_end(self, keep, err);
}

static dunlin_status engine_last(void *self, struct dln_text scope, struct dln_cursor *out,
                                 dunlin_error *err) {
    dunlin_status status;
    struct dln_query query;
    int64_t id;
    *out = (struct dln_cursor){0, 0};
    if ((status = dln_database_scope(self, scope, false, &id, err)) || id == 0) {
        return status;
    }
    dln_query_start(&query, self, DLN_CENTRAL_LOG_LAST);
    dln_query_integer(&query, id);
    if (dln_query_row(&query)) {
        out->seq = sqlite3_column_int64(query.stmt, 0);
        out->salt = (uint32_t)sqlite3_column_int64(query.stmt, 1);
    }
    return dln_query_end(&query, err);
}

static dunlin_status engine_salt(void *self, struct dln_text scope, int64_t seq, bool *stands,
                                 uint32_t *salt, dunlin_error *err) {
    dunlin_status status;
    struct dln_query query;
    int64_t id;
    *stands = false;
    if ((status = dln_database_scope(self, scope, false, &id, err)) || id == 0) {
        return status;
    }
    dln_query_start(&query, self, DLN_CENTRAL_LOG_SALT);
    dln_query_integer(&query, id);
    dln_query_integer(&query, seq);
    if (dln_query_row(&query)) {
        *stands = true;
        *salt = (uint32_t)sqlite3_column_int64(query.stmt, 0);
    }
    return dln_query_end(&query, err);
}

/* Columns: seq, salt, at, key, fields, extras. */
static dunlin_status load_version(struct dln_query *query, struct dln_arena *arena,
                                  struct dln_text scope, struct dln_stored *out,
                                  dunlin_error *err) {
    dunlin_status status;
    out->place.seq = sqlite3_column_int64(query->stmt, 0);
    out->place.salt = (uint32_t)sqlite3_column_int64(query->stmt, 1);
    out->at_ms = sqlite3_column_int64(query->stmt, 2);
    out->key = dln_arena_text(arena, dln_query_column(query, 3));
    if (out->key.data == NULL) {
        return dln_central_no_memory(err);
    }
    struct dln_text fields = dln_query_column(query, 4);
    struct dln_text extras = dln_query_column(query, 5);
    if ((status = dln_record_load(arena, &out->record, scope, out->key, fields, extras, err))) {
        return status;
    }
    return DUNLIN_OK;
}

static dunlin_status engine_current(void *self, struct dln_arena *arena, struct dln_text scope,
                                    const struct dln_text *keys, size_t count,
                                    struct dln_stored *out, dunlin_error *err) {
    dunlin_status status;
    dunlin_status loaded = DUNLIN_OK;
    struct dln_query query;
    int64_t id;
    memset(out, 0, count * sizeof(*out));
    if ((status = dln_database_scope(self, scope, false, &id, err)) || id == 0) {
        return status;
    }
    dln_query_start(&query, self, DLN_CENTRAL_LOG_CURRENT);
    for (size_t i = 0; i < count && loaded == DUNLIN_OK; i++) {
        dln_query_integer(&query, id);
        dln_query_text(&query, keys[i]);
        if (dln_query_row(&query)) {
            loaded = load_version(&query, arena, scope, &out[i], err);
        }
        dln_query_again(&query);
    }
    status = dln_query_end(&query, loaded == DUNLIN_OK ? err : NULL);
    return loaded != DUNLIN_OK ? loaded : status;
}

/* Doubles the array: most pages are small, and a request may ask for hundreds of them. */
static bool grow(struct dln_arena *arena, struct dln_stored **array, size_t *size) {
    size_t larger = *size == 0 ? FIRST_PAGE_SIZE : *size * 2;
    struct dln_stored *copy = dln_arena_alloc(arena, larger * sizeof(*copy));
    if (copy == NULL) {
        return false;
    }
    if (*size > 0) {
        memcpy(copy, *array, *size * sizeof(*copy));
    }
    *array = copy;
    *size = larger;
    return true;
}

static dunlin_status engine_after(void *self, struct dln_arena *arena, struct dln_text scope,
                                  int64_t seq, size_t limit, size_t limit_bytes,
                                  struct dln_stored **out, size_t *count, bool *more,
                                  dunlin_error *err) {
    dunlin_status status;
    dunlin_status loaded = DUNLIN_OK;
    struct dln_query query;
    int64_t id;
    size_t bytes = 0;
    size_t size = 0;
    *out = NULL;
    *count = 0;
    *more = false;
    if ((status = dln_database_scope(self, scope, false, &id, err)) || id == 0) {
        return status;
    }
    dln_query_start(&query, self, DLN_CENTRAL_LOG_AFTER);
    dln_query_integer(&query, id);
    dln_query_integer(&query, seq);
    dln_query_integer(&query, (int64_t)limit + 1);
    while (loaded == DUNLIN_OK && dln_query_row(&query)) {
        bytes += (size_t)sqlite3_column_bytes(query.stmt, 3) +
                 (size_t)sqlite3_column_bytes(query.stmt, 4) +
                 (size_t)sqlite3_column_bytes(query.stmt, 5);
        if (*count == limit || (*count > 0 && bytes > limit_bytes)) {
            *more = true;
            break;
        }
        if (*count == size && !grow(arena, out, &size)) {
            loaded = dln_central_no_memory(err);
            break;
        }
        loaded = load_version(&query, arena, scope, &(*out)[*count], err);
        *count += loaded == DUNLIN_OK;
    }
    status = dln_query_end(&query, loaded == DUNLIN_OK ? err : NULL);
    return loaded != DUNLIN_OK ? loaded : status;
}

/* One slot, under the write lock. */
static dunlin_status insert_one(struct dln_database *database, struct dln_query *query, int64_t id,
                                int64_t seq, int64_t now_ms, const struct dln_entry *entry,
                                bool *inserted, dunlin_error *err) {
    dunlin_status status;
    if ((status = dln_record_store(&database->buf, &database->more, entry->record, err))) {
        return status;
    }
    dln_query_integer(query, id);
    dln_query_integer(query, seq);
    dln_query_integer(query, entry->salt);
    dln_query_integer(query, now_ms);
    dln_query_integer(query, !dln_record_exists(entry->record));
    dln_query_text(query, entry->key);
    dln_query_blob(query, database->buf.data, database->buf.len);
    dln_query_blob(query, database->more.data, database->more.len);
    (void)dln_query_row(query);
    *inserted = query->code == SQLITE_DONE && sqlite3_changes(database->db) == 1;
    dln_query_again(query);
    return DUNLIN_OK;
}

static dunlin_status insert_all(struct dln_database *database, struct dln_text scope,
                                int64_t last_seq, const struct dln_entry *entries, size_t count,
                                size_t *inserted, dunlin_error *err) {
    dunlin_status status;
    dunlin_status stored = DUNLIN_OK;
    struct dln_query query;
    int64_t id;
    int64_t now_ms;
    bool went_in = true;
    if ((status = dln_database_scope(database, scope, true, &id, err)) ||
        (status = engine_now(database, &now_ms, err))) {
        return status;
    }
    dln_query_start(&query, database, DLN_CENTRAL_LOG_INSERT);
    for (size_t i = 0; i < count && went_in && stored == DUNLIN_OK; i++) {
        stored = insert_one(database, &query, id, last_seq + 1 + (int64_t)i, now_ms, &entries[i],
                            &went_in, err);
        *inserted += went_in && stored == DUNLIN_OK;
    }
    status = dln_query_end(&query, stored == DUNLIN_OK ? err : NULL);
    return stored != DUNLIN_OK ? stored : status;
}

static dunlin_status engine_insert(void *self, struct dln_text scope, int64_t last_seq,
                                   const struct dln_entry *entries, size_t count,
                                   int64_t steady_deadline_ms, size_t *inserted,
                                   dunlin_error *err) {
    struct dln_database *database = self;
    dunlin_status status;
    *inserted = 0;
    if ((status = dln_database_begin(database, err))) {
        return status;
    }
    if (database->ports->steady_ms(database->ports->steady_self) <= steady_deadline_ms) {
        status = insert_all(database, scope, last_seq, entries, count, inserted, err);
    }
    dunlin_status ended = dln_database_end(database, status == DUNLIN_OK, err);
    return status != DUNLIN_OK ? status : ended;
}

static dunlin_status engine_walk(void *self, struct dln_arena *arena, struct dln_text scope,
                                 struct dln_text prefix, const struct dln_trace_place *place,
                                 size_t limit, struct dln_trace **out, size_t *count,
                                 dunlin_error *err) {
    dunlin_status status;
    struct dln_query query;
    char end[DLN_WALK_PREFIX_MAX];
    int64_t id;
    *count = 0;
    assert(prefix.len <= sizeof(end));
    if ((status = dln_database_scope(self, scope, false, &id, err)) || id == 0) {
        return status;
    }
    if ((*out = dln_arena_alloc(arena, limit * sizeof(**out))) == NULL) {
        return dln_central_no_memory(err);
    }
    dln_query_start(&query, self, DLN_CENTRAL_LOG_WALK);
    dln_query_integer(&query, id);
    if (prefix.len > 0) { /* up to the first text that starts otherwise */
        memcpy(end, prefix.data, prefix.len);
        end[prefix.len - 1]++;
        dln_query_text(&query, (struct dln_text){end, prefix.len});
    } else {
        dln_query_blob(&query, "", 0); /* every blob sorts behind every text */
    }
    if (place->key.data != NULL) {
        dln_query_text(&query, place->key);
        dln_query_integer(&query, place->seq);
    } else {
        dln_query_text(&query, prefix);
        dln_query_integer(&query, 0);
    }
    dln_query_integer(&query, (int64_t)limit);
    while (dln_query_row(&query)) {
        struct dln_trace *trace = &(*out)[*count];
        trace->key = dln_arena_text(arena, dln_query_column(&query, 0));
        trace->seq = sqlite3_column_int64(query.stmt, 1);
        trace->at_ms = sqlite3_column_int64(query.stmt, 2);
        trace->gone = sqlite3_column_int64(query.stmt, 3) != 0;
        if (trace->key.data == NULL) {
            query.code = SQLITE_NOMEM;
            break;
        }
        (*count)++;
    }
    return dln_query_end(&query, err);
}

static dunlin_status engine_drop(void *self, struct dln_text scope, const int64_t *seqs,
                                 size_t count, dunlin_error *err) {
    dunlin_status status;
    struct dln_query query;
    int64_t id;
    if ((status = dln_database_scope(self, scope, false, &id, err)) || id == 0) {
        return status;
    }
    if ((status = dln_database_begin(self, err))) {
        return status;
    }
    dln_query_start(&query, self, DLN_CENTRAL_LOG_DROP);
    for (size_t i = 0; i < count; i++) {
        dln_query_integer(&query, id);
        dln_query_integer(&query, seqs[i]);
        (void)dln_query_row(&query);
        dln_query_again(&query);
    }
    status = dln_query_end(&query, err);
    dunlin_status ended = dln_database_end(self, status == DUNLIN_OK, err);
    return status != DUNLIN_OK ? status : ended;
}

static void engine_close(void *self) {
    dln_database_close(self);
}

dunlin_status dln_sqlite_engine_open(struct dln_central_engine *out, const char *path,
                                     int busy_timeout_ms, const struct dln_central_ports *ports,
                                     dunlin_error *err) {
    struct dln_database *database = NULL;
    dunlin_status status = dln_database_open(&database, path, busy_timeout_ms, ports, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    *out = (struct dln_central_engine){
        .self = database,
        .close = engine_close,
        .now = engine_now,
        .settle = engine_settle,
        .begin = engine_begin,
        .end = engine_end,
        .last = engine_last,
        .salt = engine_salt,
        .current = engine_current,
        .after = engine_after,
        .insert = engine_insert,
        .walk = engine_walk,
        .drop = engine_drop,
    };
    dln_sqlite_scopes(out);
    return DUNLIN_OK;
}
