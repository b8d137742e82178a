/* Keys as columns and back: which table a key belongs to, and what of it is interned. */
#include <assert.h>
#include <string.h>

#include "store/row.h"

#define QUERIES(upper)                                                                             \
    DLN_STORE_##upper##_GET, DLN_STORE_##upper##_INSERT, DLN_STORE_##upper##_UPDATE,               \
        DLN_STORE_##upper##_PLACE, DLN_STORE_##upper##_MARK, DLN_STORE_##upper##_REMOVE,           \
        DLN_STORE_##upper##_WALK, DLN_STORE_##upper##_FORGET

static const struct dln_table tables[] = {
    {DLN_FOLLOW, 2, {{DLN_FROM_KIND, 0}, {DLN_FROM_NAME, 1}}, QUERIES(FOLLOW)},
    {DLN_MYGROUP, 1, {{DLN_FROM_NAME, 0}}, QUERIES(MYGROUP)},
    {DLN_LIST, 1, {{DLN_FROM_NAME, 0}}, QUERIES(LIST)},
    {DLN_ITEM, 3, {{DLN_FROM_TEXT, 2}, {DLN_FROM_NAME, 1}, {DLN_FROM_NAME, 0}}, QUERIES(ITEM)},
    {DLN_GROUP, 1, {{DLN_FROM_GROUP, 0}}, QUERIES(GRP)},
    {DLN_MEMBER, 2, {{DLN_FROM_GROUP, 0}, {DLN_FROM_NAME, 0}}, QUERIES(MEMBER)},
    {DLN_OTHER,
     6,
     {{DLN_FROM_GROUP, 0},
      {DLN_FROM_LABEL, 0},
      {DLN_FROM_TEXT, 0},
      {DLN_FROM_TEXT, 1},
      {DLN_FROM_TEXT, 2},
      {DLN_FROM_COUNT, 0}},
     QUERIES(OTHER)},
};

const struct dln_table *dln_table_by_id(enum dln_collection_id id) {
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (tables[i].id == id) {
            return &tables[i];
        }
    }
    assert(!"every collection has a table");
    return NULL;
}

const struct dln_table *dln_table_of(const struct dln_key *key) {
    return dln_table_by_id(key->collection ? key->collection->id : DLN_OTHER);
}

static dunlin_status foreign_scope(dunlin_error *err) {
    return dln_fail(err, DUNLIN_BAD_MESSAGE, DUNLIN_DOMAIN_STORE,
                    "a scope is neither the owner's nor a group's");
}

dunlin_status dln_scope_number(struct dln_store *store, struct dln_text scope, bool make,
                               int64_t *out, dunlin_error *err) {
    const struct dln_text prefix = DLN_TEXT("group/");
    *out = 0;
    if (dln_text_equal(scope, store->own_scope)) {
        return DUNLIN_OK;
    }
    if (scope.len <= prefix.len || memcmp(scope.data, prefix.data, prefix.len) != 0) {
        return foreign_scope(err);
    }
    struct dln_text group = {scope.data + prefix.len, scope.len - prefix.len};
    if (memchr(group.data, '%', group.len)) {
        dln_buf_clear(&store->decoded);
        if (!dln_percent_decode(&store->decoded, group)) {
            return foreign_scope(err);
        }
        if (store->decoded.status != DUNLIN_OK) {
            return dln_buf_status(&store->decoded, err);
        }
        group = (struct dln_text){store->decoded.data, store->decoded.len};
    }
    dunlin_status status =
        make ? dln_name_make(store, group, out, err) : dln_name_find(store, group, out, err);
    if (status == DUNLIN_OK && *out == 0) {
        *out = -1;
    }
    return status;
}

static dunlin_status name_value(struct dln_store *store, struct dln_text text, bool make,
                                struct dln_key_values *out, int column, dunlin_error *err) {
    dunlin_status status = make ? dln_name_make(store, text, &out->at[column].number, err)
                                : dln_name_find(store, text, &out->at[column].number, err);
    if (out->at[column].number == 0) {
        out->known = false;
    }
    return status;
}

static struct dln_key_value text_value(struct dln_text text) {
    return (struct dln_key_value){true, 0, text.data ? text : DLN_TEXT("")};
}

dunlin_status dln_key_values_of(struct dln_store *store, const struct dln_key *key, bool make,
                                struct dln_key_values *out, dunlin_error *err) {
    const struct dln_table *table = dln_table_of(key);
    int64_t group;
    dunlin_status status = dln_scope_number(store, key->scope, make, &group, err);
    *out = (struct dln_key_values){.known = group >= 0};
    if (status == DUNLIN_OK && key->collection &&
        (key->collection->scope == DLN_SCOPE_GROUP) != (group != 0)) {
        return foreign_scope(err);
    }
    for (int i = 0; i < table->key_count && status == DUNLIN_OK; i++) {
        int part = table->keys[i].part;
        struct dln_text text = part < key->part_count ? key->parts[part] : DLN_TEXT("");
        switch (table->keys[i].source) {
        case DLN_FROM_NAME:
            status = name_value(store, text, make, out, i, err);
            break;
        case DLN_FROM_TEXT:
            out->at[i] = text_value(text);
            break;
        case DLN_FROM_KIND:
            out->at[i].number = dln_text_equal(text, DLN_TEXT("group"));
            break;
        case DLN_FROM_GROUP:
            out->at[i].number = group;
            break;
        case DLN_FROM_LABEL:
            out->at[i] = text_value(key->name);
            break;
        case DLN_FROM_COUNT:
            out->at[i].number = key->part_count;
            break;
        }
    }
    return status;
}

struct dln_key_values dln_key_values_first(const struct dln_table *table, int64_t group) {
    struct dln_key_values values = {.known = true};
    for (int i = 0; i < table->key_count; i++) {
        switch (table->keys[i].source) {
        case DLN_FROM_TEXT:
        case DLN_FROM_LABEL:
            values.at[i] = text_value(DLN_TEXT(""));
            break;
        case DLN_FROM_KIND:
        case DLN_FROM_COUNT:
        case DLN_FROM_NAME:
            values.at[i].number = -1;
            break;
        case DLN_FROM_GROUP:
            values.at[i].number = group;
            break;
        }
    }
    return values;
}

void dln_bind_key(struct dln_statement *statement, const struct dln_table *table,
                  const struct dln_key_values *values) {
    for (int i = 0; i < table->key_count; i++) {
        if (values->at[i].is_text) {
            dln_bind_text(statement, values->at[i].text);
        } else {
            dln_bind_int(statement, values->at[i].number);
        }
    }
}

/* The text of an interned column; that of the row before, where it is the same. */
static dunlin_status name_of(struct dln_row_reader *reader, int column, int64_t id,
                             struct dln_text *out, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    if (reader->ids[column] != id) {
        bool is_group = reader->table->keys[column].source == DLN_FROM_GROUP;
        reader->ids[column] = 0;
        status = dln_name_text(reader->store, reader->arena, id, &reader->names[column], err);
        if (status == DUNLIN_OK && is_group) {
            reader->names[column] = dln_scope_group(reader->arena, reader->names[column]);
            if (!reader->names[column].data) {
                status = dln_no_memory(err);
            }
        }
        if (status == DUNLIN_OK) {
            reader->ids[column] = id;
        }
    }
    *out = reader->names[column];
    return status;
}

static dunlin_status own_scope(struct dln_row_reader *reader, struct dln_text *out,
                               dunlin_error *err) {
    if (!reader->own_scope.data) {
        reader->own_scope = dln_arena_text(reader->arena, reader->store->own_scope);
    }
    *out = reader->own_scope;
    return out->data ? DUNLIN_OK : dln_no_memory(err);
}

static dunlin_status copy_column(struct dln_row_reader *reader,
                                 const struct dln_statement *statement, int column,
                                 struct dln_text *out, dunlin_error *err) {
    *out = dln_arena_text(reader->arena, dln_column_text(statement, column));
    return out->data ? DUNLIN_OK : dln_no_memory(err);
}

dunlin_status dln_read_key(struct dln_row_reader *reader, const struct dln_statement *statement,
                           struct dln_key *out, dunlin_error *err) {
    const struct dln_table *table = reader->table;
    const struct dln_collection *collection = dln_collection_by_id(table->id);
    dunlin_status status = DUNLIN_OK;
    *out = (struct dln_key){.collection = collection};
    if (collection) {
        out->name = dln_text_of(collection->name);
        out->part_count = collection->key_count;
    }
    for (int i = 0; i < table->key_count && status == DUNLIN_OK; i++) {
        int64_t number = dln_column_int(statement, i);
        struct dln_text *part = &out->parts[table->keys[i].part];
        switch (table->keys[i].source) {
        case DLN_FROM_NAME:
            status = name_of(reader, i, number, part, err);
            break;
        case DLN_FROM_TEXT:
            status = copy_column(reader, statement, i, part, err);
            break;
        case DLN_FROM_KIND:
            *part = number ? DLN_TEXT("group") : DLN_TEXT("user");
            break;
        case DLN_FROM_GROUP:
            if (number != 0) {
                status = name_of(reader, i, number, &out->scope, err);
            }
            break;
        case DLN_FROM_LABEL:
            status = copy_column(reader, statement, i, &out->name, err);
            break;
        case DLN_FROM_COUNT:
            out->part_count = number < 0 || number > DLN_KEY_MAX ? 0 : (int)number;
            break;
        }
    }
    if (status == DUNLIN_OK && !out->scope.data) {
        status = own_scope(reader, &out->scope, err);
    }
    return status;
}
