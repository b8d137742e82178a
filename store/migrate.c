/* Schema steps: each is one transaction that ends by setting user_version, so that a file is at one
 * version or at the next, never between. The step that makes a file also writes whose it is.
 *
 * Two processes may open an old file at once: the version is read again inside each transaction. */
#include "store/migrate.h"

#include <assert.h>
#include <stdio.h>

#include "store/derive.h"

static void pause_before(const struct dln_migrations *migrations) {
    if (migrations->before_statement) {
        migrations->before_statement(migrations->self);
    }
}

dunlin_status dln_run_once(struct dln_store *store, enum dln_store_query query, int64_t *out,
                           dunlin_error *err) {
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(store->db, dln_store_queries[query], -1, &stmt, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(stmt);
    }
    if (code == SQLITE_ROW) {
        if (out) {
            *out = sqlite3_column_int64(stmt, 0);
        }
        code = SQLITE_DONE;
    }
    dunlin_status status = DUNLIN_OK;
    if (code != SQLITE_DONE) {
        status = dln_sqlite_failed(store, code, err);
    }
    (void)sqlite3_finalize(stmt);
    return status;
}

static dunlin_status run_statements(struct dln_store *store,
                                    const struct dln_migrations *migrations, const char *sql,
                                    dunlin_error *err) {
    while (*sql) {
        sqlite3_stmt *stmt = NULL;
        int code = sqlite3_prepare_v2(store->db, sql, -1, &stmt, &sql);
        if (code == SQLITE_OK && stmt) {
            pause_before(migrations);
            do {
                code = sqlite3_step(stmt);
            } while (code == SQLITE_ROW);
        }
        if (code != SQLITE_OK && code != SQLITE_DONE) {
            dunlin_status status = dln_sqlite_failed(store, code, err);
            (void)sqlite3_finalize(stmt);
            return status;
        }
        (void)sqlite3_finalize(stmt);
    }
    return DUNLIN_OK;
}

static dunlin_status put_text(struct dln_store *store, const char *name, const char *value,
                              dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_SETTING_PUT);
    dln_bind_text(&statement, dln_text_of(name));
    dln_bind_text(&statement, dln_text_of(value));
    return dln_run(&statement, err);
}

static dunlin_status sign_file(struct dln_store *store, const char *owner, bool search,
                               dunlin_error *err) {
    char device[DLN_DEVICE_LEN + 1];
    int64_t name;
    (void)snprintf(device, sizeof(device), "%016llx%016llx",
                   (unsigned long long)dln_store_random(store),
                   (unsigned long long)dln_store_random(store));
    dunlin_status status = put_text(store, "owner", owner, err);
    if (status == DUNLIN_OK) {
        status = put_text(store, "device", device, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_name_make(store, dln_text_of(owner), &name, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_store_setting_put(store, "search", search, err);
    }
    if (status == DUNLIN_OK && search) {
        status = dln_derive_make_search(store, err);
    }
    return status;
}

/* The next step, if the file still lacks it. *version: the file's version afterwards. */
static dunlin_status migrate_one(struct dln_store *store, const struct dln_migrations *migrations,
                                 const char *owner, bool search, int64_t *version,
                                 dunlin_error *err) {
    dunlin_status status = dln_run_once(store, DLN_STORE_BEGIN, NULL, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    store->in_transaction = true;
    store->failure.code = DUNLIN_OK;
    status = dln_run_once(store, DLN_STORE_USER_VERSION, version, err);
    if (status == DUNLIN_OK && *version < migrations->count) {
        const struct dln_store_migration *step = &migrations->steps[*version];
        assert(step->version == *version + 1);
        status = run_statements(store, migrations, step->sql, err);
        if (status == DUNLIN_OK && *version == 0) {
            status = sign_file(store, owner, search, err);
        }
        if (status == DUNLIN_OK) {
            status = dln_run_once(store, DLN_STORE_USER_VERSION, version, err);
            assert(status != DUNLIN_OK || *version == step->version);
        }
    }
    if (status != DUNLIN_OK) {
        dln_store_rollback(store);
        return status;
    }
    pause_before(migrations);
    status = dln_store_commit(store, err);
    pause_before(migrations);
    return status;
}

dunlin_status dln_migrate(struct dln_store *store, const struct dln_migrations *migrations,
                          const char *owner, bool search, dunlin_error *err) {
    int64_t version = 0;
    dunlin_status status = dln_run_once(store, DLN_STORE_USER_VERSION, &version, err);
    while (status == DUNLIN_OK && version < migrations->count) {
        status = migrate_one(store, migrations, owner, search, &version, err);
    }
    if (status == DUNLIN_OK && version > migrations->count) {
        status = dln_fail(err, DUNLIN_NEWER_SCHEMA, DUNLIN_DOMAIN_STORE,
                          "the file has schema %lld, this library knows %d", (long long)version,
                          migrations->count);
    }
    return status;
}
