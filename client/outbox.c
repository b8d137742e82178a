/* The outbox, as a listing. */
#include <dunlin/sync.h>

#include "client/iter.h"
#include "store/outbox_page.h"

static const struct dln_iter_kind pending_kind = {.rows = DLN_ROWS_OUTBOX,
                                                  .row_size = sizeof(dunlin_pending),
                                                  .tag = "outbox",
                                                  .key_count = 1,
                                                  .read = dln_page_pending};

dunlin_status dunlin_outbox(dunlin_store *store, dunlin_iter **out, const dunlin_range *range,
                            dunlin_error *err) {
    return dln_iter_open(out, store, &pending_kind, NULL, range, err);
}

dunlin_status dunlin_outbox_next(dunlin_iter *iter, const dunlin_pending **row, dunlin_error *err) {
    DLN_ITER_NEXT(iter, DLN_ROWS_OUTBOX, row, err);
}
