/* A map from texts to indexes, for the keys of one request. It only grows, and lives in an arena.
 */
#ifndef DLN_CENTRAL_KEYMAP_H
#define DLN_CENTRAL_KEYMAP_H

#include "base/arena.h"

struct dln_keymap_slot {
    struct dln_text key; /* no text: free */
    size_t index;
};

struct dln_keymap {
    struct dln_keymap_slot *slots;
    size_t size; /* a power of two, at least twice what is put in */
    size_t count;
};

/* Room for `most` keys. False when out of memory. */
bool dln_keymap_init(struct dln_keymap *map, struct dln_arena *arena, size_t most);
/* The index of the key, which is borrowed; a new one gets `index` and *added says so. */
size_t dln_keymap_put(struct dln_keymap *map, struct dln_text key, size_t index, bool *added);
/* False when it is not there. */
bool dln_keymap_get(const struct dln_keymap *map, struct dln_text key, size_t *index);

#endif
