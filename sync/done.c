#include "sync/done.h"

#include <stdlib.h>
#include <string.h>

static size_t done_find(const struct dln_done *done, struct dln_text scope, bool *found) {
    size_t low = 0;
    size_t high = done->count;
    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = dln_text_compare(done->names[middle], scope);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool dln_done_has(const struct dln_done *done, struct dln_text scope) {
    bool found = false;
    (void)done_find(done, scope, &found);
    return found;
}

bool dln_done_add(struct dln_done *done, struct dln_text scope) {
    bool found = false;
    size_t at = done_find(done, scope, &found);
    if (found) {
        return true;
    }
    if (done->count == done->size) {
        size_t size = done->size == 0 ? 64 : done->size * 2;
        struct dln_text *names = realloc(done->names, size * sizeof(*names));
        if (names == NULL) {
            return false;
        }
        done->names = names;
        done->size = size;
    }
    struct dln_text name = dln_arena_text(&done->arena, scope);
    if (name.data == NULL) {
        return false;
    }
    memmove(&done->names[at + 1], &done->names[at], (done->count - at) * sizeof(*done->names));
    done->names[at] = name;
    done->count++;
    return true;
}

void dln_done_remove(struct dln_done *done, struct dln_text scope) {
    bool found = false;
    size_t at = done_find(done, scope, &found);
    if (found) {
        done->count--;
        memmove(&done->names[at], &done->names[at + 1], (done->count - at) * sizeof(*done->names));
    }
}

void dln_done_clear(struct dln_done *done) {
    done->count = 0;
    dln_arena_clear(&done->arena);
}

void dln_done_free(struct dln_done *done) {
    dln_arena_free(&done->arena);
    free(done->names);
    *done = DLN_DONE_INIT;
}
