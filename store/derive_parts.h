/* Inside store/: the parts of derive.c that recompute.c needs too, and the search index' own. */
#ifndef DLN_STORE_DERIVE_PARTS_H
#define DLN_STORE_DERIVE_PARTS_H

#include "store/internal.h"

/* Whether a group counts, as kept and as its rows say. *known is false where the group is not here.
 */
DUNLIN_MUST_USE dunlin_status dln_group_grants(struct dln_store *store, int64_t group, bool *known,
                                               bool *kept, bool *granted, dunlin_error *err);

/* ---- search_index.c */

DUNLIN_MUST_USE dunlin_status dln_search_derive(struct dln_store *store,
                                                const struct dln_row *before,
                                                const struct dln_row *after, dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_search_make(struct dln_store *store, dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_search_clear(struct dln_store *store, dunlin_error *err);
/* Puts right what differs; *off receives how many rows that were. */
DUNLIN_MUST_USE dunlin_status dln_search_recompute(struct dln_store *store, int64_t *off,
                                                   dunlin_error *err);

#endif
