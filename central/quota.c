/* Counting is a walk over all of a user's records of one kind, so it is done only where the last count
 * and what was written since could be too many together; see struct dln_quota_mark. An item counts
 * while its list lives: a deleted list's items free their places at once, and take them again when it
 * is restored, which no quota stops. */
#include "central/quota.h"

#include <string.h>

#include "central/walk.h"

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

/* A count under way. */
struct count {
    struct dunlin_central *central;
    struct dln_text scope;
    enum dln_quota_kind kind;
    struct dln_arena arena; /* holds the last item's list */
    struct dln_text list;   /* no text: none yet */
    bool list_lives;
    int64_t all;  /* that say they exist */
    int64_t live; /* and whose list does too */
};

/* "item/l1/…" → "l1", encoded. */
static struct dln_text list_of(struct dln_text key) {
    struct dln_text list = {key.data + 5, 0};
    while (5 + list.len < key.len && list.data[list.len] != '/') {
        list.len++;
    }
    return list;
}

/* Items of one list stand together in the walk. */
static dunlin_status look_at_list(struct count *count, struct dln_text key, dunlin_error *err) {
    const struct dln_central_engine *engine = &count->central->engine;
    struct dln_text list = list_of(key);
    struct dln_stored stored;
    char text[5 + 3 * DLN_ID_MAX];
    if (count->list.data != NULL && dln_text_equal(list, count->list)) {
        return DUNLIN_OK;
    }
    dln_arena_clear(&count->arena);
    count->list = dln_arena_text(&count->arena, list);
    if (count->list.data == NULL || list.len > sizeof(text) - 5) {
        return dln_central_no_memory(err);
    }
    memcpy(text, "list/", 5);
    memcpy(text + 5, list.data, list.len);
    struct dln_text list_key = {text, 5 + list.len};
    dunlin_status status =
        engine->current(engine->self, &count->arena, count->scope, &list_key, 1, &stored, err);
    count->list_lives = status == DUNLIN_OK && stored.place.seq != 0 &&
                        dln_record_exists(&stored.record);
    return status;
}

static dunlin_status add_record(struct count *count, const struct dln_trace *newest,
                                dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    bool lives = true;
    if (count->kind == DLN_QUOTA_ITEMS) {
        status = look_at_list(count, newest->key, err);
        lives = count->list_lives;
    }
    count->all++;
    count->live += lives;
    return status;
}

static dunlin_status walk(struct count *count, dunlin_error *err) {
    struct dln_walk walk = {.central = count->central,
                            .scope = count->scope,
                            .prefix = kinds[count->kind].prefix};
    struct dln_trace trace;
    dunlin_status status;
    bool last_of_key;
    bool found;
    while ((status = dln_walk_next(&walk, &trace, &last_of_key, &found, err)) == DUNLIN_OK &&
           found) {
        if (last_of_key && !trace.gone && (status = add_record(count, &trace, err))) {
            break;
        }
    }
    dln_walk_free(&walk);
    dln_arena_free(&count->arena);
    return status;
}

static uint64_t mark_of(int64_t epoch, struct dln_text scope, enum dln_quota_kind kind) {
    uint64_t hash = UINT64_C(14695981039346656037) ^ ((uint64_t)epoch * DLN_QUOTA_KINDS + kind);
    for (size_t i = 0; i < scope.len; i++) {
        hash = (hash ^ (unsigned char)scope.data[i]) * UINT64_C(1099511628211);
    }
    return hash | 1;
}

dunlin_status dln_quota_allows(struct dunlin_central *central, int64_t epoch,
                               struct dln_text scope, int64_t last, enum dln_quota_kind kind,
                               int64_t more, bool *allowed, dunlin_error *err) {
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
    struct count count = {.central = central,
                          .scope = scope,
                          .kind = kind,
                          .arena = DLN_ARENA_INIT(DLN_EXCHANGE_BYTES_MAX)};
    if ((status = walk(&count, err))) {
        return status;
    }
    if (mark == &none) {
        mark = &cache->marks[cache->next++ % DLN_QUOTA_CACHED];
    }
    *mark = (struct dln_quota_mark){hash, last, count.all};
    *allowed = count.live + more <= quota;
    return DUNLIN_OK;
}
