/* Both blobs hold names, so that no numbering of fields has to be kept stable here: what this
 * version knows is sorted out when a record is read. */
#include "central/sqlite/record.h"

#include "central/load.h"
#include "sync/fields.h"

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

static bool load_half(struct dln_load *load, struct dln_text bytes) {
    struct dln_record half = {0};
    load->bytes += bytes.len;
    if (bytes.len == 0) {
        return true;
    }
    struct dln_text kept = dln_arena_text(load->arena, bytes);
    if (kept.data == NULL || !dln_extras_decode(load->arena, &half, kept)) {
        return false;
    }
    for (size_t i = 0; i < half.extra_count; i++) {
        if (!dln_load_field(load, &half.extras[i])) {
            return false;
        }
    }
    return true;
}

dunlin_status dln_record_load(struct dln_arena *arena, struct dln_record *out,
                              struct dln_text scope, struct dln_text key, struct dln_text fields,
                              struct dln_text extras, dunlin_error *err) {
    struct dln_load load;
    dunlin_status status;
    if ((status = dln_load_begin(&load, arena, out, scope, key, err))) {
        return status;
    }
    if (!load_half(&load, fields) || !load_half(&load, extras)) {
        return dln_load_fail(&load, err);
    }
    return dln_load_end(&load, err);
}
