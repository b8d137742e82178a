/* The scopes that need no further pull in this run, as a sorted set. */
#ifndef DLN_SYNC_DONE_H
#define DLN_SYNC_DONE_H

#include <stdbool.h>

#include "base/arena.h"

struct dln_done {
    struct dln_arena arena;
    struct dln_text *names;
    size_t count;
    size_t size;
};

enum { DLN_DONE_BYTES_MAX = 16 * 1024 * 1024 };

#define DLN_DONE_INIT ((struct dln_done){.arena = {.max_bytes = DLN_DONE_BYTES_MAX}})

bool dln_done_has(const struct dln_done *done, struct dln_text scope);
/* False when out of memory. */
DUNLIN_MUST_USE bool dln_done_add(struct dln_done *done, struct dln_text scope);
void dln_done_remove(struct dln_done *done, struct dln_text scope);
void dln_done_clear(struct dln_done *done);
void dln_done_free(struct dln_done *done);

#endif
