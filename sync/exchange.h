/* The engine's inside, shared by the three files that are its parts: engine.c (the state machine),
 * outgoing.c (what the next request carries), incoming.c (what an answer does). */
#ifndef DLN_SYNC_EXCHANGE_H
#define DLN_SYNC_EXCHANGE_H

#include "sync/apply.h"
#include "sync/done.h"

struct dln_engine {
    struct dln_engine_options options;
    struct dln_sync_counts counts;

    /* The run: from a SYNC event to DONE or WAIT. */
    bool running;
    bool ended;         /* it came to DONE */
    bool held;          /* some scope is held */
    bool resync_failed; /* central asked to start over while that was being done */
    bool again;         /* another pass over the outbox can send something */
    bool pass_ended;
    int passes;
    int stale_answers; /* in a row */
    struct dln_done done;
    struct dln_buf place; /* where the pass over the outbox stands: stage byte, then its text */

    /* The request that is out. */
    struct dln_arena request_arena;
    struct dln_sync_request request;
    struct dln_row *sent; /* one a record of request, see sync/apply.h */
    struct dln_buf place_before;
    struct dln_buf body;

    struct dln_arena answer_arena;
    struct dln_arena scratch;

    size_t limit_bytes;  /* of a request, as learned */
    size_t passed_bytes; /* the largest request that got through */
    bool was_too_large;  /* limit_bytes was lowered since the engine was made */
    int page_records;
    int failures; /* in a row, for the backoff */
    int64_t offset_ms;
};

/* Builds the next request of the run and marks what it carries as tried, in one transaction.
 * *nothing: there is nothing to send and nothing to ask, the run is over. */
DUNLIN_MUST_USE dunlin_status dln_outgoing(struct dln_engine *engine, int64_t now_ms, bool *nothing,
                                           dunlin_error *err);
/* Writes the request that is out (again) into body, under a new nonce. */
DUNLIN_MUST_USE dunlin_status dln_outgoing_encode(struct dln_engine *engine, dunlin_error *err);
/* Applies an answer to the request that is out, in one transaction. STALE_REPLY, NOT_OUR_SERVER and
 * the like change nothing; *retry_after_ms is what an error message asks for. */
DUNLIN_MUST_USE dunlin_status dln_incoming(struct dln_engine *engine, int64_t now_ms,
                                           struct dln_text body, int64_t *retry_after_ms,
                                           dunlin_error *err);
/* The request cannot have changed anything: puts back what was marked. too_large: its only record
 * is what was too large, and becomes a dead letter. */
DUNLIN_MUST_USE dunlin_status dln_incoming_none(struct dln_engine *engine, bool too_large,
                                                dunlin_error *err);

#endif
