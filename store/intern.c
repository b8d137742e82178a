/* Interning: users, groups, lists and item types are numbers inside the file.
 *
 * A direct-mapped cache by hash of the text stands before the table; a text that falls on a slot
 * that is taken replaces it. It is only looked at inside a transaction, where nobody else can
 * change what it holds; numbers are never changed, and only a wipe removes them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/internal.h"

static struct dln_name *slot_of(struct dln_store *store, struct dln_text text) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < text.len; i++) {
        hash = (hash ^ (unsigned char)text.data[i]) * 16777619u;
    }
    hash ^= hash >> 15;
    return &store->names[hash % DLN_NAME_SLOTS];
}

/* Without memory for it the cache just does not learn. */
static void remember(struct dln_store *store, struct dln_text text, int64_t id) {
    struct dln_name *slot = slot_of(store, text);
    char *copy = slot->text;
    if (!store->in_transaction) {
        return;
    }
    if (!copy || slot->len < text.len) {
        copy = realloc(slot->text, text.len);
        if (!copy) {
            return;
        }
    }
    memcpy(copy, text.data, text.len);
    *slot = (struct dln_name){
        .id = id, .generation = store->names_generation, .text = copy, .len = text.len};
}

dunlin_status dln_name_find(struct dln_store *store, struct dln_text text, int64_t *out,
                            dunlin_error *err) {
    const struct dln_name *slot = slot_of(store, text);
    assert(text.data && text.len > 0);
    if (store->in_transaction && slot->generation == store->names_generation &&
        slot->len == text.len && memcmp(slot->text, text.data, text.len) == 0) {
        *out = slot->id;
        return DUNLIN_OK;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_NAME_FIND);
    dln_bind_text(&statement, text);
    dunlin_status status = dln_get_int(&statement, out, err);
    if (status == DUNLIN_OK && *out != 0) {
        remember(store, text, *out);
    }
    return status;
}

dunlin_status dln_name_make(struct dln_store *store, struct dln_text text, int64_t *out,
                            dunlin_error *err) {
    assert(store->in_transaction);
    dunlin_status status = dln_name_find(store, text, out, err);
    if (status != DUNLIN_OK || *out != 0) {
        return status;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_NAME_INSERT);
    dln_bind_text(&statement, text);
    status = dln_run(&statement, err);
    if (status == DUNLIN_OK) {
        *out = sqlite3_last_insert_rowid(store->db);
        remember(store, text, *out);
    }
    return status;
}

dunlin_status dln_name_text(struct dln_store *store, struct dln_arena *arena, int64_t id,
                            struct dln_text *out, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_NAME_TEXT);
    bool row;
    dln_bind_int(&statement, id);
    dunlin_status status = dln_step(&statement, &row, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (!row) {
        status = dln_fail(err, DUNLIN_CORRUPT, DUNLIN_DOMAIN_STORE, "a name is missing");
        return dln_poison(store, status, err);
    }
    *out = dln_arena_text(arena, dln_column_text(&statement, 0));
    dln_done(&statement);
    return out->data ? DUNLIN_OK : dln_poison(store, dln_no_memory(err), err);
}

void dln_names_drop(struct dln_store *store) {
    store->names_generation++; /* never 0 again: a slot that was never used is free */
}
