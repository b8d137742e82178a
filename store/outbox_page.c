/* Pages of the outbox, for listing it. A row's key is its stage and three texts: the parts of its
 * record's key, for members and groups behind the group. */
#include "store/outbox_page.h"

#include <string.h>

#include <dunlin/sync.h>

#include "store/outbox.h"
#include "store/page_rows.h"

static dunlin_status no_token(dunlin_error *err) {
    return dln_fail(err, DUNLIN_INVALID_CURSOR, DUNLIN_DOMAIN_API, "the token is damaged");
}

/* ---- a key of the listing and a record's */

static dunlin_status start_at(struct dln_store *store, const struct dln_page *page,
                              struct dln_outbox_place *place, dunlin_error *err) {
    const struct dln_page_key *from = page->from;
    struct dln_key key = {.scope = store->own_scope};
    int next = 1;
    if (!from) {
        place->stage = page->backwards ? dln_outbox_last_stage() : 0;
        return DUNLIN_OK;
    }
    struct dln_text digit = from->parts[0];
    place->stage = digit.len == 1 ? digit.data[0] - '0' : -1;
    key.collection = dln_outbox_collection(place->stage);
    if (!key.collection) {
        return no_token(err);
    }
    if (key.collection->scope == DLN_SCOPE_GROUP) {
        key.scope = dln_scope_group(page->arena, from->parts[next++]);
    }
    key.name = dln_text_of(key.collection->name);
    key.part_count = key.collection->key_count;
    for (int i = 0; i < key.part_count; i++) {
        key.parts[i] = from->parts[next++];
        if (key.parts[i].len == 0) {
            return no_token(err);
        }
    }
    return key.scope.data ? dln_outbox_remember(store, page->arena, place, &key, err)
                          : dln_no_memory(err);
}

static bool set_key(struct dln_store *store, struct dln_page *page, const struct dln_key *key,
                    struct dln_page_key *out) {
    const char digit = (char)('0' + dln_outbox_stage(store, key));
    int next = 1;
    *out = (struct dln_page_key){.count = DLN_PENDING_KEY_PARTS};
    for (int i = 0; i < DLN_PENDING_KEY_PARTS; i++) {
        out->parts[i] = DLN_TEXT("");
    }
    out->parts[0] = dln_arena_text(page->arena, (struct dln_text){&digit, 1});
    if (key->collection->scope == DLN_SCOPE_GROUP) {
        enum dln_scope_kind kind;
        if (!dln_scope_parse(page->arena, key->scope, &kind, &out->parts[next++])) {
            return false;
        }
    }
    for (int i = 0; i < key->part_count; i++) {
        out->parts[next++] = key->parts[i];
    }
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

static bool fill(struct dln_store *store, struct dln_page *page, const struct dln_row *row) {
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
    return fill_fields(page, row, out) && set_key(store, page, key, &page->keys[page->count]);
}

dunlin_status dln_page_pending(struct dln_store *store, struct dln_page *page, dunlin_error *err) {
    struct dln_outbox_place place = {0};
    dunlin_status status = start_at(store, page, &place, err);
    if (status == DUNLIN_OK) {
        status = dln_page_start(page, sizeof(struct dunlin_pending), err);
    }
    for (bool more = true; more && status == DUNLIN_OK && page->count < page->limit;) {
        struct dln_row *rows;
        size_t count;
        size_t asked = page->limit - page->count;
        status =
            dln_outbox_read(store, page->arena, &place, page->backwards, asked, &rows, &count, err);
        more = count == asked;
        for (size_t i = 0; i < count && status == DUNLIN_OK; i++) {
            if (!rows[i].record.key.collection || !(rows[i].pending & ~rows[i].offered)) {
                continue;
            }
            status = fill(store, page, &rows[i]) ? DUNLIN_OK : dln_no_memory(err);
            page->count += status == DUNLIN_OK;
        }
    }
    page->more = page->count == page->limit;
    return status;
}
