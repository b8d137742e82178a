/* The handle that an app holds. */
#ifndef DLN_CLIENT_HANDLE_H
#define DLN_CLIENT_HANDLE_H

#include <stdbool.h>

#include <dunlin/store.h>

#include "store/store.h"

struct dunlin_store {
    struct dln_store *store;
    bool began; /* the app called dunlin_begin(); its transaction is open */

    /* What one sync leaves to the next, and to dunlin_sync_wait(). */
    int failures;               /* of syncs, in a row */
    bool synced;                /* there was one, whatever became of it */
    struct dln_changes at_sync; /* what it may have seen of the file */
    int64_t asked_ms;           /* when it ended; or when news was last reported. Monotonic */
};

/* MISUSE where the handle is NULL. */
DUNLIN_MUST_USE dunlin_status dln_handle_check(const dunlin_store *store, dunlin_error *err);
/* The same, and MISUSE inside the app's transaction: for what cannot be done in one. */
DUNLIN_MUST_USE dunlin_status dln_handle_check_idle(const dunlin_store *store, dunlin_error *err);

#endif
