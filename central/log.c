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
 * Threads of one process that append to one scope take turns (gate.c), and what waits meanwhile is
 * joined into one append: one after the other is judged against what the earlier ones left.
 *
 * A writer that lost some races takes the engine's lock, where there is one, before its reads, so
 * that a large push is not starved by many small ones. */
#include "central/log.h"

#include <assert.h>

#include "central/gate.h"
#include "central/keymap.h"

enum { POLITE_ATTEMPTS = 3, ATTEMPTS_MAX = 200 };

/* One caller's append. What it needs in an attempt comes from its own central's arena. */
struct part {
    struct dln_waiter waiter;
    struct dunlin_central *central;
    const struct dln_log_append *append;
    struct dln_log_outcome *outcome;
    struct dln_entry *entries;
    size_t count;
    dunlin_status status;
    dunlin_error error;
};

struct attempt {
    struct dunlin_central *central; /* the first part's: its engine does the work */
    struct part *first;
    const struct dln_text *keys; /* of all parts, each once */
    size_t key_count;
    struct dln_keymap places; /* of the keys, where there is more than one part */
    struct dln_stored *stored;
    struct dln_cursor last;
    bool known_last;
    int64_t floor;
    int64_t now_ms;
    int64_t deadline_ms;
    struct dln_entry *entries;
    size_t count;
    bool done;
};

static struct part *next_part(const struct part *part) {
    return part->waiter.next != NULL ? part->waiter.next->payload : NULL;
}

/* ---- reading */

static dunlin_status gather_keys(struct attempt *attempt, dunlin_error *err) {
    struct dln_arena *arena = &attempt->central->attempt;
    size_t most = 0;
    bool added;
    if (next_part(attempt->first) == NULL) {
        attempt->keys = attempt->first->append->keys;
        attempt->key_count = attempt->first->append->key_count;
        return DUNLIN_OK;
    }
    for (struct part *part = attempt->first; part != NULL; part = next_part(part)) {
        most += part->append->key_count;
    }
    struct dln_text *keys = dln_arena_alloc(arena, most * sizeof(*keys));
    if (keys == NULL || !dln_keymap_init(&attempt->places, arena, most)) {
        return dln_central_no_memory(err);
    }
    for (struct part *part = attempt->first; part != NULL; part = next_part(part)) {
        for (size_t i = 0; i < part->append->key_count; i++) {
            (void)dln_keymap_put(&attempt->places, part->append->keys[i], attempt->key_count,
                                 &added);
            if (added) {
                keys[attempt->key_count++] = part->append->keys[i];
            }
        }
    }
    attempt->keys = keys;
    return DUNLIN_OK;
}

static dunlin_status read_all(struct attempt *attempt, dunlin_error *err) {
    const struct dln_central_engine *engine = &attempt->central->engine;
    const struct dln_log_append *append = attempt->first->append;
    struct dln_arena *arena = &attempt->central->attempt;
    dunlin_status status;
    if ((status = gather_keys(attempt, err))) {
        return status;
    }
    attempt->stored = dln_arena_alloc(arena, attempt->key_count * sizeof(*attempt->stored));
    if (attempt->stored == NULL) {
        return dln_central_no_memory(err);
    }
    if (attempt->known_last) {
        attempt->last = *append->last;
    } else if ((status = engine->last(engine->self, append->scope, &attempt->last, err))) {
        return status;
    }
    if ((status = engine->now(engine->self, &attempt->now_ms, err)) ||
        (status = engine->current(engine->self, arena, append->scope, attempt->keys,
                                  attempt->key_count, attempt->stored, err))) {
        return status;
    }
    return engine->floor(engine->self, append->scope, &attempt->floor, err);
}

/* ---- judging */

/* What stands of the part's keys, in memory of its own: it is looked at after the others are gone.
 */
static dunlin_status view_for(struct attempt *attempt, struct part *part, struct dln_log_view *view,
                              dunlin_error *err) {
    size_t count = part->append->key_count;
    *view = (struct dln_log_view){.arena = &part->central->attempt,
                                  .last = attempt->last,
                                  .stored = attempt->stored,
                                  .now_ms = attempt->now_ms};
    if (next_part(attempt->first) == NULL) {
        return DUNLIN_OK;
    }
    struct dln_stored *stored = dln_arena_alloc(view->arena, count * sizeof(*stored));
    if (stored == NULL) {
        return dln_central_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        bool found = dln_keymap_get(&attempt->places, part->append->keys[i], &at);
        assert(found);
        (void)found;
        stored[i] = attempt->stored[at];
        if (stored[i].place.seq != 0 &&
            !dln_record_copy(view->arena, &stored[i].record, &attempt->stored[at].record)) {
            return dln_central_no_memory(err);
        }
    }
    view->stored = stored;
    return DUNLIN_OK;
}

/* The parts behind this one see what it leaves. */
static void leave_behind(struct attempt *attempt, const struct part *part) {
    for (size_t i = 0; next_part(part) != NULL && i < part->count; i++) {
        size_t at = 0;
        if (dln_keymap_get(&attempt->places, part->entries[i].key, &at)) {
            attempt->stored[at].record = *part->entries[i].record;
            attempt->stored[at].place.seq = part->outcome->first_seq + (int64_t)i;
        }
    }
}

static dunlin_status judge_part(struct attempt *attempt, struct part *part, dunlin_error *err) {
    struct dln_log_outcome *outcome = part->outcome;
    struct dln_log_view view;
    outcome->floor = attempt->floor;
    outcome->last = attempt->last;
    outcome->first_seq = attempt->last.seq + 1 + (int64_t)attempt->count;
    outcome->below_floor = part->append->cursor_seq < outcome->floor;
    part->entries = NULL;
    part->count = 0;
    if (outcome->below_floor) {
        return DUNLIN_OK;
    }
    dunlin_status status = view_for(attempt, part, &view, err);
    if (status == DUNLIN_OK) {
        status = part->append->judge(part->append->self, &view, &part->entries, &part->count, err);
    }
    part->count = status == DUNLIN_OK ? part->count : 0;
    return status;
}

/* A part that fails by itself does not hold up the others. */
static dunlin_status judge_all(struct attempt *attempt, dunlin_error *err) {
    for (struct part *part = attempt->first; part != NULL; part = next_part(part)) {
        part->status = judge_part(attempt, part, &part->error);
        leave_behind(attempt, part);
        attempt->count += part->count;
    }
    assert(attempt->first != NULL);
    attempt->entries = attempt->first->entries;
    if (attempt->count == attempt->first->count) {
        return DUNLIN_OK;
    }
    attempt->entries =
        dln_arena_alloc(&attempt->central->attempt, attempt->count * sizeof(*attempt->entries));
    if (attempt->entries == NULL) {
        return dln_central_no_memory(err);
    }
    size_t count = 0;
    for (struct part *part = attempt->first; part != NULL; part = next_part(part)) {
        for (size_t i = 0; i < part->count; i++) {
            attempt->entries[count++] = part->entries[i];
        }
    }
    return DUNLIN_OK;
}

/* ---- writing */

/* Of the parts' epochs the newest: what the others were told is no answer any more. */
static int64_t epoch_of(const struct attempt *attempt) {
    int64_t epoch = 0;
    for (const struct part *part = attempt->first; part != NULL; part = next_part(part)) {
        epoch = part->append->epoch > epoch ? part->append->epoch : epoch;
    }
    return epoch;
}

/* The base is noted and the head raised before the insert, so that neither ever says too little. */
static dunlin_status write_entries(struct attempt *attempt, size_t *inserted, dunlin_error *err) {
    const struct dln_central_engine *engine = &attempt->central->engine;
    struct dln_text scope = attempt->first->append->scope;
    int64_t epoch = epoch_of(attempt);
    int64_t last_seq = attempt->last.seq;
    struct dln_hint hint = {last_seq + (int64_t)attempt->count, attempt->now_ms};
    dunlin_status status;
    bool noted;
    int64_t base;
    if ((status = engine->base(engine->self, epoch, scope, &noted, &base, err)) ||
        (!noted && (status = engine->note_base(engine->self, epoch, scope, last_seq, err))) ||
        (status = engine->raise_hint(engine->self, scope, &hint, err)) ||
        (status = engine->insert(engine->self, scope, last_seq, attempt->entries, attempt->count,
                                 attempt->deadline_ms, inserted, err)) ||
        (status = engine->now(engine->self, &hint.touched_ms, err))) {
        return status;
    }
    hint.head = 0;
    return *inserted > 0 ? engine->raise_hint(engine->self, scope, &hint, err) : DUNLIN_OK;
}

static dunlin_status try_once(struct attempt *attempt, dunlin_error *err) {
    const struct dln_central_engine *engine = &attempt->central->engine;
    dunlin_status status;
    size_t inserted = 0;
    if ((status = read_all(attempt, err)) || (status = judge_all(attempt, err))) {
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
    attempt->central->counts.appended += inserted;
    attempt->central->counts.conflicts += status == DUNLIN_OK && !attempt->done;
    return status != DUNLIN_OK ? status : ended;
}

/* ---- attempts */

static struct attempt start(struct part *first, bool is_first) {
    struct dunlin_central *central = first->central;
    const struct dln_log_append *append = first->append;
    struct attempt attempt = {.central = central, .first = first};
    for (struct part *part = first; part != NULL; part = next_part(part)) {
        dln_arena_clear(&part->central->attempt);
    }
    attempt.known_last = is_first && append->last != NULL && !first->waiter.waited;
    attempt.deadline_ms =
        (attempt.known_last ? append->last_read_ms
                            : central->ports.steady_ms(central->ports.steady_self)) +
        DLN_WRITER_MAX_AGE_MS;
    return attempt;
}

static dunlin_status append_parts(struct part *first, dunlin_error *err) {
    const struct dln_central_engine *engine = &first->central->engine;
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
        bool locked = i >= POLITE_ATTEMPTS;
        struct attempt attempt = start(first, i == 0);
        dunlin_status status = DUNLIN_OK;
        if (locked && (status = engine->begin(engine->self, err))) {
            return status;
        }
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

/* A failure of the whole is every part's. */
static void run(struct part *first) {
    dunlin_error error;
    dunlin_status status = append_parts(first, &error);
    for (struct part *part = first; status != DUNLIN_OK && part != NULL; part = next_part(part)) {
        part->status = status;
        part->error = error;
    }
}

dunlin_status dln_log_append(struct dunlin_central *central, const struct dln_log_append *append,
                             struct dln_log_outcome *out, dunlin_error *err) {
    struct part part = {
        .waiter = {.scope = append->scope, .weight = append->key_count, .joins = append->joins},
        .central = central,
        .append = append,
        .outcome = out};
    part.waiter.payload = &part;
    if (central->gate == NULL) {
        run(&part);
    } else if (dln_gate_enter(central->gate, &part.waiter)) {
        run(&part);
        dln_gate_leave(central->gate, &part.waiter);
    }
    if (part.status != DUNLIN_OK && err != NULL) {
        *err = part.error;
    }
    return part.status;
}
