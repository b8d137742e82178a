/* A known field is a field of `fields`, whose name is ours: {stamp, value}. An unknown one is an
 * element of the array `extras`: {name, stamp, value}; so no name that somebody else chose ever
 * becomes a path or an operator. Values are BSON's own; JSON text is {json: text}. */
#include "central/mongo/record.h"

#include <string.h>

#include "central/load.h"
#include "sync/fields.h"

static void store_value(bson_t *out, const struct dln_value *value) {
    bson_t json;
    switch (value->type) {
    case DLN_NULL:
        bson_append_null(out, "value", -1);
        break;
    case DLN_FALSE:
    case DLN_TRUE:
        bson_append_bool(out, "value", -1, value->type == DLN_TRUE);
        break;
    case DLN_INTEGER:
        bson_append_int64(out, "value", -1, value->as.integer);
        break;
    case DLN_REAL:
        bson_append_double(out, "value", -1, value->as.real);
        break;
    case DLN_STRING:
        dln_mongo_append_text(out, "value", value->as.text);
        break;
    case DLN_JSON:
        bson_append_document_begin(out, "value", -1, &json);
        dln_mongo_append_text(&json, "json", value->as.text);
        bson_append_document_end(out, &json);
        break;
    }
}

static void store_field(bson_t *out, const struct dln_field *field) {
    bson_append_int64(out, "stamp", -1, (int64_t)field->stamp);
    store_value(out, &field->value);
}

static void store_extras(bson_t *document, const struct dln_record *record) {
    bson_t extras = BSON_INITIALIZER;
    for (size_t i = 0; i < record->extra_count; i++) {
        const char *key = NULL;
        char digits[16];
        bson_t extra;
        (void)bson_uint32_to_string((uint32_t)i, &key, digits, sizeof(digits));
        bson_append_document_begin(&extras, key, -1, &extra);
        dln_mongo_append_text(&extra, "name", record->extras[i].name);
        store_field(&extra, &record->extras[i].field);
        bson_append_document_end(&extras, &extra);
    }
    bson_append_array(document, "extras", -1, &extras);
    bson_destroy(&extras);
}

void dln_mongo_record_store(bson_t *document, const struct dln_record *record) {
    struct dln_record known = *record;
    struct dln_field_walk walk;
    const struct dln_field *field;
    struct dln_text name;
    bson_t fields;
    bson_t pair;
    known.extra_count = 0;
    dln_mongo_append_text(document, "collection", record->key.name);
    bson_append_document_begin(document, "fields", -1, &fields);
    dln_field_walk_begin(&walk, &known);
    while ((field = dln_field_walk_next(&walk, &name)) != NULL) {
        bson_append_document_begin(&fields, name.data, (int)name.len, &pair);
        store_field(&pair, field);
        bson_append_document_end(&fields, &pair);
    }
    bson_append_document_end(document, &fields);
    store_extras(document, record);
}

static bool load_text(struct dln_load *load, struct dln_text *out, const bson_iter_t *at) {
    uint32_t len = 0;
    const char *data = bson_iter_utf8(at, &len);
    load->bytes += len;
    *out = dln_arena_text(load->arena, (struct dln_text){data, len});
    return out->data != NULL;
}

static bool load_json(struct dln_load *load, struct dln_value *out, const bson_iter_t *at) {
    bson_iter_t inner;
    struct dln_text text;
    if (!bson_iter_recurse(at, &inner) || !bson_iter_find(&inner, "json") ||
        !BSON_ITER_HOLDS_UTF8(&inner) || !load_text(load, &text, &inner)) {
        return false;
    }
    *out = dln_value_json(text);
    return true;
}

static bool load_value(struct dln_load *load, struct dln_value *out, const bson_iter_t *at) {
    struct dln_text text;
    switch (bson_iter_type(at)) {
    case BSON_TYPE_NULL:
        *out = dln_value_null();
        return true;
    case BSON_TYPE_BOOL:
        *out = dln_value_bool(bson_iter_bool(at));
        return true;
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        *out = dln_value_integer(bson_iter_as_int64(at));
        return true;
    case BSON_TYPE_DOUBLE:
        *out = dln_value_real(bson_iter_double(at));
        return true;
    case BSON_TYPE_UTF8:
        if (!load_text(load, &text, at)) {
            return false;
        }
        *out = dln_value_string(text);
        return true;
    case BSON_TYPE_DOCUMENT:
        return load_json(load, out, at);
    default:
        return false;
    }
}

/* {stamp, value}, and the name where it stands inside. */
static bool load_field(struct dln_load *load, struct dln_text name, const bson_iter_t *pair) {
    struct dln_extra field = {.name = name};
    bson_iter_t at;
    bool valued = false;
    if (!(BSON_ITER_HOLDS_DOCUMENT(pair)) || !bson_iter_recurse(pair, &at)) {
        return false;
    }
    while (bson_iter_next(&at)) {
        const char *key = bson_iter_key(&at);
        if (strcmp(key, "stamp") == 0) {
            field.field.stamp = (dln_stamp)bson_iter_as_int64(&at);
        } else if (strcmp(key, "value") == 0) {
            if (!load_value(load, &field.field.value, &at)) {
                return false;
            }
            valued = true;
        } else if (strcmp(key, "name") == 0 && name.data == NULL && BSON_ITER_HOLDS_UTF8(&at) &&
                   !load_text(load, &field.name, &at)) {
            return false;
        }
    }
    return valued && field.field.stamp != 0 && field.name.data != NULL &&
           dln_load_field(load, &field);
}

/* Fields by their names, or the elements of an array. */
static bool load_fields(struct dln_load *load, const bson_t *document, const char *key,
                        bool named) {
    bson_iter_t at;
    bson_iter_t pair;
    if (!bson_iter_init_find(&at, document, key) || !bson_iter_recurse(&at, &pair)) {
        return false;
    }
    while (bson_iter_next(&pair)) {
        struct dln_text name = {NULL, 0};
        if (named) {
            name = dln_arena_text(load->arena, dln_text_of(bson_iter_key(&pair)));
            load->bytes += name.len;
            if (name.data == NULL) {
                return false;
            }
        }
        if (!load_field(load, name, &pair)) {
            return false;
        }
    }
    return true;
}

dunlin_status dln_mongo_record_load(struct dln_arena *arena, struct dln_stored *out,
                                    struct dln_text scope, const bson_t *document,
                                    dunlin_error *err) {
    struct dln_load load;
    dunlin_status status;
    struct dln_text key = dln_mongo_text(document, "key");
    out->place.seq = dln_mongo_number(document);
    out->place.salt = (uint32_t)dln_mongo_integer(document, "salt");
    out->at_ms = dln_mongo_time(document, "at");
    if (key.data == NULL || out->place.seq == 0) {
        return dln_fail(err, DUNLIN_CORRUPT, DUNLIN_DOMAIN_CENTRAL,
                        "a document of central's log is none of a version");
    }
    out->key = dln_arena_text(arena, key);
    if (out->key.data == NULL) {
        return dln_central_no_memory(err);
    }
    if ((status = dln_load_begin(&load, arena, &out->record, scope, key, err))) {
        return status;
    }
    if (!load_fields(&load, document, "fields", true) ||
        !load_fields(&load, document, "extras", false)) {
        return dln_load_fail(&load, err);
    }
    return dln_load_end(&load, err);
}
