/* One exchange: a request of one user is pushed, then pulled, into one answer. */
#ifndef DLN_CENTRAL_EXCHANGE_H
#define DLN_CENTRAL_EXCHANGE_H

#include "central/authorize.h"
#include "central/central.h"

/* A scope of the request. */
struct dln_exchange_scope {
    const struct dln_scope_ask *ask;
    enum dln_scope_kind kind;
    struct dln_text id;
    bool known;            /* its name is one that central knows */
    const size_t *records; /* of the request, in its order */
    size_t record_count;
    struct dln_scope_answer *answer; /* NULL: nothing is said of it, yet */
};

struct dln_exchange {
    struct dunlin_central *central;
    struct dln_text user;
    const struct dln_sync_request *request;
    struct dln_sync_answer *answer;
    struct dln_epoch epoch;
    struct dln_exchange_scope *scopes;
    size_t refusal_bytes; /* of central's values in refusals so far */
};

/* Whether the scope's cursor can be served: RESET (another epoch) and HELD make an answer. *last is
 * the scope's newest entry. */
DUNLIN_MUST_USE dunlin_status dln_pull_check(struct dln_exchange *exchange,
                                             struct dln_exchange_scope *scope,
                                             struct dln_cursor *last, dunlin_error *err);
/* Makes the scope's answer: RESET, with all that a rebuild needs to know. */
DUNLIN_MUST_USE dunlin_status dln_pull_reset(struct dln_exchange *exchange,
                                             struct dln_exchange_scope *scope,
                                             const struct dln_cursor *last, dunlin_error *err);
void dln_pull_answer(struct dln_exchange *exchange, struct dln_exchange_scope *scope,
                     enum dln_scope_state state);
/* The pages of all scopes that were asked for and have no answer yet. */
DUNLIN_MUST_USE dunlin_status dln_pull(struct dln_exchange *exchange, dunlin_error *err);

/* Acknowledgements and refusals for the records of one scope. */
DUNLIN_MUST_USE dunlin_status dln_push_scope(struct dln_exchange *exchange,
                                             struct dln_exchange_scope *scope, dunlin_error *err);
/* Refuses a record that central holds nothing of, whole. */
void dln_push_refuse(struct dln_exchange *exchange, size_t index, dunlin_status code,
                     const char *reason);

/* The sender's standing in a scope, read now. */
DUNLIN_MUST_USE dunlin_status dln_standing_read(struct dunlin_central *central,
                                                struct dln_arena *arena, struct dln_text scope,
                                                struct dln_standing *standing, dunlin_error *err);

/* A whole exchange in memory. What is given out lives in central->arena until the next call. Where
 * it fails, there is no answer: the caller says so to whoever asked. */
DUNLIN_MUST_USE dunlin_status dln_exchange_sync(struct dunlin_central *central,
                                                struct dln_text user,
                                                const struct dln_sync_request *request,
                                                struct dln_sync_answer *answer, dunlin_error *err);
/* From bytes to bytes; kind is "sync" or "verify". */
DUNLIN_MUST_USE dunlin_status dln_exchange_body(struct dunlin_central *central,
                                                struct dln_text user, const char *kind,
                                                struct dln_text body, struct dln_buf *out,
                                                dunlin_error *err);

#endif
