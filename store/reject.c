/* Dead letters: changes that central refused for good, with the person's values, until he decides.
 *
 * The refused fields are kept by name, known ones as well, in the form of unknown fields
 * (dln_extras_encode): what a letter says does not depend on the schema that reads it. */
#include <assert.h>
#include <string.h>

#include "store/row.h"

/* A record whose fields all stand among the extras, in the order of their names. */
static size_t gather(const struct dln_record *record, struct dln_extra *out, size_t room) {
    size_t count = 0;
    const struct dln_collection *collection = record->key.collection;
    for (size_t i = 0; i < record->extra_count && count < room; i++) {
        out[count++] = record->extras[i];
    }
    for (int i = 0; collection && i < collection->field_count && count < room; i++) {
        if (record->fields[i].stamp != 0) {
            out[count++] =
                (struct dln_extra){dln_text_of(collection->fields[i].name), record->fields[i]};
        }
    }
    for (size_t i = 1; i < count; i++) { /* few: by insertion */
        struct dln_extra moved = out[i];
        size_t at = i;
        for (; at > 0 && dln_text_compare(out[at - 1].name, moved.name) > 0; at--) {
            out[at] = out[at - 1];
        }
        out[at] = moved;
    }
    return count;
}

/* DLN_EXTRA_MAX is a ceiling for both kinds together; what is over it goes, unknown fields first.
 */
static void encode_fields(struct dln_store *store, const struct dln_record *record) {
    struct dln_extra fields[DLN_EXTRA_MAX];
    struct dln_record all = {.key = record->key, .extras = fields};
    struct dln_record shorter = *record;
    if (shorter.extra_count > DLN_EXTRA_MAX - DLN_FIELD_MAX) {
        shorter.extra_count = DLN_EXTRA_MAX - DLN_FIELD_MAX;
    }
    all.extra_count = gather(record->key.collection ? &shorter : record, fields, DLN_EXTRA_MAX);
    dln_buf_clear(&store->extras);
    dln_extras_encode(&store->extras, &all);
}

dunlin_status dln_reject_add(struct dln_store *store, const struct dln_reject *reject,
                             dunlin_error *err) {
    assert(store->in_transaction);
    dln_buf_clear(&store->key_text);
    dln_key_text(&store->key_text, &reject->record->key);
    encode_fields(store, reject->record);
    dunlin_status status = dln_buf_status(&store->key_text, err);
    if (status == DUNLIN_OK) {
        status = dln_buf_status(&store->extras, err);
    }
    if (status != DUNLIN_OK) {
        return dln_poison(store, status, err);
    }
    struct dln_text fields = {store->extras.data ? store->extras.data : "", store->extras.len};
    struct dln_statement statement = dln_use(store, DLN_STORE_REJECTED_INSERT);
    dln_bind_int(&statement, reject->code);
    dln_bind_text(&statement, reject->reason);
    dln_bind_int(&statement, dln_store_now_ms(store));
    dln_bind_text(&statement, reject->record->key.scope);
    dln_bind_text(&statement, (struct dln_text){store->key_text.data, store->key_text.len});
    dln_bind_blob(&statement, fields);
    return dln_run(&statement, err);
}

/* Moves the known fields from the extras to where they belong. */
static void sort_out(struct dln_record *record) {
    size_t kept = 0;
    for (size_t i = 0; i < record->extra_count && record->key.collection; i++) {
        int field = dln_field_by_name(record->key.collection, record->extras[i].name);
        if (field >= 0) {
            record->fields[field] = record->extras[i].field;
        } else {
            record->extras[kept++] = record->extras[i];
        }
    }
    if (record->key.collection) {
        record->extra_count = kept;
    }
}

static dunlin_status read_letter(struct dln_store *store, struct dln_arena *arena,
                                 const struct dln_statement *statement, struct dln_dead_letter *out,
                                 dunlin_error *err) {
    struct dln_text reason = dln_column_text(statement, 2);
    *out = (struct dln_dead_letter){.id = dln_column_int(statement, 0),
                                    .code = (dunlin_status)dln_column_int(statement, 1),
                                    .at_ms = dln_column_int(statement, 3)};
    out->reason = dln_arena_text(arena, reason.data ? reason : DLN_TEXT(""));
    out->record.key.scope = dln_arena_text(arena, dln_column_text(statement, 4));
    struct dln_text fields = dln_arena_text(arena, dln_column_blob(statement, 6));
    if (!out->reason.data || !out->record.key.scope.data || !fields.data) {
        return dln_poison(store, dln_no_memory(err), err);
    }
    if (!dln_key_parse(arena, &out->record.key, dln_column_text(statement, 5)) ||
        !dln_extras_decode(arena, &out->record, fields)) {
        return dln_poison(store,
                          dln_fail(err, DUNLIN_CORRUPT, DUNLIN_DOMAIN_STORE,
                                   "dead letter %lld cannot be read", (long long)out->id),
                          err);
    }
    sort_out(&out->record);
    return DUNLIN_OK;
}

dunlin_status dln_reject_page(struct dln_store *store, struct dln_arena *arena, int64_t after,
                              bool backwards, size_t limit, struct dln_dead_letter **out,
                              size_t *count, dunlin_error *err) {
    *count = 0;
    *out = dln_arena_alloc(arena, limit * sizeof(**out));
    if (!*out) {
        return dln_no_memory(err);
    }
    struct dln_statement statement =
        dln_use(store, backwards ? DLN_STORE_REJECTED_BEFORE : DLN_STORE_REJECTED_AFTER);
    dln_bind_int(&statement, backwards && after == 0 ? INT64_MAX : after);
    dln_bind_int(&statement, (int64_t)limit);
    dunlin_status status = DUNLIN_OK;
    while (*count < limit) {
        bool row;
        status = dln_step(&statement, &row, err);
        if (status != DUNLIN_OK || !row) {
            return status;
        }
        status = read_letter(store, arena, &statement, &(*out)[*count], err);
        if (status != DUNLIN_OK) {
            break;
        }
        ++*count;
    }
    dln_done(&statement);
    return status;
}

dunlin_status dln_reject_get(struct dln_store *store, struct dln_arena *arena, int64_t id,
                             struct dln_dead_letter *out, dunlin_error *err) {
    bool row;
    struct dln_statement statement = dln_use(store, DLN_STORE_REJECTED_GET);
    dln_bind_int(&statement, id);
    dunlin_status status = dln_step(&statement, &row, err);
    if (status == DUNLIN_OK && !row) {
        status = dln_fail(err, DUNLIN_NOT_FOUND, DUNLIN_DOMAIN_API, "there is no dead letter %lld",
                          (long long)id);
    }
    if (row) {
        status = read_letter(store, arena, &statement, out, err);
        dln_done(&statement);
    }
    return status;
}

dunlin_status dln_reject_remove(struct dln_store *store, int64_t id, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_REJECTED_REMOVE);
    assert(store->in_transaction);
    dln_bind_int(&statement, id);
    dunlin_status status = dln_run(&statement, err);
    if (status == DUNLIN_OK && dln_changed(store) == 0) {
        status = dln_fail(err, DUNLIN_NOT_FOUND, DUNLIN_DOMAIN_API, "there is no dead letter %lld",
                          (long long)id);
    }
    return status;
}

dunlin_status dln_reject_has(struct dln_store *store, const struct dln_key *key, bool *out,
                             dunlin_error *err) {
    int64_t found = 0;
    dln_buf_clear(&store->key_text);
    dln_key_text(&store->key_text, key);
    dunlin_status status = dln_buf_status(&store->key_text, err);
    if (status == DUNLIN_OK) {
        struct dln_statement statement = dln_use(store, DLN_STORE_REJECTED_HAS);
        dln_bind_text(&statement, key->scope);
        dln_bind_text(&statement, (struct dln_text){store->key_text.data, store->key_text.len});
        status = dln_get_int(&statement, &found, err);
    }
    *out = found != 0;
    return status;
}
