/* The handle that an app holds. */
#ifndef DLN_CLIENT_HANDLE_H
#define DLN_CLIENT_HANDLE_H

#include <stdbool.h>

#include <dunlin/store.h>

#include "store/store.h"

struct dunlin_store {
    struct dln_store *store;
    bool began; /* the app called dunlin_begin(); its transaction is open */
};

/* MISUSE where the handle is NULL. */
DUNLIN_MUST_USE dunlin_status dln_handle_check(const dunlin_store *store, dunlin_error *err);
/* The same, and MISUSE inside the app's transaction: for what cannot be done in one. */
DUNLIN_MUST_USE dunlin_status dln_handle_check_idle(const dunlin_store *store, dunlin_error *err);

#endif
