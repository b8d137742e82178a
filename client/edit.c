#include "client/edit.h"

#include <assert.h>

#include "client/handle.h"

/* A re-keyed gap or a restored list is read a row at a time; nothing else needs more than a few. */
enum { EDIT_BYTES_MAX = 64 << 20 };

dunlin_status dln_misuse(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "%s", what);
}

dunlin_status dln_check_id_argument(const char *id, const char *what, dunlin_error *err) {
    if (!id) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "%s is NULL", what);
    }
    return dln_check_id(dln_text_of(id), what, err);
}

dunlin_status dln_check_group_argument(const char *group, dunlin_error *err) {
    return group ? dln_check_group_id(dln_text_of(group), err)
                 : dln_misuse(err, "the group is NULL");
}

dunlin_status dln_check_name_argument(const char *name, const char *what, dunlin_error *err) {
    return name ? dln_check_text(dln_text_of(name), DLN_NAME_MAX, what, err) : DUNLIN_OK;
}

dunlin_status dln_edit_begin(struct dln_edit *edit, dunlin_store *store, dunlin_error *err) {
    dunlin_status status = dln_handle_check(store, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    *edit = (struct dln_edit){.store = store->store, .arena = DLN_ARENA_INIT(EDIT_BYTES_MAX)};
    edit->own = !dln_store_in_transaction(edit->store);
    return edit->own ? dln_store_begin(edit->store, err) : DUNLIN_OK;
}

dunlin_status dln_edit_end(struct dln_edit *edit, dunlin_status status, dunlin_error *err) {
    if (edit->own && status == DUNLIN_OK) {
        status = dln_store_commit(edit->store, err);
    } else if (edit->own) {
        dln_store_rollback(edit->store);
    } else if (status != DUNLIN_OK && edit->wrote) {
        dln_store_doom(edit->store, status, err);
    }
    dln_arena_free(&edit->arena);
    return status;
}

dunlin_status dln_edit_new(struct dln_edit *edit, struct dln_row *out,
                           enum dln_collection_id collection, struct dln_text group,
                           const struct dln_text *parts, dunlin_error *err) {
    const struct dln_collection *table = dln_collection_by_id(collection);
    struct dln_key key = {
        .collection = table, .name = dln_text_of(table->name), .part_count = table->key_count};
    key.scope = table->scope == DLN_SCOPE_USER ? dln_store_scope(edit->store)
                                               : dln_scope_group(&edit->arena, group);
    if (!key.scope.data) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_STORE, "out of memory");
    }
    for (int i = 0; i < table->key_count; i++) {
        key.parts[i] = parts[i];
    }
    *out = (struct dln_row){.record = {.key = key}};
    return DUNLIN_OK;
}

dunlin_status dln_edit_row(struct dln_edit *edit, struct dln_row *out,
                           enum dln_collection_id collection, struct dln_text group,
                           const struct dln_text *parts, dunlin_error *err) {
    struct dln_row row;
    dunlin_status status = dln_edit_new(edit, &row, collection, group, parts, err);
    return status == DUNLIN_OK ? dln_row_get(edit->store, &edit->arena, &row.record.key, out, err)
                               : status;
}

dunlin_status dln_edit_create(struct dln_edit *edit, struct dln_row *row, bool *created,
                              dunlin_error *err) {
    edit->wrote = true;
    return dln_row_create(edit->store, row, created, err);
}

dunlin_status dln_edit_write(struct dln_edit *edit, struct dln_row *row, uint32_t fields,
                             dunlin_error *err) {
    if (fields == 0) {
        return DUNLIN_OK;
    }
    edit->wrote = true;
    return dln_row_edit(edit->store, row, fields, err);
}

bool dln_row_exists(const struct dln_row *row) {
    return row->stored && dln_record_exists(&row->record);
}

bool dln_row_never_left(const struct dln_row *row) {
    return row->stored && row->pending != 0 && row->seq == DLN_SEQ_NEVER && !row->tried;
}

struct dln_text dln_row_text(const struct dln_row *row, int field) {
    const struct dln_field *found = &row->record.fields[field];
    bool text =
        found->stamp != 0 && (found->value.type == DLN_STRING || found->value.type == DLN_JSON);
    return text ? found->value.as.text : (struct dln_text){NULL, 0};
}

void dln_row_set(struct dln_row *row, uint32_t *fields, int field, struct dln_value value) {
    assert(field < row->record.key.collection->field_count);
    row->record.fields[field].value = value;
    *fields |= UINT32_C(1) << field;
}

void dln_row_change(struct dln_row *row, uint32_t *fields, int field, struct dln_value value) {
    const struct dln_field *found = &row->record.fields[field];
    if (found->stamp == 0 || !dln_value_equal(&found->value, &value)) {
        dln_row_set(row, fields, field, value);
    }
}
