#include "sync/values.h"

#include "sync/fields.h"
#include "sync/json.h"
#include "sync/lines.h"

void dln_values_write(struct dln_buf *out, const struct dln_record *record) {
    struct dln_field_walk walk;
    struct dln_text name;
    const struct dln_field *field;
    const char *before = "";
    dln_buf_append_byte(out, '{');
    dln_field_walk_begin(&walk, record);
    while ((field = dln_field_walk_next(&walk, &name)) != NULL) {
        dln_buf_append_text(out, before);
        dln_json_string(out, name);
        dln_buf_append_byte(out, ':');
        dln_json_value(out, &field->value);
        before = ",";
    }
    dln_buf_append_byte(out, '}');
}

/* The field of that name, if the record has it; *spec is NULL for an unknown one. */
static struct dln_field *find_field(struct dln_record *record, struct dln_text name,
                                    const struct dln_field_spec **spec) {
    const struct dln_collection *collection = record->key.collection;
    int known = collection ? dln_field_by_name(collection, name) : -1;
    *spec = NULL;
    if (known >= 0) {
        *spec = &collection->fields[known];
        return record->fields[known].stamp != 0 ? &record->fields[known] : NULL;
    }
    for (size_t i = 0; i < record->extra_count; i++) {
        if (dln_text_equal(record->extras[i].name, name)) {
            return &record->extras[i].field;
        }
    }
    return NULL;
}

static dunlin_status read_one(struct dln_arena *arena, struct dln_record *record,
                              struct dln_text name, const json_t *json, dunlin_error *err) {
    const struct dln_field_spec *spec;
    struct dln_value value;
    struct dln_field *field = find_field(record, name, &spec);
    if (!field) {
        return dln_fail(err, DUNLIN_NOT_FOUND, DUNLIN_DOMAIN_API,
                        "the change has no field of that name");
    }
    dunlin_status status = dln_value_read(&value, json, err);
    if (status == DUNLIN_OK && spec) {
        status = dln_check_field(spec, &value, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_keep_value(arena, &value, err);
    }
    if (status == DUNLIN_OK) {
        field->value = value;
    }
    return status;
}

dunlin_status dln_values_read(struct dln_arena *arena, struct dln_record *record,
                              struct dln_text object, dunlin_error *err) {
    json_t *json = NULL;
    const char *name;
    size_t name_len;
    json_t *value;
    dunlin_status status = dln_json_parse(&json, object, 0, err);
    if (status == DUNLIN_OK && !json_is_object(json)) {
        status = dln_fail(err, DUNLIN_INVALID_JSON, DUNLIN_DOMAIN_API, "this is no JSON object");
    }
    if (status != DUNLIN_OK) {
        goto done;
    }
    json_object_keylen_foreach(json, name, name_len, value) {
        status = read_one(arena, record, (struct dln_text){name, name_len}, value, err);
        if (status != DUNLIN_OK) {
            break;
        }
    }
done:
    json_decref(json);
    return status;
}
