/* Inside store/: counts that are kept: of each list's present items, and of the subscriptions.
 *
 * They stand at the end of `outbox`, see the schema. Within a transaction they are added up in
 * memory and written once, by the commit, or before somebody reads them. */
#ifndef DLN_STORE_COUNTS_H
#define DLN_STORE_COUNTS_H

#include "store/internal.h"

enum { DLN_COUNT_SUBSCRIPTIONS = 0 }; /* else a list's number, which is never 0 */

DUNLIN_MUST_USE dunlin_status dln_count_add(struct dln_store *store, int64_t what, int64_t more,
                                            dunlin_error *err);
/* Writes what was added up; to be called before counts are read. */
DUNLIN_MUST_USE dunlin_status dln_counts_flush(struct dln_store *store, dunlin_error *err);

#endif
