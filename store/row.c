/* Reading and writing rows, generic over the descriptor: one way for local edits and for what comes
 * from central. Whoever writes or removes a row here brings what derives from it up to date in the
 * same transaction (store/derive.h); the old version is read for that, unless the caller found that
 * there is none.
 *
 * Failures in the middle of a write poison the transaction. */
#include <assert.h>
#include <string.h>

#include "store/derive.h"
#include "store/row.h"

enum { STAMP_BYTES = 8 };

static int field_count(const struct dln_collection *collection) {
    return collection ? collection->field_count : 0;
}

/* ---- binding */

static void bind_value(struct dln_statement *statement, const struct dln_field *field) {
    if (field->stamp == 0) {
        dln_bind_null(statement);
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
    dln_bind_null(statement);
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

static void bind_outbox(struct dln_statement *statement, const struct dln_row *row) {
    dln_bind_int(statement, row->seq);
    dln_bind_int(statement, row->pending);
    dln_bind_int(statement, row->pending & row->offered);
    dln_bind_int(statement, row->pending != 0 && row->tried);
}

/* INSERT and UPDATE take the same parameters. */
static dunlin_status write_row(struct dln_store *store, enum dln_store_query query,
                               const struct dln_table *table, const struct dln_key_values *values,
                               const struct dln_row *row, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, query);
    dln_bind_key(&statement, table, values);
    for (int i = 0; i < field_count(row->record.key.collection); i++) {
        bind_value(&statement, &row->record.fields[i]);
    }
    bind_stamps(store, &statement, &row->record);
    bind_extras(store, &statement, &row->record);
    bind_outbox(&statement, row);
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
                              struct dln_row *out, dunlin_error *err) {
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
    out->pending = (uint32_t)dln_column_int(statement, column + 2);
    out->offered = (uint32_t)dln_column_int(statement, column + 3);
    out->tried = dln_column_int(statement, column + 4) != 0;
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
            status = dln_read_fields(reader->store, reader->arena, statement,
                                     reader->table->key_count, row, err);
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
                             struct dln_row *out, dunlin_error *err) {
    bool found;
    struct dln_statement statement = dln_use(store, table->get);
    dln_bind_key(&statement, table, values);
    dunlin_status status = dln_step(&statement, &found, err);
    if (found) {
        status = dln_read_fields(store, arena, &statement, 0, out, err);
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
    return get_row(store, arena, dln_table_of(key), &values, out, err);
}

/* ---- writing */

static dunlin_status put_row(struct dln_store *store, const struct dln_row *row,
                             dunlin_error *err) {
    const struct dln_table *table = dln_table_of(&row->record.key);
    struct dln_row before = {.record = {.key = row->record.key}};
    struct dln_row after = *row;
    struct dln_key_values values;
    after.stored = true;
    dunlin_status status = dln_key_values_of(store, &row->record.key, true, &values, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (!row->stored) { /* then the insert finds out whether that is so */
        status = write_row(store, table->insert, table, &values, row, err);
        if (status != DUNLIN_OK || dln_changed(store) == 1) {
            return status == DUNLIN_OK ? dln_derive(store, &before, &after, err) : status;
        }
    }
    dln_arena_clear(&store->before);
    status = get_row(store, &store->before, table, &values, &before, err);
    if (status == DUNLIN_OK) {
        status = write_row(store, before.stored ? table->update : table->insert, table, &values,
                           row, err);
    }
    return status == DUNLIN_OK ? dln_derive(store, &before, &after, err) : status;
}

dunlin_status dln_row_put(struct dln_store *store, const struct dln_row *row, dunlin_error *err) {
    assert(store->in_transaction);
    return dln_poison(store, put_row(store, row, err), err);
}

dunlin_status dln_row_mark(struct dln_store *store, const struct dln_row *row, dunlin_error *err) {
    const struct dln_table *table = dln_table_of(&row->record.key);
    struct dln_key_values values;
    assert(store->in_transaction);
    dunlin_status status = dln_key_values_of(store, &row->record.key, false, &values, err);
    if (status == DUNLIN_OK && values.known) {
        struct dln_statement statement = dln_use(store, table->mark);
        dln_bind_key(&statement, table, &values);
        bind_outbox(&statement, row);
        status = dln_run(&statement, err);
    }
    return dln_poison(store, status, err);
}

static dunlin_status remove_row(struct dln_store *store, const struct dln_key *key,
                                dunlin_error *err) {
    const struct dln_table *table = dln_table_of(key);
    struct dln_row before = {.record = {.key = *key}};
    struct dln_row after = before;
    struct dln_key_values values;
    dunlin_status status = dln_key_values_of(store, key, false, &values, err);
    if (status != DUNLIN_OK || !values.known) {
        return status;
    }
    dln_arena_clear(&store->before);
    status = get_row(store, &store->before, table, &values, &before, err);
    if (status != DUNLIN_OK || !before.stored) {
        return status;
    }
    struct dln_statement statement = dln_use(store, table->remove);
    dln_bind_key(&statement, table, &values);
    status = dln_run(&statement, err);
    return status == DUNLIN_OK ? dln_derive(store, &before, &after, err) : status;
}

dunlin_status dln_row_remove(struct dln_store *store, const struct dln_key *key,
                             dunlin_error *err) {
    assert(store->in_transaction);
    return dln_poison(store, remove_row(store, key, err), err);
}
