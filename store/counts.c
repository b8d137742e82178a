#include "store/counts.h"

#include <assert.h>

#include "store/outbox.h"

static dunlin_status write_count(struct dln_store *store, const struct dln_count *count,
                                 dunlin_error *err) {
    static const enum dln_store_query ways[] = {DLN_STORE_COUNT_ADD, DLN_STORE_COUNT_START};
    dunlin_status status = DUNLIN_OK;
    bool done = count->more == 0;
    for (int i = 0; i < 2 && !done && status == DUNLIN_OK; i++) {
        struct dln_statement statement = dln_use(store, ways[i]);
        dln_bind_int(&statement, DLN_COUNTS_FROM + count->what);
        dln_bind_int(&statement, count->more);
        status = dln_run(&statement, err);
        done = dln_changed(store) == 1;
    }
    return status;
}

dunlin_status dln_counts_flush(struct dln_store *store, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    for (int i = 0; i < store->count_count && status == DUNLIN_OK; i++) {
        status = write_count(store, &store->counts[i], err);
    }
    store->count_count = 0;
    return status;
}

dunlin_status dln_count_add(struct dln_store *store, int64_t what, int64_t more,
                            dunlin_error *err) {
    assert(store->in_transaction);
    for (int i = 0; i < store->count_count; i++) {
        if (store->counts[i].what == what) {
            store->counts[i].more += more;
            return DUNLIN_OK;
        }
    }
    if (store->count_count == DLN_COUNTS_MAX) {
        dunlin_status status = dln_counts_flush(store, err);
        if (status != DUNLIN_OK) {
            return status;
        }
    }
    store->counts[store->count_count++] = (struct dln_count){what, more};
    return DUNLIN_OK;
}
