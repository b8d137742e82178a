/* Counting is a walk over all of a user's records of one kind, so it is done only where the last
 * count and what was written since could be too many together; see struct dln_quota_mark. An item
 * counts while its list lives: a deleted list's items free their places at once, and take them
 * again when it is restored, which no quota stops. */
#include "central/quota.h"

#include "central/live.h"

static const struct {
    enum dln_collection_id collection;
    struct dln_text prefix; /* of the keys */
} kinds[DLN_QUOTA_KINDS] = {
    [DLN_QUOTA_LISTS] = {DLN_LIST, {"list/", 5}},
    [DLN_QUOTA_ITEMS] = {DLN_ITEM, {"item/", 5}},
    [DLN_QUOTA_GROUPS] = {DLN_MYGROUP, {"mygroup/", 8}},
};

enum dln_quota_kind dln_quota_kind_of(const struct dln_collection *collection) {
    int kind = 0;
    while (kind < DLN_QUOTA_KINDS &&
           (collection == NULL || kinds[kind].collection != collection->id)) {
        kind++;
    }
    return (enum dln_quota_kind)kind;
}

/* *all: those that say they exist; *alive: and whose list does too. */
static dunlin_status count_live(struct dunlin_central *central, struct dln_text scope,
                                enum dln_quota_kind kind, int64_t *all, int64_t *alive,
                                dunlin_error *err) {
    struct dln_live live = {
        .walk = {.central = central, .scope = scope, .prefix = kinds[kind].prefix}};
    struct dln_trace trace;
    dunlin_status status;
    bool newest;
    bool found;
    bool lives;
    *all = *alive = 0;
    while ((status = dln_walk_next(&live.walk, &trace, &newest, &found, err)) == DUNLIN_OK &&
           found) {
        if (!newest || trace.gone) {
            continue;
        }
        if ((status = dln_live_parent(&live, trace.key, &lives, err))) {
            break;
        }
        (*all)++;
        *alive += lives;
    }
    dln_live_free(&live);
    return status;
}

static uint64_t mark_of(int64_t epoch, struct dln_text scope, enum dln_quota_kind kind) {
    uint64_t hash = UINT64_C(14695981039346656037) ^ ((uint64_t)epoch * DLN_QUOTA_KINDS + kind);
    for (size_t i = 0; i < scope.len; i++) {
        hash = (hash ^ (unsigned char)scope.data[i]) * UINT64_C(1099511628211);
    }
    return hash | 1;
}

dunlin_status dln_quota_allows(struct dunlin_central *central, int64_t epoch, struct dln_text scope,
                               int64_t last, enum dln_quota_kind kind, int64_t more, bool *allowed,
                               dunlin_error *err) {
    struct dln_quota_cache *cache = &central->quotas;
    struct dln_quota_mark none = {0};
    struct dln_quota_mark *mark = &none;
    int64_t quota = central->limits.quota[kind];
    uint64_t hash = mark_of(epoch, scope, kind);
    dunlin_status status;
    for (int i = 0; i < DLN_QUOTA_CACHED; i++) {
        if (cache->marks[i].scope == hash && cache->marks[i].seq <= last) {
            mark = &cache->marks[i];
        }
    }
    *allowed = mark->count + (last - mark->seq) + more <= quota;
    if (*allowed) {
        return DUNLIN_OK;
    }
    int64_t all;
    int64_t alive;
    if ((status = count_live(central, scope, kind, &all, &alive, err))) {
        return status;
    }
    if (mark == &none) {
        mark = &cache->marks[cache->next++ % DLN_QUOTA_CACHED];
    }
    *mark = (struct dln_quota_mark){hash, last, all};
    *allowed = alive + more <= quota;
    return DUNLIN_OK;
}
