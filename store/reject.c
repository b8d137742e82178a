/* Dead letters: changes that central refused for good, with the person's values, until he decides.
 *
 * The refused fields are kept by name, known ones as well, in the form of unknown fields
 * (dln_extras_encode): one that a later schema knows is found where it belongs. */
#include <assert.h>
#include <string.h>

#include "store/row.h"

/* The known fields as if they were unknown ones, in the order of their names. */
static size_t gather(const struct dln_record *record, struct dln_extra *out) {
    const struct dln_collection *collection = record->key.collection;
    size_t count = 0;
    for (int i = 0; collection && i < collection->field_count; i++) {
        struct dln_extra field = {dln_text_of(collection->fields[i].name), record->fields[i]};
        size_t at = count;
        if (field.field.stamp == 0) {
            continue;
        }
        for (; at > 0 && dln_text_compare(out[at - 1].name, field.name) > 0; at--) {
            out[at] = out[at - 1];
        }
        out[at] = field;
        count++;
    }
    return count;
}

static struct dln_text encode(struct dln_buf *buf, const struct dln_record *record) {
    dln_buf_clear(buf);
    dln_buf_append(buf, "", 0); /* some memory, also for none */
    dln_extras_encode(buf, record);
    return (struct dln_text){buf->data, buf->len};
}

/* A blob without bytes is not NULL. */
static void bind_bytes(struct dln_statement *statement, struct dln_text bytes) {
    dln_bind_blob(statement, bytes.data ? bytes : DLN_TEXT(""));
}

dunlin_status dln_reject_add(struct dln_store *store, const struct dln_reject *reject,
                             dunlin_error *err) {
    struct dln_extra fields[DLN_FIELD_MAX];
    struct dln_record known = {.key = reject->record->key, .extras = fields};
    assert(store->in_transaction);
    known.extra_count = gather(reject->record, fields);
    struct dln_text known_bytes = encode(&store->stamps, &known);
    struct dln_text extra_bytes = encode(&store->extras, reject->record);
    dln_buf_clear(&store->key_text);
    dln_key_text(&store->key_text, &reject->record->key);
    dunlin_status status = dln_buf_status(&store->key_text, err);
    if (status == DUNLIN_OK) {
        status = dln_buf_status(&store->stamps, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_buf_status(&store->extras, err);
    }
    if (status != DUNLIN_OK) {
        return dln_poison(store, status, err);
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_REJECTED_INSERT);
    dln_bind_int(&statement, reject->code);
    dln_bind_text(&statement, reject->reason);
    dln_bind_int(&statement, dln_store_now_ms(store));
    dln_bind_text(&statement, reject->record->key.scope);
    dln_bind_text(&statement, (struct dln_text){store->key_text.data, store->key_text.len});
    bind_bytes(&statement, known_bytes);
    bind_bytes(&statement, extra_bytes);
    return dln_run(&statement, err);
}

/* Puts fields that this version knows where they belong; the others stay. */
static size_t settle(struct dln_record *record, struct dln_extra *extras, size_t count) {
    const struct dln_collection *collection = record->key.collection;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        int field = collection ? dln_field_by_name(collection, extras[i].name) : -1;
        if (field >= 0) {
            record->fields[field] = extras[i].field;
        } else {
            extras[kept++] = extras[i];
        }
    }
    return kept;
}

static bool decode(struct dln_arena *arena, struct dln_record *out, struct dln_text known,
                   struct dln_text extra) {
    struct dln_record by_name = {.key = out->key};
    if (!dln_extras_decode(arena, &by_name, known) || !dln_extras_decode(arena, out, extra)) {
        return false;
    }
    out->extra_count = settle(out, out->extras, out->extra_count);
    return settle(out, by_name.extras, by_name.extra_count) == 0;
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
    struct dln_text known = dln_arena_text(arena, dln_column_blob(statement, 6));
    struct dln_text extra = dln_arena_text(arena, dln_column_blob(statement, 7));
    if (!out->reason.data || !out->record.key.scope.data || !known.data || !extra.data) {
        return dln_poison(store, dln_no_memory(err), err);
    }
    if (!dln_key_parse(arena, &out->record.key, dln_column_text(statement, 5)) ||
        !decode(arena, &out->record, known, extra)) {
        return dln_poison(store,
                          dln_fail(err, DUNLIN_CORRUPT, DUNLIN_DOMAIN_STORE,
                                   "dead letter %lld cannot be read", (long long)out->id),
                          err);
    }
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
