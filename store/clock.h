/* Inside store/: the clock as kept in the file. */
#ifndef DLN_STORE_CLOCK_H
#define DLN_STORE_CLOCK_H

#include "store/internal.h"

/* Reads bound and offset from the file; `first` when the store is opened: then stamps start above
 * the bound, else above what another connection has given out for certain. */
DUNLIN_MUST_USE dunlin_status dln_clock_load(struct dln_store *store, bool first,
                                             dunlin_error *err);
/* Saves a higher bound where the last stamp is above the saved one; in a transaction. */
DUNLIN_MUST_USE dunlin_status dln_clock_save(struct dln_store *store, dunlin_error *err);
/* At close: the bound comes down to the last stamp, so that a program that runs often does not
 * drive its clock ahead a second each time. Best effort. */
void dln_clock_settle(struct dln_store *store);

#endif
