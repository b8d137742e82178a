/* Inside store/: where lists end, cached: appending an item asks that each time. Only used inside a
 * transaction, dropped with the other caches. */
#ifndef DLN_STORE_ENDS_H
#define DLN_STORE_ENDS_H

#include "store/internal.h"

/* A live list's greatest rank (not NULL, maybe empty); NULL where it is not cached. */
const struct dln_end *dln_end_find(const struct dln_store *store, int64_t list);
void dln_end_learn(struct dln_store *store, int64_t list, struct dln_text rank);
/* A list's record has changed. */
void dln_end_forget(struct dln_store *store, int64_t list);
/* An item of the list has changed. */
void dln_end_item(struct dln_store *store, int64_t list, const struct dln_row *before,
                  const struct dln_row *after);

#endif
