/* Blocks of doubling size, newest (and greatest) first; a piece that does not fit the newest block
 * gets a new one. The ceiling counts what is handed out, rounded up to the alignment, so that it
 * does not depend on how pieces happened to fall into blocks. */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct dln_arena_block {
    struct dln_arena_block *next;
    size_t size;
    size_t used;
    alignas(max_align_t) unsigned char data[];
};

enum { FIRST_BLOCK_SIZE = 4096, LAST_BLOCK_SIZE = 1 << 20, ALIGNMENT = alignof(max_align_t) };

static struct dln_arena_block *add_block(struct dln_arena *arena, size_t at_least) {
    size_t size = FIRST_BLOCK_SIZE;
    if (arena->blocks != NULL) {
        size =
            arena->blocks->size < LAST_BLOCK_SIZE / 2 ? arena->blocks->size * 2 : LAST_BLOCK_SIZE;
    }
    if (size < at_least) {
        size = at_least;
    }
    if (size > SIZE_MAX - sizeof(struct dln_arena_block)) {
        return NULL;
    }
    struct dln_arena_block *block = malloc(sizeof(struct dln_arena_block) + size);
    if (block == NULL) {
        return NULL;
    }
    block->next = arena->blocks;
    block->size = size;
    block->used = 0;
    arena->blocks = block;
    return block;
}

void *dln_arena_alloc(struct dln_arena *arena, size_t size) {
    assert(arena->used_bytes <= arena->max_bytes);
    if (size > SIZE_MAX - ALIGNMENT) {
        return NULL;
    }
    size_t rounded = size == 0 ? ALIGNMENT : (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (rounded > arena->max_bytes - arena->used_bytes) {
        return NULL;
    }
    struct dln_arena_block *block = arena->blocks;
    if (block == NULL || rounded > block->size - block->used) {
        block = add_block(arena, rounded);
        if (block == NULL) {
            return NULL;
        }
    }
    void *piece = block->data + block->used;
    block->used += rounded;
    arena->used_bytes += rounded;
    memset(piece, 0, rounded);
    return piece;
}

struct dln_text dln_arena_text(struct dln_arena *arena, struct dln_text text) {
    if (text.len == SIZE_MAX) {
        return (struct dln_text){NULL, 0};
    }
    char *copy = dln_arena_alloc(arena, text.len + 1);
    if (copy == NULL) {
        return (struct dln_text){NULL, 0};
    }
    if (text.len > 0) {
        memcpy(copy, text.data, text.len);
    }
    return (struct dln_text){copy, text.len};
}

static void free_blocks(struct dln_arena_block *block) {
    while (block != NULL) {
        struct dln_arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void dln_arena_clear(struct dln_arena *arena) {
    if (arena->blocks != NULL) {
        free_blocks(arena->blocks->next);
        arena->blocks->next = NULL;
        arena->blocks->used = 0;
    }
    arena->used_bytes = 0;
}

void dln_arena_free(struct dln_arena *arena) {
    free_blocks(arena->blocks);
    arena->blocks = NULL;
    arena->used_bytes = 0;
}
