/* Open addressing, linear probing, FNV-1a. Keys are chosen by users, who could make them collide: a
 * request holds at most some thousands of them, so the worst is bounded. */
#include "central/keymap.h"

#include <assert.h>
#include <stdint.h>

static size_t slot_of(const struct dln_keymap *map, struct dln_text key) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < key.len; i++) {
        hash = (hash ^ (unsigned char)key.data[i]) * UINT64_C(1099511628211);
    }
    size_t at = (size_t)(hash ^ hash >> 32) & (map->size - 1);
    while (map->slots[at].key.data != NULL && !dln_text_equal(map->slots[at].key, key)) {
        at = (at + 1) & (map->size - 1);
    }
    return at;
}

bool dln_keymap_init(struct dln_keymap *map, struct dln_arena *arena, size_t most) {
    size_t size = 8;
    while (size < most * 2) {
        size *= 2;
    }
    *map = (struct dln_keymap){.size = size};
    map->slots = dln_arena_alloc(arena, size * sizeof(*map->slots));
    return map->slots != NULL;
}

size_t dln_keymap_put(struct dln_keymap *map, struct dln_text key, size_t index, bool *added) {
    assert(key.data != NULL && map->count * 2 <= map->size);
    struct dln_keymap_slot *slot = &map->slots[slot_of(map, key)];
    *added = slot->key.data == NULL;
    if (*added) {
        *slot = (struct dln_keymap_slot){key, index};
        map->count++;
    }
    return slot->index;
}

bool dln_keymap_get(const struct dln_keymap *map, struct dln_text key, size_t *index) {
    const struct dln_keymap_slot *slot = &map->slots[slot_of(map, key)];
    if (slot->key.data == NULL) {
        return false;
    }
    *index = slot->index;
    return true;
}
