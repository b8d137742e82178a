/* The engine over MongoDB: hints, floors and bases in `scopes`, `epochs`, `leases`.
 *
 * Each kind of writer has a document of its own: "head#" + scope, "floor#" + scope, and
 * "base#" + epoch + "#" + scope. So nobody's update ever meets another's field. */
#include <string.h>

#include "central/mongo/engine.h"

static const char scopes[] = "scopes";
static const char epochs[] = "epochs";
static const char leases[] = "leases";

static struct dln_mongo_link *link_of(void *self) {
    return &((struct dln_mongo_engine *)self)->link;
}

/* The document with that _id: rows are to be ended by the caller, always. */
static dunlin_status find_one(void *self, const char *collection, struct dln_text id,
                              struct dln_mongo_rows *rows, bson_t *document, bool *found,
                              dunlin_error *err) {
    struct dln_mongo_query query;
    dln_mongo_query_begin(&query, collection, 1);
    dln_mongo_append_text(&query.filter, "_id", id);
    dunlin_status status = dln_mongo_query_run(&query, link_of(self), rows, err);
    *found = status == DUNLIN_OK && dln_mongo_row(rows, document);
    return status;
}

/* Inserts the batch's one document, and ends the batch. */
static dunlin_status insert_one(void *self, struct dln_mongo_batch *batch, bool *inserted,
                                dunlin_error *err) {
    size_t at = SIZE_MAX;
    dln_mongo_batch_add(batch);
    dunlin_status status = dln_mongo_batch_run(batch, link_of(self), &at, err);
    *inserted = status == DUNLIN_OK && at == SIZE_MAX;
    dln_mongo_batch_end(batch);
    return status;
}

static dunlin_status engine_raise_hint(void *self, struct dln_text scope,
                                       const struct dln_hint *hint, dunlin_error *err) {
    struct dln_mongo_id id;
    bson_t change = BSON_INITIALIZER;
    bson_t max;
    bson_append_document_begin(&change, "$max", -1, &max);
    bson_append_int64(&max, "head", -1, hint->head);
    bson_append_date_time(&max, "touched", -1, hint->touched_ms);
    bson_append_document_end(&change, &max);
    dunlin_status status = dln_mongo_update(link_of(self), scopes,
                                            dln_mongo_part(&id, "head", scope), &change, true, err);
    bson_destroy(&change);
    return status;
}

/* The scope whose head the document is; no text: it is none. */
static struct dln_text name_of(const bson_t *document) {
    const size_t prefix_len = sizeof("head#") - 1;
    struct dln_text id = dln_mongo_text(document, "_id");
    if (id.len <= prefix_len || memcmp(id.data, "head#", prefix_len) != 0) {
        return (struct dln_text){NULL, 0};
    }
    return (struct dln_text){id.data + prefix_len, id.len - prefix_len};
}

static struct dln_hint hint_of(const bson_t *document) {
    return (struct dln_hint){dln_mongo_integer(document, "head"),
                             dln_mongo_time(document, "touched")};
}

/* Names come in any order. */
static void place_hint(const struct dln_text *names, size_t count, struct dln_hint *out,
                       const bson_t *document, size_t *next) {
    struct dln_text name = name_of(document);
    for (size_t tried = 0; tried < count; tried++) {
        size_t at = (*next + tried) % count; /* most servers answer in some order of ours */
        if (dln_text_equal(names[at], name)) {
            out[at] = hint_of(document);
            *next = at + 1;
            return;
        }
    }
}

static dunlin_status engine_hints(void *self, const struct dln_text *names, size_t count,
                                  struct dln_hint *out, dunlin_error *err) {
    struct dln_mongo_query query;
    struct dln_mongo_rows rows;
    struct dln_mongo_id id;
    bson_t document;
    bson_t ids = BSON_INITIALIZER;
    bson_t in;
    size_t next = 0;
    if (count == 0) {
        return DUNLIN_OK;
    }
    memset(out, 0, count * sizeof(*out));
    dln_mongo_query_begin(&query, scopes, count);
    for (size_t i = 0; i < count; i++) {
        const char *index = NULL;
        char digits[16];
        (void)bson_uint32_to_string((uint32_t)i, &index, digits, sizeof(digits));
        dln_mongo_append_text(&ids, index, dln_mongo_part(&id, "head", names[i]));
    }
    bson_append_document_begin(&query.filter, "_id", -1, &in);
    bson_append_array(&in, "$in", -1, &ids);
    bson_append_document_end(&query.filter, &in);
    bson_destroy(&ids);
    dunlin_status status = dln_mongo_query_run(&query, link_of(self), &rows, err);
    while (status == DUNLIN_OK && dln_mongo_row(&rows, &document)) {
        place_hint(names, count, out, &document, &next);
    }
    dln_mongo_rows_end(&rows);
    return status;
}

static dunlin_status engine_touched(void *self, struct dln_arena *arena, int64_t since_ms,
                                    size_t limit, struct dln_touched **out, size_t *count,
                                    dunlin_error *err) {
    struct dln_mongo_query query;
    struct dln_mongo_rows rows;
    bson_t document;
    bson_t since;
    *count = 0;
    if ((*out = dln_arena_alloc(arena, limit * sizeof(**out))) == NULL) {
        return dln_central_no_memory(err);
    }
    dln_mongo_query_begin(&query, scopes, limit);
    bson_append_document_begin(&query.filter, "touched", -1, &since);
    bson_append_date_time(&since, "$gte", -1, since_ms);
    bson_append_document_end(&query.filter, &since);
    bson_append_int32(&query.sort, "touched", -1, -1);
    dunlin_status status = dln_mongo_query_run(&query, link_of(self), &rows, err);
    while (status == DUNLIN_OK && *count < limit && dln_mongo_row(&rows, &document)) {
        struct dln_touched *touched = &(*out)[(*count)++];
        touched->scope = dln_arena_text(arena, name_of(&document));
        touched->hint = hint_of(&document);
        if (touched->scope.data == NULL) {
            status = dln_central_no_memory(err);
        }
    }
    dln_mongo_rows_end(&rows);
    return status;
}

static dunlin_status engine_floor(void *self, struct dln_text scope, int64_t *out,
                                  dunlin_error *err) {
    struct dln_mongo_rows rows;
    struct dln_mongo_id id;
    bson_t document;
    bool found;
    dunlin_status status =
        find_one(self, scopes, dln_mongo_part(&id, "floor", scope), &rows, &document, &found, err);
    *out = found ? dln_mongo_integer(&document, "floor") : 0;
    dln_mongo_rows_end(&rows);
    return status;
}

static dunlin_status engine_raise_floor(void *self, struct dln_text scope, int64_t floor,
                                        dunlin_error *err) {
    struct dln_mongo_id id;
    bson_t change = BSON_INITIALIZER;
    bson_t max;
    bson_append_document_begin(&change, "$max", -1, &max);
    bson_append_int64(&max, "floor", -1, floor);
    bson_append_document_end(&change, &max);
    dunlin_status status = dln_mongo_update(
        link_of(self), scopes, dln_mongo_part(&id, "floor", scope), &change, true, err);
    bson_destroy(&change);
    return status;
}

/* A scope has a head before it has anything else. */
static dunlin_status engine_scopes(void *self, struct dln_arena *arena, struct dln_text after,
                                   size_t limit, struct dln_text **out, size_t *count,
                                   dunlin_error *err) {
    struct dln_mongo_query query;
    struct dln_mongo_rows rows;
    struct dln_mongo_id low;
    struct dln_mongo_id high;
    bson_t document;
    *count = 0;
    if ((*out = dln_arena_alloc(arena, limit * sizeof(**out))) == NULL) {
        return dln_central_no_memory(err);
    }
    dln_mongo_query_begin(&query, scopes, limit);
    dln_mongo_append_range(&query.filter, "_id", "$gt", dln_mongo_part(&low, "head", after), "$lt",
                           dln_mongo_places_end(&high, DLN_TEXT("head")));
    bson_append_int32(&query.sort, "_id", -1, 1);
    bson_append_int32(&query.projection, "_id", -1, 1);
    dunlin_status status = dln_mongo_query_run(&query, link_of(self), &rows, err);
    while (status == DUNLIN_OK && *count < limit && dln_mongo_row(&rows, &document)) {
        (*out)[*count] = dln_arena_text(arena, name_of(&document));
        if ((*out)[*count].data == NULL) {
            status = dln_central_no_memory(err);
            break;
        }
        (*count)++;
    }
    dln_mongo_rows_end(&rows);
    return status;
}

static dunlin_status engine_epoch(void *self, struct dln_arena *arena, struct dln_epoch *out,
                                  dunlin_error *err) {
    struct dln_mongo_query query;
    struct dln_mongo_rows rows;
    bson_t document;
    *out = (struct dln_epoch){0};
    dln_mongo_query_begin(&query, epochs, 1);
    bson_append_int32(&query.sort, "_id", -1, -1);
    dunlin_status status = dln_mongo_query_run(&query, link_of(self), &rows, err);
    if (status == DUNLIN_OK && dln_mongo_row(&rows, &document)) {
        out->number = dln_mongo_integer(&document, "_id");
        out->id = dln_arena_text(arena, dln_mongo_text(&document, "id"));
        status = out->id.data != NULL ? DUNLIN_OK : dln_central_no_memory(err);
    }
    dln_mongo_rows_end(&rows);
    return status;
}

static dunlin_status engine_insert_epoch(void *self, const struct dln_epoch *epoch, bool *inserted,
                                         dunlin_error *err) {
    struct dln_mongo_batch batch;
    dln_mongo_batch_begin(&batch, epochs);
    bson_t *document = dln_mongo_batch_document(&batch);
    bson_append_int64(document, "_id", -1, epoch->number);
    dln_mongo_append_text(document, "id", epoch->id);
    return insert_one(self, &batch, inserted, err);
}

/* "base#" + epoch + "#" + scope */
static struct dln_text base_id(struct dln_mongo_id *id, int64_t epoch, struct dln_text scope) {
    struct dln_mongo_id part;
    struct dln_text text = dln_mongo_place(&part, DLN_TEXT("base"), epoch);
    part.data[text.len] = '\0';
    return dln_mongo_part(id, part.data, scope);
}

static dunlin_status engine_base(void *self, int64_t epoch, struct dln_text scope, bool *noted,
                                 int64_t *seq, dunlin_error *err) {
    struct dln_mongo_rows rows;
    struct dln_mongo_id id;
    bson_t document;
    dunlin_status status =
        find_one(self, scopes, base_id(&id, epoch, scope), &rows, &document, noted, err);
    if (*noted) {
        *seq = dln_mongo_integer(&document, "seq");
    }
    dln_mongo_rows_end(&rows);
    return status;
}

static dunlin_status engine_note_base(void *self, int64_t epoch, struct dln_text scope, int64_t seq,
                                      dunlin_error *err) {
    struct dln_mongo_batch batch;
    struct dln_mongo_id id;
    bool inserted;
    dln_mongo_batch_begin(&batch, scopes);
    bson_t *document = dln_mongo_batch_document(&batch);
    dln_mongo_append_text(document, "_id", base_id(&id, epoch, scope));
    bson_append_int64(document, "seq", -1, seq);
    return insert_one(self, &batch, &inserted, err);
}

static dunlin_status engine_lease(void *self, struct dln_arena *arena, struct dln_text name,
                                  struct dln_lease *out, dunlin_error *err) {
    struct dln_mongo_query query;
    struct dln_mongo_rows rows;
    struct dln_mongo_id low;
    struct dln_mongo_id high;
    bson_t document;
    *out = (struct dln_lease){0};
    dln_mongo_query_begin(&query, leases, 1);
    dln_mongo_append_range(&query.filter, "_id", "$gt", dln_mongo_place(&low, name, 0), "$lt",
                           dln_mongo_places_end(&high, name));
    bson_append_int32(&query.sort, "_id", -1, -1);
    dunlin_status status = dln_mongo_query_run(&query, link_of(self), &rows, err);
    if (status == DUNLIN_OK && dln_mongo_row(&rows, &document)) {
        out->number = dln_mongo_number(&document);
        out->until_ms = dln_mongo_time(&document, "until");
        out->holder = dln_arena_text(arena, dln_mongo_text(&document, "holder"));
        status = out->holder.data != NULL ? DUNLIN_OK : dln_central_no_memory(err);
    }
    dln_mongo_rows_end(&rows);
    return status;
}

static dunlin_status engine_insert_lease(void *self, struct dln_text name,
                                         const struct dln_lease *lease, bool *inserted,
                                         dunlin_error *err) {
    struct dln_mongo_batch batch;
    struct dln_mongo_id id;
    dln_mongo_batch_begin(&batch, leases);
    bson_t *document = dln_mongo_batch_document(&batch);
    dln_mongo_append_text(document, "_id", dln_mongo_place(&id, name, lease->number));
    dln_mongo_append_text(document, "holder", lease->holder);
    bson_append_date_time(document, "until", -1, lease->until_ms);
    return insert_one(self, &batch, inserted, err);
}

static dunlin_status engine_set_lease_end(void *self, struct dln_text name, int64_t number,
                                          int64_t until_ms, dunlin_error *err) {
    struct dln_mongo_id id;
    bson_t change = BSON_INITIALIZER;
    bson_t set;
    bson_append_document_begin(&change, "$set", -1, &set);
    bson_append_date_time(&set, "until", -1, until_ms);
    bson_append_document_end(&change, &set);
    dunlin_status status = dln_mongo_update(
        link_of(self), leases, dln_mongo_place(&id, name, number), &change, false, err);
    bson_destroy(&change);
    return status;
}

static dunlin_status engine_drop_leases(void *self, struct dln_text name, int64_t before,
                                        dunlin_error *err) {
    struct dln_mongo_id low;
    struct dln_mongo_id high;
    bson_t filter = BSON_INITIALIZER;
    dln_mongo_append_range(&filter, "_id", "$gt", dln_mongo_place(&low, name, 0), "$lt",
                           dln_mongo_place(&high, name, before));
    dunlin_status status = dln_mongo_remove(link_of(self), leases, &filter, err);
    bson_destroy(&filter);
    return status;
}

void dln_mongo_scopes(struct dln_central_engine *out) {
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
