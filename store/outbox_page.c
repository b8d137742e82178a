/* Pages of the outbox, for listing it. */
#include "store/outbox_page.h"

#include <inttypes.h>
#include <stdio.h>

#include <dunlin/sync.h>

#include "store/outbox.h"
#include "store/page_rows.h"

enum { PLACE_DIGITS = 24 };

/* ---- keys */

static dunlin_status start_at(const struct dln_page *page, int64_t *out, dunlin_error *err) {
    *out = page->backwards ? INT64_C(2) * DLN_STAGE_OTHER << DLN_RANGE_BITS : 0;
    if (!page->from) {
        return DUNLIN_OK;
    }
    struct dln_text digits = page->from->parts[0];
    int64_t place = 0;
    for (size_t i = 0; i < digits.len; i++) {
        int digit = digits.data[i] - '0';
        if (digit < 0 || digit > 9 || place > DLN_COUNTS_FROM / 10) {
            return dln_fail(err, DUNLIN_INVALID_CURSOR, DUNLIN_DOMAIN_API, "the token is damaged");
        }
        place = place * 10 + digit;
    }
    *out = page->backwards && place > *out ? *out : place;
    return DUNLIN_OK;
}

static bool set_key(struct dln_page *page, int64_t place, struct dln_page_key *out) {
    char digits[PLACE_DIGITS];
    (void)snprintf(digits, sizeof(digits), "%" PRId64, place);
    *out = (struct dln_page_key){1, {dln_arena_text(page->arena, dln_text_of(digits))}};
    return out->parts[0].data != NULL;
}

/* ---- rows */

static bool fill_fields(struct dln_page *page, const struct dln_row *row,
                        struct dunlin_pending *out) {
    const struct dln_collection *collection = row->record.key.collection;
    uint32_t edited = row->pending & ~row->offered;
    size_t extras = edited & DLN_EXTRAS_BIT ? row->record.extra_count : 0;
    const char **names = dln_arena_alloc(page->arena, (DLN_FIELD_MAX + extras) * sizeof(*names));
    if (!names) {
        return false;
    }
    for (int i = 0; i < collection->field_count; i++) {
        if (edited >> i & 1) {
            names[out->field_count++] = collection->fields[i].name;
        }
    }
    for (size_t i = 0; i < extras; i++) {
        struct dln_text name = dln_arena_text(page->arena, row->record.extras[i].name);
        if (!name.data) {
            return false;
        }
        names[out->field_count++] = name.data;
    }
    out->fields = names;
    return true;
}

static bool fill(struct dln_page *page, const struct dln_row *row, int64_t place) {
    const struct dln_key *key = &row->record.key;
    struct dunlin_pending *out = (struct dunlin_pending *)page->rows + page->count;
    const char **parts = dln_arena_alloc(page->arena, DLN_KEY_MAX * sizeof(*parts));
    *out = (struct dunlin_pending){.collection = key->collection->name,
                                   .scope = key->scope.data,
                                   .key = parts,
                                   .key_count = (size_t)key->part_count,
                                   .tried = row->tried};
    if (!parts) {
        return false;
    }
    for (int i = 0; i < key->part_count; i++) {
        parts[i] = key->parts[i].data;
    }
    return fill_fields(page, row, out) && set_key(page, place, &page->keys[page->count]);
}

dunlin_status dln_page_pending(struct dln_store *store, struct dln_page *page, dunlin_error *err) {
    int64_t place;
    size_t count = 0;
    struct dln_row *rows = dln_arena_alloc(page->arena, page->limit * sizeof(*rows));
    int64_t *places = dln_arena_alloc(page->arena, page->limit * sizeof(*places));
    dunlin_status status = start_at(page, &place, err);
    if (status == DUNLIN_OK) {
        status = dln_page_start(page, sizeof(struct dunlin_pending), err);
    }
    if (status == DUNLIN_OK && (!rows || !places)) {
        status = dln_no_memory(err);
    }
    if (status == DUNLIN_OK) {
        status = dln_outbox_read(store, page->arena, &place, page->backwards, true, rows, places,
                                 page->limit, &count, err);
    }
    for (size_t i = 0; i < count && status == DUNLIN_OK && rows[i].record.key.collection; i++) {
        status = fill(page, &rows[i], places[i]) ? DUNLIN_OK : dln_no_memory(err);
        page->count += status == DUNLIN_OK;
    }
    page->more = page->count == page->limit;
    return status;
}
