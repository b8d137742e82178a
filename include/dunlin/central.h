/* The shared side inside this process (libdunlin-central): for tests, for devices that share one
 * file, and for embedding central in a server. */
#ifndef DUNLIN_CENTRAL_H
#define DUNLIN_CENTRAL_H

#include <stdint.h>

#include <dunlin/error.h>
#include <dunlin/sys/ports.h>
#include <dunlin/sys/remote.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open central. One thread at a time; several processes may open the same one at once. */
typedef struct dunlin_central dunlin_central;

typedef struct dunlin_central_options {
    int version;               /* DUNLIN_CENTRAL_OPTIONS_VERSION */
    const dunlin_ports *ports; /* NULL: the system's. The clock is the "server's clock" of an
                                  embedded central. Borrowed until close */
    int64_t horizon_ms;        /* how long tombstones are kept, grace_ms at least; 0: 90 days */
    int64_t grace_ms; /* how long a superseded version is kept; 0: 24 hours, which is the least */
    int64_t quota_lists;  /* a user's live lists; 0: 10,000 */
    int64_t quota_items;  /* a user's live items; 0: 1,000,000 */
    int64_t quota_groups; /* groups that a user has to do with; 0: 10,000 */
    int busy_timeout_ms;  /* 0: 10,000 */
} dunlin_central_options;

#define DUNLIN_CENTRAL_OPTIONS_VERSION 1
#define DUNLIN_CENTRAL_OPTIONS_INIT                                                                \
    { DUNLIN_CENTRAL_OPTIONS_VERSION, NULL, 0, 0, 0, 0, 0, 0 }

/* Opens central, making it where it is not there.
 *   url  "sqlite:PATH"
 * Returns MISUSE, UNSUPPORTED (an url of another kind), NOT_A_STORE, NEWER_SCHEMA, BUSY, IO,
 * DISK_FULL, OUT_OF_MEMORY. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_central_open(dunlin_central **out, const char *url,
                                                             const dunlin_central_options *options,
                                                             dunlin_error *err);
/* NULL is allowed; remotes made from it must have been closed. */
DUNLIN_API void dunlin_central_close(dunlin_central *central);

/* A remote that speaks for that user to a central that stays open longer than the remote. Nobody
 * checks who he is: the process that embeds central answers for that.
 * Close with dunlin_remote_close(). Returns MISUSE, INVALID_ID, INVALID_TEXT, TOO_LONG,
 * OUT_OF_MEMORY. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_central_remote(dunlin_central *central,
                                                               dunlin_remote **out,
                                                               const char *user, dunlin_error *err);
/* The same with a central of its own, opened from the url and closed with the remote. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status
dunlin_embedded_remote(dunlin_remote **out, const char *url, const char *user,
                       const dunlin_central_options *options, dunlin_error *err);

typedef struct dunlin_maintenance {
    uint64_t superseded; /* old versions removed */
    uint64_t expired;    /* tombstones removed */
    uint64_t purged;     /* records of purged lists removed */
} dunlin_maintenance;

/* One round of compaction and expiry over all scopes; safe beside writers and other rounds: while
 * somebody else's is under way it does nothing, and is OK. `out` may be NULL. Returns MISUSE, BUSY,
 * IO, DISK_FULL, CORRUPT, OUT_OF_MEMORY. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_central_maintain(dunlin_central *central,
                                                                 dunlin_maintenance *out,
                                                                 dunlin_error *err);
/* Must be called after central was restored from a backup: starts a new epoch. fuzzy: the backup
 * was not of one moment; every scope's floor rises to its last seq. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_central_restored(dunlin_central *central, int fuzzy,
                                                                 dunlin_error *err);

#ifdef __cplusplus
}
#endif
#endif
