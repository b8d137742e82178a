/* How many lists, items and groups of his own a user may have. */
#ifndef DLN_CENTRAL_QUOTA_H
#define DLN_CENTRAL_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"

enum dln_quota_kind { DLN_QUOTA_LISTS, DLN_QUOTA_ITEMS, DLN_QUOTA_GROUPS, DLN_QUOTA_KINDS };

enum { DLN_QUOTA_CACHED = 32 };

/* "At seq there were at most `count`." Since an entry makes at most one record, there are at most
 * count + (last - seq) at last: counting is only needed where that is too many. */
struct dln_quota_mark {
    uint64_t scope; /* hash of the scope's name, the epoch and the kind; 0: free */
    int64_t seq;
    int64_t count;
};

struct dln_quota_cache {
    struct dln_quota_mark marks[DLN_QUOTA_CACHED];
    unsigned next;
};

struct dunlin_central;

/* The kind that a record of that collection counts in; DLN_QUOTA_KINDS: none. */
enum dln_quota_kind dln_quota_kind_of(const struct dln_collection *collection);

/* Whether `more` new ones fit into the scope, whose last seq is `last`. */
DUNLIN_MUST_USE dunlin_status dln_quota_allows(struct dunlin_central *central, int64_t epoch,
                                               struct dln_text scope, int64_t last,
                                               enum dln_quota_kind kind, int64_t more,
                                               bool *allowed, dunlin_error *err);

#endif
