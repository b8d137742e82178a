/* Pages. Within a request all scopes share one budget of records and of bytes; a scope that does
 * not fit gets no answer and is asked for again.
 *
 * A page is read before the floor and before the rights to read it: so a cursor below a tombstone
 * that went meanwhile starts over, and nothing is given out that was written after its reader lost
 * access. A cursor that is ahead of the log, or whose salt is another one's, is looked at a second
 * time behind a settled write before history is called lost. */
#include "central/exchange.h"

#include "central/keymap.h"

struct budget {
    size_t records;
    size_t bytes;
    bool used; /* something was given out: what does not fit may wait */
};

void dln_pull_answer(struct dln_exchange *exchange, struct dln_exchange_scope *scope,
                     enum dln_scope_state state) {
    scope->answer = &exchange->answer->scopes[exchange->answer->scope_count++];
    *scope->answer = (struct dln_scope_answer){.scope = scope->ask->scope, .state = state};
}

dunlin_status dln_pull_reset(struct dln_exchange *exchange, struct dln_exchange_scope *scope,
                             const struct dln_cursor *last, dunlin_error *err) {
    const struct dln_central_engine *engine = &exchange->central->engine;
    struct dln_text name = scope->ask->scope;
    dunlin_status status;
    bool noted;
    int64_t base = 0;
    int64_t floor;
    /* The base behind last: where nobody has noted one, nobody had appended when last was read. */
    if ((status = engine->base(engine->self, exchange->epoch.number, name, &noted, &base, err)) ||
        (status = engine->floor(engine->self, name, &floor, err))) {
        return status;
    }
    dln_pull_answer(exchange, scope, DLN_SCOPE_RESET);
    scope->answer->floor = floor;
    scope->answer->base = noted ? base : last->seq;
    scope->answer->horizon_ms = exchange->central->limits.horizon_ms;
    return DUNLIN_OK;
}

static dunlin_status has_lost_history(const struct dln_central_engine *engine,
                                      const struct dln_scope_ask *ask, struct dln_cursor *last,
                                      bool *lost, dunlin_error *err) {
    dunlin_status status;
    bool stands = false;
    uint32_t salt = 0;
    if ((status = engine->last(engine->self, ask->scope, last, err))) {
        return status;
    }
    if (ask->cursor.seq > 0 && ask->cursor.seq == last->seq) {
        stands = true;
        salt = last->salt;
    } else if (ask->cursor.seq > 0 && ask->cursor.seq < last->seq &&
               (status =
                    engine->salt(engine->self, ask->scope, ask->cursor.seq, &stands, &salt, err))) {
        return status;
    }
    *lost = ask->cursor.seq > last->seq || (stands && salt != ask->cursor.salt);
    return DUNLIN_OK;
}

dunlin_status dln_pull_check(struct dln_exchange *exchange, struct dln_exchange_scope *scope,
                             struct dln_cursor *last, dunlin_error *err) {
    const struct dln_central_engine *engine = &exchange->central->engine;
    const struct dln_scope_ask *ask = scope->ask;
    bool never_read = ask->epoch.len == 0 && ask->cursor.seq == 0;
    dunlin_status status;
    bool lost;
    if (!never_read && !dln_text_equal(ask->epoch, exchange->epoch.id)) {
        if ((status = engine->last(engine->self, ask->scope, last, err))) {
            return status;
        }
        return dln_pull_reset(exchange, scope, last, err);
    }
    if ((status = has_lost_history(engine, ask, last, &lost, err)) || !lost) {
        return status;
    }
    if ((status = engine->settle(engine->self, err)) ||
        (status = has_lost_history(engine, ask, last, &lost, err)) || !lost) {
        return status;
    }
    dln_pull_answer(exchange, scope, DLN_SCOPE_HELD);
    exchange->central->counts.held++;
    return DUNLIN_OK;
}

dunlin_status dln_standing_read(struct dunlin_central *central, struct dln_arena *arena,
                                struct dln_text scope, struct dln_standing *standing,
                                dunlin_error *err) {
    const struct dln_central_engine *engine = &central->engine;
    dunlin_status status;
    if (standing->kind != DLN_SCOPE_GROUP) {
        return DUNLIN_OK;
    }
    struct dln_stored *stored = dln_arena_alloc(arena, 2 * sizeof(*stored));
    struct dln_text keys[2] = {dln_central_key(arena, DLN_GROUP, NULL),
                               dln_central_key(arena, DLN_MEMBER, &standing->user)};
    if (stored == NULL || keys[0].data == NULL || keys[1].data == NULL) {
        return dln_central_no_memory(err);
    }
    if ((status = engine->current(engine->self, arena, scope, keys, 2, stored, err))) {
        return status;
    }
    standing->group = stored[0].place.seq != 0 ? &stored[0].record : NULL;
    standing->own = stored[1].place.seq != 0 ? &stored[1].record : NULL;
    return DUNLIN_OK;
}

/* Of a key's versions only the last one is given out. Takes entries as long as the budget lasts;
 * the cursor ends behind the last one taken. False when out of memory. */
static bool fill_page(struct dln_arena *arena, const struct dln_stored *entries, size_t count,
                      struct budget *budget, struct dln_scope_answer *answer) {
    struct dln_keymap map;
    answer->versions = dln_arena_alloc(arena, count * sizeof(*answer->versions));
    if (answer->versions == NULL || !dln_keymap_init(&map, arena, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct dln_stored *entry = &entries[i];
        struct dln_version *version;
        size_t bytes = dln_record_wire_bytes(&entry->record);
        size_t known;
        bool again = dln_keymap_get(&map, entry->key, &known);
        size_t old = again ? dln_record_wire_bytes(&answer->versions[known].record) : 0;
        if (budget->used && (bytes > budget->bytes + old || (!again && budget->records == 0))) {
            answer->more = true;
            break;
        }
        if (again) {
            version = &answer->versions[known];
        } else {
            (void)dln_keymap_put(&map, entry->key, answer->version_count, &again);
            version = &answer->versions[answer->version_count++];
            budget->records -= budget->records > 0;
        }
        *version = (struct dln_version){entry->place.seq, entry->record};
        budget->bytes = bytes > budget->bytes + old ? 0 : budget->bytes + old - bytes;
        budget->used = true;
        answer->cursor = entry->place;
    }
    return true;
}

/* What a head is worth that a device keeps: it must have been reached, or be past change. */
static int64_t head_to_remember(const struct dln_hint *hint, const struct dln_scope_answer *answer,
                                int64_t now_ms) {
    bool reached = answer->cursor.seq >= hint->head;
    bool settled = now_ms - hint->touched_ms > DLN_TOUCHED_SETTLED_MS;
    return !answer->more && (reached || settled) ? hint->head : 0;
}

static dunlin_status pull_page(struct dln_exchange *exchange, struct dln_exchange_scope *scope,
                               const struct dln_hint *hint, int64_t now_ms, struct budget *budget,
                               dunlin_error *err) {
    struct dunlin_central *central = exchange->central;
    const struct dln_central_engine *engine = &central->engine;
    const struct dln_scope_ask *ask = scope->ask;
    struct dln_standing standing = {.user = exchange->user, .kind = scope->kind, .id = scope->id};
    struct dln_stored *entries;
    dunlin_status status;
    struct dln_cursor last;
    size_t count;
    bool more;
    int64_t floor;
    if ((status = dln_pull_check(exchange, scope, &last, err)) || scope->answer != NULL) {
        return status;
    }
    if (budget->used && (budget->records == 0 || budget->bytes == 0) &&
        last.seq > ask->cursor.seq) {
        return DUNLIN_OK; /* does not fit */
    }
    if ((status =
             engine->after(engine->self, &central->arena, ask->scope, ask->cursor.seq,
                           budget->records + 1, budget->bytes + 1, &entries, &count, &more, err)) ||
        (status = engine->floor(engine->self, ask->scope, &floor, err)) ||
        (status = dln_standing_read(central, &central->arena, ask->scope, &standing, err))) {
        return status;
    }
    if (ask->cursor.seq < floor && !ask->rebuilding) {
        return dln_pull_reset(exchange, scope, &last, err);
    }
    if (!dln_may_read(&standing)) {
        dln_pull_answer(exchange, scope, DLN_SCOPE_DENIED);
        return DUNLIN_OK;
    }
    dln_pull_answer(exchange, scope, DLN_SCOPE_PAGE);
    scope->answer->cursor = ask->cursor;
    if (!fill_page(&central->arena, entries, count, budget, scope->answer)) {
        return dln_central_no_memory(err);
    }
    scope->answer->more = scope->answer->more || more;
    if (count > 0 && scope->answer->version_count == 0) { /* does not fit */
        scope->answer = NULL;
        exchange->answer->scope_count--;
        return DUNLIN_OK;
    }
    scope->answer->head = head_to_remember(hint, scope->answer, now_ms);
    return DUNLIN_OK;
}

static bool is_same(const struct dln_exchange *exchange, const struct dln_exchange_scope *scope,
                    const struct dln_hint *hint) {
    const struct dln_scope_ask *ask = scope->ask;
    return ask->head > 0 && ask->head == hint->head && !ask->rebuilding &&
           dln_text_equal(ask->epoch, exchange->epoch.id) &&
           (scope->kind != DLN_SCOPE_USER || dln_text_equal(scope->id, exchange->user));
}

static dunlin_status read_hints(struct dln_exchange *exchange, struct dln_hint **out,
                                dunlin_error *err) {
    const struct dln_central_engine *engine = &exchange->central->engine;
    struct dln_arena *arena = &exchange->central->arena;
    size_t count = exchange->request->scope_count;
    struct dln_text *names = dln_arena_alloc(arena, count * sizeof(*names));
    *out = dln_arena_alloc(arena, count * sizeof(**out));
    if (names == NULL || *out == NULL) {
        return dln_central_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = exchange->scopes[i].ask->scope;
    }
    return engine->hints(engine->self, names, count, *out, err);
}

dunlin_status dln_pull(struct dln_exchange *exchange, dunlin_error *err) {
    const struct dln_central_engine *engine = &exchange->central->engine;
    const struct dln_sync_request *request = exchange->request;
    struct budget budget = {.records = DLN_PAGE_RECORDS_MAX, .bytes = DLN_PAGE_BYTES_MAX};
    struct dln_hint *hints;
    dunlin_status status;
    int64_t now_ms;
    if (request->page_records > 0 && request->page_records < DLN_PAGE_RECORDS_MAX) {
        budget.records = (size_t)request->page_records;
    }
    if ((status = read_hints(exchange, &hints, err)) ||
        (status = engine->now(engine->self, &now_ms, err))) {
        return status;
    }
    for (size_t i = 0; status == DUNLIN_OK && i < request->scope_count; i++) {
        struct dln_exchange_scope *scope = &exchange->scopes[i];
        if (scope->answer != NULL || !scope->ask->pull) {
            continue;
        }
        if (!scope->known) {
            dln_pull_answer(exchange, scope, DLN_SCOPE_DENIED);
        } else if (is_same(exchange, scope, &hints[i])) {
            dln_pull_answer(exchange, scope, DLN_SCOPE_SAME);
        } else {
            status = pull_page(exchange, scope, &hints[i], now_ms, &budget, err);
        }
    }
    return status;
}
