/* The append loop: read the scope's last seq, then the current versions, then the floor; merge and
 * judge in memory; insert what changed into the slots right behind last, each if absent.
 *
 * The order of the reads is what makes it right. What was read after last is proved current by the
 * insert right behind last: had anybody written in between, the slot would be taken. The floor is
 * read behind the versions, since a tombstone goes only after the floor has risen over it.
 *
 * A lost race, and a first read older than DLN_WRITER_MAX_AGE_MS on the clock that counts suspend,
 * start over from the first read: a writer that slept might otherwise fill a slot that was freed
 * meanwhile, below everybody's cursor. What a lost attempt did insert needs no book-keeping; merged
 * again it changes nothing.
 *
 * A writer that lost some races takes the engine's lock, where there is one, before its reads, so
 * that a large push is not starved by many small ones. */
#include "central/log.h"

#include <assert.h>

enum { POLITE_ATTEMPTS = 3, ATTEMPTS_MAX = 200 };

struct attempt {
    struct dunlin_central *central;
    const struct dln_log_append *append;
    struct dln_log_outcome *outcome;
    bool known_last;
    int64_t deadline_ms;
    struct dln_entry *entries;
    size_t count;
    int64_t now_ms;
    bool done;
};

static dunlin_status read_and_judge(struct attempt *attempt, dunlin_error *err) {
    const struct dln_central_engine *engine = &attempt->central->engine;
    const struct dln_log_append *append = attempt->append;
    struct dln_log_outcome *outcome = attempt->outcome;
    struct dln_arena *arena = &attempt->central->attempt;
    struct dln_log_view view = {.arena = arena};
    dunlin_status status;
    struct dln_stored *stored = dln_arena_alloc(arena, append->key_count * sizeof(*stored));
    if (stored == NULL) {
        return dln_central_no_memory(err);
    }
    if (attempt->known_last) {
        view.last = *append->last;
    } else if ((status = engine->last(engine->self, append->scope, &view.last, err))) {
        return status;
    }
    if ((status = engine->now(engine->self, &view.now_ms, err)) ||
        (status = engine->current(engine->self, arena, append->scope, append->keys,
                                  append->key_count, stored, err)) ||
        (status = engine->floor(engine->self, append->scope, &outcome->floor, err))) {
        return status;
    }
    view.stored = stored;
    outcome->last = view.last;
    outcome->first_seq = view.last.seq + 1;
    outcome->below_floor = append->cursor_seq < outcome->floor;
    attempt->now_ms = view.now_ms;
    attempt->count = 0;
    if (outcome->below_floor) {
        return DUNLIN_OK;
    }
    return append->judge(append->self, &view, &attempt->entries, &attempt->count, err);
}

/* The base is noted and the head raised before the insert, so that neither ever says too little. */
static dunlin_status write_entries(struct attempt *attempt, size_t *inserted, dunlin_error *err) {
    const struct dln_central_engine *engine = &attempt->central->engine;
    const struct dln_log_append *append = attempt->append;
    int64_t last_seq = attempt->outcome->last.seq;
    struct dln_hint hint = {last_seq + (int64_t)attempt->count, attempt->now_ms};
    dunlin_status status;
    bool noted;
    int64_t base;
    if ((status = engine->base(engine->self, append->epoch, append->scope, &noted, &base, err)) ||
        (!noted &&
         (status = engine->note_base(engine->self, append->epoch, append->scope, last_seq, err))) ||
        (status = engine->raise_hint(engine->self, append->scope, &hint, err)) ||
        (status = engine->insert(engine->self, append->scope, last_seq, attempt->entries,
                                 attempt->count, attempt->deadline_ms, inserted, err)) ||
        (status = engine->now(engine->self, &hint.touched_ms, err))) {
        return status;
    }
    hint.head = 0;
    return *inserted > 0 ? engine->raise_hint(engine->self, append->scope, &hint, err) : DUNLIN_OK;
}

static dunlin_status try_once(struct attempt *attempt, dunlin_error *err) {
    const struct dln_central_engine *engine = &attempt->central->engine;
    dunlin_status status;
    size_t inserted = 0;
    if ((status = read_and_judge(attempt, err))) {
        return status;
    }
    if (attempt->count == 0) {
        attempt->done = true;
        return DUNLIN_OK;
    }
    for (size_t i = 0; i < attempt->count; i++) {
        attempt->entries[i].salt = dln_central_salt(&attempt->central->ports);
    }
    if ((status = engine->begin(engine->self, err))) {
        return status;
    }
    status = write_entries(attempt, &inserted, err);
    dunlin_status ended =
        engine->end(engine->self, status == DUNLIN_OK && inserted > 0, status ? NULL : err);
    attempt->done = inserted == attempt->count;
    return status != DUNLIN_OK ? status : ended;
}

dunlin_status dln_log_append(struct dunlin_central *central, const struct dln_log_append *append,
                             struct dln_log_outcome *out, dunlin_error *err) {
    const struct dln_central_engine *engine = &central->engine;
    const struct dln_central_ports *ports = &central->ports;
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
        struct attempt attempt = {.central = central, .append = append, .outcome = out};
        bool locked = i >= POLITE_ATTEMPTS;
        dunlin_status status = DUNLIN_OK;
        dln_arena_clear(&central->attempt);
        if (locked && (status = engine->begin(engine->self, err))) {
            return status;
        }
        attempt.known_last = i == 0 && append->last != NULL;
        attempt.deadline_ms =
            (attempt.known_last ? append->last_read_ms : ports->steady_ms(ports->steady_self)) +
            DLN_WRITER_MAX_AGE_MS;
        status = try_once(&attempt, err);
        if (locked) {
            dunlin_status ended =
                engine->end(engine->self, status == DUNLIN_OK && attempt.done, status ? NULL : err);
            status = status != DUNLIN_OK ? status : ended;
        }
        if (status != DUNLIN_OK || attempt.done) {
            return status;
        }
    }
    return dln_fail(err, DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_CENTRAL,
                    "too many others write to the same scope");
}
