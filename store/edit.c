/* Local edits: one record, some of its fields, one new stamp. The outbox is told in the same write.
 *
 * The clock's bound is saved with the first stamp above it, so that most edits do not write it. */
#include <assert.h>

#include "store/clock.h"
#include "store/row.h"

static void stamp_fields(struct dln_row *row, uint32_t fields, dln_stamp stamp) {
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        if (fields >> i & 1) {
            row->record.fields[i].stamp = stamp;
        }
    }
    if (fields & DLN_EXTRAS_BIT) {
        for (size_t i = 0; i < row->record.extra_count; i++) {
            row->record.extras[i].field.stamp = stamp;
        }
    }
}

/* Nobody but this device ever heard of the record. */
static bool is_untried_creation(const struct dln_row *row) {
    return row->stored && row->pending != 0 && row->seq == DLN_SEQ_NEVER && !row->tried;
}

static dunlin_status edit_row(struct dln_store *store, struct dln_row *row, uint32_t fields,
                              dunlin_error *err) {
    bool untried = is_untried_creation(row);
    dln_stamp stamp =
        dln_clock_next(&store->clock, dln_store_now_ms(store), dln_record_newest(&row->record));
    dunlin_status status = dln_clock_save(store, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    stamp_fields(row, fields, stamp);
    if (row->pending == 0) {
        row->tried = row->seq != DLN_SEQ_NEVER;
        row->offered = 0;
    }
    row->pending |= fields;
    row->offered &= ~fields;
    if (untried && !dln_record_exists(&row->record)) {
        status = dln_row_remove(store, &row->record.key, err);
        row->stored = false;
        row->pending = 0;
        return status;
    }
    status = dln_row_put(store, row, err);
    row->stored = true;
    return status;
}

dunlin_status dln_row_create(struct dln_store *store, struct dln_row *row, bool *created,
                             dunlin_error *err) {
    uint32_t all = (UINT32_C(1) << row->record.key.collection->field_count) - 1;
    assert(store->in_transaction);
    dln_stamp stamp = dln_clock_next(&store->clock, dln_store_now_ms(store), 0);
    dunlin_status status = dln_clock_save(store, err);
    *created = false;
    stamp_fields(row, all, stamp);
    row->seq = DLN_SEQ_NEVER;
    row->pending = all;
    row->offered = 0;
    row->tried = false;
    row->stored = false;
    if (status == DUNLIN_OK) {
        status = dln_row_insert(store, row, created, err);
    }
    row->stored = *created;
    return dln_poison(store, status, err);
}

dunlin_status dln_row_edit(struct dln_store *store, struct dln_row *row, uint32_t fields,
                           dunlin_error *err) {
    assert(store->in_transaction);
    assert(fields != 0);
    return dln_poison(store, edit_row(store, row, fields, err), err);
}
