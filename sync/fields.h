/* Walking the fields that a record has (stamp not 0), known and unknown ones together, in the order
 * of their names by bytes: the order of hashes, dumps and lines. */
#ifndef DLN_SYNC_FIELDS_H
#define DLN_SYNC_FIELDS_H

#include "base/record.h"

struct dln_field_walk {
    const struct dln_record *record;
    int known[DLN_FIELD_MAX]; /* indexes of the fields that are there, by name */
    int known_count;
    int known_at;
    size_t extra_at;
};

void dln_field_walk_begin(struct dln_field_walk *walk, const struct dln_record *record);
/* NULL behind the last one. */
const struct dln_field *dln_field_walk_next(struct dln_field_walk *walk, struct dln_text *name);

#endif
