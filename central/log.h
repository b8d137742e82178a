/* Appending to a scope's log. */
#ifndef DLN_CENTRAL_LOG_H
#define DLN_CENTRAL_LOG_H

#include "central/central.h"

/* What one attempt has read. */
struct dln_log_view {
    struct dln_arena *arena; /* of the attempt */
    struct dln_cursor last;
    const struct dln_stored *stored; /* by keys */
    int64_t now_ms;                  /* the server's clock */
};

struct dln_log_append {
    struct dln_text scope;
    int64_t epoch;
    /* The scope's last entry, where the caller has just read it, and when that was on the steady
     * clock: the first attempt then does not read it again. NULL: it reads it. */
    const struct dln_cursor *last;
    int64_t last_read_ms;
    int64_t
        cursor_seq; /* of the writer: below the floor nothing is appended. INT64_MAX: no device */
    /* May be joined with others of the scope: its judge counts nothing that stands in the log only
     * once it is inserted. */
    bool joins;
    const struct dln_text *keys; /* that are written, and that are looked at in judging */
    size_t key_count;
    /* Merges and judges, and gives the versions to be inserted, without their salts: one a key at
     * most. Called anew with what stands then, whenever somebody was faster; what an earlier
     * attempt inserted is then already there and changes nothing. */
    dunlin_status (*judge)(void *self, const struct dln_log_view *view, struct dln_entry **entries,
                           size_t *count, dunlin_error *err);
    void *self;
};

struct dln_log_outcome {
    bool below_floor; /* nothing was judged that counts, nothing was inserted */
    int64_t floor;
    int64_t first_seq; /* of the versions of the last call of judge, in their order */
    struct dln_cursor last;
};

/* With a gate, another thread may do it, and call judge, while this one waits. What the last
 * attempt allocated stays in central->attempt until the next append. */
DUNLIN_MUST_USE dunlin_status dln_log_append(struct dunlin_central *central,
                                             const struct dln_log_append *append,
                                             struct dln_log_outcome *out, dunlin_error *err);

#endif
