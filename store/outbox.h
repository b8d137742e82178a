/* Inside store/: the outbox in both directions. */
#ifndef DLN_STORE_OUTBOX_H
#define DLN_STORE_OUTBOX_H

#include "store/row.h"

/* dln_outbox_next(), or the same backwards from place, without unknown collections. */
DUNLIN_MUST_USE dunlin_status dln_outbox_read(struct dln_store *store, struct dln_arena *arena,
                                              struct dln_outbox_place *place, bool backwards,
                                              size_t limit, struct dln_row **out, size_t *count,
                                              dunlin_error *err);
/* Puts place, whose stage is right, behind that key. */
DUNLIN_MUST_USE dunlin_status dln_outbox_remember(struct dln_store *store, struct dln_arena *arena,
                                                  struct dln_outbox_place *place,
                                                  const struct dln_key *last, dunlin_error *err);
/* The stage of a row's key, and the collection of a stage; NULL where there is none that is known.
 */
int dln_outbox_stage(const struct dln_store *store, const struct dln_key *key);
const struct dln_collection *dln_outbox_collection(int stage);
/* The last stage of known collections. */
int dln_outbox_last_stage(void);

#endif
