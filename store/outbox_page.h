/* The outbox as a listing: struct dunlin_pending a row. */
#ifndef DLN_STORE_OUTBOX_PAGE_H
#define DLN_STORE_OUTBOX_PAGE_H

#include "store/page.h"

/* No arguments; the key is a row's place. What is there only because a rebuild offers it was not
 * edited here: it is left out, and so are collections that this version does not know. */
DUNLIN_MUST_USE dunlin_status dln_page_pending(struct dln_store *store, struct dln_page *page,
                                               dunlin_error *err);

#endif
