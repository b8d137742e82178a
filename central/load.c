#include "central/load.h"

#include <string.h>

/* More than reading a record takes beside its own bytes. */
enum { LOAD_BYTES_MAX = 4 * (DLN_EXTRA_MAX + DLN_FIELD_MAX) * sizeof(struct dln_extra) };

dunlin_status dln_load_fail(const struct dln_load *load, dunlin_error *err) {
    return dln_central_is_short(load->arena, LOAD_BYTES_MAX + load->bytes)
               ? dln_central_no_memory(err)
               : dln_fail(err, DUNLIN_CORRUPT, DUNLIN_DOMAIN_CENTRAL,
                          "a version of central's log cannot be read");
}

dunlin_status dln_load_begin(struct dln_load *load, struct dln_arena *arena, struct dln_record *out,
                             struct dln_text scope, struct dln_text key, dunlin_error *err) {
    memset(out, 0, sizeof(*out));
    load->arena = arena;
    load->record = out;
    load->bytes = 2 * key.len;
    out->key.scope = dln_arena_text(arena, scope);
    struct dln_text key_text = dln_arena_text(arena, key);
    if (out->key.scope.data == NULL || key_text.data == NULL) {
        return dln_central_no_memory(err);
    }
    return dln_key_parse(arena, &out->key, key_text) ? DUNLIN_OK : dln_load_fail(load, err);
}

bool dln_load_field(struct dln_load *load, const struct dln_extra *field) {
    struct dln_record *out = load->record;
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
    while (at > 0 && dln_text_compare(load->extras[at - 1].name, field->name) > 0) {
        load->extras[at] = load->extras[at - 1];
        at--;
    }
    load->extras[at] = *field;
    out->extra_count++;
    return true;
}

dunlin_status dln_load_end(struct dln_load *load, dunlin_error *err) {
    struct dln_record *out = load->record;
    if (out->extra_count > 0) {
        out->extras = dln_arena_alloc(load->arena, out->extra_count * sizeof(*out->extras));
        if (out->extras == NULL) {
            return dln_central_no_memory(err);
        }
        memcpy(out->extras, load->extras, out->extra_count * sizeof(*out->extras));
    }
    return DUNLIN_OK;
}
