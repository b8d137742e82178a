/* Records on the wire:
 *
 *     "collection":"item","key":["l1","video","v1"],"fields":{"present":["98765432100",true],…}
 *
 * A known collection's key and fields are checked against its descriptor; of what is unknown only
 * text, length and number. A record is taken whole or not at all. */
#include "sync/record_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sync/fields.h"
#include "sync/json.h"
#include "sync/message.h"

static dunlin_status bad(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_BAD_MESSAGE, DUNLIN_DOMAIN_SYNC, "%s", what);
}

dunlin_status dln_line_scope_read(struct dln_arena *arena, struct dln_line_scope *out,
                                  const json_t *line, dunlin_error *err) {
    struct dln_text id;
    dunlin_status status;

    *out = (struct dln_line_scope){0};
    if (!dln_get_text(line, "scope", SIZE_MAX, &out->name)) {
        return bad(err, "a scope's name is no text");
    }
    if (out->name.len == 0) {
        return dln_fail(err, DUNLIN_INVALID_ID, DUNLIN_DOMAIN_SYNC, "a scope has no name");
    }
    if ((status = dln_check_text(out->name, DLN_SCOPE_MAX, "a scope's name", err)) != DUNLIN_OK) {
        return status;
    }
    if ((status = dln_keep(arena, &out->name, err)) != DUNLIN_OK) {
        return status;
    }
    out->known = dln_scope_parse(arena, out->name, &out->kind, &id);
    return DUNLIN_OK;
}

dunlin_status dln_field_read(struct dln_field *out, const json_t *json, dunlin_error *err) {
    const json_t *stamp = json_array_get(json, 0);
    const json_t *value = json_array_get(json, 1);
    int64_t number;

    if (json_array_size(json) != 2) {
        return bad(err, "a field is not a stamp and a value");
    }
    if (!json_is_string(stamp) || !dln_i64_parse(dln_text_of_json(stamp), &number) || number < 1) {
        return dln_fail(err, DUNLIN_INVALID_VALUE, DUNLIN_DOMAIN_SYNC, "a stamp is out of range");
    }
    out->stamp = (dln_stamp)number;
    return dln_value_read(&out->value, value, err);
}

dunlin_status dln_field_name_check(struct dln_text name, dunlin_error *err) {
    if (name.len == 0) {
        return dln_fail(err, DUNLIN_INVALID_ID, DUNLIN_DOMAIN_SYNC, "a field has no name");
    }
    return dln_check_text(name, DLN_FIELD_NAME_MAX, "a field's name", err);
}

static dunlin_status collection_read(struct dln_arena *arena, struct dln_key *key,
                                     const json_t *line, const struct dln_line_scope *scope,
                                     dunlin_error *err) {
    struct dln_text name = {NULL, 0};
    dunlin_status status;

    if (!dln_get_text(line, "collection", SIZE_MAX, &name) || name.len == 0) {
        return bad(err, "a record lacks its collection");
    }
    key->collection = dln_collection_by_name(name);
    if (!key->collection) {
        status = dln_check_text(name, DLN_FIELD_NAME_MAX, "a collection's name", err);
        if (status != DUNLIN_OK) {
            return status;
        }
        key->name = name;
        return dln_keep(arena, &key->name, err);
    }
    key->name = dln_text_of(key->collection->name);
    if (!scope->known || scope->kind != key->collection->scope) {
        return dln_fail(err, DUNLIN_INVALID_VALUE, DUNLIN_DOMAIN_SYNC,
                        "a record of %s stands in a scope of another kind", key->collection->name);
    }
    return DUNLIN_OK;
}

static dunlin_status key_read(struct dln_arena *arena, struct dln_key *key, const json_t *line,
                              dunlin_error *err) {
    const json_t *parts = json_object_get(line, "key");
    size_t count = json_array_size(parts);
    dunlin_status status;

    if (!json_is_array(parts) || count > DLN_KEY_MAX ||
        (key->collection && count != (size_t)key->collection->key_count)) {
        return bad(err, "a record's key has the wrong number of parts");
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *part = json_array_get(parts, i);
        if (!json_is_string(part)) {
            return bad(err, "a part of a record's key is no text");
        }
        key->parts[i] = dln_text_of_json(part);
        status = dln_check_text(key->parts[i], DLN_ID_MAX, "a part of a key", err);
        if (status != DUNLIN_OK) {
            return status;
        }
    }
    key->part_count = (int)count;
    if (key->collection) {
        status = dln_check_key(key->collection, key->parts, err);
        if (status != DUNLIN_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if ((status = dln_keep(arena, &key->parts[i], err)) != DUNLIN_OK) {
            return status;
        }
    }
    return DUNLIN_OK;
}

static int compare_extras(const void *a, const void *b) {
    return dln_text_compare(((const struct dln_extra *)a)->name,
                            ((const struct dln_extra *)b)->name);
}

/* One member of "fields", into its place among the known fields or behind the extras so far. */
static dunlin_status field_place(struct dln_arena *arena, struct dln_record *out,
                                 struct dln_text name, const json_t *json, dunlin_error *err) {
    const struct dln_collection *collection = out->key.collection;
    int index = collection ? dln_field_by_name(collection, name) : -1;
    struct dln_field field;
    dunlin_status status;

    if ((status = dln_field_read(&field, json, err)) != DUNLIN_OK) {
        return status;
    }
    if (index >= 0) {
        status = dln_check_field(&collection->fields[index], &field.value, err);
        if (status != DUNLIN_OK) {
            return status;
        }
        out->fields[index] = field;
        return dln_keep_value(arena, &out->fields[index].value, err);
    }
    if ((status = dln_field_name_check(name, err)) != DUNLIN_OK) {
        return status;
    }
    out->extras[out->extra_count] = (struct dln_extra){name, field};
    if ((status = dln_keep(arena, &out->extras[out->extra_count].name, err)) != DUNLIN_OK) {
        return status;
    }
    return dln_keep_value(arena, &out->extras[out->extra_count++].field.value, err);
}

static size_t count_extras(const struct dln_collection *collection, json_t *fields) {
    const char *name;
    size_t name_len;
    json_t *field;
    size_t count = 0;

    json_object_keylen_foreach(fields, name, name_len, field) {
        if (!collection || dln_field_by_name(collection, (struct dln_text){name, name_len}) < 0) {
            count++;
        }
    }
    return count;
}

static dunlin_status fields_read(struct dln_arena *arena, struct dln_record *out,
                                 const json_t *line, dunlin_error *err) {
    json_t *fields = json_object_get(line, "fields");
    const char *name;
    size_t name_len;
    json_t *field;
    size_t extra_count;
    void *extras;
    dunlin_status status;

    if (!json_is_object(fields) || json_object_size(fields) == 0) {
        return bad(err, "a record has no fields");
    }
    extra_count = count_extras(out->key.collection, fields);
    if (extra_count > DLN_EXTRA_MAX) {
        return dln_fail(err, DUNLIN_INVALID_VALUE, DUNLIN_DOMAIN_SYNC,
                        "a record has more than %d unknown fields", DLN_EXTRA_MAX);
    }
    status = dln_take(arena, &extras, extra_count, sizeof(*out->extras), err);
    if (status != DUNLIN_OK) {
        return status;
    }
    out->extras = extras;
    json_object_keylen_foreach(fields, name, name_len, field) {
        status = field_place(arena, out, (struct dln_text){name, name_len}, field, err);
        if (status != DUNLIN_OK) {
            return status;
        }
    }
    if (out->extra_count > 1) {
        qsort(out->extras, out->extra_count, sizeof(*out->extras), compare_extras);
    }
    return DUNLIN_OK;
}

dunlin_status dln_record_read(struct dln_arena *arena, struct dln_record *out, const json_t *line,
                              const struct dln_line_scope *scope, dunlin_error *err) {
    dunlin_status status;

    out->key.scope = scope->name;
    if ((status = collection_read(arena, &out->key, line, scope, err)) != DUNLIN_OK) {
        return status;
    }
    if ((status = key_read(arena, &out->key, line, err)) != DUNLIN_OK) {
        return status;
    }
    return fields_read(arena, out, line, err);
}

void dln_put_record(struct dln_buf *out, const struct dln_record *record) {
    dln_put_text(out, "collection", record->key.name);
    dln_put_name(out, "key");
    dln_json_key(out, &record->key);
    dln_put_name(out, "fields");
    dln_json_fields(out, record);
}

void dln_put_field(struct dln_buf *out, const struct dln_field *field) {
    dln_buf_append_byte(out, '[');
    dln_json_i64(out, (int64_t)field->stamp);
    dln_buf_append_byte(out, ',');
    dln_json_value(out, &field->value);
    dln_buf_append_byte(out, ']');
}

/* Bytes of a text as a JSON string, quotes included. */
static size_t string_bytes(struct dln_text text) {
    size_t bytes = text.len + 2;

    for (size_t i = 0; i < text.len; i++) {
        char byte = text.data[i];
        if (byte == '"' || byte == '\\' || byte == '\b' || byte == '\f' || byte == '\n' ||
            byte == '\r' || byte == '\t') {
            bytes += 1;
        } else if ((unsigned char)byte < 0x20) {
            bytes += 5;
        }
    }
    return bytes;
}

static size_t value_bytes(const struct dln_value *value) {
    switch (value->type) {
    case DLN_NULL:
    case DLN_FALSE:
    case DLN_TRUE:
        return sizeof("false");
    case DLN_INTEGER:
    case DLN_REAL:
        return sizeof("{\"r\":-2.2250738585072014e-308}");
    case DLN_STRING:
    case DLN_JSON:
        break;
    }
    return string_bytes(value->as.text) + sizeof("{\"j\":}");
}

size_t dln_record_wire_bytes(const struct dln_record *record) {
    struct dln_field_walk walk;
    struct dln_text name;
    const struct dln_field *field;
    size_t bytes = sizeof("{\"scope\":,\"collection\":,\"key\":[],\"fields\":{}}\n") +
                   sizeof(",\"seq\":\"9223372036854775807\"");

    bytes += string_bytes(record->key.scope) + string_bytes(record->key.name);
    for (int i = 0; i < record->key.part_count; i++) {
        bytes += string_bytes(record->key.parts[i]) + 1;
    }
    dln_field_walk_begin(&walk, record);
    while ((field = dln_field_walk_next(&walk, &name)) != NULL) {
        bytes += string_bytes(name) + sizeof(":[\"9223372036854775807\",],") +
                 value_bytes(&field->value);
    }
    return bytes;
}
