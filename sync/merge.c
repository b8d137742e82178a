/* Merging walks both records once. Everything is decided by (stamp, value), a total order, so the
 * order of merging does not matter. */
#include "sync/merge.h"

#include <string.h>

bool dln_field_wins(const struct dln_field *a, const struct dln_field *b) {
    if (a->stamp == 0) {
        return false;
    }
    if (a->stamp != b->stamp) {
        return a->stamp > b->stamp;
    }
    return dln_value_compare(&a->value, &b->value) > 0;
}

/* The union of two sorted arrays, the winner of each name. The result is a new array, since records
 * may share theirs; none is made when nothing of `into` changes. */
static bool merge_extras(struct dln_arena *arena, struct dln_record *into,
                         const struct dln_record *from, bool *changed) {
    struct dln_extra merged[DLN_EXTRA_MAX];
    size_t count = 0;
    size_t a = 0, b = 0;
    bool differs = false;

    while (a < into->extra_count || b < from->extra_count) {
        int order = a == into->extra_count ? 1
                    : b == from->extra_count
                        ? -1
                        : dln_text_compare(into->extras[a].name, from->extras[b].name);
        const struct dln_extra *taken = order > 0 ? &from->extras[b] : &into->extras[a];

        if (order > 0 ||
            (order == 0 && dln_field_wins(&from->extras[b].field, &into->extras[a].field))) {
            taken = &from->extras[b];
            differs = differs || taken->field.stamp != 0;
        }
        a += order <= 0;
        b += order >= 0;
        if (taken->field.stamp == 0) {
            continue;
        }
        if (count == DLN_EXTRA_MAX) {
            return false;
        }
        merged[count++] = *taken;
    }
    if (!differs) {
        return true;
    }

    struct dln_extra *kept = dln_arena_alloc(arena, count * sizeof(*kept));
    if (!kept) {
        return false;
    }
    memcpy(kept, merged, count * sizeof(*kept));
    into->extras = kept;
    into->extra_count = count;
    *changed = true;
    return true;
}

bool dln_merge(struct dln_arena *arena, struct dln_record *into, const struct dln_record *from,
               bool *changed) {
    *changed = false;
    if (from->extra_count > 0 && !merge_extras(arena, into, from, changed)) {
        return false; /* `into` is untouched */
    }
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        if (dln_field_wins(&from->fields[i], &into->fields[i])) {
            into->fields[i] = from->fields[i];
            *changed = true;
        }
    }
    return true;
}
