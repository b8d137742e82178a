/* The full recompute of what derives, beside its upkeep in derive.c: the oracle of tests and of
 * `verify`, and the repair after damage. */
#include <assert.h>

#include "store/counts.h"
#include "store/derive.h"
#include "store/derive_parts.h"

static dunlin_status run(struct dln_store *store, enum dln_store_query query, int64_t *changed,
                         dunlin_error *err) {
    struct dln_statement statement = dln_use(store, query);
    dunlin_status status = dln_run(&statement, err);
    *changed += status == DUNLIN_OK ? dln_changed(store) : 0;
    return status;
}

static dunlin_status run_for_owner(struct dln_store *store, enum dln_store_query query,
                                   int64_t *changed, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, query);
    dln_bind_int(&statement, store->owner_name);
    dunlin_status status = dln_run(&statement, err);
    *changed += status == DUNLIN_OK ? dln_changed(store) : 0;
    return status;
}

static dunlin_status recompute_grants(struct dln_store *store, dunlin_error *err) {
    int64_t group = -1;
    for (;;) {
        int64_t next = 0;
        bool known, kept, granted;
        struct dln_statement statement = dln_use(store, DLN_STORE_RECOMPUTE_GROUPS);
        dln_bind_int(&statement, group);
        dunlin_status status = dln_get_int(&statement, &next, err);
        if (status != DUNLIN_OK || next == 0) {
            return status;
        }
        group = next;
        status = dln_group_grants(store, group, &known, &kept, &granted, err);
        if (status == DUNLIN_OK && kept != granted) {
            statement = dln_use(store, DLN_STORE_GROUP_GRANTED_SET);
            dln_bind_int(&statement, group);
            dln_bind_int(&statement, granted);
            status = dln_run(&statement, err);
        }
        if (status != DUNLIN_OK) {
            return status;
        }
    }
}

static dunlin_status recompute_graph(struct dln_store *store, int64_t *off, dunlin_error *err) {
    int64_t over = 0;
    dunlin_status status = recompute_grants(store, err);
    if (status == DUNLIN_OK) {
        status = run_for_owner(store, DLN_STORE_RECOMPUTE_ORIGINS_ADD, off, err);
    }
    if (status == DUNLIN_OK) {
        struct dln_statement statement = dln_use(store, DLN_STORE_RECOMPUTE_ORIGINS_OVER);
        dln_bind_int(&statement, store->owner_name);
        status = dln_get_int(&statement, &over, err);
    }
    assert(status != DUNLIN_OK || over >= 0);
    if (status == DUNLIN_OK && over > 0) {
        status = run_for_owner(store, DLN_STORE_RECOMPUTE_ORIGINS_REMOVE, off, err);
    }
    return status;
}

dunlin_status dln_derive_recompute(struct dln_store *store, dunlin_check *out, dunlin_error *err) {
    assert(store->in_transaction);
    out->subscriptions_off = 0;
    out->counts_off = 0;
    out->search_off = 0;
    dunlin_status status = dln_counts_flush(store, err);
    if (status == DUNLIN_OK) {
        status = recompute_graph(store, &out->subscriptions_off, err);
    }
    if (status == DUNLIN_OK) {
        status = run(store, DLN_STORE_RECOMPUTE_SUBSCRIPTIONS_COUNT, &out->counts_off, err);
    }
    if (status == DUNLIN_OK) {
        status = run(store, DLN_STORE_RECOMPUTE_LIST_COUNTS, &out->counts_off, err);
    }
    if (status == DUNLIN_OK) {
        status = run(store, DLN_STORE_RECOMPUTE_LIST_COUNTS_OVER, &out->counts_off, err);
    }
    if (status == DUNLIN_OK && store->search) {
        status = dln_search_recompute(store, &out->search_off, err);
    }
    return status;
}
