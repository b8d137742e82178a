/* What the engine needs from its surroundings: ports, structs of function pointers given at its
 * creation. The device's store fills dln_sync_store (client/sync_port.c); tests may fill it
 * themselves.
 *
 * All texts and records that a port function gives out live in the arena that it was given. */
#ifndef DLN_SYNC_PORTS_H
#define DLN_SYNC_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/row.h"

struct dln_sync_store {
    void *self;

    /* One transaction that takes the write lock at its start. Rollback never fails. */
    dunlin_status (*begin)(void *self, dunlin_error *err);
    dunlin_status (*commit)(void *self, dunlin_error *err);
    void (*rollback)(void *self);

    /* The clock, as kept in the store. `saw` and `lower` are saved where need be. */
    dunlin_status (*clock_saw)(void *self, dln_stamp stamp, dunlin_error *err);
    dunlin_status (*clock_lower)(void *self, dln_stamp stamp, dunlin_error *err);
    dunlin_status (*clock_offset)(void *self, int64_t offset_ms, dunlin_error *err);

    /* All scopes that are wanted, and those that the outbox has rows of: up to `limit` of them
     * behind `after`, by name. */
    dunlin_status (*scopes)(void *self, struct dln_arena *arena, struct dln_text after,
                            size_t limit, struct dln_scope_row **out, size_t *count,
                            dunlin_error *err);
    dunlin_status (*scope_get)(void *self, struct dln_arena *arena, struct dln_text scope,
                               struct dln_scope_row *out, dunlin_error *err);
    dunlin_status (*scope_put)(void *self, const struct dln_scope_row *row, dunlin_error *err);
    /* Forgets cursor and epoch; the rows must be gone by then. */
    dunlin_status (*scope_drop)(void *self, struct dln_text scope, dunlin_error *err);
    /* Every row of the scope gets seq DLN_SEQ_FORGOTTEN where it was > 0. */
    dunlin_status (*forget_seqs)(void *self, struct dln_text scope, dunlin_error *err);

    dunlin_status (*row_get)(void *self, struct dln_arena *arena, const struct dln_key *key,
                             struct dln_row *out, dunlin_error *err);
    /* Writes record, seq and outbox state as they stand in `row`, with everything that derives from
     * them, replacing what was held; takes the row out of the outbox when pending is 0. */
    dunlin_status (*row_put)(void *self, const struct dln_row *row, dunlin_error *err);
    /* Only the outbox state and seq. */
    dunlin_status (*row_mark)(void *self, const struct dln_row *row, dunlin_error *err);
    /* Removes the row, its outbox entry, and what derives from it. */
    dunlin_status (*row_remove)(void *self, const struct dln_key *key, dunlin_error *err);

    /* Rows of the outbox behind `place`, in sending order, up to `limit`; moves place. In a given
     * order: by collection; within a group the user's own member record last. */
    dunlin_status (*outbox_next)(void *self, struct dln_arena *arena,
                                 struct dln_outbox_place *place, size_t limit, struct dln_row **out,
                                 size_t *count, dunlin_error *err);
    /* Rows of a scope, tombstones included, by key, behind `after` (a key text). `unseen` gives
     * only those that were not marked seen. */
    dunlin_status (*scope_rows)(void *self, struct dln_arena *arena, struct dln_text scope,
                                struct dln_text after, bool unseen, size_t limit,
                                struct dln_row **out, size_t *count, dunlin_error *err);
    /* The marks of a rebuild: keys that central sent in it. */
    dunlin_status (*seen_add)(void *self, const struct dln_key *key, dunlin_error *err);
    dunlin_status (*seen_clear)(void *self, struct dln_text scope, dunlin_error *err);

    dunlin_status (*reject)(void *self, const struct dln_reject *reject, dunlin_error *err);
};

#endif
