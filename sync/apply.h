/* What an answer does to the device's rows: the rules of settling, refusing, replacing, starting
 * over and losing access, one function a rule, over the store port. Each runs inside the one
 * transaction in which the whole answer is applied. */
#ifndef DLN_SYNC_APPLY_H
#define DLN_SYNC_APPLY_H

#include "sync/engine.h"
#include "sync/message.h"
#include "sync/ports.h"

struct dln_apply {
    const struct dln_sync_store *store;
    struct dln_arena *arena;   /* for rows read on the way; cleared by whoever owns it */
    struct dln_arena *scratch; /* cleared between pages of rows */
    struct dln_sync_counts *counts;
    int64_t now_ms; /* corrected by what central's clock showed */
    bool again;     /* something still waits that another pass over the outbox can send now */
};

/* A row as it was sent: record holds only the fields that were sent and pending says which; tried
 * is what it was before this request. */

/* Central has those fields (a subset of sent->pending) as they were sent, or newer ones. */
DUNLIN_MUST_USE dunlin_status dln_apply_ack(struct dln_apply *apply, const struct dln_row *sent,
                                            uint32_t fields, int64_t seq, dunlin_error *err);
/* Central refused the record or some of its fields: a dead letter, or a wait for another record, or
 * a smaller stamp. */
DUNLIN_MUST_USE dunlin_status dln_apply_refusal(struct dln_apply *apply, const struct dln_row *sent,
                                                const struct dln_refusal *refusal,
                                                dunlin_error *err);
/* The request cannot have reached central's records: tried goes back to what it was. */
DUNLIN_MUST_USE dunlin_status dln_apply_unsent(struct dln_apply *apply, const struct dln_row *sent,
                                               dunlin_error *err);
/* The row cannot be sent at all, since it alone is too large: a dead letter. */
DUNLIN_MUST_USE dunlin_status dln_apply_too_large(struct dln_apply *apply,
                                                  const struct dln_row *sent, dunlin_error *err);
/* A version from central replaces what is held; only pending fields lie on top. */
DUNLIN_MUST_USE dunlin_status dln_apply_version(struct dln_apply *apply,
                                                const struct dln_scope_row *scope,
                                                const struct dln_version *version,
                                                dunlin_error *err);
/* Central says that the cursor is no good: start over. Changes and saves *scope. */
DUNLIN_MUST_USE dunlin_status dln_apply_reset(struct dln_apply *apply, struct dln_scope_row *scope,
                                              const struct dln_scope_answer *answer,
                                              struct dln_text epoch, dunlin_error *err);
/* Reads the scope anew from its beginning, without a word from central. Changes and saves *scope.
 */
DUNLIN_MUST_USE dunlin_status dln_apply_restart(struct dln_apply *apply,
                                                struct dln_scope_row *scope, dunlin_error *err);
/* The last page of a rebuild is in: what central does not have goes, or is offered. Changes *scope,
 * which the caller saves. */
DUNLIN_MUST_USE dunlin_status dln_apply_rebuild_end(struct dln_apply *apply,
                                                    struct dln_scope_row *scope, dunlin_error *err);
/* The user may not read the scope: its rows go, pending edits become dead letters first. */
DUNLIN_MUST_USE dunlin_status dln_apply_denied(struct dln_apply *apply, struct dln_text scope,
                                               dunlin_error *err);

/* The fields of a record as a bit set. */
uint32_t dln_record_fields(const struct dln_record *record);

#endif
