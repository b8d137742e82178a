/* What the rules of sync/apply.c and sync/refusal.c share. */
#ifndef DLN_SYNC_SETTLE_H
#define DLN_SYNC_SETTLE_H

#include "sync/apply.h"

/* The row as the store has it now. */
DUNLIN_MUST_USE dunlin_status dln_row_now(struct dln_apply *apply, const struct dln_key *key,
                                          struct dln_row *out, dunlin_error *err);
/* Those of `fields` that are pending and were not edited again since they were sent. */
uint32_t dln_still_as_sent(const struct dln_row *row, const struct dln_row *sent, uint32_t fields);
/* Those fields wait no longer. */
void dln_settle(struct dln_row *row, uint32_t fields);
/* A dead letter of what the person edited among `fields`; what is only offered makes none. */
DUNLIN_MUST_USE dunlin_status dln_row_reject(struct dln_apply *apply, const struct dln_row *row,
                                             uint32_t fields, dunlin_status code,
                                             struct dln_text reason, dunlin_error *err);

#endif
