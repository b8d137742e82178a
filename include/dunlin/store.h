/* The store: everything that one signed-in person has on this device, in one SQLite file. */
#ifndef DUNLIN_STORE_H
#define DUNLIN_STORE_H

#include <stddef.h>
#include <stdint.h>

#include <dunlin/error.h>
#include <dunlin/sys/ports.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits that hold everywhere, in bytes of UTF-8. What is longer is refused, never cut. */
#define DUNLIN_ID_MAX 256     /* ids of users, groups, lists, item types, items */
#define DUNLIN_NAME_MAX 1024  /* names and titles */
#define DUNLIN_DATA_MAX 16384 /* an item's JSON */

/* An open store. One thread at a time uses it and all that was made from it. Several stores, also
 * of one file, may be open at once, in one process or in several. */
typedef struct dunlin_store dunlin_store;

typedef enum dunlin_durability {
    DUNLIN_DURABILITY_FULL = 0, /* an edit that returned survives a power cut */
    DUNLIN_DURABILITY_NORMAL /* it survives the process' end; a power cut may take the last ones */
} dunlin_durability;

typedef struct dunlin_open_options {
    int version; /* DUNLIN_OPEN_OPTIONS_VERSION */
    /* The file must be there already; NOT_FOUND otherwise. */
    int must_exist;
    dunlin_durability durability;
    /* Leaves full-text search out; only heeded when the file is made. */
    int without_search;
    /* How long a call waits for another connection's write, milliseconds; 0 means 10,000. */
    int busy_timeout_ms;
    /* NULL: the system's clock and random. Borrowed until the store is closed. */
    const dunlin_ports *ports;
} dunlin_open_options;

#define DUNLIN_OPEN_OPTIONS_VERSION 1
#define DUNLIN_OPEN_OPTIONS_INIT                                                                   \
    { DUNLIN_OPEN_OPTIONS_VERSION, 0, DUNLIN_DURABILITY_FULL, 0, 0, NULL }

/* Opens the file, or makes it for that owner.
 *   out      receives the store; NULL on failure
 *   path     the file; ":memory:" for one that is gone when it is closed
 *   owner    the signed-in user's id, 1 to DUNLIN_ID_MAX bytes; NULL opens an existing file as
 *            whoever owns it
 *   options  NULL: the defaults
 * Returns MISUSE, INVALID_ID, INVALID_TEXT, TOO_LONG; NOT_FOUND (see must_exist, or owner NULL and
 * no file), NOT_A_STORE, NEWER_SCHEMA, WRONG_OWNER (each leaves the file byte for byte as it was),
 * BUSY, IO, DISK_FULL, READ_ONLY, CORRUPT, OUT_OF_MEMORY. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_store_open(dunlin_store **out, const char *path,
                                                           const char *owner,
                                                           const dunlin_open_options *options,
                                                           dunlin_error *err);

/* Closes the store; an open transaction is rolled back. NULL is allowed. Iterators made from it
 * must have been freed before. */
DUNLIN_API void dunlin_store_close(dunlin_store *store);

/* The owner's id, and this device's (32 hex digits, made with the file). Borrowed until close. */
DUNLIN_API const char *dunlin_store_owner(const dunlin_store *store);
DUNLIN_API const char *dunlin_store_device(const dunlin_store *store);

/* Several edits in one transaction: all or none, and much faster. Every edit between begin and
 * commit belongs to it; each is refused or done by itself, a refused one leaves the others. Reading
 * inside it sees its edits. Nothing else may be done inside: sync, wipe, backup and a second begin
 * return MISUSE. begin returns BUSY when another connection keeps the write lock longer than the
 * time-out; commit returns what made it fail (IO, DISK_FULL), everything is rolled back then. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_begin(dunlin_store *store, dunlin_error *err);
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_commit(dunlin_store *store, dunlin_error *err);
DUNLIN_API void dunlin_rollback(dunlin_store *store);

typedef struct dunlin_store_status {
    int64_t pending;       /* records edited here that central has not acknowledged */
    int64_t rejected;      /* dead letters */
    int64_t following;     /* users and groups followed directly */
    int64_t subscriptions; /* users seen */
    int64_t lists;
    int64_t items; /* in live lists */
    int64_t
        last_sync_ms; /* Unix milliseconds of the last complete pull of the own scope, 0: never */
    int64_t held;     /* scopes that wait until central is restored */
    int64_t file_bytes;
} dunlin_store_status;

/* Fills *out. Counts what waits, is followed, and the lists; the rest is O(1). Returns MISUSE, IO,
 * CORRUPT, BUSY. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_store_get_status(dunlin_store *store,
                                                                 dunlin_store_status *out,
                                                                 dunlin_error *err);

/* Writes a copy of one moment to a new file, which opens by itself, while others write.
 * path must not exist: EXISTS. Returns MISUSE (also inside a transaction), IO, DISK_FULL, BUSY. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_store_backup(dunlin_store *store, const char *path,
                                                             dunlin_error *err);

typedef enum dunlin_wipe_mode { DUNLIN_WIPE_IF_SENT = 0, DUNLIN_WIPE_FORCE } dunlin_wipe_mode;

/* Removes everything but the owner's and the device's names, and the space it took. UNSENT while
 * the outbox or the dead letters hold anything, unless forced. Returns MISUSE, UNSENT, BUSY, IO. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_store_wipe(dunlin_store *store,
                                                           dunlin_wipe_mode mode,
                                                           dunlin_error *err);

typedef struct dunlin_check {
    int file_damaged;          /* SQLite's quick_check found something */
    int64_t subscriptions_off; /* origins that a full recompute gives otherwise */
    int64_t counts_off; /* kept counts that a recount gives otherwise, and places in the outbox
                           that do not agree with their records */
    int64_t search_off; /* rows that the search index lacks or should not have */
} dunlin_check;

/* Recomputes what derives and compares; with repair, puts right what differs (never a damaged
 * file). Returns MISUSE, BUSY, IO, CORRUPT when the file itself is damaged (out is filled then
 * too). */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_store_verify(dunlin_store *store, int repair,
                                                             dunlin_check *out, dunlin_error *err);

/* A callback that takes one line, newline included; a result other than OK stops the call, which
 * returns it. Called on the caller's thread; must not call dunlin on the same store. */
typedef dunlin_status (*dunlin_line_callback)(const char *line, size_t len, void *payload);

/* Every live record of the scopes that are synced now, one JSON object a line, in canonical form
 * and order: equal dumps are equal states. Returns MISUSE, IO, CORRUPT, BUSY, or the callback's
 * status. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_dump(dunlin_store *store,
                                                     dunlin_line_callback callback, void *payload,
                                                     dunlin_error *err);

/* A new time-ordered id of 24 hex digits, ended by a zero: 48 bits of time, 48 random ones. */
#define DUNLIN_NEW_ID_SIZE 25
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_new_id(dunlin_store *store,
                                                       char out[DUNLIN_NEW_ID_SIZE],
                                                       dunlin_error *err);

#ifdef __cplusplus
}
#endif
#endif
