/* The device's SQLite file, for client/: one struct, one thread at a time.
 *
 * Every function that writes runs inside a transaction that the caller has begun. Records go in and
 * out as text (base/record.h); inside the file users, groups, lists and item types are interned.
 * What derives from records (origins, counts, search index) changes in the same transaction,
 * whoever changed the record. */
#ifndef DLN_STORE_STORE_H
#define DLN_STORE_STORE_H

#include <stdbool.h>

#include <dunlin/store.h>

#include "base/row.h"

struct dln_store;

/* ---- store.c: the file */

DUNLIN_MUST_USE dunlin_status dln_store_open(struct dln_store **out, const char *path,
                                             const char *owner, const dunlin_open_options *options,
                                             dunlin_error *err);
void dln_store_close(struct dln_store *store);
const char *dln_store_owner(const struct dln_store *store);
struct dln_text dln_store_scope(const struct dln_store *store); /* the owner's */
const char *dln_store_device(const struct dln_store *store);
/* The path of a store that lives in memory and, where it grows large, in a temporary file. */
#define DLN_STORE_TEMPORARY ""
/* As they were given at opening; NULL: the system's. */
const dunlin_ports *dln_store_ports(const struct dln_store *store);
int64_t dln_store_corrected_ms(struct dln_store *store); /* by what central's clock showed */
int64_t dln_store_now_ms(struct dln_store *store);       /* the clock port's, uncorrected */
uint64_t dln_store_random(struct dln_store *store);      /* 64 bits of the random port */

/* BEGIN IMMEDIATE: takes the write lock at once, waits for the busy time-out, then BUSY. */
DUNLIN_MUST_USE dunlin_status dln_store_begin(struct dln_store *store, dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_store_commit(struct dln_store *store, dunlin_error *err);
void dln_store_rollback(struct dln_store *store);
bool dln_store_in_transaction(const struct dln_store *store);
/* What was begun was left half-done: the open transaction, if any, cannot be committed any more. */
void dln_store_doom(struct dln_store *store, dunlin_status status, const dunlin_error *err);
/* No statement may be busy after a public call; tests assert it. */
bool dln_store_is_idle(struct dln_store *store);

DUNLIN_MUST_USE dunlin_status dln_store_backup(struct dln_store *store, const char *path,
                                               dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_store_wipe(struct dln_store *store, bool force,
                                             dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_store_status(struct dln_store *store, dunlin_store_status *out,
                                               dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_store_verify(struct dln_store *store, bool repair,
                                               dunlin_check *out, dunlin_error *err);
/* A point in the file's life; one that differs from it in either member is a later one. */
struct dln_changes {
    int64_t others; /* changes when another connection has committed */
    int64_t own;    /* grows with every row that this connection changes */
};
DUNLIN_MUST_USE dunlin_status dln_store_changes(struct dln_store *store, struct dln_changes *out,
                                                dunlin_error *err);
/* A small setting kept in the file, by name; 0 where there is none. */
DUNLIN_MUST_USE dunlin_status dln_store_setting_get(struct dln_store *store, const char *name,
                                                    int64_t *out, dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_store_setting_put(struct dln_store *store, const char *name,
                                                    int64_t value, dunlin_error *err);

/* ---- edit.c: local edits of one record */

/* Reads the row of a key: out->stored tells whether it is there; the key is filled in either way.
 */
DUNLIN_MUST_USE dunlin_status dln_row_get(struct dln_store *store, struct dln_arena *arena,
                                          const struct dln_key *key, struct dln_row *out,
                                          dunlin_error *err);
/* A record is made that most likely is not there yet, with all of its fields: *created tells
 * whether it was. Else there is a row of that key, of whatever kind, and nothing has changed: read
 * it then. Saves the reading. */
DUNLIN_MUST_USE dunlin_status dln_row_create(struct dln_store *store, struct dln_row *row,
                                             bool *created, dunlin_error *err);
/* The person edited `fields` of row (whose values stand in row->record): gives those fields a new
 * stamp above every one that the row has, marks them pending, and writes row, outbox and what
 * derives. A creation that was never tried and is deleted again leaves nothing behind. */
DUNLIN_MUST_USE dunlin_status dln_row_edit(struct dln_store *store, struct dln_row *row,
                                           uint32_t fields, dunlin_error *err);

/* ---- row.c, outbox.c, scope.c: what the engine's store port wants; sync/ports.h says what each
 * does */

DUNLIN_MUST_USE dunlin_status dln_row_put(struct dln_store *store, const struct dln_row *row,
                                          dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_row_mark(struct dln_store *store, const struct dln_row *row,
                                           dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_row_remove(struct dln_store *store, const struct dln_key *key,
                                             dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_clock_store_saw(struct dln_store *store, dln_stamp stamp,
                                                  dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_clock_store_lower(struct dln_store *store, dln_stamp stamp,
                                                    dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_clock_store_offset(struct dln_store *store, int64_t offset_ms,
                                                     dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_scopes(struct dln_store *store, struct dln_arena *arena,
                                         struct dln_text after, size_t limit,
                                         struct dln_scope_row **out, size_t *count,
                                         dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_scope_get(struct dln_store *store, struct dln_arena *arena,
                                            struct dln_text scope, struct dln_scope_row *out,
                                            dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_scope_put(struct dln_store *store,
                                            const struct dln_scope_row *row, dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_scope_drop(struct dln_store *store, struct dln_text scope,
                                             dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_scope_forget_seqs(struct dln_store *store, struct dln_text scope,
                                                    dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_scope_rows(struct dln_store *store, struct dln_arena *arena,
                                             struct dln_text scope, struct dln_text after,
                                             bool unseen, size_t limit, struct dln_row **out,
                                             size_t *count, dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_seen_add(struct dln_store *store, const struct dln_key *key,
                                           dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_seen_clear(struct dln_store *store, struct dln_text scope,
                                             dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_outbox_next(struct dln_store *store, struct dln_arena *arena,
                                              struct dln_outbox_place *place, size_t limit,
                                              struct dln_row **out, size_t *count,
                                              dunlin_error *err);
/* Gives live records, in the order of dln_key_compare(), of one moment: those of a scope, or of all
 * scopes that are synced now. A status other than OK from `visit` stops the walk and is returned;
 * the row is valid for that call only, and the store may not be written in it. */
typedef dunlin_status (*dln_row_visit)(void *self, const struct dln_row *row, dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_scope_live(struct dln_store *store, struct dln_text scope,
                                             dln_row_visit visit, void *self, dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_live(struct dln_store *store, dln_row_visit visit, void *self,
                                       dunlin_error *err);
/* Whether the record is live: it exists, and its list or group is known and not deleted. */
DUNLIN_MUST_USE dunlin_status dln_row_is_live(struct dln_store *store, const struct dln_row *row,
                                              bool *out, dunlin_error *err);
/* Removes tombstones that are acknowledged and whose newest stamp is older than `before`, at most
 * `limit` of them; *removed tells how many. */
DUNLIN_MUST_USE dunlin_status dln_tombstones_purge(struct dln_store *store, dln_stamp before,
                                                   size_t limit, size_t *removed,
                                                   dunlin_error *err);

/* ---- reject.c: dead letters */

struct dln_dead_letter {
    int64_t id;
    dunlin_status code;
    struct dln_text reason;
    int64_t at_ms;
    struct dln_record record; /* the refused fields */
};

DUNLIN_MUST_USE dunlin_status dln_reject_add(struct dln_store *store,
                                             const struct dln_reject *reject, dunlin_error *err);
/* In order of id, behind `after` (0: from the first) or, backwards, before it (0: from the last).
 */
DUNLIN_MUST_USE dunlin_status dln_reject_page(struct dln_store *store, struct dln_arena *arena,
                                              int64_t after, bool backwards, size_t limit,
                                              struct dln_dead_letter **out, size_t *count,
                                              dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_reject_get(struct dln_store *store, struct dln_arena *arena,
                                             int64_t id, struct dln_dead_letter *out,
                                             dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_reject_remove(struct dln_store *store, int64_t id,
                                                dunlin_error *err);
/* Whether a dead letter stands for that key. */
DUNLIN_MUST_USE dunlin_status dln_reject_has(struct dln_store *store, const struct dln_key *key,
                                             bool *out, dunlin_error *err);

#endif
