#include "store/ends.h"

#include <assert.h>
#include <string.h>

static struct dln_end *slot_of(struct dln_store *store, int64_t list) {
    return &store->ends[(uint64_t)list % DLN_ENDS];
}

const struct dln_end *dln_end_find(const struct dln_store *store, int64_t list) {
    const struct dln_end *end = &store->ends[(uint64_t)list % DLN_ENDS];
    return store->in_transaction && end->list == list ? end : NULL;
}

void dln_end_learn(struct dln_store *store, int64_t list, struct dln_text rank) {
    struct dln_end *end = slot_of(store, list);
    if (store->in_transaction && rank.len <= DLN_RANK_MAX) {
        end->list = list;
        end->len = rank.len;
        memcpy(end->rank, rank.data, rank.len);
    }
}

void dln_end_forget(struct dln_store *store, int64_t list) {
    if (slot_of(store, list)->list == list) {
        slot_of(store, list)->list = 0;
    }
}

/* The rank by which the item stands in its list; no text where it does not. */
static struct dln_text rank_of(const struct dln_row *row) {
    const struct dln_field *rank = &row->record.fields[DLN_ITEM_RANK];
    if (!row->stored || !dln_record_exists(&row->record)) {
        return (struct dln_text){NULL, 0};
    }
    return rank->stamp != 0 && rank->value.type == DLN_STRING ? rank->value.as.text : DLN_TEXT("");
}

void dln_end_item(struct dln_store *store, int64_t list, const struct dln_row *before,
                  const struct dln_row *after) {
    const struct dln_end *end = dln_end_find(store, list);
    struct dln_text was = rank_of(before);
    struct dln_text is = rank_of(after);
    if (!end) {
        return;
    }
    const struct dln_text last = {end->rank, end->len};
    if (is.data && dln_text_compare(is, last) >= 0) {
        dln_end_learn(store, list, is);
    } else if (was.data && dln_text_compare(was, last) >= 0) {
        dln_end_forget(store, list); /* which is the last now? */
    }
}
