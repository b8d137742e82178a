/* Reading lists, their items, and the search over both. Rows are the public structs. */
#ifndef DLN_STORE_LISTS_H
#define DLN_STORE_LISTS_H

#include <dunlin/list.h>

#include "store/page.h"
#include "store/store.h"

enum { DLN_NAME_FORM_MAX = 4 * DLN_NAME_MAX }; /* bytes of a name in NFC */

/* ---- list_page.c. Pages of dunlin_list, key: rank, id. */

/* Live lists in their order; no arguments. */
DUNLIN_MUST_USE dunlin_status dln_page_lists(struct dln_store *store, struct dln_page *page,
                                             dunlin_error *err);
/* Of a name, compared in NFC; arguments: that name, in NFC. */
DUNLIN_MUST_USE dunlin_status dln_page_lists_named(struct dln_store *store, struct dln_page *page,
                                                   dunlin_error *err);
/* The one of an id; arguments: the id. */
DUNLIN_MUST_USE dunlin_status dln_page_list(struct dln_store *store, struct dln_page *page,
                                            dunlin_error *err);
/* That hold an item; arguments: its type, its id. */
DUNLIN_MUST_USE dunlin_status dln_page_lists_with(struct dln_store *store, struct dln_page *page,
                                                  dunlin_error *err);

/* Whether the list is live, and the greatest rank of its items ("" where there is none) in the
 * arena: what appending an item needs. */
DUNLIN_MUST_USE dunlin_status dln_list_end(struct dln_store *store, struct dln_arena *arena,
                                           struct dln_text list, bool *live, struct dln_text *rank,
                                           dunlin_error *err);

/* ---- item_page.c. Pages of dunlin_item, key: rank, id, type. */

/* A list's items in their order, none where the list is not live; arguments: the list's id. */
DUNLIN_MUST_USE dunlin_status dln_page_items(struct dln_store *store, struct dln_page *page,
                                             dunlin_error *err);
/* Whether there is such a list, not deleted. */
DUNLIN_MUST_USE dunlin_status dln_list_is_live(struct dln_store *store, struct dln_text list,
                                               bool *out, dunlin_error *err);
/* The one item; arguments: list, type, id. */
DUNLIN_MUST_USE dunlin_status dln_page_item(struct dln_store *store, struct dln_page *page,
                                            dunlin_error *err);
/* The same as dln_page_items, whether or not the list is live. */
DUNLIN_MUST_USE dunlin_status dln_page_items_kept(struct dln_store *store, struct dln_page *page,
                                                  dunlin_error *err);

/* ---- search_page.c. Pages of dunlin_hit, key: "0" for a list or "1" for an item, list, type, id.
 */

/* Arguments: the text. UNSUPPORTED in a file without search. */
DUNLIN_MUST_USE dunlin_status dln_page_hits(struct dln_store *store, struct dln_page *page,
                                            dunlin_error *err);
bool dln_store_has_search(const struct dln_store *store);

#endif
