/* Places among siblings: the ranks of lists, and of the items of one list. */
#ifndef DLN_CLIENT_PLACE_H
#define DLN_CLIENT_PLACE_H

#include <dunlin/list.h>

#include "base/rank.h"
#include "client/edit.h"
#include "store/page.h"

struct dln_siblings {
    enum dln_collection_id collection; /* DLN_LIST or DLN_ITEM */
    struct dln_text list;              /* whose items; none for lists */
    struct dln_page_key self;          /* of what is placed: as in its listing (store/lists.h);
                                          count 0 where it stands nowhere yet */
};

/* The key of a row in its listing. */
struct dln_page_key dln_place_key(const struct dln_row *row);

/* Finds a rank for that place.
 *   before  the neighbour's key with DUNLIN_PLACE_BEFORE, else NULL
 *   stays   whether it stands there already; then there is no new rank
 * Where the gap is used up, the siblings around it get new ranks. */
DUNLIN_MUST_USE dunlin_status dln_place(struct dln_edit *edit, const struct dln_siblings *siblings,
                                        dunlin_place_kind place, const struct dln_page_key *before,
                                        struct dln_rank *out, bool *stays, dunlin_error *err);

/* What the edge says of a place: MISUSE unless a neighbour is named exactly where one is needed. */
DUNLIN_MUST_USE dunlin_status dln_check_place(dunlin_place_kind place, bool neighbour,
                                              dunlin_error *err);
struct dln_text dln_rank_text(const struct dln_rank *rank);

#endif
