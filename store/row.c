/* Reading and writing rows, generic over the descriptor: one way for local edits and for what comes
 * from central. Whoever writes or removes a row here brings what derives from it up to date in the
 * same transaction (store/derive.h); the old version is read for that, unless the caller found that
 * there is none.
 *
 * Failures in the middle of a write poison the transaction. */
#include <assert.h>
#include <string.h>

#include "store/derive.h"
#include "store/outbox.h"

enum { STAMP_BYTES = 8 };

static int field_count(const struct dln_collection *collection) {
    return collection ? collection->field_count : 0;
}

/* ---- binding */

/* A rank that is not there stands as an empty text, before all others. */
static void bind_none(struct dln_statement *statement, enum dln_field_kind kind) {
    if (kind == DLN_KIND_RANK) {
        dln_bind_text(statement, DLN_TEXT(""));
    } else {
        dln_bind_null(statement);
    }
}

static void bind_value(struct dln_statement *statement, const struct dln_field *field,
                       enum dln_field_kind kind) {
    if (field->stamp == 0) {
        bind_none(statement, kind);
        return;
    }
    switch (field->value.type) {
    case DLN_FALSE:
    case DLN_TRUE:
        dln_bind_int(statement, field->value.type == DLN_TRUE);
        return;
    case DLN_INTEGER:
        dln_bind_int(statement, field->value.as.integer);
        return;
    case DLN_STRING:
    case DLN_JSON:
        dln_bind_text(statement, field->value.as.text);
        return;
    case DLN_NULL:
    case DLN_REAL: /* no known field is one */
        break;
    }
    bind_none(statement, kind);
}

/* The row's stamp, and the fields' own where they differ from it. */
static void bind_stamps(struct dln_store *store, struct dln_statement *statement,
                        const struct dln_record *record) {
    int count = field_count(record->key.collection);
    dln_stamp newest = record->key.collection ? 0 : dln_record_newest(record);
    bool differ = false;
    for (int i = 0; i < count; i++) {
        differ = differ || record->fields[i].stamp != record->fields[0].stamp;
        if (record->fields[i].stamp > newest) {
            newest = record->fields[i].stamp;
        }
    }
    dln_bind_int(statement, (int64_t)newest);
    if (!differ) {
        dln_bind_null(statement);
        return;
    }
    dln_buf_clear(&store->stamps);
    for (int i = 0; i < count; i++) {
        dln_buf_append_u64_be(&store->stamps, record->fields[i].stamp);
    }
    dln_bind_blob(statement, (struct dln_text){store->stamps.data, store->stamps.len});
}

static void bind_extras(struct dln_store *store, struct dln_statement *statement,
                        const struct dln_record *record) {
    if (record->extra_count == 0) {
        dln_bind_null(statement);
        return;
    }
    dln_buf_clear(&store->extras);
    dln_extras_encode(&store->extras, record);
    dln_bind_blob(statement, (struct dln_text){store->extras.data, store->extras.len});
}

static void bind_outbox(struct dln_statement *statement, const struct dln_row *row, int64_t place) {
    dln_bind_int(statement, row->seq);
    if (place != 0) {
        dln_bind_int(statement, place);
    } else {
        dln_bind_null(statement);
    }
    dln_bind_int(statement, row->pending);
    dln_bind_int(statement, row->pending & row->offered);
    dln_bind_int(statement, row->pending != 0 && row->tried);
}

/* INSERT and UPDATE take the same parameters. */
static dunlin_status write_row(struct dln_store *store, enum dln_store_query query,
                               const struct dln_table *table, const struct dln_key_values *values,
                               const struct dln_row *row, int64_t place, dunlin_error *err) {
    const struct dln_collection *collection = row->record.key.collection;
    struct dln_statement statement = dln_use(store, query);
    dln_bind_key(&statement, table, values);
    for (int i = 0; i < field_count(collection); i++) {
        bind_value(&statement, &row->record.fields[i], collection->fields[i].kind);
    }
    bind_stamps(store, &statement, &row->record);
    bind_extras(store, &statement, &row->record);
    bind_outbox(&statement, row, place);
    dunlin_status status = dln_buf_status(&store->stamps, err);
    if (status == DUNLIN_OK) {
        status = dln_buf_status(&store->extras, err);
    }
    if (status != DUNLIN_OK) {
        dln_done(&statement);
        return status;
    }
    return dln_run(&statement, err);
}

/* ---- reading */

static dunlin_status damaged(const char *what, dunlin_error *err) {
    return dln_fail(err, DUNLIN_CORRUPT, DUNLIN_DOMAIN_STORE, "a row's %s cannot be read", what);
}

static dln_stamp stamp_at(struct dln_text stamps, int index) {
    dln_stamp stamp = 0;
    size_t from = (size_t)index * STAMP_BYTES;
    for (size_t i = from; i < from + STAMP_BYTES && i < stamps.len; i++) {
        stamp = stamp << 8 | (unsigned char)stamps.data[i];
    }
    return stamp;
}

static dunlin_status read_value(struct dln_arena *arena, const struct dln_statement *statement,
                                int column, enum dln_field_kind kind, struct dln_value *out,
                                dunlin_error *err) {
    struct dln_text text;
    if (dln_column_is_null(statement, column)) {
        *out = dln_value_null();
        return DUNLIN_OK;
    }
    switch (kind) {
    case DLN_KIND_BOOL:
        *out = dln_value_bool(dln_column_int(statement, column) != 0);
        return DUNLIN_OK;
    case DLN_KIND_TIME:
        *out = dln_value_integer(dln_column_int(statement, column));
        return DUNLIN_OK;
    case DLN_KIND_TEXT:
    case DLN_KIND_ID:
    case DLN_KIND_RANK:
    case DLN_KIND_JSON:
    case DLN_KIND_CHOICE:
        break;
    }
    text = dln_arena_text(arena, dln_column_text(statement, column));
    *out = kind == DLN_KIND_JSON ? dln_value_json(text) : dln_value_string(text);
    return text.data ? DUNLIN_OK : dln_no_memory(err);
}

static dunlin_status read_extras(struct dln_arena *arena, const struct dln_statement *statement,
                                 int column, struct dln_record *out, dunlin_error *err) {
    out->extras = NULL;
    out->extra_count = 0;
    if (dln_column_is_null(statement, column)) {
        return DUNLIN_OK;
    }
    struct dln_text bytes = dln_arena_text(arena, dln_column_blob(statement, column));
    if (!bytes.data) {
        return dln_no_memory(err);
    }
    return dln_extras_decode(arena, out, bytes) ? DUNLIN_OK : damaged("extra fields", err);
}

dunlin_status dln_read_fields(struct dln_store *store, struct dln_arena *arena,
                              const struct dln_statement *statement, int column,
                              struct dln_row *out, int64_t *place, dunlin_error *err) {
    const struct dln_collection *collection = out->record.key.collection;
    int count = field_count(collection);
    dln_stamp stamp = (dln_stamp)dln_column_int(statement, column + count);
    struct dln_text stamps = dln_column_blob(statement, column + count + 1);
    dunlin_status status = DUNLIN_OK;
    memset(out->record.fields, 0, sizeof(out->record.fields));
    for (int i = 0; i < count && status == DUNLIN_OK; i++) {
        struct dln_field *field = &out->record.fields[i];
        field->stamp = stamps.data ? stamp_at(stamps, i) : stamp;
        if (field->stamp != 0) {
            status = read_value(arena, statement, column + i, collection->fields[i].kind,
                                &field->value, err);
        }
    }
    column += count + 2;
    if (status == DUNLIN_OK) {
        status = read_extras(arena, statement, column, &out->record, err);
    }
    out->stored = true;
    out->seq = dln_column_int(statement, column + 1);
    if (place) {
        *place = dln_column_int(statement, column + 2);
    }
    out->pending = (uint32_t)dln_column_int(statement, column + 3);
    out->offered = (uint32_t)dln_column_int(statement, column + 4);
    out->tried = dln_column_int(statement, column + 5) != 0;
    return dln_poison(store, status, err);
}

dunlin_status dln_read_rows(struct dln_row_reader *reader, struct dln_statement *statement,
                            struct dln_row *rows, size_t limit, size_t *count, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    bool more = true;
    while (*count < limit) {
        status = dln_step(statement, &more, err);
        if (status != DUNLIN_OK || !more) {
            return status;
        }
        struct dln_row *row = &rows[*count];
        status = dln_read_key(reader, statement, &row->record.key, err);
        if (status == DUNLIN_OK) {
            status =
                dln_read_fields(reader->store, reader->arena, statement, reader->table->key_count,
                                row, reader->places ? &reader->places[*count] : NULL, err);
        }
        if (status != DUNLIN_OK) {
            break;
        }
        ++*count;
    }
    dln_done(statement);
    return status;
}

static dunlin_status get_row(struct dln_store *store, struct dln_arena *arena,
                             const struct dln_table *table, const struct dln_key_values *values,
                             struct dln_row *out, int64_t *place, dunlin_error *err) {
    bool found;
    struct dln_statement statement = dln_use(store, table->get);
    dln_bind_key(&statement, table, values);
    dunlin_status status = dln_step(&statement, &found, err);
    if (found) {
        status = dln_read_fields(store, arena, &statement, 0, out, place, err);
        dln_done(&statement);
    }
    return status;
}

dunlin_status dln_row_get(struct dln_store *store, struct dln_arena *arena,
                          const struct dln_key *key, struct dln_row *out, dunlin_error *err) {
    struct dln_key_values values;
    *out = (struct dln_row){.record = {.key = *key}};
    dunlin_status status = dln_key_values_of(store, key, false, &values, err);
    if (status != DUNLIN_OK || !values.known) {
        return status;
    }
    return get_row(store, arena, dln_table_of(key), &values, out, NULL, err);
}

/* ---- writing */

/* The row is said to be new. *written: it was; else there is one already, and nothing changed. */
static dunlin_status insert_row(struct dln_store *store, const struct dln_row *row,
                                const struct dln_table *table, const struct dln_key_values *values,
                                bool *written, dunlin_error *err) {
    struct dln_row before = {.record = {.key = row->record.key}};
    struct dln_row after = *row;
    int64_t place = 0;
    after.stored = true;
    *written = false;
    dunlin_status status = DUNLIN_OK;
    if (row->pending != 0) {
        status = dln_outbox_place(store, row, table, values, &place, err);
    }
    if (status == DUNLIN_OK) {
        status = write_row(store, table->insert, table, values, row, place, err);
    }
    if (status != DUNLIN_OK || dln_changed(store) == 0) {
        return status;
    }
    *written = true;
    if (place != 0) {
        status = dln_outbox_enter(store, table, values, place, err);
    }
    return status == DUNLIN_OK ? dln_derive(store, &before, &after, err) : status;
}

static dunlin_status put_row(struct dln_store *store, const struct dln_row *row,
                             dunlin_error *err) {
    const struct dln_table *table = dln_table_of(&row->record.key);
    struct dln_row before = {.record = {.key = row->record.key}};
    struct dln_row after = *row;
    struct dln_key_values values;
    int64_t place = 0;
    bool written = false;
    after.stored = true;
    dunlin_status status = dln_key_values_of(store, &row->record.key, true, &values, err);
    if (status == DUNLIN_OK && !row->stored) {
        status = insert_row(store, row, table, &values, &written, err);
    }
    if (status != DUNLIN_OK || written) {
        return status;
    }
    dln_arena_clear(&store->before);
    status = get_row(store, &store->before, table, &values, &before, &place, err);
    if (status == DUNLIN_OK && !before.stored) {
        return insert_row(store, row, table, &values, &written, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_outbox_move(store, row, table, &values, &place, err);
    }
    if (status == DUNLIN_OK) {
        status = write_row(store, table->update, table, &values, row, place, err);
    }
    return status == DUNLIN_OK ? dln_derive(store, &before, &after, err) : status;
}

dunlin_status dln_row_insert(struct dln_store *store, const struct dln_row *row, bool *written,
                             dunlin_error *err) {
    struct dln_key_values values;
    assert(store->in_transaction);
    dunlin_status status = dln_key_values_of(store, &row->record.key, true, &values, err);
    if (status == DUNLIN_OK) {
        status = insert_row(store, row, dln_table_of(&row->record.key), &values, written, err);
    }
    return dln_poison(store, status, err);
}

dunlin_status dln_row_put(struct dln_store *store, const struct dln_row *row, dunlin_error *err) {
    assert(store->in_transaction);
    return dln_poison(store, put_row(store, row, err), err);
}

static dunlin_status mark_row(struct dln_store *store, const struct dln_row *row,
                              dunlin_error *err) {
    const struct dln_table *table = dln_table_of(&row->record.key);
    struct dln_key_values values;
    int64_t place = 0;
    bool found;
    dunlin_status status = dln_key_values_of(store, &row->record.key, false, &values, err);
    if (status != DUNLIN_OK || !values.known) {
        return status;
    }
    struct dln_statement statement = dln_use(store, table->place);
    dln_bind_key(&statement, table, &values);
    status = dln_step(&statement, &found, err);
    if (status != DUNLIN_OK || !found) {
        return status;
    }
    place = dln_column_int(&statement, 0);
    dln_done(&statement);
    status = dln_outbox_move(store, row, table, &values, &place, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    statement = dln_use(store, table->mark);
    dln_bind_key(&statement, table, &values);
    bind_outbox(&statement, row, place);
    return dln_run(&statement, err);
}

dunlin_status dln_row_mark(struct dln_store *store, const struct dln_row *row, dunlin_error *err) {
    assert(store->in_transaction);
    return dln_poison(store, mark_row(store, row, err), err);
}

static dunlin_status remove_row(struct dln_store *store, const struct dln_key *key,
                                dunlin_error *err) {
    const struct dln_table *table = dln_table_of(key);
    struct dln_row before = {.record = {.key = *key}};
    struct dln_row after = before;
    struct dln_key_values values;
    int64_t place = 0;
    dunlin_status status = dln_key_values_of(store, key, false, &values, err);
    if (status != DUNLIN_OK || !values.known) {
        return status;
    }
    dln_arena_clear(&store->before);
    status = get_row(store, &store->before, table, &values, &before, &place, err);
    if (status != DUNLIN_OK || !before.stored) {
        return status;
    }
    if (place != 0) {
        status = dln_outbox_leave(store, place, err);
    }
    if (status == DUNLIN_OK) {
        struct dln_statement statement = dln_use(store, table->remove);
        dln_bind_key(&statement, table, &values);
        status = dln_run(&statement, err);
    }
    return status == DUNLIN_OK ? dln_derive(store, &before, &after, err) : status;
}

dunlin_status dln_row_remove(struct dln_store *store, const struct dln_key *key,
                             dunlin_error *err) {
    assert(store->in_transaction);
    return dln_poison(store, remove_row(store, key, err), err);
}
