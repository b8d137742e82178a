/* Pages of traces, with one trace of looking ahead; pages of names. Two arenas take turns, since
 * the last one of a page says where the next page starts. */
#include "central/walk.h"

enum { WALK_PAGE = 500, SCOPES_PAGE = 200, PAGE_BYTES_MAX = 4 * 1024 * 1024 };

static struct dln_arena *turn(struct dln_arena pages[2], int *page) {
    struct dln_arena *arena = &pages[ *page ^= 1];
    arena->max_bytes = PAGE_BYTES_MAX;
    dln_arena_clear(arena);
    return arena;
}

/* Makes traces[at] the next one that counts, or ends the walk. */
static dunlin_status look_ahead(struct dln_walk *walk, dunlin_error *err) {
    const struct dln_central_engine *engine = &walk->central->engine;
    while (!walk->ended) {
        for (; walk->at < walk->count; walk->at++) {
            if (walk->end_seq == 0 || walk->traces[walk->at].seq <= walk->end_seq) {
                return DUNLIN_OK;
            }
        }
        struct dln_arena *arena = turn(walk->pages, &walk->page);
        if (walk->count > 0) {
            const struct dln_trace *last = &walk->traces[walk->count - 1];
            walk->place = (struct dln_trace_place){last->key, last->seq};
        }
        dunlin_status status =
            engine->walk(engine->self, arena, walk->scope, walk->prefix, &walk->place, WALK_PAGE,
                         &walk->traces, &walk->count, err);
        if (status != DUNLIN_OK) {
            return status;
        }
        walk->at = 0;
        walk->ended = walk->count == 0;
    }
    return DUNLIN_OK;
}

dunlin_status dln_walk_next(struct dln_walk *walk, struct dln_trace *out, bool *last_of_key,
                            bool *found, dunlin_error *err) {
    dunlin_status status;
    *found = false;
    if ((status = look_ahead(walk, err)) || walk->ended) {
        return status;
    }
    *out = walk->traces[walk->at++];
    *found = true;
    if ((status = look_ahead(walk, err))) {
        return status;
    }
    *last_of_key = walk->ended || !dln_text_equal(walk->traces[walk->at].key, out->key);
    return DUNLIN_OK;
}

void dln_walk_free(struct dln_walk *walk) {
    dln_arena_free(&walk->pages[0]);
    dln_arena_free(&walk->pages[1]);
}

dunlin_status dln_scope_walk_next(struct dln_scope_walk *walk, struct dln_text *out,
                                  dunlin_error *err) {
    const struct dln_central_engine *engine = &walk->central->engine;
    dunlin_status status = DUNLIN_OK;
    if (walk->at == walk->count) {
        struct dln_text after = walk->count > 0 ? walk->names[walk->count - 1] : DLN_TEXT("");
        walk->at = 0;
        status = engine->scopes(engine->self, turn(walk->pages, &walk->page), after, SCOPES_PAGE,
                                &walk->names, &walk->count, err);
    }
    *out = (struct dln_text){NULL, 0};
    if (status == DUNLIN_OK && walk->at < walk->count) {
        *out = walk->names[walk->at++];
    }
    return status;
}

void dln_scope_walk_free(struct dln_scope_walk *walk) {
    dln_arena_free(&walk->pages[0]);
    dln_arena_free(&walk->pages[1]);
}
