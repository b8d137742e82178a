/* Dead letters: listing them, and what the person may do with one.
 *
 * Retrying is an edit like any other: on top of what the record is now, the refused fields get the
 * letter's values (or the person's new ones) and new stamps. A record that is not there any more is
 * made again only where the letter says that it exists; it is written whole then. */
#include <assert.h>
#include <stdio.h>

#include <dunlin/sync.h>

#include "base/error.h"
#include "client/handle.h"
#include "client/iter.h"
#include "sync/json.h"
#include "sync/values.h"

enum { LETTER_BYTES_MAX = 8 * 1024 * 1024, ID_DIGITS = 24 };

/* ---- listing */

static dunlin_status fill_row(struct dln_page *page, const struct dln_dead_letter *letter,
                              dunlin_rejection *out, dunlin_error *err) {
    const struct dln_key *key = &letter->record.key;
    const char **parts = dln_arena_alloc(page->arena, DLN_KEY_MAX * sizeof(*parts));
    struct dln_buf fields = DLN_BUF_INIT(LETTER_BYTES_MAX);
    dln_values_write(&fields, &letter->record);
    dunlin_status status = dln_buf_status(&fields, err);
    struct dln_text json = {NULL, 0};
    struct dln_text collection = dln_arena_text(page->arena, key->name);
    if (status == DUNLIN_OK) {
        json = dln_arena_text(page->arena, (struct dln_text){fields.data, fields.len});
    }
    dln_buf_free(&fields);
    if (status == DUNLIN_OK && (!parts || !json.data || !collection.data)) {
        status = dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_STORE, "out of memory");
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    for (int i = 0; i < key->part_count; i++) {
        parts[i] = key->parts[i].data;
    }
    *out = (dunlin_rejection){.id = letter->id,
                              .code = letter->code,
                              .reason = letter->reason.data,
                              .collection = collection.data,
                              .scope = key->scope.data,
                              .key = parts,
                              .key_count = (size_t)key->part_count,
                              .fields = json.data,
                              .at_ms = letter->at_ms};
    return DUNLIN_OK;
}

static dunlin_status fill_key(struct dln_page *page, int64_t id, struct dln_page_key *out,
                              dunlin_error *err) {
    char digits[ID_DIGITS];
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)id);
    *out = (struct dln_page_key){1, {dln_arena_text(page->arena, dln_text_of(digits))}};
    return out->parts[0].data
               ? DUNLIN_OK
               : dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_STORE, "out of memory");
}

static bool parse_id(struct dln_text text, int64_t *out) {
    *out = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = text.data[i] - '0';
        if (digit < 0 || digit > 9 || *out > (INT64_MAX - digit) / 10) {
            return false;
        }
        *out = *out * 10 + digit;
    }
    return *out > 0;
}

static dunlin_status read_page(struct dln_store *store, struct dln_page *page, dunlin_error *err) {
    struct dln_dead_letter *letters;
    size_t count;
    int64_t from = 0;
    if (page->from && !parse_id(page->from->parts[0], &from)) {
        return dln_fail(err, DUNLIN_INVALID_CURSOR, DUNLIN_DOMAIN_API, "the token is damaged");
    }
    dunlin_status status = dln_reject_page(store, page->arena, from, page->backwards, page->limit,
                                           &letters, &count, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    dunlin_rejection *rows = dln_arena_alloc(page->arena, page->limit * sizeof(*rows));
    page->rows = rows;
    page->keys = dln_arena_alloc(page->arena, page->limit * sizeof(*page->keys));
    if (!page->rows || !page->keys) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_STORE, "out of memory");
    }
    for (size_t i = 0; i < count && status == DUNLIN_OK; i++) {
        status = fill_row(page, &letters[i], &rows[i], err);
        if (status == DUNLIN_OK) {
            status = fill_key(page, letters[i].id, &page->keys[i], err);
        }
    }
    page->count = count;
    page->more = count == page->limit;
    return status;
}

static const struct dln_iter_kind rejected_kind = {.rows = DLN_ROWS_REJECTED,
                                                   .row_size = sizeof(dunlin_rejection),
                                                   .tag = "rejected",
                                                   .key_count = 1,
                                                   .read = read_page};

dunlin_status dunlin_rejected(dunlin_store *store, dunlin_iter **out, const dunlin_range *range,
                              dunlin_error *err) {
    return dln_iter_open(out, store, &rejected_kind, NULL, range, err);
}

dunlin_status dunlin_rejected_next(dunlin_iter *iter, const dunlin_rejection **row,
                                   dunlin_error *err) {
    DLN_ITER_NEXT(iter, DLN_ROWS_REJECTED, row, err);
}

/* ---- export */

static void write_letter(struct dln_buf *out, const struct dln_dead_letter *letter) {
    const struct dln_key *key = &letter->record.key;
    dln_buf_printf(out, "{\"id\":%lld,\"code\":\"%s\",\"reason\":", (long long)letter->id,
                   dunlin_status_name(letter->code));
    dln_json_string(out, letter->reason);
    dln_buf_append_text(out, ",\"collection\":");
    dln_json_string(out, key->name);
    dln_buf_append_text(out, ",\"scope\":");
    dln_json_string(out, key->scope);
    dln_buf_append_text(out, ",\"key\":[");
    for (int i = 0; i < key->part_count; i++) {
        dln_buf_append_text(out, i ? "," : "");
        dln_json_string(out, key->parts[i]);
    }
    dln_buf_append_text(out, "],\"fields\":");
    dln_values_write(out, &letter->record);
    dln_buf_printf(out, ",\"at_ms\":%lld}\n", (long long)letter->at_ms);
}

dunlin_status dunlin_rejected_export(dunlin_store *store, int64_t id, dunlin_line_callback callback,
                                     void *payload, dunlin_error *err) {
    struct dln_arena arena = DLN_ARENA_INIT(LETTER_BYTES_MAX);
    struct dln_buf line = DLN_BUF_INIT(LETTER_BYTES_MAX);
    struct dln_dead_letter letter;
    dunlin_status status = dln_handle_check(store, err);
    if (status == DUNLIN_OK && !callback) {
        status = dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "there is no callback");
    }
    if (status == DUNLIN_OK) {
        status = dln_reject_get(store->store, &arena, id, &letter, err);
    }
    if (status == DUNLIN_OK) {
        write_letter(&line, &letter);
        status = dln_buf_status(&line, err);
    }
    if (status == DUNLIN_OK) {
        status = callback(line.data, line.len, payload);
        if (status != DUNLIN_OK) {
            (void)dln_fail(err, status, DUNLIN_DOMAIN_API, "the callback stopped the export");
        }
    }
    dln_buf_free(&line);
    dln_arena_free(&arena);
    return status;
}

/* ---- discard and retry */

/* The refused fields on top of the row. *fields: which. */
static void put_fields(struct dln_row *row, const struct dln_record *letter, uint32_t *fields) {
    for (int i = 0; letter->key.collection && i < letter->key.collection->field_count; i++) {
        if (letter->fields[i].stamp != 0) {
            row->record.fields[i] = letter->fields[i];
            *fields |= UINT32_C(1) << i;
        }
    }
}

/* Unknown fields that the row has stay, unless the letter has them too. */
static bool put_extras(struct dln_arena *arena, struct dln_row *row,
                       const struct dln_record *letter, uint32_t *fields) {
    size_t count = 0;
    size_t kept = 0;
    size_t added = 0;
    if (letter->extra_count == 0) {
        return true;
    }
    struct dln_extra *extras =
        dln_arena_alloc(arena, (row->record.extra_count + letter->extra_count) * sizeof(*extras));
    if (!extras) {
        return false;
    }
    while (kept < row->record.extra_count || added < letter->extra_count) {
        int order = kept == row->record.extra_count ? 1
                    : added == letter->extra_count  ? -1
                                                   : dln_text_compare(row->record.extras[kept].name,
                                                                      letter->extras[added].name);
        extras[count++] = order < 0 ? row->record.extras[kept] : letter->extras[added];
        kept += order <= 0;
        added += order >= 0;
    }
    row->record.extras = extras;
    row->record.extra_count = count;
    *fields |= DLN_EXTRAS_BIT;
    return count <= DLN_EXTRA_MAX;
}

/* What is made is written whole: a field that the letter does not have is null, where that may be.
 */
static void complete(struct dln_row *row, uint32_t *fields) {
    const struct dln_collection *collection = row->record.key.collection;
    const struct dln_value null = dln_value_null();
    for (int i = 0; collection && i < collection->field_count; i++) {
        if (!(*fields >> i & 1) &&
            dln_check_field(&collection->fields[i], &null, NULL) == DUNLIN_OK) {
            row->record.fields[i] = (struct dln_field){.value = null};
            *fields |= UINT32_C(1) << i;
        }
    }
}

static bool says_it_exists(const struct dln_record *letter) {
    return dln_record_existence(letter) != NULL && dln_record_exists(letter);
}

static dunlin_status not_found(dunlin_error *err) {
    return dln_fail(err, DUNLIN_NOT_FOUND, DUNLIN_DOMAIN_API,
                    "the record that was edited is not there any more");
}

static dunlin_status retry_letter(struct dln_store *store, struct dln_arena *arena,
                                  const struct dln_dead_letter *letter, dunlin_error *err) {
    struct dln_row row;
    uint32_t fields = 0;
    bool live = false;
    dunlin_status status = dln_row_get(store, arena, &letter->record.key, &row, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    bool existed = row.stored && dln_record_exists(&row.record);
    if (!existed && !says_it_exists(&letter->record)) {
        return not_found(err);
    }
    put_fields(&row, &letter->record, &fields);
    if (!put_extras(arena, &row, &letter->record, &fields)) {
        return dln_fail(err, DUNLIN_TOO_LARGE, DUNLIN_DOMAIN_API, "the record has too many fields");
    }
    if (!existed) {
        complete(&row, &fields);
    }
    if (letter->record.key.collection && letter->record.key.collection->id == DLN_ITEM &&
        dln_record_exists(&row.record)) {
        struct dln_row there = row;
        there.stored = true;
        status = dln_row_is_live(store, &there, &live, err);
        if (status == DUNLIN_OK && !live) {
            status = not_found(err);
        }
    }
    if (status == DUNLIN_OK && fields != 0) {
        status = dln_row_edit(store, &row, fields, err);
    }
    return status == DUNLIN_OK ? dln_reject_remove(store, letter->id, err) : status;
}

/* One change in a transaction of its own, or in the app's. */
static dunlin_status begin(dunlin_store *store, bool *own, dunlin_error *err) {
    dunlin_status status = dln_handle_check(store, err);
    *own = status == DUNLIN_OK && !store->began;
    return *own ? dln_store_begin(store->store, err) : status;
}

static dunlin_status end(dunlin_store *store, bool own, dunlin_status status, dunlin_error *err) {
    if (!own) {
        return status;
    }
    if (status != DUNLIN_OK) {
        dln_store_rollback(store->store);
        return status;
    }
    return dln_store_commit(store->store, err);
}

dunlin_status dunlin_rejected_retry(dunlin_store *store, int64_t id, const char *fields,
                                    dunlin_error *err) {
    struct dln_arena arena = DLN_ARENA_INIT(LETTER_BYTES_MAX);
    struct dln_dead_letter letter;
    bool own;
    dunlin_status status = begin(store, &own, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    status = dln_reject_get(store->store, &arena, id, &letter, err);
    if (status == DUNLIN_OK && fields) {
        status = dln_values_read(&arena, &letter.record, dln_text_of(fields), err);
    }
    if (status == DUNLIN_OK) {
        status = retry_letter(store->store, &arena, &letter, err);
    }
    status = end(store, own, status, err);
    dln_arena_free(&arena);
    return status;
}

dunlin_status dunlin_rejected_discard(dunlin_store *store, int64_t id, dunlin_error *err) {
    bool own;
    dunlin_status status = begin(store, &own, err);
    if (status == DUNLIN_OK) {
        status = end(store, own, dln_reject_remove(store->store, id, err), err);
    }
    return status;
}
