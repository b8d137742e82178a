/* One round of upkeep over all scopes, under a lease: compaction, expiry of tombstones, purge of
 * deleted lists.
 *
 * A slot is not freed early. A superseded version goes no sooner than the grace after a later
 * version of its key was inserted, and a scope's newest entry never: so whoever still means to
 * write behind an older last seq is long out of time.
 *
 * A tombstone goes in this order: older versions that are left of its key; then `floor` rises over
 * it; then the tombstone. Without the first an older version would come back to life, without the
 * second a reader that missed the tombstone would keep what was deleted. A round may be cut off at
 * any point; the next one finishes.
 *
 * Lists are the exception: an item of a deleted list may say that it is present, and is only dead
 * because its list is. So a list's tombstone goes with all its items, once the newest version of
 * each is past the horizon. A group's tombstone never goes: nobody may make the group again. */
#include <string.h>

#include "central/lease.h"
#include "central/walk.h"

enum { BATCH = 500, LEASE_TERM_MS = 60 * 1000 };

struct round {
    struct dunlin_central *central;
    struct dln_lease_hold lease;
    struct dln_text scope;
    int64_t last_seq;
    int64_t grace_cut_ms; /* inserted at or before it: older versions may go */
    int64_t horizon_cut_ms;
    dunlin_maintenance *out;

    int64_t drops[BATCH]; /* superseded versions */
    size_t drop_count;
    int64_t stones[BATCH]; /* tombstones, whose older versions are all dropped or among `drops` */
    size_t stone_count;
    int64_t floor; /* over the stones */
    /* Versions of the key at hand that no later one has superseded for long enough yet. */
    int64_t recent[BATCH];
    size_t recent_count;
    bool overflowed; /* there were more: the key is left for a later round */
};

static bool holds_lease(const struct round *round) {
    return round->lease.number != 0;
}

static dunlin_status flush_drops(struct round *round, dunlin_error *err) {
    const struct dln_central_engine *engine = &round->central->engine;
    dunlin_status status = DUNLIN_OK;
    if (round->drop_count > 0) {
        status = engine->drop(engine->self, round->scope, round->drops, round->drop_count, err);
    }
    if (status == DUNLIN_OK) {
        round->out->superseded += round->drop_count;
        round->drop_count = 0;
    }
    return status;
}

/* Everything that is due, in its order. Where the lease was lost, somebody else does the rest. */
static dunlin_status flush(struct round *round, dunlin_error *err) {
    const struct dln_central_engine *engine = &round->central->engine;
    dunlin_status status;
    if ((status = flush_drops(round, err)) || round->stone_count == 0 ||
        (status = dln_lease_renew(round->central, &round->lease, err)) || !holds_lease(round)) {
        return status;
    }
    if ((status = engine->raise_floor(engine->self, round->scope, round->floor, err)) ||
        (status =
             engine->drop(engine->self, round->scope, round->stones, round->stone_count, err))) {
        return status;
    }
    round->out->expired += round->stone_count;
    round->stone_count = 0;
    return DUNLIN_OK;
}

static dunlin_status add_drop(struct round *round, int64_t seq, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    if (round->drop_count == BATCH) {
        status = flush_drops(round, err);
    }
    if (status == DUNLIN_OK) {
        round->drops[round->drop_count++] = seq;
    }
    return status;
}

static dunlin_status add_stone(struct round *round, int64_t seq, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    if (round->stone_count == BATCH) {
        status = flush(round, err);
    }
    if (status == DUNLIN_OK && holds_lease(round)) {
        round->stones[round->stone_count++] = seq;
        round->floor = seq > round->floor ? seq : round->floor;
    }
    return status;
}

static bool is_past(const struct round *round, const struct dln_trace *newest) {
    return newest->at_ms <= round->horizon_cut_ms && newest->seq != round->last_seq;
}

static bool starts_with(struct dln_text text, struct dln_text prefix) {
    return text.len >= prefix.len && memcmp(text.data, prefix.data, prefix.len) == 0;
}

/* What a purge does with one version of an item of the list. */
enum purge_pass { PURGE_LOOK, PURGE_LEFTOVERS, PURGE_ITEMS };

struct purge {
    struct round *round;
    struct dln_text prefix; /* of the items' keys */
    int64_t highest;        /* newest version of the list or an item */
    bool due;
};

static dunlin_status purge_pass(struct purge *purge, enum purge_pass pass, dunlin_error *err) {
    struct round *round = purge->round;
    struct dln_walk walk = {
        .central = round->central, .scope = round->scope, .prefix = purge->prefix};
    struct dln_trace trace;
    dunlin_status status;
    bool newest;
    bool found;
    walk.end_seq = pass == PURGE_LOOK ? 0 : purge->highest;
    while ((status = dln_walk_next(&walk, &trace, &newest, &found, err)) == DUNLIN_OK && found) {
        if (pass == PURGE_LOOK && newest) {
            purge->highest = trace.seq > purge->highest ? trace.seq : purge->highest;
            purge->due = purge->due && is_past(round, &trace);
        }
        if ((pass == PURGE_LEFTOVERS && !newest) || (pass == PURGE_ITEMS && newest)) {
            status = add_drop(round, trace.seq, err);
            round->out->purged += pass == PURGE_ITEMS;
        }
        if (status != DUNLIN_OK || !purge->due) {
            break;
        }
    }
    dln_walk_free(&walk);
    return status != DUNLIN_OK ? status : flush_drops(round, err);
}

/* The items of a list that was deleted long ago, and then the list. */
static dunlin_status purge_list(struct round *round, const struct dln_trace *list,
                                dunlin_error *err) {
    const struct dln_central_engine *engine = &round->central->engine;
    static const struct dln_text list_prefix = {"list/", 5};
    struct purge purge = {.round = round, .highest = list->seq, .due = true};
    struct dln_buf prefix = DLN_BUF_INIT(DLN_SCOPE_MAX);
    uint64_t superseded;
    dunlin_status status;
    dln_buf_append_text(&prefix, "item/");
    dln_buf_append(&prefix, list->key.data + list_prefix.len, list->key.len - list_prefix.len);
    dln_buf_append_byte(&prefix, '/');
    purge.prefix = (struct dln_text){prefix.data, prefix.len};
    if ((status = dln_buf_status(&prefix, err)) || (status = flush_drops(round, err)) ||
        (status = purge_pass(&purge, PURGE_LOOK, err)) || !purge.due ||
        (status = purge_pass(&purge, PURGE_LEFTOVERS, err)) ||
        (status = dln_lease_renew(round->central, &round->lease, err)) || !holds_lease(round) ||
        (status = engine->raise_floor(engine->self, round->scope, purge.highest, err))) {
        goto done;
    }
    superseded = round->out->superseded;
    if ((status = purge_pass(&purge, PURGE_ITEMS, err)) ||
        (status = engine->drop(engine->self, round->scope, &list->seq, 1, err))) {
        goto done;
    }
    round->out->superseded = superseded; /* those were counted as purged */
    round->out->purged++;
done:
    dln_buf_free(&prefix);
    return status;
}

static dunlin_status finish_key(struct round *round, const struct dln_trace *newest,
                                dunlin_error *err) {
    static const struct dln_text list_prefix = {"list/", 5};
    if (!newest->gone || round->overflowed || !is_past(round, newest) ||
        dln_text_equal(newest->key, DLN_TEXT("group"))) {
        return DUNLIN_OK;
    }
    if (starts_with(newest->key, list_prefix)) {
        return purge_list(round, newest, err);
    }
    return add_stone(round, newest->seq, err);
}

static dunlin_status look_at(struct round *round, const struct dln_trace *trace, bool newest,
                             dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    if (trace->at_ms <= round->grace_cut_ms) { /* what is older has been superseded long enough */
        for (size_t i = 0; i < round->recent_count && status == DUNLIN_OK; i++) {
            status = add_drop(round, round->recent[i], err);
        }
        round->recent_count = 0;
    }
    if (status == DUNLIN_OK && newest) {
        status = finish_key(round, trace, err);
        round->recent_count = 0;
        round->overflowed = false;
        return status;
    }
    if (round->recent_count == BATCH) {
        round->overflowed = true;
    } else {
        round->recent[round->recent_count++] = trace->seq;
    }
    return status;
}

static dunlin_status maintain_scope(struct round *round, struct dln_text scope, dunlin_error *err) {
    const struct dln_central_engine *engine = &round->central->engine;
    const struct dln_central_limits *limits = &round->central->limits;
    struct dln_walk walk = {.central = round->central, .scope = scope};
    struct dln_cursor last;
    struct dln_trace trace;
    dunlin_status status;
    int64_t now_ms;
    bool newest;
    bool found;
    if ((status = engine->now(engine->self, &now_ms, err)) ||
        (status = engine->last(engine->self, scope, &last, err))) {
        return status;
    }
    round->scope = scope;
    round->last_seq = last.seq;
    round->grace_cut_ms = now_ms - limits->grace_ms;
    round->horizon_cut_ms = now_ms - limits->horizon_ms;
    round->drop_count = round->stone_count = round->recent_count = 0;
    round->overflowed = false;
    round->floor = 0;
    while ((status = dln_walk_next(&walk, &trace, &newest, &found, err)) == DUNLIN_OK && found &&
           holds_lease(round)) {
        if ((status = look_at(round, &trace, newest, err))) {
            break;
        }
    }
    dln_walk_free(&walk);
    return status == DUNLIN_OK && holds_lease(round) ? flush(round, err) : status;
}

static dunlin_status maintain_all(struct round *round, dunlin_error *err) {
    struct dln_scope_walk walk = {.central = round->central};
    struct dln_text scope;
    dunlin_status status;
    while ((status = dln_scope_walk_next(&walk, &scope, err)) == DUNLIN_OK && scope.data != NULL &&
           (status = dln_lease_renew(round->central, &round->lease, err)) == DUNLIN_OK &&
           holds_lease(round)) {
        if ((status = maintain_scope(round, scope, err))) {
            break;
        }
    }
    dln_scope_walk_free(&walk);
    return status;
}

dunlin_status dunlin_central_maintain(dunlin_central *central, dunlin_maintenance *out,
                                      dunlin_error *err) {
    dunlin_maintenance ignored = {0};
    dunlin_status status;
    if (central == NULL) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "central must be given");
    }
    struct round round = {.central = central, .out = out != NULL ? out : &ignored};
    memset(round.out, 0, sizeof(*round.out));
    if ((status =
             dln_lease_take(central, &round.lease, DLN_TEXT("maintain"), LEASE_TERM_MS, err)) ||
        !holds_lease(&round)) {
        return status; /* somebody else is at it */
    }
    status = maintain_all(&round, err);
    dunlin_status released = dln_lease_release(central, &round.lease, status ? NULL : err);
    return status != DUNLIN_OK ? status : released;
}
