/* The engine over MongoDB: the log, in the collection `changes`.
 *
 * A slot is an _id, so inserting if absent is what every insert does. Each filter names the scope
 * beside the _id, for the sake of sharded clusters, where the scope says which shard has it.
 *
 * An ordered insert stops at the first slot that is taken; the reply's first write error says at
 * which document. What broke off in the middle may have gone in or not: the caller starts over.
 *
 * A server ends a find's one batch before it grows over 16 MiB, without a word. What was read is
 * then so large that nobody meant to have more of it, or the rest is asked for. */
#include <assert.h>
#include <string.h>

#include "central/mongo/engine.h"
#include "central/mongo/record.h"

enum {
    INSERT_BYTES_MAX = 12 * 1024 * 1024, /* of one command; a document is below a twentieth */
    CUT_BYTES_MIN = 8 * 1024 * 1024,     /* a smaller batch was not cut */
    SPARE_VERSIONS = 64
};

static const char changes[] = "changes";

static struct dln_mongo_link *link_of(void *self) {
    return &((struct dln_mongo_engine *)self)->link;
}

static void begin_query(struct dln_mongo_query *query, struct dln_text scope, size_t limit) {
    dln_mongo_query_begin(query, changes, limit);
    dln_mongo_append_text(&query->filter, "scope", scope);
}

static dunlin_status engine_last(void *self, struct dln_text scope, struct dln_cursor *out,
                                 dunlin_error *err) {
    struct dln_mongo_query query;
    struct dln_mongo_rows rows;
    struct dln_mongo_id first;
    struct dln_mongo_id end;
    bson_t document;
    *out = (struct dln_cursor){0, 0};
    begin_query(&query, scope, 1);
    dln_mongo_append_range(&query.filter, "_id", "$gt", dln_mongo_place(&first, scope, 0), "$lt",
                           dln_mongo_places_end(&end, scope));
    bson_append_int32(&query.sort, "_id", -1, -1);
    bson_append_int32(&query.projection, "salt", -1, 1);
    dunlin_status status = dln_mongo_query_run(&query, link_of(self), &rows, err);
    if (status == DUNLIN_OK && dln_mongo_row(&rows, &document)) {
        out->seq = dln_mongo_number(&document);
        out->salt = (uint32_t)dln_mongo_integer(&document, "salt");
    }
    dln_mongo_rows_end(&rows);
    return status;
}

static dunlin_status engine_salt(void *self, struct dln_text scope, int64_t seq, bool *stands,
                                 uint32_t *salt, dunlin_error *err) {
    struct dln_mongo_query query;
    struct dln_mongo_rows rows;
    struct dln_mongo_id id;
    bson_t document;
    begin_query(&query, scope, 1);
    dln_mongo_append_text(&query.filter, "_id", dln_mongo_place(&id, scope, seq));
    bson_append_int32(&query.projection, "salt", -1, 1);
    dunlin_status status = dln_mongo_query_run(&query, link_of(self), &rows, err);
    *stands = status == DUNLIN_OK && dln_mongo_row(&rows, &document);
    if (*stands) {
        *salt = (uint32_t)dln_mongo_integer(&document, "salt");
    }
    dln_mongo_rows_end(&rows);
    return status;
}

/* ---- the current versions */

struct current {
    struct dln_arena *arena;
    struct dln_text scope;
    const struct dln_text *keys;
    size_t count;
    struct dln_stored *out;
    /* In the order of the keys' bytes, which is that of the answers. */
    size_t *sorted;
    size_t at; /* everything before it is known */
};

/* A heap sort: the order of strangers' keys must not make it slow. */
static void sift(struct current *current, size_t root, size_t count) {
    size_t *sorted = current->sorted;
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= count) {
            return;
        }
        if (child + 1 < count &&
            dln_text_compare(current->keys[sorted[child]], current->keys[sorted[child + 1]]) < 0) {
            child++;
        }
        if (dln_text_compare(current->keys[sorted[root]], current->keys[sorted[child]]) >= 0) {
            return;
        }
        size_t swapped = sorted[root];
        sorted[root] = sorted[child];
        sorted[child] = swapped;
        root = child;
    }
}

static void sort_keys(struct current *current) {
    size_t *sorted = current->sorted;
    for (size_t i = 0; i < current->count; i++) {
        sorted[i] = i;
    }
    for (size_t i = current->count / 2; i-- > 0;) {
        sift(current, i, current->count);
    }
    for (size_t end = current->count; end-- > 1;) {
        size_t greatest = sorted[0];
        sorted[0] = sorted[end];
        sorted[end] = greatest;
        sift(current, 0, end);
    }
}

static void ask_current(struct current *current, struct dln_mongo_query *query, size_t limit) {
    bson_t in;
    bson_t keys = BSON_INITIALIZER;
    begin_query(query, current->scope, limit);
    for (size_t i = current->at; i < current->count; i++) {
        const char *index = NULL;
        char digits[16];
        (void)bson_uint32_to_string((uint32_t)(i - current->at), &index, digits, sizeof(digits));
        dln_mongo_append_text(&keys, index, current->keys[current->sorted[i]]);
    }
    bson_append_document_begin(&query->filter, "key", -1, &in);
    bson_append_array(&in, "$in", -1, &keys);
    bson_append_document_end(&query->filter, &in);
    bson_append_int32(&query->sort, "key", -1, 1);
    bson_append_int32(&query->sort, "_id", -1, -1);
    bson_destroy(&keys);
}

/* Takes the first version of each key. At the end `at` is at the last key that was seen. */
static dunlin_status take_versions(struct current *current, struct dln_mongo_rows *rows,
                                   size_t *row_count, dunlin_error *err) {
    bson_t document;
    *row_count = 0;
    while (dln_mongo_row(rows, &document)) {
        struct dln_text key = dln_mongo_text(&document, "key");
        (*row_count)++;
        while (current->at < current->count &&
               dln_text_compare(current->keys[current->sorted[current->at]], key) < 0) {
            current->at++;
        }
        if (current->at == current->count ||
            !dln_text_equal(current->keys[current->sorted[current->at]], key)) {
            return dln_fail(err, DUNLIN_CORRUPT, DUNLIN_DOMAIN_CENTRAL,
                            "MongoDB answers with keys that were not asked for");
        }
        struct dln_stored *out = &current->out[current->sorted[current->at]];
        if (out->place.seq == 0) {
            dunlin_status status =
                dln_mongo_record_load(current->arena, out, current->scope, &document, err);
            if (status != DUNLIN_OK) {
                return status;
            }
        }
    }
    return DUNLIN_OK;
}

/* The newest version of each key comes first, so one find brings them all, unless some key has
 * been written very often since the last compaction: then the keys behind it are asked for again.
 */
static dunlin_status engine_current(void *self, struct dln_arena *arena, struct dln_text scope,
                                    const struct dln_text *keys, size_t count,
                                    struct dln_stored *out, dunlin_error *err) {
    struct current current = {arena, scope, keys, count, out, NULL, 0};
    struct dln_mongo_query query;
    struct dln_mongo_rows rows;
    dunlin_status status = DUNLIN_OK;
    memset(out, 0, count * sizeof(*out));
    if ((current.sorted = dln_arena_alloc(arena, count * sizeof(*current.sorted))) == NULL) {
        return dln_central_no_memory(err);
    }
    sort_keys(&current);
    while (status == DUNLIN_OK && current.at < count) {
        size_t asked = count - current.at;
        size_t limit = asked == 1 ? 1 : 4 * asked + SPARE_VERSIONS;
        size_t row_count = 0;
        ask_current(&current, &query, limit);
        if ((status = dln_mongo_query_run(&query, link_of(self), &rows, err)) == DUNLIN_OK) {
            status = take_versions(&current, &rows, &row_count, err);
        }
        bool whole = row_count < limit && rows.reply.len < CUT_BYTES_MIN;
        dln_mongo_rows_end(&rows);
        current.at = whole ? count : current.at + 1;
    }
    return status;
}

/* ---- pages */

static dunlin_status engine_after(void *self, struct dln_arena *arena, struct dln_text scope,
                                  int64_t seq, size_t limit, size_t limit_bytes,
                                  struct dln_stored **out, size_t *count, bool *more,
                                  dunlin_error *err) {
    struct dln_mongo_query query;
    struct dln_mongo_rows rows;
    struct dln_mongo_id first;
    struct dln_mongo_id end;
    bson_t document;
    size_t bytes = 0;
    assert(limit_bytes < CUT_BYTES_MIN);
    *out = NULL;
    *count = 0;
    *more = false;
    begin_query(&query, scope, limit + 1);
    dln_mongo_append_range(&query.filter, "_id", "$gt", dln_mongo_place(&first, scope, seq), "$lt",
                           dln_mongo_places_end(&end, scope));
    bson_append_int32(&query.sort, "_id", -1, 1);
    dunlin_status status = dln_mongo_query_run(&query, link_of(self), &rows, err);
    struct dln_mongo_rows counted = rows;
    size_t row_count = 0;
    while (status == DUNLIN_OK && dln_mongo_row(&counted, &document)) {
        row_count++;
    }
    if (row_count > 0 && (*out = dln_arena_alloc(arena, row_count * sizeof(**out))) == NULL) {
        status = dln_central_no_memory(err);
    }
    while (status == DUNLIN_OK && dln_mongo_row(&rows, &document)) {
        bytes += document.len;
        if (*count == limit || (*count > 0 && bytes > limit_bytes)) {
            *more = true;
            break;
        }
        status = dln_mongo_record_load(arena, &(*out)[*count], scope, &document, err);
        *count += status == DUNLIN_OK;
    }
    dln_mongo_rows_end(&rows);
    return status;
}

/* ---- writing */

static void fill_document(bson_t *document, struct dln_text scope, int64_t seq, int64_t now_ms,
                          const struct dln_entry *entry) {
    struct dln_mongo_id id;
    dln_mongo_append_text(document, "_id", dln_mongo_place(&id, scope, seq));
    dln_mongo_append_text(document, "scope", scope);
    dln_mongo_append_text(document, "key", entry->key);
    bson_append_date_time(document, "at", -1, now_ms);
    bson_append_int64(document, "salt", -1, (int64_t)entry->salt);
    bson_append_bool(document, "gone", -1, !dln_record_exists(entry->record));
    dln_mongo_record_store(document, entry->record);
}

/* Sends what the batch holds. */
static dunlin_status insert_batch(struct dln_mongo_engine *engine, struct dln_mongo_batch *batch,
                                  int64_t steady_deadline_ms, size_t *inserted, bool *stopped,
                                  dunlin_error *err) {
    size_t count = batch->count;
    size_t at = SIZE_MAX;
    if (engine->ports->steady_ms(engine->ports->steady_self) > steady_deadline_ms) {
        *stopped = true;
        return DUNLIN_OK;
    }
    dunlin_status status = dln_mongo_batch_run(batch, &engine->link, &at, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    *stopped = at != SIZE_MAX;
    *inserted += *stopped && at < count ? at : count;
    return DUNLIN_OK;
}

/* One command for all that a device sends. Merged records of several megabytes go by more than
 * one, in order. The deadline is looked at before each: what is sent just before it arrives within
 * the time-outs, long before any slot is freed. */
static dunlin_status engine_insert(void *self, struct dln_text scope, int64_t last_seq,
                                   const struct dln_entry *entries, size_t count,
                                   int64_t steady_deadline_ms, size_t *inserted,
                                   dunlin_error *err) {
    struct dln_mongo_engine *engine = self;
    struct dln_mongo_batch batch;
    dunlin_status status;
    int64_t now_ms;
    bool stopped = false;
    *inserted = 0;
    if ((status = dln_mongo_now(engine, &now_ms, err))) {
        return status;
    }
    dln_mongo_batch_begin(&batch, changes);
    for (size_t i = 0; i < count && status == DUNLIN_OK && !stopped; i++) {
        bson_t *document = dln_mongo_batch_document(&batch);
        fill_document(document, scope, last_seq + 1 + (int64_t)i, now_ms, &entries[i]);
        if (batch.count > 0 && batch.documents.len + document->len > INSERT_BYTES_MAX) {
            status = insert_batch(engine, &batch, steady_deadline_ms, inserted, &stopped, err);
        }
        dln_mongo_batch_add(&batch);
    }
    if (status == DUNLIN_OK && !stopped && batch.count > 0) {
        status = insert_batch(engine, &batch, steady_deadline_ms, inserted, &stopped, err);
    }
    dln_mongo_batch_end(&batch);
    return status;
}

/* ---- maintenance */

/* Behind the place, by (key, _id): from its key on, but of that key only what is behind it. */
static void filter_walk(bson_t *filter, struct dln_text scope, struct dln_text prefix,
                        const struct dln_trace_place *place) {
    char end[8 + 3 * DLN_ID_MAX];
    struct dln_mongo_id id;
    bson_t keys;
    bson_t either;
    bson_t branch;
    bson_t behind;
    bson_append_document_begin(filter, "key", -1, &keys);
    dln_mongo_append_text(&keys, "$gte", place->key.data != NULL ? place->key : prefix);
    if (prefix.len > 0) { /* up to the first text that starts otherwise */
        assert(prefix.len <= sizeof(end));
        memcpy(end, prefix.data, prefix.len);
        end[prefix.len - 1]++;
        dln_mongo_append_text(&keys, "$lt", (struct dln_text){end, prefix.len});
    }
    bson_append_document_end(filter, &keys);
    if (place->key.data == NULL) {
        return;
    }
    bson_init(&either);
    bson_append_document_begin(&either, "0", -1, &branch);
    bson_append_document_begin(&branch, "key", -1, &behind);
    dln_mongo_append_text(&behind, "$gt", place->key);
    bson_append_document_end(&branch, &behind);
    bson_append_document_end(&either, &branch);
    bson_append_document_begin(&either, "1", -1, &branch);
    bson_append_document_begin(&branch, "_id", -1, &behind);
    dln_mongo_append_text(&behind, "$gt", dln_mongo_place(&id, scope, place->seq));
    bson_append_document_end(&branch, &behind);
    bson_append_document_end(&either, &branch);
    bson_append_array(filter, "$or", -1, &either);
    bson_destroy(&either);
}

static dunlin_status engine_walk(void *self, struct dln_arena *arena, struct dln_text scope,
                                 struct dln_text prefix, const struct dln_trace_place *place,
                                 size_t limit, struct dln_trace **out, size_t *count,
                                 dunlin_error *err) {
    static const char *const projected[] = {"key", "at", "gone"};
    struct dln_mongo_query query;
    struct dln_mongo_rows rows;
    bson_t document;
    *count = 0;
    if ((*out = dln_arena_alloc(arena, limit * sizeof(**out))) == NULL) {
        return dln_central_no_memory(err);
    }
    begin_query(&query, scope, limit);
    filter_walk(&query.filter, scope, prefix, place);
    bson_append_int32(&query.sort, "key", -1, 1);
    bson_append_int32(&query.sort, "_id", -1, 1);
    for (size_t i = 0; i < sizeof(projected) / sizeof(*projected); i++) {
        bson_append_int32(&query.projection, projected[i], -1, 1);
    }
    dunlin_status status = dln_mongo_query_run(&query, link_of(self), &rows, err);
    while (status == DUNLIN_OK && *count < limit && dln_mongo_row(&rows, &document)) {
        struct dln_trace *trace = &(*out)[*count];
        trace->key = dln_arena_text(arena, dln_mongo_text(&document, "key"));
        trace->seq = dln_mongo_number(&document);
        trace->at_ms = dln_mongo_time(&document, "at");
        trace->gone = dln_mongo_bool(&document, "gone");
        if (trace->key.data == NULL) {
            status = dln_central_no_memory(err);
            break;
        }
        (*count)++;
    }
    dln_mongo_rows_end(&rows);
    return status;
}

static dunlin_status engine_drop(void *self, struct dln_text scope, const int64_t *seqs,
                                 size_t count, dunlin_error *err) {
    struct dln_mongo_id id;
    bson_t filter = BSON_INITIALIZER;
    bson_t ids = BSON_INITIALIZER;
    bson_t in;
    for (size_t i = 0; i < count; i++) {
        const char *index = NULL;
        char digits[16];
        (void)bson_uint32_to_string((uint32_t)i, &index, digits, sizeof(digits));
        dln_mongo_append_text(&ids, index, dln_mongo_place(&id, scope, seqs[i]));
    }
    dln_mongo_append_text(&filter, "scope", scope);
    bson_append_document_begin(&filter, "_id", -1, &in);
    bson_append_array(&in, "$in", -1, &ids);
    bson_append_document_end(&filter, &in);
    dunlin_status status = dln_mongo_remove(link_of(self), changes, &filter, err);
    bson_destroy(&filter);
    bson_destroy(&ids);
    return status;
}

void dln_mongo_log(struct dln_central_engine *out) {
    out->last = engine_last;
    out->salt = engine_salt;
    out->current = engine_current;
    out->after = engine_after;
    out->insert = engine_insert;
    out->walk = engine_walk;
    out->drop = engine_drop;
}
