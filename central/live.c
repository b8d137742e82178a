/* Newest versions, read in batches. A list's items stand together in the walk, so that looking at
 * the last parent again is what mostly happens. */
#include "central/live.h"

#include <string.h>

enum { BATCH_BYTES_MAX = DLN_LIVE_BATCH * 2 * DLN_RECORD_BYTES_MAX, PARENT_BYTES_MAX = 4 << 20 };

static bool starts_with(struct dln_text text, struct dln_text prefix) {
    return text.len >= prefix.len && memcmp(text.data, prefix.data, prefix.len) == 0;
}

/* The key of the list or group that the record lies in: "item/l1/…" → "list/l1". No text: none. */
static bool parent_of(struct dln_text key, struct dln_buf *out) {
    static const struct dln_text item = {"item/", 5};
    if (starts_with(key, DLN_TEXT("member/"))) {
        dln_buf_append_text(out, "group");
    } else if (starts_with(key, item)) {
        struct dln_text rest = {key.data + item.len, key.len - item.len};
        const char *slash = rest.len > 0 ? memchr(rest.data, '/', rest.len) : NULL;
        dln_buf_append_text(out, "list/");
        dln_buf_append(out, rest.data, slash != NULL ? (size_t)(slash - rest.data) : rest.len);
    }
    return out->len > 0;
}

static dunlin_status read_parent(struct dln_live *live, struct dln_text parent, dunlin_error *err) {
    const struct dln_central_engine *engine = &live->walk.central->engine;
    struct dln_stored stored;
    live->parent = (struct dln_text){NULL, 0};
    live->parent_arena.max_bytes = PARENT_BYTES_MAX;
    dln_arena_clear(&live->parent_arena);
    dunlin_status status = engine->current(engine->self, &live->parent_arena, live->walk.scope,
                                           &parent, 1, &stored, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    live->parent_lives = stored.place.seq != 0 && dln_record_exists(&stored.record);
    live->parent = dln_arena_text(&live->parent_arena, parent);
    return live->parent.data != NULL ? DUNLIN_OK : dln_central_no_memory(err);
}

dunlin_status dln_live_parent(struct dln_live *live, struct dln_text key, bool *lives,
                              dunlin_error *err) {
    struct dln_buf buf = DLN_BUF_INIT(DLN_SCOPE_MAX);
    dunlin_status status = DUNLIN_OK;
    *lives = true;
    if (parent_of(key, &buf)) {
        struct dln_text parent = {buf.data, buf.len};
        if (live->parent.data == NULL || !dln_text_equal(live->parent, parent)) {
            status = read_parent(live, parent, err);
        }
        *lives = live->parent_lives;
    }
    if (status == DUNLIN_OK) {
        status = dln_buf_status(&buf, err);
    }
    dln_buf_free(&buf);
    return status;
}

static dunlin_status read_batch(struct dln_live *live, dunlin_error *err) {
    const struct dln_central_engine *engine = &live->walk.central->engine;
    struct dln_text keys[DLN_LIVE_BATCH];
    struct dln_trace trace;
    dunlin_status status = DUNLIN_OK;
    bool newest;
    bool found = true;
    bool lives;
    live->at = live->count = 0;
    live->batch.max_bytes = BATCH_BYTES_MAX;
    dln_arena_clear(&live->batch);
    while (live->count < DLN_LIVE_BATCH) {
        if ((status = dln_walk_next(&live->walk, &trace, &newest, &found, err)) || !found) {
            break;
        }
        if (!newest || trace.gone) {
            continue;
        }
        if ((status = dln_live_parent(live, trace.key, &lives, err))) {
            return status;
        }
        if (lives) {
            keys[live->count] = dln_arena_text(&live->batch, trace.key);
            if (keys[live->count++].data == NULL) {
                return dln_central_no_memory(err);
            }
        }
    }
    if (status != DUNLIN_OK || live->count == 0) {
        return status;
    }
    live->stored = dln_arena_alloc(&live->batch, live->count * sizeof(*live->stored));
    if (live->stored == NULL) {
        return dln_central_no_memory(err);
    }
    return engine->current(engine->self, &live->batch, live->walk.scope, keys, live->count,
                           live->stored, err);
}

dunlin_status dln_live_next(struct dln_live *live, const struct dln_record **out,
                            struct dln_text *key, dunlin_error *err) {
    *out = NULL;
    for (;;) {
        if (live->at == live->count) {
            dunlin_status status = read_batch(live, err);
            if (status != DUNLIN_OK || live->count == 0) {
                return status;
            }
        }
        const struct dln_stored *stored = &live->stored[live->at++];
        if (stored->place.seq != 0 && dln_record_exists(&stored->record)) {
            *out = &stored->record;
            *key = stored->key;
            return DUNLIN_OK;
        }
    }
}

void dln_live_free(struct dln_live *live) {
    dln_walk_free(&live->walk);
    dln_arena_free(&live->batch);
    dln_arena_free(&live->parent_arena);
}
