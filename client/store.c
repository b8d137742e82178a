/* Opening and closing, transactions of the app, and what concerns the file as a whole. Argument
 * checks stand here; the rest is store/'s. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "client/handle.h"

static dunlin_status misuse(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "%s", what);
}

dunlin_status dln_handle_check(const dunlin_store *store, dunlin_error *err) {
    return store ? DUNLIN_OK : misuse(err, "there is no store");
}

dunlin_status dln_handle_check_idle(const dunlin_store *store, dunlin_error *err) {
    if (!store) {
        return misuse(err, "there is no store");
    }
    return store->began ? misuse(err, "this cannot be done inside a transaction") : DUNLIN_OK;
}

static dunlin_status check_options(const dunlin_open_options *options, dunlin_error *err) {
    if (!options) {
        return DUNLIN_OK;
    }
    if (options->version != DUNLIN_OPEN_OPTIONS_VERSION) {
        return misuse(err, "the options are of an unknown version");
    }
    if (options->durability != DUNLIN_DURABILITY_FULL &&
        options->durability != DUNLIN_DURABILITY_NORMAL) {
        return misuse(err, "there is no such durability");
    }
    if (options->busy_timeout_ms < 0) {
        return misuse(err, "busy_timeout_ms is negative");
    }
    if (options->ports && (!options->ports->now_ms || !options->ports->random)) {
        return misuse(err, "a port lacks a function");
    }
    return DUNLIN_OK;
}

dunlin_status dunlin_store_open(dunlin_store **out, const char *path, const char *owner,
                                const dunlin_open_options *options, dunlin_error *err) {
    if (!out) {
        return misuse(err, "there is no place for the store");
    }
    *out = NULL;
    if (!path || !*path) {
        return misuse(err, "there is no path");
    }
    dunlin_status status = check_options(options, err);
    if (status == DUNLIN_OK && owner) {
        status = dln_check_id(dln_text_of(owner), "owner", err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    dunlin_store *store = calloc(1, sizeof(*store));
    if (!store) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_STORE, "out of memory");
    }
    status = dln_store_open(&store->store, path, owner, options, err);
    if (status != DUNLIN_OK) {
        free(store);
        return status;
    }
    *out = store;
    return DUNLIN_OK;
}

void dunlin_store_close(dunlin_store *store) {
    if (store) {
        dln_store_close(store->store);
        free(store);
    }
}

const char *dunlin_store_owner(const dunlin_store *store) {
    return store ? dln_store_owner(store->store) : NULL;
}

const char *dunlin_store_device(const dunlin_store *store) {
    return store ? dln_store_device(store->store) : NULL;
}

/* ---- transactions */

dunlin_status dunlin_begin(dunlin_store *store, dunlin_error *err) {
    dunlin_status status = dln_handle_check_idle(store, err);
    if (status == DUNLIN_OK) {
        status = dln_store_begin(store->store, err);
    }
    if (status == DUNLIN_OK) {
        store->began = true;
    }
    return status;
}

dunlin_status dunlin_commit(dunlin_store *store, dunlin_error *err) {
    dunlin_status status = dln_handle_check(store, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (!store->began) {
        return misuse(err, "no transaction is open");
    }
    store->began = false;
    return dln_store_commit(store->store, err);
}

void dunlin_rollback(dunlin_store *store) {
    if (store && store->began) {
        store->began = false;
        dln_store_rollback(store->store);
    }
}

/* ---- the whole file */

dunlin_status dunlin_store_get_status(dunlin_store *store, dunlin_store_status *out,
                                      dunlin_error *err) {
    dunlin_status status = dln_handle_check(store, err);
    if (status == DUNLIN_OK && !out) {
        status = misuse(err, "there is no place for the status");
    }
    return status == DUNLIN_OK ? dln_store_status(store->store, out, err) : status;
}

dunlin_status dunlin_store_backup(dunlin_store *store, const char *path, dunlin_error *err) {
    dunlin_status status = dln_handle_check_idle(store, err);
    if (status == DUNLIN_OK && (!path || !*path)) {
        status = misuse(err, "there is no path");
    }
    return status == DUNLIN_OK ? dln_store_backup(store->store, path, err) : status;
}

dunlin_status dunlin_store_wipe(dunlin_store *store, dunlin_wipe_mode mode, dunlin_error *err) {
    dunlin_status status = dln_handle_check_idle(store, err);
    if (status == DUNLIN_OK && mode != DUNLIN_WIPE_IF_SENT && mode != DUNLIN_WIPE_FORCE) {
        status = misuse(err, "there is no such mode");
    }
    return status == DUNLIN_OK ? dln_store_wipe(store->store, mode == DUNLIN_WIPE_FORCE, err)
                               : status;
}

dunlin_status dunlin_store_verify(dunlin_store *store, int repair, dunlin_check *out,
                                  dunlin_error *err) {
    dunlin_status status = dln_handle_check_idle(store, err);
    if (status == DUNLIN_OK && !out) {
        status = misuse(err, "there is no place for the result");
    }
    return status == DUNLIN_OK ? dln_store_verify(store->store, repair != 0, out, err) : status;
}

dunlin_status dunlin_new_id(dunlin_store *store, char out[DUNLIN_NEW_ID_SIZE], dunlin_error *err) {
    const uint64_t low_48_bits = UINT64_C(0xffffffffffff);
    dunlin_status status = dln_handle_check(store, err);
    if (status == DUNLIN_OK && !out) {
        status = misuse(err, "there is no place for the id");
    }
    if (status == DUNLIN_OK) {
        int64_t now_ms = dln_store_now_ms(store->store);
        (void)snprintf(out, DUNLIN_NEW_ID_SIZE, "%012llx%012llx",
                       (unsigned long long)((now_ms < 0 ? 0 : (uint64_t)now_ms) & low_48_bits),
                       (unsigned long long)(dln_store_random(store->store) & low_48_bits));
    }
    return status;
}
