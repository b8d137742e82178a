/* Walking a scope's versions without their records, key by key. */
#ifndef DLN_CENTRAL_WALK_H
#define DLN_CENTRAL_WALK_H

#include "central/central.h"

/* Zeroed but for central, scope and prefix; freed by dln_walk_free(). */
struct dln_walk {
    struct dunlin_central *central;
    struct dln_text scope;
    struct dln_text prefix;
    int64_t end_seq; /* versions above it are passed over; 0: none are */

    struct dln_arena pages[2]; /* a trace stays readable until the page behind its own is read */
    int page;
    struct dln_trace *traces;
    size_t count;
    size_t at;
    bool ended;
    struct dln_trace_place place;
};

/* The next version in the order of (key, seq); *last_of_key tells whether it is its key's newest.
 * False at the end. Borrowed until two pages on. */
DUNLIN_MUST_USE dunlin_status dln_walk_next(struct dln_walk *walk, struct dln_trace *out,
                                            bool *last_of_key, bool *found, dunlin_error *err);
void dln_walk_free(struct dln_walk *walk);

/* All scopes, by name. Zeroed but for central; freed by dln_scope_walk_free(). */
struct dln_scope_walk {
    struct dunlin_central *central;
    struct dln_arena pages[2];
    int page;
    struct dln_text *names;
    size_t count;
    size_t at;
};

/* The next scope's name; no text at the end. Borrowed until the next call. */
DUNLIN_MUST_USE dunlin_status dln_scope_walk_next(struct dln_scope_walk *walk, struct dln_text *out,
                                                  dunlin_error *err);
void dln_scope_walk_free(struct dln_scope_walk *walk);

#endif
