/* The file as a whole: its status, copies, checks, and what is to go from it.
 *
 * A copy is made by SQLite into a new file (VACUUM INTO), in one read transaction: it holds one
 * moment, whatever others write meanwhile. It is then brought to WAL by a connection of its own,
 * which also flushes it to the disk; so it opens as any store does.
 *
 * A wipe deletes in one transaction and gives the space back afterwards; killed between the two, it
 * leaves an empty store of the old size. */
#include <assert.h>
#include <stdio.h>
#include <sys/stat.h>

#include "store/counts.h"
#include "store/derive.h"
#include "store/migrate.h"
#include "store/outbox.h"

static dunlin_status get_number(struct dln_store *store, enum dln_store_query query, int64_t *out,
                                dunlin_error *err) {
    struct dln_statement statement = dln_use(store, query);
    return dln_get_int(&statement, out, err);
}

static dunlin_status count_pending(struct dln_store *store, int64_t *out, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_STATUS_PENDING);
    dln_bind_int(&statement, DLN_COUNTS_FROM);
    return dln_get_int(&statement, out, err);
}

/* ---- status */

static dunlin_status read_lists(struct dln_store *store, dunlin_store_status *out,
                                dunlin_error *err) {
    bool row;
    struct dln_statement statement = dln_use(store, DLN_STORE_STATUS_LISTS);
    dunlin_status status = dln_step(&statement, &row, err);
    if (row) {
        out->lists = dln_column_int(&statement, 0);
        out->items = dln_column_int(&statement, 1);
        dln_done(&statement);
    }
    return status;
}

static dunlin_status read_last_sync(struct dln_store *store, int64_t *out, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_STATUS_SYNCED);
    dln_bind_text(&statement, store->own_scope);
    return dln_get_int(&statement, out, err);
}

static dunlin_status read_status(struct dln_store *store, dunlin_store_status *out,
                                 dunlin_error *err) {
    const struct {
        enum dln_store_query query;
        int64_t *out;
    } counts[] = {
        {DLN_STORE_STATUS_REJECTED, &out->rejected},
        {DLN_STORE_STATUS_FOLLOWING, &out->following},
        {DLN_STORE_SCOPE_HELD_COUNT, &out->held},
        {DLN_STORE_SUBSCRIPTIONS_COUNT, &out->subscriptions},
    };
    int64_t pages = 0;
    int64_t page_bytes = 0;
    dunlin_status status = dln_counts_flush(store, err);
    if (status == DUNLIN_OK) {
        status = read_lists(store, out, err);
    }
    if (status == DUNLIN_OK) {
        status = count_pending(store, &out->pending, err);
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]) && status == DUNLIN_OK; i++) {
        status = get_number(store, counts[i].query, counts[i].out, err);
    }
    if (status == DUNLIN_OK) {
        status = read_last_sync(store, &out->last_sync_ms, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_run_once(store, DLN_STORE_PAGE_COUNT, &pages, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_run_once(store, DLN_STORE_PAGE_SIZE, &page_bytes, err);
    }
    out->file_bytes = pages * page_bytes;
    return status;
}

dunlin_status dln_store_status(struct dln_store *store, dunlin_store_status *out,
                               dunlin_error *err) {
    bool own;
    *out = (dunlin_store_status){0};
    dunlin_status status = dln_read_begin(store, &own, err);
    if (status == DUNLIN_OK) {
        status = read_status(store, out, err);
    }
    dln_read_end(store, own);
    return status;
}

/* ---- copies */

static dunlin_status exists(dunlin_error *err) {
    return dln_fail(err, DUNLIN_EXISTS, DUNLIN_DOMAIN_STORE, "there is a file of that name");
}

/* As SQLite left it the copy has no log, and may not be on the disk yet. */
static dunlin_status finish_copy(const char *path, dunlin_error *err) {
    static const enum dln_store_query steps[] = {DLN_STORE_SYNCHRONOUS_FULL,
                                                 DLN_STORE_JOURNAL_MEMORY, DLN_STORE_JOURNAL_WAL};
    struct dln_store copy = {0};
    int code = sqlite3_open_v2(
        path, &copy.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    dunlin_status status = code == SQLITE_OK ? DUNLIN_OK : dln_sqlite_failed(&copy, code, err);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && status == DUNLIN_OK; i++) {
        status = dln_run_once(&copy, steps[i], NULL, err);
    }
    code = sqlite3_close(copy.db);
    assert(code == SQLITE_OK);
    return status;
}

dunlin_status dln_store_backup(struct dln_store *store, const char *path, dunlin_error *err) {
    struct stat file;
    assert(!store->in_transaction);
    if (stat(path, &file) == 0) {
        return exists(err);
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_BACKUP);
    dln_bind_text(&statement, dln_text_of(path));
    dunlin_status status = dln_run(&statement, err);
    if (status == DUNLIN_CORRUPT && stat(path, &file) == 0 && file.st_size > 0 &&
        sqlite3_errcode(store->db) == SQLITE_ERROR) {
        return exists(err); /* somebody made it just now: it is his */
    }
    if (status == DUNLIN_OK) {
        status = finish_copy(path, err);
    }
    if (status != DUNLIN_OK) {
        (void)remove(path);
    }
    return status;
}

/* ---- wipe */

static dunlin_status check_sent(struct dln_store *store, dunlin_error *err) {
    int64_t pending;
    int64_t rejected = 0;
    dunlin_status status = count_pending(store, &pending, err);
    if (status == DUNLIN_OK) {
        status = get_number(store, DLN_STORE_STATUS_REJECTED, &rejected, err);
    }
    if (status == DUNLIN_OK && (pending > 0 || rejected > 0)) {
        status = dln_fail(err, DUNLIN_UNSENT, DUNLIN_DOMAIN_STORE,
                          "%lld changes are not acknowledged, %lld were refused",
                          (long long)pending, (long long)rejected);
    }
    return status;
}

static dunlin_status delete_all(struct dln_store *store, dunlin_error *err) {
    static const enum dln_store_query deletes[] = {
        DLN_STORE_WIPE_FOLLOW, DLN_STORE_WIPE_MYGROUP, DLN_STORE_WIPE_LIST,
        DLN_STORE_WIPE_ITEM,   DLN_STORE_WIPE_GRP,     DLN_STORE_WIPE_MEMBER,
        DLN_STORE_WIPE_OTHER,  DLN_STORE_WIPE_OUTBOX,  DLN_STORE_WIPE_SCOPE,
        DLN_STORE_WIPE_SEEN,   DLN_STORE_WIPE_REJECTED};
    dunlin_status status = dln_derive_clear(store, err);
    for (size_t i = 0; i < sizeof(deletes) / sizeof(deletes[0]) && status == DUNLIN_OK; i++) {
        struct dln_statement statement = dln_use(store, deletes[i]);
        status = dln_run(&statement, err);
    }
    if (status == DUNLIN_OK) {
        struct dln_statement statement = dln_use(store, DLN_STORE_WIPE_NAME);
        dln_bind_int(&statement, store->owner_name);
        status = dln_run(&statement, err);
    }
    if (status == DUNLIN_OK) {
        struct dln_statement statement = dln_use(store, DLN_STORE_WIPE_SETTING);
        status = dln_run(&statement, err);
    }
    dln_names_drop(store);
    return status;
}

dunlin_status dln_store_wipe(struct dln_store *store, bool force, dunlin_error *err) {
    dunlin_status status = dln_store_begin(store, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (!force) {
        status = check_sent(store, err);
    }
    if (status == DUNLIN_OK) {
        status = delete_all(store, err);
    }
    if (status != DUNLIN_OK) {
        dln_store_rollback(store);
        return status;
    }
    status = dln_store_commit(store, err);
    if (status == DUNLIN_OK) {
        status = dln_run_once(store, DLN_STORE_VACUUM, NULL, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_run_once(store, DLN_STORE_TRUNCATE_LOG, NULL, err);
    }
    return status;
}

/* ---- verify */

static dunlin_status check_file(struct dln_store *store, int *damaged, dunlin_error *err) {
    bool row;
    struct dln_statement statement = dln_use(store, DLN_STORE_QUICK_CHECK);
    dunlin_status status = dln_step(&statement, &row, err);
    if (row) {
        *damaged = !dln_text_equal(dln_column_text(&statement, 0), DLN_TEXT("ok"));
        dln_done(&statement);
    }
    if (status == DUNLIN_CORRUPT) {
        *damaged = 1;
    }
    if (*damaged) {
        return dln_fail(err, DUNLIN_CORRUPT, DUNLIN_DOMAIN_STORE, "the file is damaged");
    }
    return status;
}

/* Always repairs, counting the rows that it changes, and takes that back where nothing was to be
 * repaired: so a check cannot miss what a repair would find. A failure has poisoned the
 * transaction, which takes the savepoint along. */
static dunlin_status check_rows(struct dln_store *store, bool repair, dunlin_check *out,
                                dunlin_error *err) {
    dunlin_status status = dln_run_once(store, DLN_STORE_CHECK_START, NULL, err);
    if (status == DUNLIN_OK) {
        status = dln_derive_recompute(store, out, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_outbox_repair(store, &out->counts_off, err);
    }
    if (status == DUNLIN_OK && !repair) {
        status = dln_run_once(store, DLN_STORE_CHECK_UNDO, NULL, err);
    }
    return status == DUNLIN_OK ? dln_run_once(store, DLN_STORE_CHECK_END, NULL, err) : status;
}

dunlin_status dln_store_verify(struct dln_store *store, bool repair, dunlin_check *out,
                               dunlin_error *err) {
    *out = (dunlin_check){0};
    dunlin_status status = check_file(store, &out->file_damaged, err);
    if (status == DUNLIN_OK) {
        status = dln_store_begin(store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = check_rows(store, repair, out, err);
    if (status != DUNLIN_OK) {
        dln_store_rollback(store);
        return status;
    }
    return dln_store_commit(store, err);
}

/* ---- tombstones */

struct purge {
    struct dln_store *store;
    dln_stamp before;
    size_t limit;
    size_t *removed;
};

/* Reads what a query names into the arena, as much as may still go. */
static dunlin_status read_dead(struct purge *purge, struct dln_arena *arena,
                               enum dln_collection_id id, struct dln_statement *statement,
                               struct dln_row **rows, size_t *count, dunlin_error *err) {
    size_t room = purge->limit - *purge->removed;
    struct dln_row_reader reader = {
        .store = purge->store, .arena = arena, .table = dln_table_by_id(id)};
    *count = 0;
    *rows = dln_arena_alloc(arena, (room ? room : 1) * sizeof(**rows));
    if (!*rows) {
        dln_done(statement);
        return dln_no_memory(err);
    }
    dln_bind_int(statement, (int64_t)room);
    return dln_read_rows(&reader, statement, *rows, room, count, err);
}

static dunlin_status remove_dead(struct purge *purge, const struct dln_row *row,
                                 dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    if (dln_record_newest(&row->record) < purge->before) {
        status = dln_row_remove(purge->store, &row->record.key, err);
        *purge->removed += status == DUNLIN_OK;
    }
    return status;
}

/* A deleted list's items, then the list; it waits for the next time when they are too many. */
static dunlin_status remove_list(struct purge *purge, struct dln_arena *arena,
                                 const struct dln_row *list, dunlin_error *err) {
    int64_t number;
    struct dln_row *rows;
    size_t count = 0;
    dunlin_status status = dln_name_find(purge->store, list->record.key.parts[0], &number, err);
    if (status == DUNLIN_OK) {
        struct dln_statement statement = dln_use(purge->store, DLN_STORE_LIST_ITEMS);
        dln_bind_int(&statement, number);
        status = read_dead(purge, arena, DLN_ITEM, &statement, &rows, &count, err);
    }
    for (size_t i = 0; i < count && status == DUNLIN_OK; i++) {
        status = dln_row_remove(purge->store, &rows[i].record.key, err);
        ++*purge->removed;
    }
    if (status == DUNLIN_OK && *purge->removed < purge->limit) {
        status = remove_dead(purge, list, err);
    }
    return status;
}

static dunlin_status purge_table(struct purge *purge, enum dln_collection_id id,
                                 enum dln_store_query query, dunlin_error *err) {
    struct dln_arena arena = DLN_ARENA_INIT(purge->limit * sizeof(struct dln_row) * 4 + (64 << 20));
    struct dln_row *rows;
    size_t count;
    struct dln_statement statement = dln_use(purge->store, query);
    dln_bind_int(&statement, (int64_t)purge->before);
    dunlin_status status = read_dead(purge, &arena, id, &statement, &rows, &count, err);
    for (size_t i = 0; i < count && status == DUNLIN_OK && *purge->removed < purge->limit; i++) {
        status = id == DLN_LIST ? remove_list(purge, &arena, &rows[i], err)
                                : remove_dead(purge, &rows[i], err);
    }
    dln_arena_free(&arena);
    return status;
}

dunlin_status dln_tombstones_purge(struct dln_store *store, dln_stamp before, size_t limit,
                                   size_t *removed, dunlin_error *err) {
    static const struct {
        enum dln_collection_id id;
        enum dln_store_query query;
    } tables[] = {{DLN_FOLLOW, DLN_STORE_FOLLOW_DEAD},
                  {DLN_MYGROUP, DLN_STORE_MYGROUP_DEAD},
                  {DLN_ITEM, DLN_STORE_ITEM_DEAD},
                  {DLN_LIST, DLN_STORE_LIST_DEAD},
                  {DLN_MEMBER, DLN_STORE_MEMBER_DEAD}};
    struct purge purge = {.store = store, .before = before, .limit = limit, .removed = removed};
    dunlin_status status = DUNLIN_OK;
    assert(store->in_transaction);
    *removed = 0;
    for (size_t i = 0;
         i < sizeof(tables) / sizeof(tables[0]) && status == DUNLIN_OK && *removed < limit; i++) {
        status = purge_table(&purge, tables[i].id, tables[i].query, err);
    }
    return dln_poison(store, status, err);
}
