/* The engine that reconciles one device with central: a state machine that does no I/O of its own.
 * It takes an event with the time in it and answers with one action; everything else it does
 * through the store port. One engine per store, one thread at a time. */
#ifndef DLN_SYNC_ENGINE_H
#define DLN_SYNC_ENGINE_H

#include "sync/ports.h"

struct dln_engine_options {
    struct dln_sync_store store;
    uint64_t (*random)(void *self);
    void *random_self;
    int page_records;       /* 0: DLN_PAGE_RECORDS_MAX */
    size_t request_bytes;   /* 0: DLN_REQUEST_BYTES_MAX; lowered by TOO_LARGE, see `learned` */
    size_t request_records; /* 0: DLN_REQUEST_RECORDS_MAX */
    bool pull_only;         /* never sends what is in the outbox */
};

enum dln_event_kind {
    DLN_EVENT_SYNC,   /* the app or a timer wants an exchange now */
    DLN_EVENT_ANSWER, /* body: what the remote answered to the last SEND */
    DLN_EVENT_FAILED, /* the last SEND failed with `status` */
    DLN_EVENT_NETWORK /* while nothing is out: the network came back, the backoff is forgotten */
};

struct dln_event {
    enum dln_event_kind kind;
    int64_t now_ms;         /* the device's wall clock, Unix milliseconds, uncorrected */
    struct dln_text body;   /* ANSWER; only for the call */
    dunlin_error failure;   /* FAILED: what happened. OFFLINE means that no connection was made */
    int64_t retry_after_ms; /* what the remote asked for, 0: nothing */
};

enum dln_action_kind {
    DLN_ACTION_SEND, /* give `body` to the remote, come back with ANSWER or FAILED */
    DLN_ACTION_DONE, /* in step with central; `status` OK, or HELD when a scope is held */
    DLN_ACTION_WAIT  /* something failed: `status`, `error`; try again at `wake_ms` */
};

struct dln_action {
    enum dln_action_kind kind;
    struct dln_text body; /* SEND: valid until the next step */
    int64_t wake_ms;      /* WAIT: device's wall clock */
    dunlin_error error;
};

struct dln_sync_counts {
    uint64_t exchanges;
    uint64_t pushed;   /* records that central acknowledged */
    uint64_t rejected; /* dead letters made */
    uint64_t pulled;   /* versions applied */
    uint64_t quarantined;
    uint64_t resets;
    uint64_t bytes_sent;
    uint64_t bytes_received;
};

struct dln_engine;

DUNLIN_MUST_USE dunlin_status dln_engine_new(struct dln_engine **out,
                                             const struct dln_engine_options *options,
                                             dunlin_error *err);
void dln_engine_free(struct dln_engine *engine);

/* Never fails as such: a failure of the store becomes an action WAIT with its error; the
 * transaction in which it happened is rolled back. */
void dln_engine_step(struct dln_engine *engine, const struct dln_event *event,
                     struct dln_action *out);

/* Since the last DLN_EVENT_SYNC. */
const struct dln_sync_counts *dln_engine_counts(const struct dln_engine *engine);
/* The request size learned from TOO_LARGE answers, to be kept over restarts; 0: none. */
size_t dln_engine_learned_bytes(const struct dln_engine *engine);
void dln_engine_set_learned_bytes(struct dln_engine *engine, size_t bytes);
/* Runs in a row that failed, which the backoff goes by; to be handed to the next engine. */
int dln_engine_failures(const struct dln_engine *engine);
void dln_engine_set_failures(struct dln_engine *engine, int failures);

#endif
