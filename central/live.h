/* A scope's live records: they say that they exist, and their list or group does too. */
#ifndef DLN_CENTRAL_LIVE_H
#define DLN_CENTRAL_LIVE_H

#include "central/walk.h"

enum { DLN_LIVE_BATCH = 100 };

/* Zeroed but for walk.central and walk.scope; freed by dln_live_free(). */
struct dln_live {
    struct dln_walk walk;
    struct dln_arena batch; /* the records that were read together */
    struct dln_stored *stored;
    size_t count;
    size_t at;
    struct dln_arena parent_arena;
    struct dln_text parent; /* key of the last list or group that was looked at; no text: none */
    bool parent_lives;
};

/* The next one, in the order of key texts; NULL at the end. Borrowed until the next call. */
DUNLIN_MUST_USE dunlin_status dln_live_next(struct dln_live *live, const struct dln_record **out,
                                            struct dln_text *key, dunlin_error *err);
/* Whether a record of that key lives, where it says itself that it exists. */
DUNLIN_MUST_USE dunlin_status dln_live_parent(struct dln_live *live, struct dln_text key,
                                              bool *lives, dunlin_error *err);
void dln_live_free(struct dln_live *live);

#endif
