/* Which users care for which scopes: a table that is asked by scope. */
#ifndef DLN_BRIDGE_INTEREST_H
#define DLN_BRIDGE_INTEREST_H

#include "base/text.h"

enum {
    DLN_INTEREST_BUCKETS = 16384,
    DLN_INTEREST_MAX = 2000,           /* scopes of one user; the rest he polls */
    DLN_INTEREST_ALL_MAX = 1000 * 1000 /* of all together */
};

struct dln_watch;

/* Whoever cares; embedded. Zeroed: cares for nothing. */
struct dln_watcher {
    struct dln_watch *watches;
};

/* Zeroed: empty. One thread at a time. */
struct dln_interest {
    struct dln_watch *buckets[DLN_INTEREST_BUCKETS];
    size_t count;
};

/* What the watcher cares for from now on, instead of before. Scopes that stand there twice, beyond
 * the ceilings or out of memory are left out, the last ones first. */
void dln_interest_set(struct dln_interest *interest, struct dln_watcher *watcher,
                      const struct dln_text *scopes, size_t count);
/* He must not go before he cares for nothing. */
void dln_interest_clear(struct dln_interest *interest, struct dln_watcher *watcher);
bool dln_interest_has(const struct dln_interest *interest, const struct dln_watcher *watcher,
                      struct dln_text scope);
/* Calls visit with each watcher of the scope; visit changes no interest. */
void dln_interest_visit(const struct dln_interest *interest, struct dln_text scope,
                        void (*visit)(void *self, struct dln_watcher *watcher), void *self);

#endif
