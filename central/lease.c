/* A lease is taken by inserting the next number under its name, if absent. Whoever is slow between
 * reading the last number and inserting his may insert one that was removed long ago: so the
 * highest number is read again afterwards, and only its holder holds. */
#include "central/lease.h"

dunlin_status dln_lease_take(struct dunlin_central *central, struct dln_lease_hold *hold,
                             struct dln_text name, int64_t term_ms, dunlin_error *err) {
    const struct dln_central_engine *engine = &central->engine;
    struct dln_arena *arena = &central->attempt;
    struct dln_lease lease;
    dunlin_status status;
    int64_t now_ms;
    bool inserted;
    char holder[33];
    *hold = (struct dln_lease_hold){.name = name, .term_ms = term_ms};
    dln_arena_clear(arena);
    if ((status = engine->now(engine->self, &now_ms, err)) ||
        (status = engine->lease(engine->self, arena, name, &lease, err)) ||
        lease.until_ms > now_ms) {
        return status;
    }
    dln_central_random_id(&central->ports, holder);
    struct dln_lease mine = {lease.number + 1, now_ms + term_ms, dln_text_of(holder)};
    if ((status = engine->insert_lease(engine->self, name, &mine, &inserted, err)) || !inserted ||
        (status = engine->lease(engine->self, arena, name, &lease, err)) ||
        lease.number != mine.number || !dln_text_equal(lease.holder, mine.holder)) {
        return status;
    }
    hold->number = mine.number;
    return engine->drop_leases(engine->self, name, mine.number, err);
}

dunlin_status dln_lease_renew(struct dunlin_central *central, struct dln_lease_hold *hold,
                              dunlin_error *err) {
    const struct dln_central_engine *engine = &central->engine;
    struct dln_lease lease;
    dunlin_status status;
    int64_t now_ms;
    dln_arena_clear(&central->attempt);
    if ((status = engine->now(engine->self, &now_ms, err)) ||
        (status = engine->lease(engine->self, &central->attempt, hold->name, &lease, err))) {
        return status;
    }
    if (lease.number != hold->number || lease.until_ms <= now_ms) {
        hold->number = 0;
        return DUNLIN_OK;
    }
    if (lease.until_ms - now_ms > hold->term_ms / 2) {
        return DUNLIN_OK;
    }
    return engine->set_lease_end(engine->self, hold->name, hold->number, now_ms + hold->term_ms,
                                 err);
}

dunlin_status dln_lease_release(struct dunlin_central *central, struct dln_lease_hold *hold,
                                dunlin_error *err) {
    const struct dln_central_engine *engine = &central->engine;
    if (hold->number == 0) {
        return DUNLIN_OK;
    }
    return engine->set_lease_end(engine->self, hold->name, hold->number, 0, err);
}
