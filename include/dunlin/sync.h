/* Sync: bringing the store and central together, and what central would not take. */
#ifndef DUNLIN_SYNC_H
#define DUNLIN_SYNC_H

#include <dunlin/iter.h>
#include <dunlin/store.h>
#include <dunlin/sys/remote.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dunlin_sync_result {
    uint64_t exchanges;   /* round trips */
    uint64_t pushed;      /* records that central acknowledged */
    uint64_t pulled;      /* record versions applied */
    uint64_t rejected;    /* dead letters made */
    uint64_t quarantined; /* received lines that could not be read as a record */
    uint64_t bytes_sent;  /* of bodies */
    uint64_t bytes_received;
    int64_t retry_at_ms; /* after a retryable status: when it makes sense to try again, Unix
                            milliseconds by the device's clock; else 0 */
} dunlin_sync_result;

/* Exchanges with the remote until nothing is left to do in either direction. Blocks; the store is
 * locked only while an answer is applied. Everything may be repeated: a call that failed at any
 * point has lost and doubled nothing. result  may be NULL; filled also on failure Returns the
 * remote's status (OFFLINE, CONN_CLOSED, NOT_OUR_SERVER, STALE_REPLY, NEED_LOGIN, UNAVAILABLE),
 * HELD, RESYNC_FAILED, ALREADY_RUNNING, BUSY, IO, DISK_FULL, CORRUPT, MISUSE. Refused records do
 * not make it fail: see result->rejected and dunlin_rejected(). */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_sync(dunlin_store *store, dunlin_remote *remote,
                                                     dunlin_sync_result *result, dunlin_error *err);

/* A record edited here and not yet acknowledged. */
typedef struct dunlin_pending {
    const char *collection;
    const char *scope;
    const char *const *key; /* its parts */
    size_t key_count;
    const char *const *fields; /* names of the fields that wait */
    size_t field_count;
    int tried; /* a request with it may have reached central */
} dunlin_pending;

/* The outbox, in the order in which it will be sent. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_outbox(dunlin_store *store, dunlin_iter **out,
                                                       const dunlin_range *range,
                                                       dunlin_error *err);
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_outbox_next(dunlin_iter *iter,
                                                            const dunlin_pending **row,
                                                            dunlin_error *err);

/* A dead letter: a change that central refused for good, with the person's values. */
typedef struct dunlin_rejection {
    int64_t id;
    dunlin_status code;
    const char *reason; /* a sentence from central */
    const char *collection;
    const char *scope;
    const char *const *key;
    size_t key_count;
    const char *fields; /* JSON object: name to value, in the values' wire form */
    int64_t at_ms;      /* when it was refused, Unix milliseconds */
} dunlin_rejection;

/* Dead letters, oldest first. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_rejected(dunlin_store *store, dunlin_iter **out,
                                                         const dunlin_range *range,
                                                         dunlin_error *err);
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_rejected_next(dunlin_iter *iter,
                                                              const dunlin_rejection **row,
                                                              dunlin_error *err);
/* Makes the change anew with new stamps, on top of what stands now, and removes the dead letter.
 *   fields  NULL: the values as they were; else a JSON object of some of its field names to new
 * values in wire form, which replace them (an edit) NOT_FOUND; else what the edit itself may
 * return: the dead letter stays then. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_rejected_retry(dunlin_store *store, int64_t id,
                                                               const char *fields,
                                                               dunlin_error *err);
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_rejected_discard(dunlin_store *store, int64_t id,
                                                                 dunlin_error *err);
/* The dead letter as one JSON object with a newline, given to the callback. NOT_FOUND. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_rejected_export(dunlin_store *store, int64_t id,
                                                                dunlin_line_callback callback,
                                                                void *payload, dunlin_error *err);

/* Central's live records of the scopes that its copy of the owner's data names, read from central
 * itself into nothing but the callback, in the form of dunlin_dump(). Statuses of dunlin_sync(). */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_dump_remote(dunlin_store *store,
                                                            dunlin_remote *remote,
                                                            dunlin_line_callback callback,
                                                            void *payload, dunlin_error *err);

typedef struct dunlin_divergence {
    int64_t scopes;   /* compared */
    int64_t differ;   /* records that differ, and are not waiting in the outbox */
    int64_t repaired; /* of those, with repair: taken anew from central */
} dunlin_divergence;

/* Compares the digest of every synced scope with central's and walks down only where they differ;
 * the callback (may be NULL) gets one JSON object a line for each record that differs: scope,
 * collection, key, side ("device", "central" or "both"). With repair the scopes that differ are
 * read anew. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_verify_remote(dunlin_store *store,
                                                              dunlin_remote *remote, int repair,
                                                              dunlin_divergence *out,
                                                              dunlin_line_callback callback,
                                                              void *payload, dunlin_error *err);

#ifdef __cplusplus
}
#endif
#endif
