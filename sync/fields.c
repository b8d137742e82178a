/* A merge of two sorted sequences: the known fields, sorted here (they are few), and the extras,
 * which are kept sorted. */
#include "sync/fields.h"

#include <string.h>

void dln_field_walk_begin(struct dln_field_walk *walk, const struct dln_record *record) {
    const struct dln_collection *collection = record->key.collection;

    *walk = (struct dln_field_walk){.record = record};
    for (int i = 0; collection && i < collection->field_count; i++) {
        int at = walk->known_count;
        if (record->fields[i].stamp == 0) {
            continue;
        }
        for (; at > 0; at--) {
            if (strcmp(collection->fields[walk->known[at - 1]].name, collection->fields[i].name) <
                0) {
                break;
            }
            walk->known[at] = walk->known[at - 1];
        }
        walk->known[at] = i;
        walk->known_count++;
    }
}

const struct dln_field *dln_field_walk_next(struct dln_field_walk *walk, struct dln_text *name) {
    const struct dln_record *record = walk->record;
    const struct dln_extra *extra = NULL;

    while (walk->extra_at < record->extra_count && !extra) {
        if (record->extras[walk->extra_at].field.stamp != 0) {
            extra = &record->extras[walk->extra_at];
        } else {
            walk->extra_at++;
        }
    }
    if (walk->known_at < walk->known_count) {
        int index = walk->known[walk->known_at];
        struct dln_text known = dln_text_of(record->key.collection->fields[index].name);
        if (!extra || dln_text_compare(known, extra->name) < 0) {
            walk->known_at++;
            *name = known;
            return &record->fields[index];
        }
    }
    if (!extra) {
        return NULL;
    }
    walk->extra_at++;
    *name = extra->name;
    return &extra->field;
}
