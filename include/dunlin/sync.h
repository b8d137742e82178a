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
 * point has lost and doubled nothing.
 *   result  may be NULL; filled also on failure. retry_at_ms grows with the syncs of this store
 *           that failed in a row: at random, up to 1 s after the first, then up to twice as much
 *           each time, 15 min at most; a remote that asks for more gets it, up to 15 min
 * Returns the remote's status (OFFLINE, CONN_CLOSED, NOT_OUR_SERVER, STALE_REPLY, NEED_LOGIN,
 * UNAVAILABLE, …), HELD, RESYNC_FAILED, BUSY, IO, DISK_FULL, CORRUPT, MISUSE.
 * Refused records do not make it fail: see result->rejected and dunlin_rejected(). */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_sync(dunlin_store *store, dunlin_remote *remote,
                                                     dunlin_sync_result *result, dunlin_error *err);

/* Why dunlin_sync_wait() came back. All 0: the time is up. */
typedef struct dunlin_wakeup {
    int news;      /* central has something new, or may have */
    int edits;     /* edits wait that were made since the last dunlin_sync() on this handle, by
                      whomever: this process or another */
    int listening; /* central itself will tell of news; else dunlin looks again every 5 s */
} dunlin_wakeup;

/* Waits until another dunlin_sync() makes sense, for timeout_ms at most (0: only looks). What an
 * app that stays in step runs, on a thread that has a store handle and a remote of its own:
 *
 *     for (;;) {
 *         if (dunlin_sync(store, remote, &result, &err))
 *             … sleep until result.retry_at_ms …
 *         else
 *             do
 *                 status = dunlin_sync_wait(store, remote, 1000, &wakeup, &err);
 *             while (!status && !stopped && !wakeup.news && !wakeup.edits);
 *     }
 *
 * News is what the remote tells at once where it can (an open line to the bridge, made and made
 * again here); where it cannot, there may be news 5 s after the last sync. Edits are noticed within
 * a second. Whatever is wrong with the remote is for the next sync to say.
 *   out  receives why; each thing is said once
 * Returns MISUSE (also inside a transaction), BUSY, IO, CORRUPT. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_sync_wait(dunlin_store *store,
                                                          dunlin_remote *remote, int64_t timeout_ms,
                                                          dunlin_wakeup *out, dunlin_error *err);

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
 *           values in wire form, which replace them (an edit)
 * NOT_FOUND: there is no such letter, or it has no such field, or the record is gone. INVALID_JSON,
 * INVALID_VALUE; else what the edit itself may return. The dead letter stays then. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_rejected_retry(dunlin_store *store, int64_t id,
                                                               const char *fields,
                                                               dunlin_error *err);
/* Forgets it. NOT_FOUND. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_rejected_discard(dunlin_store *store, int64_t id,
                                                                 dunlin_error *err);
/* The dead letter as one JSON object with a newline, given to the callback. NOT_FOUND. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_rejected_export(dunlin_store *store, int64_t id,
                                                                dunlin_line_callback callback,
                                                                void *payload, dunlin_error *err);

/* Central's live records of the scopes that its copy of the owner's data names, read from central
 * itself into nothing but the callback, in the form of dunlin_dump(). Statuses of dunlin_sync(),
 * MISUSE inside a transaction, or the callback's status. */
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
 * read anew. Statuses of dunlin_sync(), MISUSE inside a transaction, or the callback's status. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_verify_remote(dunlin_store *store,
                                                              dunlin_remote *remote, int repair,
                                                              dunlin_divergence *out,
                                                              dunlin_line_callback callback,
                                                              void *payload, dunlin_error *err);

#ifdef __cplusplus
}
#endif
#endif
