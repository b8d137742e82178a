/* The open file: transactions, settings, ports.
 *
 * Every transaction that writes takes the write lock at its start: one that began by reading could
 * not get it any more once somebody else has committed, however long it waited. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/clock.h"
#include "store/counts.h"

const char *dln_store_owner(const struct dln_store *store) {
    return store->owner;
}

struct dln_text dln_store_scope(const struct dln_store *store) {
    return store->own_scope;
}

const char *dln_store_device(const struct dln_store *store) {
    return store->device;
}

const dunlin_ports *dln_store_ports(const struct dln_store *store) {
    return store->ports.now_ms ? &store->ports : NULL;
}

uint64_t dln_store_random(struct dln_store *store) {
    uint64_t bits = 0;
    if (store->ports.random) {
        store->ports.random(store->ports.self, &bits, sizeof(bits));
    } else {
        sqlite3_randomness((int)sizeof(bits), &bits); /* seeded by the system */
    }
    return bits;
}

bool dln_store_in_transaction(const struct dln_store *store) {
    return store->in_transaction;
}

void dln_store_doom(struct dln_store *store, dunlin_status status, const dunlin_error *err) {
    (void)dln_poison(store, status, err);
}

bool dln_store_is_idle(struct dln_store *store) {
    for (sqlite3_stmt *stmt = NULL; (stmt = sqlite3_next_stmt(store->db, stmt)) != NULL;) {
        if (sqlite3_stmt_busy(stmt)) {
            return false;
        }
    }
    return true;
}

static unsigned data_version(struct dln_store *store) {
    unsigned version = 0;
    (void)sqlite3_file_control(store->db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    return version;
}

static void drop_caches(struct dln_store *store) {
    dln_names_drop(store);
    memset(store->ends, 0, sizeof(store->ends));
    memset(store->last_places, 0, sizeof(store->last_places));
    store->count_count = 0;
}

/* Drops what is cached if somebody else has written since it was right. */
static dunlin_status refresh(struct dln_store *store, dunlin_error *err) {
    if (store->fresh && data_version(store) == store->data_version) {
        return DUNLIN_OK;
    }
    drop_caches(store);
    dunlin_status status = dln_clock_load(store, false, err);
    store->fresh = status == DUNLIN_OK;
    return status;
}

dunlin_status dln_store_begin(struct dln_store *store, dunlin_error *err) {
    if (store->in_transaction) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "a transaction is open");
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_BEGIN);
    dunlin_status status = dln_run(&statement, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    store->in_transaction = true;
    store->failure.code = DUNLIN_OK;
    status = refresh(store, err);
    if (status != DUNLIN_OK) {
        dln_store_rollback(store);
    }
    return status;
}

dunlin_status dln_store_commit(struct dln_store *store, dunlin_error *err) {
    assert(store->in_transaction);
    dunlin_status status = store->failure.code;
    if (status != DUNLIN_OK && err) {
        *err = store->failure;
    }
    if (status == DUNLIN_OK) {
        status = dln_counts_flush(store, err);
    }
    if (status == DUNLIN_OK) {
        struct dln_statement statement = dln_use(store, DLN_STORE_COMMIT);
        status = dln_run(&statement, err);
    }
    if (status != DUNLIN_OK) {
        dln_store_rollback(store);
        return status;
    }
    store->in_transaction = false;
    store->data_version = data_version(store);
    return DUNLIN_OK;
}

void dln_store_rollback(struct dln_store *store) {
    assert(store->in_transaction);
    store->failure.code = DUNLIN_OK;
    store->in_transaction = false;
    store->fresh = false;
    drop_caches(store);
    if (!sqlite3_get_autocommit(store->db)) {
        struct dln_statement statement = dln_use(store, DLN_STORE_ROLLBACK);
        (void)!dln_run(&statement, NULL);
    }
    /* Whatever ROLLBACK says, SQLite has none any more: it fails only without a transaction. */
    assert(sqlite3_get_autocommit(store->db));
}

dunlin_status dln_read_begin(struct dln_store *store, bool *own, dunlin_error *err) {
    *own = false;
    if (!sqlite3_get_autocommit(store->db)) {
        return DUNLIN_OK; /* a transaction runs, or such a read around this one */
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_BEGIN_READ);
    dunlin_status status = dln_run(&statement, err);
    *own = status == DUNLIN_OK;
    return status;
}

void dln_read_end(struct dln_store *store, bool own) {
    if (own) {
        struct dln_statement statement = dln_use(store, DLN_STORE_COMMIT);
        (void)!dln_run(&statement, NULL); /* nothing was written that could be lost */
        if (!sqlite3_get_autocommit(store->db)) {
            statement = dln_use(store, DLN_STORE_ROLLBACK);
            (void)!dln_run(&statement, NULL);
        }
    }
}

dunlin_status dln_store_changes(struct dln_store *store, struct dln_changes *out,
                                dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_DATA_VERSION);
    out->own = sqlite3_total_changes(store->db);
    return dln_get_int(&statement, &out->others, err);
}

dunlin_status dln_store_setting_get(struct dln_store *store, const char *name, int64_t *out,
                                    dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_SETTING_GET);
    dln_bind_text(&statement, dln_text_of(name));
    return dln_get_int(&statement, out, err);
}

dunlin_status dln_store_setting_put(struct dln_store *store, const char *name, int64_t value,
                                    dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_SETTING_PUT);
    assert(store->in_transaction);
    dln_bind_text(&statement, dln_text_of(name));
    dln_bind_int(&statement, value);
    return dln_run(&statement, err);
}
