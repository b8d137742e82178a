/* Inside store/: a page from one statement. */
#ifndef DLN_STORE_PAGE_ROWS_H
#define DLN_STORE_PAGE_ROWS_H

#include "store/internal.h"
#include "store/page.h"

enum dln_page_take { DLN_PAGE_TAKEN, DLN_PAGE_SKIPPED, DLN_PAGE_NO_MEMORY };

/* Fills a zeroed row and its key from the statement's current row; texts are copied into the page's
 * arena. A skipped row leaves no trace. */
typedef enum dln_page_take (*dln_page_fill)(struct dln_page *page,
                                            const struct dln_statement *statement, void *row,
                                            struct dln_page_key *key);

/* Takes memory for the rows and keys of a page; sets count to 0. */
DUNLIN_MUST_USE dunlin_status dln_page_start(struct dln_page *page, size_t row_size,
                                             dunlin_error *err);
/* Binds the next parameter to a part of the key to go on from; without one, to what stands before
 * (or, backwards, behind) every text. */
void dln_page_bind_from(struct dln_statement *statement, const struct dln_page *page, int part);
/* Runs the statement until the page is full or it has no more rows. */
DUNLIN_MUST_USE dunlin_status dln_page_run(struct dln_page *page, struct dln_statement *statement,
                                           size_t row_size, dln_page_fill fill, dunlin_error *err);

#endif
