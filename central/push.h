/* Between push.c (a scope's part of a push) and judge.c (one record of it). */
#ifndef DLN_CENTRAL_PUSH_H
#define DLN_CENTRAL_PUSH_H

#include "central/exchange.h"
#include "central/log.h"

/* A key's record as it stands while a push is judged. */
struct dln_push_draft {
    struct dln_record record;
    int64_t seq;  /* of what central holds; 0: nothing */
    bool held;    /* central holds it, or will with this push */
    bool changed; /* by this push */
    size_t entry; /* then: its place among the push's entries */
};

/* A record of the push. */
struct dln_push_item {
    size_t index; /* in the request */
    const struct dln_record *sent;
    int pass;
    size_t key;                 /* its place among the push's keys */
    size_t list;                /* an item's: its list's place */
    struct dln_verdict invalid; /* what is wrong with it whatever stands at central */

    /* As the last attempt judged it. */
    bool judged; /* false: left for the next exchange */
    bool acked;
    struct dln_verdict verdict;
    struct dln_push_draft *draft; /* NULL: it has no legal key */
};

struct dln_push {
    struct dln_exchange *exchange;
    struct dln_exchange_scope *scope;
    struct dln_push_item *items;
    size_t item_count;
    struct dln_text *keys; /* of the records, and of those that they are judged by */
    size_t key_count;
    size_t group; /* in a group's scope: places of the group and of the sender as its member */
    size_t own;

    /* Of the attempt. */
    struct dln_arena *arena;
    int64_t last_seq;
    int64_t now_ms;
    struct dln_push_draft *drafts; /* by keys */
    struct dln_entry *entries;
    size_t entry_count;
    bool reads;                    /* before this push the sender may read the scope */
    int64_t made[DLN_QUOTA_KINDS]; /* records that this push brought to life */
};

/* Whether the sender may read the scope, as the drafts stand. */
bool dln_push_may_read(const struct dln_push *push);
/* Judges one record and merges what is taken into its draft. */
DUNLIN_MUST_USE dunlin_status dln_push_judge(struct dln_push *push, struct dln_push_item *item,
                                             dunlin_error *err);
/* The stamp that central would take for a field that it holds with that one. */
dln_stamp dln_push_take(const struct dln_push *push, dln_stamp stored);

#endif
