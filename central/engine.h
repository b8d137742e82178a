/* What the shared side's rules need from whatever keeps its data: one small set of operations,
 * which SQLite and MongoDB can both do. The rules themselves (in which order things are read,
 * judged and written) stand above it, once.
 *
 * Nothing here needs more than insert-if-absent to be atomic. Each comment says what the operation
 * is on MongoDB, so that none creeps in that is not one find, one ordered insert, one range delete
 * or one update there. Every operation names its scope, so that one shard answers.
 *
 * Texts and records that are given out live in the arena that was given. Every function returns
 * BUSY, IO, DISK_FULL, CORRUPT, OUT_OF_MEMORY or UNAVAILABLE; after any of them nothing is known
 * about what was written, and the caller starts over from its first read. */
#ifndef DLN_CENTRAL_ENGINE_H
#define DLN_CENTRAL_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/record.h"
#include "sync/message.h"

/* A version in a scope's log. */
struct dln_stored {
    struct dln_cursor place; /* seq 0: there is no such version */
    int64_t at_ms;           /* when it was inserted, by the server's clock */
    struct dln_text key;     /* dln_key_text() */
    struct dln_record record;
};

/* A version to be inserted. */
struct dln_entry {
    uint32_t salt;
    struct dln_text key;
    const struct dln_record *record;
};

/* A version without its record, for maintenance. */
struct dln_trace {
    struct dln_text key;
    int64_t seq;
    int64_t at_ms;
    bool gone; /* the record says that it does not exist: a tombstone */
};

struct dln_trace_place {
    struct dln_text key; /* no text: before the first */
    int64_t seq;
};

/* Hints, raised before an insert: they may say "news" too often, never too seldom. */
struct dln_hint {
    int64_t head; /* 0: nobody ever wrote there */
    int64_t touched_ms;
};

/* A scope and its hint. */
struct dln_touched {
    struct dln_text scope;
    struct dln_hint hint;
};

struct dln_epoch {
    int64_t number; /* 1, 2, …; 0: none was made yet */
    struct dln_text id;
};

struct dln_lease {
    int64_t number; /* 0: none was ever taken */
    int64_t until_ms;
    struct dln_text holder;
};

struct dln_central_engine {
    void *self;
    void (*close)(void *self);

    /* The server's clock: hello.localTime. */
    dunlin_status (*now)(void *self, int64_t *now_ms, dunlin_error *err);
    /* What is read behind it is not older than anything that was committed before it: a majority
     * write of the same process. */
    dunlin_status (*settle)(void *self, dunlin_error *err);
    /* Writes between the two may be made one transaction, or not: every prefix of them is legal.
     * `keep` false takes back what can be taken back. MongoDB: nothing. */
    dunlin_status (*begin)(void *self, dunlin_error *err);
    dunlin_status (*end)(void *self, bool keep, dunlin_error *err);

    /* The log, `changes`. */

    /* Place of the scope's newest entry; seq 0 when there is none. Find by range on _id,
     * descending, one row. */
    dunlin_status (*last)(void *self, struct dln_text scope, struct dln_cursor *out,
                          dunlin_error *err);
    /* The salt of the entry at seq, where it still stands. Find by _id. */
    dunlin_status (*salt)(void *self, struct dln_text scope, int64_t seq, bool *stands,
                          uint32_t *salt, dunlin_error *err);
    /* The newest version of each key, into out[i] for keys[i]. Find by (scope, key in …). */
    dunlin_status (*current)(void *self, struct dln_arena *arena, struct dln_text scope,
                             const struct dln_text *keys, size_t count, struct dln_stored *out,
                             dunlin_error *err);
    /* Entries behind seq, in order: at most `limit` of them and at most `limit_bytes` of stored
     * records, but one at least. Find by range on _id, ascending, limited. */
    dunlin_status (*after)(void *self, struct dln_arena *arena, struct dln_text scope, int64_t seq,
                           size_t limit, size_t limit_bytes, struct dln_stored **out, size_t *count,
                           bool *more, dunlin_error *err);
    /* Inserts the entries into the slots right behind last_seq, in order, each if absent, and stops
     * at the first slot that is taken. Nothing is inserted later than steady_deadline_ms on the
     * steady clock (then *inserted is 0). One ordered insertMany; writeErrors[0].index is
     * *inserted. */
    dunlin_status (*insert)(void *self, struct dln_text scope, int64_t last_seq,
                            const struct dln_entry *entries, size_t count,
                            int64_t steady_deadline_ms, size_t *inserted, dunlin_error *err);
    /* Traces in the order of (key, seq), behind `place`, of keys that start with `prefix`. Range on
     * the index (scope, key, _id), ascending, limited. */
    dunlin_status (*walk)(void *self, struct dln_arena *arena, struct dln_text scope,
                          struct dln_text prefix, const struct dln_trace_place *place, size_t limit,
                          struct dln_trace **out, size_t *count, dunlin_error *err);
    /* Removes those entries; one that is gone is no error. deleteMany by _id. */
    dunlin_status (*drop)(void *self, struct dln_text scope, const int64_t *seqs, size_t count,
                          dunlin_error *err);

    /* `scopes`: what is not a record. */

    /* Raises head and touched ($max, upsert). */
    dunlin_status (*raise_hint)(void *self, struct dln_text scope, const struct dln_hint *hint,
                                dunlin_error *err);
    /* Hints of many scopes, into out[i]. Find by _id in …. */
    dunlin_status (*hints)(void *self, const struct dln_text *scopes, size_t count,
                           struct dln_hint *out, dunlin_error *err);
    /* The scopes touched at or after since_ms, with their hints, the latest first; at most `limit`.
     * Find by range on touched, descending, limited. */
    dunlin_status (*touched)(void *self, struct dln_arena *arena, int64_t since_ms, size_t limit,
                             struct dln_touched **out, size_t *count, dunlin_error *err);
    /* No tombstone at or below it is sure to be there still. Find by _id; $max, upsert. */
    dunlin_status (*floor)(void *self, struct dln_text scope, int64_t *out, dunlin_error *err);
    dunlin_status (*raise_floor)(void *self, struct dln_text scope, int64_t floor,
                                 dunlin_error *err);
    /* Names of scopes behind `after`, sorted. Find by range on _id, ascending, limited. */
    dunlin_status (*scopes)(void *self, struct dln_arena *arena, struct dln_text after,
                            size_t limit, struct dln_text **out, size_t *count, dunlin_error *err);

    /* The deployment. */

    /* The epoch with the highest number; insert-if-absent of a new one. */
    dunlin_status (*epoch)(void *self, struct dln_arena *arena, struct dln_epoch *out,
                           dunlin_error *err);
    dunlin_status (*insert_epoch)(void *self, const struct dln_epoch *epoch, bool *inserted,
                                  dunlin_error *err);
    /* The last seq that a scope's history of this epoch shares with the epoch before. Find by _id;
     * insert-if-absent. */
    dunlin_status (*base)(void *self, int64_t epoch, struct dln_text scope, bool *noted,
                          int64_t *seq, dunlin_error *err);
    dunlin_status (*note_base)(void *self, int64_t epoch, struct dln_text scope, int64_t seq,
                               dunlin_error *err);
    /* The lease with the highest number under that name; insert-if-absent of the next one; its end
     * ($set; only the holder does that); removal of those before `number`. */
    dunlin_status (*lease)(void *self, struct dln_arena *arena, struct dln_text name,
                           struct dln_lease *out, dunlin_error *err);
    dunlin_status (*insert_lease)(void *self, struct dln_text name, const struct dln_lease *lease,
                                  bool *inserted, dunlin_error *err);
    dunlin_status (*set_lease_end)(void *self, struct dln_text name, int64_t number,
                                   int64_t until_ms, dunlin_error *err);
    dunlin_status (*drop_leases)(void *self, struct dln_text name, int64_t before,
                                 dunlin_error *err);
};

#endif
