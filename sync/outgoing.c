/* What the next request carries: first the outbox, in its sending order, in batches; the pages are
 * asked for with the batch that empties it, so that they hold what was just pushed.
 *
 * A pass over the outbox sends each row at most once. What may go up only later in the same run (a
 * smaller stamp, a list that had to come first, a rebuild that ended, an edit made meanwhile) is
 * taken by another pass; PASSES_MAX bounds them. */
#include <assert.h>
#include <string.h>

#include "sync/exchange.h"

enum {
    ROWS_PER_READ = 128,
    SCOPES_PER_READ = 256,
    PASSES_MAX = 16,
    REQUEST_FRAME_BYTES = 256, /* head and end line, at most */
    SCOPE_LINE_BYTES = 256,    /* a scope's line without its name, at most */
    REBUILD_DAYS_MAX = 7
};

static const int64_t rebuild_max_ms = (int64_t)REBUILD_DAYS_MAX * 24 * 3600 * 1000;

struct batch {
    struct dln_engine *engine;
    int64_t now_ms;
    size_t bytes;
    struct dln_scope_row *scopes; /* beside request.scopes */
    size_t last_scope;            /* where the last look-up hit */
};

static dunlin_status out_of_memory(dunlin_error *err) {
    return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_SYNC, "out of memory for a request");
}

/* ---- the place in the outbox, kept over requests */

static void place_save(struct dln_buf *buf, const struct dln_outbox_place *place) {
    dln_buf_clear(buf);
    dln_buf_append_byte(buf, (char)place->stage);
    dln_buf_append(buf, place->last.data, place->last.len);
}

static struct dln_outbox_place place_load(const struct dln_buf *buf) {
    struct dln_outbox_place place = {0};
    if (buf->len > 0) {
        place.stage = (unsigned char)buf->data[0];
        place.last = (struct dln_text){buf->data + 1, buf->len - 1};
    }
    return place;
}

/* ---- scopes */

/* The scope's index in the request, which it joins when there is room; else *index is
 * DLN_REQUEST_SCOPES_MAX. */
static dunlin_status join_scope(struct batch *batch, struct dln_text name, size_t *index,
                                dunlin_error *err) {
    struct dln_engine *engine = batch->engine;
    struct dln_sync_request *request = &engine->request;
    for (size_t i = 0; i < request->scope_count; i++) {
        size_t at = (batch->last_scope + i) % request->scope_count;
        if (dln_text_equal(request->scopes[at].scope, name)) {
            *index = batch->last_scope = at;
            return DUNLIN_OK;
        }
    }
    *index = DLN_REQUEST_SCOPES_MAX;
    if (request->scope_count == DLN_REQUEST_SCOPES_MAX) {
        return DUNLIN_OK;
    }
    size_t at = request->scope_count;
    struct dln_scope_row *row = &batch->scopes[at];
    const struct dln_sync_store *store = &engine->options.store;
    dunlin_status status = store->scope_get(store->self, &engine->request_arena, name, row, err);
    if (status == DUNLIN_OK && row->rebuilding &&
        batch->now_ms + engine->offset_ms - row->rebuild_since_ms > rebuild_max_ms) {
        struct dln_apply apply = {.store = store, .now_ms = batch->now_ms + engine->offset_ms};
        status = dln_apply_restart(&apply, row, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    request->scopes[at] = (struct dln_scope_ask){.scope = row->scope,
                                                 .epoch = row->epoch,
                                                 .cursor = row->cursor,
                                                 .rebuilding = row->rebuilding,
                                                 .head = row->head};
    batch->bytes += SCOPE_LINE_BYTES + name.len;
    *index = batch->last_scope = request->scope_count++;
    return DUNLIN_OK;
}

/* Asks for pages of the wanted scopes that are not done yet, as many as fit. */
static dunlin_status ask_pages(struct batch *batch, dunlin_error *err) {
    struct dln_engine *engine = batch->engine;
    const struct dln_sync_store *store = &engine->options.store;
    struct dln_text after = {0};
    for (size_t count = SCOPES_PER_READ; count == SCOPES_PER_READ;) {
        struct dln_scope_row *rows = NULL;
        dunlin_status status = store->scopes(store->self, &engine->request_arena, after,
                                             SCOPES_PER_READ, &rows, &count, err);
        for (size_t i = 0; status == DUNLIN_OK && i < count; i++) {
            after = rows[i].scope;
            if (!rows[i].wanted || dln_done_has(&engine->done, after)) {
                continue;
            }
            size_t asked = engine->request.scope_count;
            if (asked > 0 && batch->bytes + SCOPE_LINE_BYTES + after.len > engine->limit_bytes) {
                return DUNLIN_OK;
            }
            size_t at = 0;
            status = join_scope(batch, after, &at, err);
            if (status == DUNLIN_OK && at == DLN_REQUEST_SCOPES_MAX) {
                return DUNLIN_OK;
            }
            if (status == DUNLIN_OK) {
                engine->request.scopes[at].pull = true;
            }
        }
        if (status != DUNLIN_OK) {
            return status;
        }
    }
    return DUNLIN_OK;
}

/* ---- records */

/* A row's pending fields as a record of their own. */
static struct dln_record pending_record(const struct dln_row *row) {
    struct dln_record record = row->record;
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        if (!(row->pending & (UINT32_C(1) << i))) {
            record.fields[i].stamp = 0;
        }
    }
    if (!(row->pending & DLN_EXTRAS_BIT)) {
        record.extras = NULL;
        record.extra_count = 0;
    }
    return record;
}

/* Takes one row into the batch. *full: it does not fit, the batch ends before it. */
static dunlin_status take_row(struct batch *batch, const struct dln_row *row, bool *full,
                              dunlin_error *err) {
    struct dln_engine *engine = batch->engine;
    struct dln_sync_request *request = &engine->request;
    struct dln_record record = pending_record(row);
    size_t at = 0;
    size_t scopes_before = request->scope_count;
    size_t bytes_before = batch->bytes;
    dunlin_status status = join_scope(batch, row->record.key.scope, &at, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    *full = at == DLN_REQUEST_SCOPES_MAX;
    if (*full) {
        return DUNLIN_OK;
    }
    size_t bytes = batch->bytes + dln_record_wire_bytes(&record);
    bool waits = batch->scopes[at].rebuilding || batch->scopes[at].held;
    *full = !waits && request->record_count > 0 && bytes > engine->limit_bytes;
    if (waits || *full) {
        /* No record of this scope goes up now; an ask that only it wanted goes, too. */
        request->scope_count = scopes_before;
        batch->bytes = bytes_before;
        batch->last_scope = 0;
        return DUNLIN_OK;
    }
    batch->bytes = bytes;
    dln_done_remove(&engine->done, row->record.key.scope);
    struct dln_row *sent = &engine->sent[request->record_count];
    *sent = *row;
    sent->record = record;
    request->records[request->record_count++] = record;
    if (row->tried) {
        return DUNLIN_OK;
    }
    struct dln_row tried = *row;
    tried.tried = true;
    return engine->options.store.row_mark(engine->options.store.self, &tried, err);
}

/* Reads on in the outbox until the batch is full or the pass is at its end. */
static dunlin_status take_rows(struct batch *batch, dunlin_error *err) {
    struct dln_engine *engine = batch->engine;
    const struct dln_sync_store *store = &engine->options.store;
    bool full = false;
    dunlin_status status = DUNLIN_OK;
    while (status == DUNLIN_OK && !full && !engine->pass_ended) {
        size_t room = engine->options.request_records - engine->request.record_count;
        size_t limit = room < ROWS_PER_READ ? room : ROWS_PER_READ;
        if (limit == 0) {
            break;
        }
        struct dln_outbox_place place = place_load(&engine->place);
        struct dln_outbox_place before = place;
        struct dln_row *rows = NULL;
        size_t count = 0;
        status = store->outbox_next(store->self, &engine->request_arena, &place, limit, &rows,
                                    &count, err);
        size_t taken = 0;
        while (status == DUNLIN_OK && taken < count && !full) {
            status = take_row(batch, &rows[taken], &full, err);
            taken += full ? 0 : 1;
        }
        if (status == DUNLIN_OK && taken < count && taken > 0) {
            place = before; /* read again only what was taken, for the place behind it */
            status = store->outbox_next(store->self, &engine->request_arena, &place, taken, &rows,
                                        &count, err);
        }
        if (status == DUNLIN_OK && (taken > 0 || !full)) {
            engine->pass_ended = !full && count < limit;
            struct dln_buf saved = DLN_BUF_INIT(engine->place.max);
            place_save(&saved, &place); /* place.last may point into engine->place */
            dln_buf_free(&engine->place);
            engine->place = saved;
            status = dln_buf_status(&engine->place, err);
        }
    }
    return status;
}

/* ---- the request */

static dunlin_status fill(struct batch *batch, dunlin_error *err) {
    struct dln_engine *engine = batch->engine;
    struct dln_arena *arena = &engine->request_arena;
    size_t records = engine->options.request_records;
    dln_arena_clear(arena);
    engine->request = (struct dln_sync_request){.page_records = engine->page_records};
    engine->request.scopes =
        dln_arena_alloc(arena, DLN_REQUEST_SCOPES_MAX * sizeof(*engine->request.scopes));
    engine->request.records = dln_arena_alloc(arena, records * sizeof(*engine->request.records));
    engine->sent = dln_arena_alloc(arena, records * sizeof(*engine->sent));
    batch->scopes = dln_arena_alloc(arena, DLN_REQUEST_SCOPES_MAX * sizeof(*batch->scopes));
    if (engine->request.scopes == NULL || engine->request.records == NULL || engine->sent == NULL ||
        batch->scopes == NULL) {
        return out_of_memory(err);
    }
    batch->bytes = REQUEST_FRAME_BYTES;
    batch->last_scope = 0;
    dln_buf_clear(&engine->place_before);
    dln_buf_append(&engine->place_before, engine->place.data, engine->place.len);
    dunlin_status status = dln_buf_status(&engine->place_before, err);
    if (status == DUNLIN_OK && !engine->options.pull_only) {
        status = take_rows(batch, err);
    }
    if (status == DUNLIN_OK && (engine->pass_ended || engine->options.pull_only)) {
        status = ask_pages(batch, err);
    }
    return status;
}

dunlin_status dln_outgoing(struct dln_engine *engine, int64_t now_ms, bool *nothing,
                           dunlin_error *err) {
    const struct dln_sync_store *store = &engine->options.store;
    struct batch batch = {.engine = engine, .now_ms = now_ms};
    dunlin_status status = store->begin(store->self, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    for (;;) {
        status = fill(&batch, err);
        *nothing = engine->request.scope_count == 0;
        if (status != DUNLIN_OK || !*nothing || !engine->again || engine->passes == PASSES_MAX) {
            break;
        }
        engine->again = false;
        engine->pass_ended = false;
        engine->passes++;
        dln_buf_clear(&engine->place);
    }
    if (status == DUNLIN_OK) {
        status = store->commit(store->self, err);
    } else {
        store->rollback(store->self);
    }
    return status != DUNLIN_OK || *nothing ? status : dln_outgoing_encode(engine, err);
}

dunlin_status dln_outgoing_encode(struct dln_engine *engine, dunlin_error *err) {
    static const char digits[] = "0123456789abcdef";
    uint64_t bits = 0;
    for (int i = 0; i < DLN_NONCE_LEN; i++) {
        bits = i % 16 == 0 ? engine->options.random(engine->options.random_self) : bits >> 4;
        engine->request.nonce[i] = digits[bits & 15];
    }
    engine->request.nonce[DLN_NONCE_LEN] = '\0';
    dln_buf_clear(&engine->body);
    return dln_request_encode(&engine->body, &engine->request, err);
}
