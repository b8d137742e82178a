/* Both blobs hold names, so that no numbering of fields has to be kept stable here: what this
 * version knows is sorted out when a record is read. */
#include "central/sqlite/record.h"

#include <string.h>

#include "central/central.h"
#include "sync/fields.h"

/* More than reading a record takes beside its own bytes. */
enum { LOAD_BYTES_MAX = 4 * (DLN_EXTRA_MAX + DLN_FIELD_MAX) * sizeof(struct dln_extra) };

dunlin_status dln_record_store(struct dln_buf *fields, struct dln_buf *extras,
                               const struct dln_record *record, dunlin_error *err) {
    struct dln_extra known[DLN_FIELD_MAX];
    struct dln_record half = {.extras = known};
    struct dln_record known_only = *record;
    struct dln_field_walk walk;
    const struct dln_field *field;
    dunlin_status status;

    known_only.extra_count = 0;
    dln_field_walk_begin(&walk, &known_only);
    while ((field = dln_field_walk_next(&walk, &known[half.extra_count].name)) != NULL) {
        known[half.extra_count++].field = *field;
        if (half.extra_count == DLN_FIELD_MAX) {
            break;
        }
    }
    dln_buf_clear(fields);
    dln_buf_clear(extras);
    dln_extras_encode(fields, &half);
    dln_extras_encode(extras, record);
    if ((status = dln_buf_status(fields, err))) {
        return status;
    }
    return dln_buf_status(extras, err);
}

/* Puts one field where it belongs today. False when there are too many unknown ones. */
static bool place_field(struct dln_record *out, struct dln_extra *extras,
                        const struct dln_extra *field) {
    size_t at = out->extra_count;
    if (out->key.collection != NULL) {
        int known = dln_field_by_name(out->key.collection, field->name);
        if (known >= 0) {
            out->fields[known] = field->field;
            return true;
        }
    }
    if (at == DLN_EXTRA_MAX) {
        return false;
    }
    while (at > 0 && dln_text_compare(extras[at - 1].name, field->name) > 0) {
        extras[at] = extras[at - 1];
        at--;
    }
    extras[at] = *field;
    out->extra_count++;
    return true;
}

static bool load_half(struct dln_arena *arena, struct dln_record *out, struct dln_extra *extras,
                      struct dln_text bytes) {
    struct dln_record half = {0};
    if (bytes.len == 0) {
        return true;
    }
    struct dln_text kept = dln_arena_text(arena, bytes);
    if (kept.data == NULL || !dln_extras_decode(arena, &half, kept)) {
        return false;
    }
    for (size_t i = 0; i < half.extra_count; i++) {
        if (!place_field(out, extras, &half.extras[i])) {
            return false;
        }
    }
    return true;
}

dunlin_status dln_record_load(struct dln_arena *arena, struct dln_record *out,
                              struct dln_text scope, struct dln_text key, struct dln_text fields,
                              struct dln_text extras, dunlin_error *err) {
    struct dln_extra unknown[DLN_EXTRA_MAX];
    memset(out, 0, sizeof(*out));
    out->key.scope = dln_arena_text(arena, scope);
    struct dln_text key_text = dln_arena_text(arena, key);
    if (out->key.scope.data == NULL || key_text.data == NULL) {
        return dln_central_no_memory(err);
    }
    if (!dln_key_parse(arena, &out->key, key_text) || !load_half(arena, out, unknown, fields) ||
        !load_half(arena, out, unknown, extras)) {
        size_t most = LOAD_BYTES_MAX + 2 * key.len + fields.len + extras.len;
        return dln_central_is_short(arena, most)
                   ? dln_central_no_memory(err)
                   : dln_fail(err, DUNLIN_CORRUPT, DUNLIN_DOMAIN_CENTRAL,
                              "a version of central's log cannot be read");
    }
    if (out->extra_count > 0) {
        out->extras = dln_arena_alloc(arena, out->extra_count * sizeof(*out->extras));
        if (out->extras == NULL) {
            return dln_central_no_memory(err);
        }
        memcpy(out->extras, unknown, out->extra_count * sizeof(*out->extras));
    }
    return DUNLIN_OK;
}
