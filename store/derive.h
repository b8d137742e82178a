/* What derives from records and is kept beside them: origins, counts, whether a group counts, and
 * the search index. */
#ifndef DLN_STORE_DERIVE_H
#define DLN_STORE_DERIVE_H

#include "store/store.h"

/* A base row was written or removed: brings what derives from it up to date, in the same
 * transaction. Called after the fact, whoever changed the record.
 *   before, after  the row as it was and as it is, both with the key; `stored` of each tells
 * whether there was and is one. Only valid for the call */
DUNLIN_MUST_USE dunlin_status dln_derive(struct dln_store *store, const struct dln_row *before,
                                         const struct dln_row *after, dunlin_error *err);

/* Makes the search index's tables, in the transaction that makes the file; called only for a file
 * with search. store->search tells the same later. */
DUNLIN_MUST_USE dunlin_status dln_derive_make_search(struct dln_store *store, dunlin_error *err);

/* Empties everything that derives; in a transaction. */
DUNLIN_MUST_USE dunlin_status dln_derive_clear(struct dln_store *store, dunlin_error *err);

/* Recomputes everything that derives, puts right what differs, and counts it in subscriptions_off,
 * counts_off and search_off. In a transaction. */
DUNLIN_MUST_USE dunlin_status dln_derive_recompute(struct dln_store *store, dunlin_check *out,
                                                   dunlin_error *err);

#endif
