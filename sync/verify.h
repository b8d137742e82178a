/* Comparing a scope on both sides without reading it whole: the digest tree's nodes, asked for by
 * prefix of a record's place (dln_key_hash()). The side that asks walks down only where digests
 * differ. */
#ifndef DLN_SYNC_VERIFY_H
#define DLN_SYNC_VERIFY_H

#include "base/arena.h"
#include "sync/digest.h"
#include "sync/message.h"

enum {
    DLN_VERIFY_ASKS_MAX = 256,   /* of one request */
    DLN_VERIFY_NAMED_MAX = 64,   /* up to so many records below a prefix are named themselves */
    DLN_VERIFY_LEAVES_MAX = 1000 /* named below one prefix, also where it cannot grow longer */
};

struct dln_verify_ask {
    struct dln_text scope;
    uint64_t prefix; /* its first nibbles; the bits behind them are 0 */
    int nibbles;     /* 0 (the whole scope) to 16 */
};

struct dln_verify_request {
    char nonce[DLN_NONCE_LEN + 1];
    struct dln_verify_ask *asks;
    size_t ask_count;
};

enum dln_verify_state {
    DLN_VERIFY_CHILDREN, /* too many records to name them: the 16 prefixes that are longer by one */
    DLN_VERIFY_LEAVES,   /* every record below the prefix */
    DLN_VERIFY_DENIED    /* this user may not read the scope */
};

struct dln_verify_child {
    uint64_t digest; /* sum of the records' hashes, modulo 2^64 */
    size_t count;    /* of records */
};

struct dln_verify_leaf {
    struct dln_text key; /* dln_key_text() */
    uint64_t hash;       /* dln_record_hash() */
};

/* The answer to one ask. */
struct dln_verify_node {
    size_t ask; /* its place in the request */
    enum dln_verify_state state;
    int64_t seq; /* the scope's last seq: who has another cursor compares different moments */
    struct dln_verify_child children[16];
    struct dln_verify_leaf *leaves;
    size_t leaf_count;
};

struct dln_verify_answer {
    char nonce[DLN_NONCE_LEN + 1];
    struct dln_text epoch;
    int64_t now_ms;
    struct dln_verify_node *nodes; /* by ask; one that is missing did not fit: ask again */
    size_t node_count;
    int64_t retry_after_ms; /* as in dln_sync_answer */
};

/* What dln_leaves_range() found below an ask's prefix, in the form of the answer: true when the
 * `count` records are to be named (the caller fills in leaves), else false, and the children are
 * filled in. */
bool dln_verify_fill(struct dln_verify_node *node, const struct dln_verify_ask *ask,
                     const struct dln_leaf *leaves, size_t count);

/* As in sync/message.h. In an answer nothing is passed over: what cannot be read makes it
 * NOT_OUR_SERVER. */
DUNLIN_MUST_USE dunlin_status dln_verify_request_encode(struct dln_buf *out,
                                                        const struct dln_verify_request *request,
                                                        dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_verify_request_decode(struct dln_arena *arena,
                                                        struct dln_verify_request *out,
                                                        struct dln_text body, dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_verify_answer_encode(struct dln_buf *out,
                                                       const struct dln_verify_answer *answer,
                                                       dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_verify_answer_decode(struct dln_arena *arena,
                                                       struct dln_verify_answer *out,
                                                       const char *nonce, struct dln_text body,
                                                       dunlin_error *err);

#endif
