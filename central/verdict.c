/* Sets of a record's fields, and what is legal whoever sends it. */
#include "central/verdict.h"

#include <assert.h>

#include "sync/json.h"
#include "sync/merge.h"

static_assert(DLN_EXTRA_MAX <= 32 && DLN_FIELD_MAX <= 32, "a bit for each field");

void dln_verdict_whole(struct dln_verdict *verdict, dunlin_status code, const char *reason) {
    if (verdict->code == DUNLIN_OK) {
        verdict->code = code;
        verdict->reason = reason;
    }
    verdict->whole = true;
}

void dln_verdict_fields(struct dln_verdict *verdict, struct dln_fields fields, dunlin_status code,
                        const char *reason) {
    if (!dln_fields_any(fields)) {
        return;
    }
    if (verdict->code == DUNLIN_OK) {
        verdict->code = code;
        verdict->reason = reason;
    }
    verdict->refused.known |= fields.known;
    verdict->refused.extras |= fields.extras;
}

struct dln_fields dln_fields_of(const struct dln_record *record) {
    struct dln_fields fields = {0, 0};
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        fields.known |= (uint32_t)(record->fields[i].stamp != 0) << i;
    }
    for (size_t i = 0; i < record->extra_count; i++) {
        fields.extras |= (uint32_t)(record->extras[i].field.stamp != 0) << i;
    }
    return fields;
}

const struct dln_field *dln_extra_of(const struct dln_record *record, struct dln_text name) {
    for (size_t i = 0; record != NULL && i < record->extra_count; i++) {
        if (dln_text_equal(record->extras[i].name, name)) {
            return &record->extras[i].field;
        }
    }
    return NULL;
}

struct dln_fields dln_fields_winning(const struct dln_record *record,
                                     const struct dln_record *before) {
    struct dln_fields fields = dln_fields_of(record);
    if (before == NULL) {
        return fields;
    }
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        if (!dln_field_wins(&record->fields[i], &before->fields[i])) {
            fields.known &= ~(UINT32_C(1) << i);
        }
    }
    for (size_t i = 0; i < record->extra_count; i++) {
        const struct dln_field *old = dln_extra_of(before, record->extras[i].name);
        if (old != NULL && !dln_field_wins(&record->extras[i].field, old)) {
            fields.extras &= ~(UINT32_C(1) << i);
        }
    }
    return fields;
}

bool dln_fields_any(struct dln_fields fields) {
    return fields.known != 0 || fields.extras != 0;
}

struct dln_fields dln_fields_without(struct dln_fields fields, struct dln_fields removed) {
    return (struct dln_fields){fields.known & ~removed.known, fields.extras & ~removed.extras};
}

bool dln_record_only(struct dln_arena *arena, struct dln_record *out,
                     const struct dln_record *record, struct dln_fields fields) {
    *out = *record;
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        if ((fields.known >> i & 1) == 0) {
            out->fields[i] = (struct dln_field){0};
        }
    }
    if (record->extra_count == 0) {
        return true;
    }
    out->extras = dln_arena_alloc(arena, record->extra_count * sizeof(*out->extras));
    for (size_t i = 0; out->extras != NULL && i < record->extra_count; i++) {
        out->extras[i] = record->extras[i];
        if ((fields.extras >> i & 1) == 0) {
            out->extras[i].field = (struct dln_field){0};
        }
    }
    return out->extras != NULL;
}

/* A key of an unknown collection: its parts are ids. */
static dunlin_status check_unknown_key(const struct dln_key *key) {
    dunlin_status status = dln_check_id(key->name, "collection", NULL);
    for (int i = 0; status == DUNLIN_OK && i < key->part_count; i++) {
        status = dln_check_id(key->parts[i], "key", NULL);
    }
    return status;
}

static dunlin_status check_key(const struct dln_key *key) {
    if (key->collection == NULL) {
        return check_unknown_key(key);
    }
    if (key->part_count != key->collection->key_count) {
        return DUNLIN_INVALID_VALUE;
    }
    return dln_check_key(key->collection, key->parts, NULL);
}

static dunlin_status check_json(const struct dln_value *value) {
    return value->type == DLN_JSON ? dln_check_json(value->as.text, NULL) : DUNLIN_OK;
}

/* What a newer version may have meant is unknown; it must only be storable. */
static dunlin_status check_extra(const struct dln_record *record, const struct dln_extra *extra) {
    bool existence = dln_text_equal(extra->name, DLN_TEXT("present")) ||
                     dln_text_equal(extra->name, DLN_TEXT("deleted"));
    if (extra->name.len == 0 || extra->name.len > DLN_FIELD_NAME_MAX ||
        !dln_text_is_utf8(extra->name)) {
        return DUNLIN_INVALID_TEXT;
    }
    if (extra->field.stamp > DLN_STAMP_MAX) {
        return DUNLIN_INVALID_VALUE;
    }
    if (record->key.collection == NULL && existence && extra->field.value.type != DLN_TRUE &&
        extra->field.value.type != DLN_FALSE) {
        return DUNLIN_INVALID_VALUE;
    }
    if (extra->field.value.type == DLN_STRING) {
        return dln_check_text(extra->field.value.as.text, DLN_DATA_MAX, "field", NULL);
    }
    return check_json(&extra->field.value);
}

static dunlin_status check_known(const struct dln_record *record, int index) {
    const struct dln_field *field = &record->fields[index];
    if (field->stamp > DLN_STAMP_MAX) {
        return DUNLIN_INVALID_VALUE;
    }
    dunlin_status status =
        dln_check_field(&record->key.collection->fields[index], &field->value, NULL);
    return status != DUNLIN_OK ? status : check_json(&field->value);
}

static bool validate_fields(struct dln_verdict *verdict, const struct dln_record *record) {
    struct dln_fields sent = dln_fields_of(record);
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        dunlin_status status = sent.known >> i & 1 ? check_known(record, i) : DUNLIN_OK;
        if (status == DUNLIN_OUT_OF_MEMORY) {
            return false;
        }
        if (status != DUNLIN_OK) {
            dln_verdict_fields(verdict, (struct dln_fields){UINT32_C(1) << i, 0}, status,
                               "a value that may not stand in its field");
        }
    }
    for (size_t i = 0; i < record->extra_count; i++) {
        dunlin_status status = DUNLIN_OK;
        if (sent.extras >> i & 1) {
            status = check_extra(record, &record->extras[i]);
        }
        if (status == DUNLIN_OUT_OF_MEMORY) {
            return false;
        }
        if (status != DUNLIN_OK) {
            dln_verdict_fields(verdict, (struct dln_fields){0, UINT32_C(1) << i}, status,
                               "a value that may not stand in an unknown field");
        }
    }
    return true;
}

/* Why the record as a whole may not stand there; NULL: it may. */
static const char *check_whole(const struct dln_record *record, enum dln_scope_kind scope,
                               dunlin_status *status) {
    const struct dln_collection *collection = record->key.collection;
    if ((*status = check_key(&record->key)) != DUNLIN_OK) {
        return "the key is not legal";
    }
    *status = DUNLIN_INVALID_VALUE;
    if (collection != NULL && collection->scope != scope) {
        return "the collection does not belong into a scope of this kind";
    }
    if (record->extra_count > DLN_EXTRA_MAX) {
        *status = DUNLIN_TOO_LARGE;
        return "too many unknown fields";
    }
    if (!dln_fields_any(dln_fields_of(record))) {
        return "the record has no field";
    }
    return NULL;
}

bool dln_validate(struct dln_verdict *verdict, const struct dln_record *record,
                  enum dln_scope_kind scope) {
    dunlin_status status;
    const char *reason = check_whole(record, scope, &status);
    if (reason != NULL) {
        dln_verdict_whole(verdict, status, reason);
        return true;
    }
    return validate_fields(verdict, record);
}
