/* A bump allocator: many small pieces, freed together. A page of records lives in one. */
#ifndef DLN_BASE_ARENA_H
#define DLN_BASE_ARENA_H

#include <stddef.h>

#include "base/text.h"

struct dln_arena_block;

struct dln_arena {
    struct dln_arena_block *blocks;
    size_t used_bytes; /* handed out since the last clear */
    size_t max_bytes;  /* ceiling; an allocation beyond it fails */
};

#define DLN_ARENA_INIT(max) ((struct dln_arena){.max_bytes = (max)})

/* Zeroed memory, aligned for anything; NULL when out of memory or over the ceiling. */
void *dln_arena_alloc(struct dln_arena *arena, size_t size);
/* A copy, followed by a zero byte; .data is NULL on failure. */
struct dln_text dln_arena_text(struct dln_arena *arena, struct dln_text text);
void dln_arena_clear(
    struct dln_arena *arena); /* everything handed out is gone; one block is kept */
void dln_arena_free(struct dln_arena *arena);

#endif
