/* Reading the graph. Rows are the public structs. */
#ifndef DLN_STORE_GRAPH_H
#define DLN_STORE_GRAPH_H

#include <dunlin/graph.h>

#include "store/page.h"
#include "store/store.h"

/* ---- graph_page.c */

/* Pages of dunlin_followed, key: "0" for a user or "1" for a group, id. */
DUNLIN_MUST_USE dunlin_status dln_page_following(struct dln_store *store, struct dln_page *page,
                                                 dunlin_error *err);
/* Live members, pages of dunlin_member, key: id; arguments: the group's id. */
DUNLIN_MUST_USE dunlin_status dln_page_members(struct dln_store *store, struct dln_page *page,
                                               dunlin_error *err);
/* Pages of dunlin_subscription, key: id. */
DUNLIN_MUST_USE dunlin_status dln_page_subscriptions(struct dln_store *store, struct dln_page *page,
                                                     dunlin_error *err);
/* The one of a user; arguments: his id. */
DUNLIN_MUST_USE dunlin_status dln_page_subscription(struct dln_store *store, struct dln_page *page,
                                                    dunlin_error *err);
/* Live members of a group. */
DUNLIN_MUST_USE dunlin_status dln_member_count(struct dln_store *store, struct dln_text group,
                                               int64_t *out, dunlin_error *err);

/* A member whose addition is pending and was never tried; none: no text. */
DUNLIN_MUST_USE dunlin_status dln_unsent_member(struct dln_store *store, struct dln_arena *arena,
                                                struct dln_text group, struct dln_text *out,
                                                dunlin_error *err);

/* ---- explain_page.c */

/* Pages of dunlin_reason, key: "0" for "!" or "1" for a group, id; arguments: the user's id. */
DUNLIN_MUST_USE dunlin_status dln_page_reasons(struct dln_store *store, struct dln_page *page,
                                               dunlin_error *err);

#endif
