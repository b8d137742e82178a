/* Opening a file: whose is it?
 *
 * Nothing is written before the file is known to be ours, of a schema that we know and of the owner
 * who asks: SQLite itself is told not to move a log into the file when it closes (a stranger's log
 * is his), and where a rollback journal lies beside the file, it is first looked at through a
 * connection that may only read: rolling back would change it. Ours never has one, see
 * sql/store.sql. The file is never opened by other means than SQLite: closing it would drop the
 * locks of every connection in this process. (stat() opens nothing.)
 *
 * An empty file, or an empty SQLite database, is what a process leaves that died while it made a
 * store: it counts as no file yet. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/clock.h"
#include "store/migrate.h"

enum { DEFAULT_BUSY_TIMEOUT_MS = 10000, PATH_LEN_MAX = 4096 };

struct opening {
    const char *path;
    const char *owner; /* NULL: whoever it is */
    dunlin_open_options options;
    const struct dln_migrations *migrations;
    bool may_make;
    bool has_bytes; /* the file was not empty when it was looked at */
};

static bool is_memory(const struct opening *opening) {
    return strcmp(opening->path, ":memory:") == 0 ||
           strcmp(opening->path, DLN_STORE_TEMPORARY) == 0;
}

static dunlin_status not_a_store(dunlin_error *err) {
    return dln_fail(err, DUNLIN_NOT_A_STORE, DUNLIN_DOMAIN_STORE, "the file is no dunlin store");
}

/* ---- before SQLite opens it */

static dunlin_status look_at_path(struct opening *opening, dunlin_error *err) {
    struct stat file;
    if (is_memory(opening)) {
        return opening->may_make ? DUNLIN_OK
                                 : dln_fail(err, DUNLIN_NOT_FOUND, DUNLIN_DOMAIN_STORE,
                                            "a store in memory needs an owner");
    }
    if (stat(opening->path, &file) == 0) {
        opening->has_bytes = file.st_size > 0;
        return S_ISREG(file.st_mode) ? DUNLIN_OK : not_a_store(err);
    }
    if (errno != ENOENT) {
        return dln_fail(err, DUNLIN_IO, DUNLIN_DOMAIN_STORE, "the file cannot be looked at");
    }
    return opening->may_make
               ? DUNLIN_OK
               : dln_fail(err, DUNLIN_NOT_FOUND, DUNLIN_DOMAIN_STORE, "there is no such file");
}

static bool has_journal(const struct opening *opening) {
    const char *path = opening->path;
    char journal[PATH_LEN_MAX + sizeof("-journal")];
    struct stat file;
    size_t len = strlen(path);
    if (is_memory(opening) || len > PATH_LEN_MAX) {
        return false; /* SQLite will say that it is too long */
    }
    memcpy(journal, path, len);
    memcpy(journal + len, "-journal", sizeof("-journal"));
    return stat(journal, &file) == 0 && file.st_size > 0;
}

static dunlin_status connect_file(struct dln_store *store, const struct opening *opening, int flags,
                                  dunlin_error *err) {
    int code = sqlite3_open_v2(opening->path, &store->db,
                               flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_busy_timeout(store->db, opening->options.busy_timeout_ms);
    }
    return code == SQLITE_OK ? DUNLIN_OK : dln_sqlite_failed(store, code, err);
}

static void disconnect(struct dln_store *store) {
    for (int i = 0; i < DLN_STORE_QUERY_COUNT; i++) {
        (void)sqlite3_finalize(store->statements[i]);
        store->statements[i] = NULL;
    }
    int code = sqlite3_close(store->db);
    assert(code == SQLITE_OK);
    (void)code;
    store->db = NULL;
}

/* ---- whose it is */

struct file_state {
    int64_t application_id;
    int64_t version;
    int64_t tables;
    int64_t pages;
};

static dunlin_status read_state(struct dln_store *store, struct file_state *out,
                                dunlin_error *err) {
    dunlin_status status = dln_run_once(store, DLN_STORE_BEGIN_READ, NULL, err);
    if (status == DUNLIN_OK) {
        status = dln_run_once(store, DLN_STORE_APPLICATION_ID, &out->application_id, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_run_once(store, DLN_STORE_USER_VERSION, &out->version, err);
    }
    if (status == DUNLIN_OK && out->application_id == 0) {
        status = dln_run_once(store, DLN_STORE_TABLE_COUNT, &out->tables, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_run_once(store, DLN_STORE_PAGE_COUNT, &out->pages, err);
    }
    if (!sqlite3_get_autocommit(store->db)) {
        (void)!dln_run_once(store, DLN_STORE_ROLLBACK, NULL, NULL);
    }
    return status;
}

static dunlin_status read_text_setting(struct dln_store *store, const char *name, char **out,
                                       dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_SETTING_GET);
    bool found;
    dln_bind_text(&statement, dln_text_of(name));
    dunlin_status status = dln_step(&statement, &found, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (!found) {
        return dln_fail(err, DUNLIN_CORRUPT, DUNLIN_DOMAIN_STORE, "the file lacks its %s", name);
    }
    struct dln_text text = dln_column_text(&statement, 0);
    *out = malloc(text.len + 1);
    if (*out) {
        memcpy(*out, text.data ? text.data : "", text.len);
        (*out)[text.len] = '\0';
    }
    dln_done(&statement);
    return *out ? DUNLIN_OK : dln_no_memory(err);
}

static dunlin_status check_owner(struct dln_store *store, const struct opening *opening,
                                 dunlin_error *err) {
    free(store->owner);
    store->owner = NULL;
    dunlin_status status = read_text_setting(store, "owner", &store->owner, err);
    if (status == DUNLIN_OK && opening->owner && strcmp(opening->owner, store->owner) != 0) {
        status = dln_fail(err, DUNLIN_WRONG_OWNER, DUNLIN_DOMAIN_STORE,
                          "the file belongs to another user");
    }
    return status;
}

/* OK: it is ours, or empty and may be made. */
static dunlin_status judge(struct dln_store *store, const struct opening *opening,
                           dunlin_error *err) {
    struct file_state state = {0};
    dunlin_error why;
    dunlin_status status = read_state(store, &state, &why);
    if (status == DUNLIN_CORRUPT && state.application_id != DLN_APPLICATION_ID) {
        return not_a_store(err); /* no SQLite database at all, or not one to be read */
    }
    if (status != DUNLIN_OK) {
        if (err) {
            *err = why;
        }
        return status;
    }
    if (state.pages == 0 && opening->has_bytes) {
        return not_a_store(
            err); /* SQLite takes a few bytes for nothing, and would write over them */
    }
    if (state.application_id == 0 && state.version == 0 && state.tables == 0) {
        return opening->may_make ? DUNLIN_OK : not_a_store(err);
    }
    if (state.application_id != DLN_APPLICATION_ID || state.version < 1) {
        return not_a_store(err);
    }
    if (state.version > opening->migrations->count) {
        return dln_fail(err, DUNLIN_NEWER_SCHEMA, DUNLIN_DOMAIN_STORE,
                        "the file has schema %lld, this library knows %d", (long long)state.version,
                        opening->migrations->count);
    }
    return check_owner(store, opening, err);
}

/* A journal lies beside the file: looks at both without being able to change them. */
static dunlin_status judge_beside_journal(struct dln_store *store, const struct opening *opening,
                                          dunlin_error *err) {
    dunlin_status status = connect_file(store, opening, SQLITE_OPEN_READONLY, err);
    if (status == DUNLIN_OK) {
        status = judge(store, opening, err);
    }
    if (status == DUNLIN_READ_ONLY) { /* the journal is hot */
        status = not_a_store(err);
    }
    disconnect(store);
    return status;
}

/* ---- ours: the connection */

static dunlin_status use_log(struct dln_store *store, dunlin_error *err) {
    sqlite3_stmt *stmt = NULL;
    int code =
        sqlite3_prepare_v2(store->db, dln_store_queries[DLN_STORE_JOURNAL_MODE], -1, &stmt, NULL);
    bool wal = false;
    bool memory = false;
    if (code == SQLITE_OK && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *mode = (const char *)sqlite3_column_text(stmt, 0);
        wal = mode && strcmp(mode, "wal") == 0;
        memory = mode && strcmp(mode, "memory") == 0;
        code = SQLITE_OK;
    }
    (void)sqlite3_finalize(stmt);
    if (code != SQLITE_OK) {
        return dln_sqlite_failed(store, code, err);
    }
    if (wal || memory) { /* memory: a store that is not in a file */
        return DUNLIN_OK;
    }
    dunlin_status status = dln_run_once(store, DLN_STORE_JOURNAL_MEMORY, NULL, err);
    return status == DUNLIN_OK ? dln_run_once(store, DLN_STORE_JOURNAL_WAL, NULL, err) : status;
}

static dunlin_status set_up(struct dln_store *store, const struct opening *opening,
                            dunlin_error *err) {
    static const enum dln_store_query pragmas[] = {DLN_STORE_CHECKPOINT_PAGES, DLN_STORE_LOG_LIMIT,
                                                   DLN_STORE_CACHE_SIZE,
                                                   DLN_STORE_UNTRUSTED_SCHEMA};
    int code = sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    }
    dunlin_status status = code == SQLITE_OK ? DUNLIN_OK : dln_sqlite_failed(store, code, err);
    if (status == DUNLIN_OK) {
        status = use_log(store, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_run_once(store,
                              opening->options.durability == DUNLIN_DURABILITY_NORMAL
                                  ? DLN_STORE_SYNCHRONOUS_NORMAL
                                  : DLN_STORE_SYNCHRONOUS_FULL,
                              NULL, err);
    }
    for (size_t i = 0; i < sizeof(pragmas) / sizeof(pragmas[0]) && status == DUNLIN_OK; i++) {
        status = dln_run_once(store, pragmas[i], NULL, err);
    }
    return status;
}

/* What of the file stays in memory. */
static dunlin_status load(struct dln_store *store, const struct opening *opening,
                          dunlin_error *err) {
    char *device = NULL;
    int64_t search = 0;
    struct dln_arena arena = DLN_ARENA_INIT(DLN_ROW_BYTES_MAX);
    dunlin_status status = check_owner(store, opening, err);
    if (status == DUNLIN_OK) {
        status = read_text_setting(store, "device", &device, err);
    }
    if (status == DUNLIN_OK && strlen(device) != DLN_DEVICE_LEN) {
        status = dln_fail(err, DUNLIN_CORRUPT, DUNLIN_DOMAIN_STORE, "the device's name is damaged");
    }
    if (status == DUNLIN_OK) {
        memcpy(store->device, device, DLN_DEVICE_LEN + 1);
        status = dln_store_setting_get(store, "search", &search, err);
        store->search = search != 0;
    }
    if (status == DUNLIN_OK) {
        status = dln_name_find(store, dln_text_of(store->owner), &store->owner_name, err);
    }
    if (status == DUNLIN_OK) {
        struct dln_text scope = dln_scope_user(&arena, dln_text_of(store->owner));
        store->own_scope_text = scope.data ? malloc(scope.len + 1) : NULL;
        if (store->own_scope_text) {
            memcpy(store->own_scope_text, scope.data, scope.len + 1);
            store->own_scope = dln_text_of(store->own_scope_text);
        } else {
            status = dln_no_memory(err);
        }
    }
    if (status == DUNLIN_OK) {
        status = dln_clock_load(store, true, err);
    }
    dln_arena_free(&arena);
    free(device);
    return status;
}

static dunlin_status open_file(struct dln_store *store, struct opening *opening,
                               dunlin_error *err) {
    dunlin_status status = look_at_path(opening, err);
    if (status == DUNLIN_OK && has_journal(opening)) {
        status = judge_beside_journal(store, opening, err);
    }
    if (status == DUNLIN_OK) {
        int flags = SQLITE_OPEN_READWRITE | (opening->may_make ? SQLITE_OPEN_CREATE : 0);
        status = connect_file(store, opening, flags, err);
    }
    if (status == DUNLIN_OK) {
        status = judge(store, opening, err);
    }
    /* A log cannot even be read where its index cannot be made. */
    if ((status == DUNLIN_OK || status == DUNLIN_IO) && store->db &&
        sqlite3_db_readonly(store->db, "main") == 1) {
        status = dln_fail(err, DUNLIN_READ_ONLY, DUNLIN_DOMAIN_STORE, "the file cannot be written");
    }
    if (status == DUNLIN_OK) {
        status = set_up(store, opening, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_migrate(store, opening->migrations, opening->owner,
                             !opening->options.without_search, err);
    }
    return status == DUNLIN_OK ? load(store, opening, err) : status;
}

dunlin_status dln_store_open_with(struct dln_store **out, const char *path, const char *owner,
                                  const dunlin_open_options *options,
                                  const struct dln_migrations *migrations, dunlin_error *err) {
    struct opening opening = {.path = path,
                              .owner = owner,
                              .options = DUNLIN_OPEN_OPTIONS_INIT,
                              .migrations = migrations};
    *out = NULL;
    if (options) {
        opening.options = *options;
    }
    if (opening.options.busy_timeout_ms <= 0) {
        opening.options.busy_timeout_ms = DEFAULT_BUSY_TIMEOUT_MS;
    }
    opening.may_make = owner && !opening.options.must_exist;
    struct dln_store *store = calloc(1, sizeof(*store));
    if (!store) {
        return dln_no_memory(err);
    }
    store->names = calloc(DLN_NAME_SLOTS, sizeof(*store->names));
    if (!store->names) {
        free(store);
        return dln_no_memory(err);
    }
    if (opening.options.ports) {
        store->ports = *opening.options.ports;
    }
    store->names_generation = 1;
    store->before = DLN_ARENA_INIT(DLN_ROW_BYTES_MAX);
    store->stamps = DLN_BUF_INIT(DLN_ROW_BYTES_MAX);
    store->extras = DLN_BUF_INIT(DLN_ROW_BYTES_MAX);
    store->key_text = DLN_BUF_INIT(DLN_ROW_BYTES_MAX);
    store->decoded = DLN_BUF_INIT(DLN_ID_MAX);
    dunlin_status status = open_file(store, &opening, err);
    if (status != DUNLIN_OK) {
        dln_store_close(store);
        return status;
    }
    *out = store;
    return DUNLIN_OK;
}

dunlin_status dln_store_open(struct dln_store **out, const char *path, const char *owner,
                             const dunlin_open_options *options, dunlin_error *err) {
    const struct dln_migrations migrations = {.steps = dln_store_migrations,
                                              .count = dln_store_migration_count};
    return dln_store_open_with(out, path, owner, options, &migrations, err);
}

void dln_store_close(struct dln_store *store) {
    if (!store) {
        return;
    }
    if (store->in_transaction) {
        dln_store_rollback(store);
    }
    if (store->db) {
        dln_clock_settle(store);
        disconnect(store);
    }
    for (int i = 0; i < DLN_NAME_SLOTS; i++) {
        free(store->names[i].text);
    }
    free(store->names);
    dln_arena_free(&store->before);
    dln_buf_free(&store->stamps);
    dln_buf_free(&store->extras);
    dln_buf_free(&store->key_text);
    dln_buf_free(&store->decoded);
    free(store->own_scope_text);
    free(store->owner);
    free(store);
}
