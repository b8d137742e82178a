/* The thread that asks the store which scopes were touched lately, and tells (pokes) those who
 * listen. */
#ifndef DLN_BRIDGE_POKER_H
#define DLN_BRIDGE_POKER_H

#include "bridge/listeners.h"
#include "bridge/source.h"

struct dln_poker;

enum {
    DLN_POKE_EVERY_MS = 250,
    DLN_LOOK_BACK_MS = 10 * 1000,          /* further than a write may take to become visible */
    DLN_LOOK_UP_EVERY_MS = 10 * 60 * 1000, /* whom somebody follows, also without news of it */
    DLN_TOUCHED_MAX = 2000                 /* of one look; with more, everybody is told */
};

DUNLIN_MUST_USE dunlin_status dln_poker_start(struct dln_poker **out, struct dln_source *source,
                                              struct dln_listeners *listeners, dunlin_error *err);
void dln_poker_stop(struct dln_poker *poker); /* NULL is allowed */

#endif
