/* The one iterator behind everything that is listed. */
#ifndef DLN_CLIENT_ITER_H
#define DLN_CLIENT_ITER_H

#include <dunlin/iter.h>
#include <dunlin/store.h>

#include "store/page.h"

/* What an iterator gives: the struct of its rows. …_next checks it. */
enum dln_iter_rows {
    DLN_ROWS_FOLLOWED = 1,
    DLN_ROWS_MEMBER,
    DLN_ROWS_SUBSCRIPTION,
    DLN_ROWS_REASON,
    DLN_ROWS_LIST,
    DLN_ROWS_ITEM,
    DLN_ROWS_HIT,
    DLN_ROWS_OUTBOX,
    DLN_ROWS_REJECTED
};

/* One per listing, static. */
struct dln_iter_kind {
    enum dln_iter_rows rows;
    size_t row_size;
    const char *tag; /* short, lower case; starts the listing's tokens */
    int argument_count;
    int key_count;
    dln_page_read read;
};

/* Makes an iterator; reads nothing yet.
 *   arguments  as many as the kind has; copied
 *   range      NULL: all; not needed after the call
 * MISUSE for a range that is none, INVALID_CURSOR, OUT_OF_MEMORY. */
DUNLIN_MUST_USE dunlin_status dln_iter_new(dunlin_iter **out, struct dln_store *store,
                                           const struct dln_iter_kind *kind,
                                           const struct dln_text *arguments,
                                           const dunlin_range *range, dunlin_error *err);

/* The same for the edge of the interface: MISUSE too where there is no store or no place for the
 * iterator. */
DUNLIN_MUST_USE dunlin_status dln_iter_open(dunlin_iter **out, dunlin_store *store,
                                            const struct dln_iter_kind *kind,
                                            const struct dln_text *arguments,
                                            const dunlin_range *range, dunlin_error *err);
/* No iterator comes out; returns status. */
dunlin_status dln_iter_refuse(dunlin_iter **out, dunlin_status status);

/* The next row, or NULL at the end. MISUSE when the iterator is NULL or gives other rows. */
DUNLIN_MUST_USE dunlin_status dln_iter_next(dunlin_iter *iter, enum dln_iter_rows rows,
                                            const void **row, dunlin_error *err);

/* The body of a function …_next: passes a row on under its own type. */
#define DLN_ITER_NEXT(iter, rows, row, err)                                                        \
    do {                                                                                           \
        const void *next_row = NULL;                                                               \
        dunlin_status next_status =                                                                \
            dln_iter_next((iter), (rows), (row) ? &next_row : NULL, (err));                        \
        if (row) {                                                                                 \
            *(row) = next_row;                                                                     \
        }                                                                                          \
        return next_status;                                                                        \
    } while (0)

#endif
