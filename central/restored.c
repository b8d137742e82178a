/* A new epoch, after central was restored from a backup. Devices then start over, and offer again
 * what the backup may lack.
 *
 * A backup that was not of one moment may hold a scope's newer entries and lack older ones: there
 * no cursor and no base can be trusted, so the floors rise first. Were the epoch first, a device
 * could offer in between what it must not. */
#include "central/walk.h"

static dunlin_status raise_floors(dunlin_central *central, dunlin_error *err) {
    const struct dln_central_engine *engine = &central->engine;
    struct dln_scope_walk walk = {.central = central};
    struct dln_text scope;
    struct dln_cursor last;
    dunlin_status status;
    while ((status = dln_scope_walk_next(&walk, &scope, err)) == DUNLIN_OK && scope.data != NULL) {
        if ((status = engine->last(engine->self, scope, &last, err)) ||
            (status = engine->raise_floor(engine->self, scope, last.seq, err))) {
            break;
        }
    }
    dln_scope_walk_free(&walk);
    return status;
}

dunlin_status dunlin_central_restored(dunlin_central *central, int fuzzy, dunlin_error *err) {
    struct dln_epoch epoch;
    dunlin_status status;
    char id[33];
    bool inserted;
    if (central == NULL) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "central must be given");
    }
    const struct dln_central_engine *engine = &central->engine;
    dln_arena_clear(&central->arena);
    if ((fuzzy && (status = raise_floors(central, err))) ||
        (status = dln_central_epoch(central, &central->arena, &epoch, err))) {
        return status;
    }
    dln_central_random_id(&central->ports, id);
    struct dln_epoch next = {epoch.number + 1, dln_text_of(id)};
    /* Where it is there already, somebody else has just done the same. */
    status = engine->insert_epoch(engine->self, &next, &inserted, err);
    dln_arena_clear(&central->arena);
    return status;
}
