/* Building a record from the fields that an engine stored by their names: one that was unknown when
 * it was written may be known by now, and the other way round. */
#ifndef DLN_CENTRAL_LOAD_H
#define DLN_CENTRAL_LOAD_H

#include "central/central.h"

struct dln_load {
    struct dln_arena *arena;
    struct dln_record *record;
    struct dln_extra extras[DLN_EXTRA_MAX];
    size_t bytes; /* of what was given so far */
};

/* Starts with the key. CORRUPT, OUT_OF_MEMORY. */
DUNLIN_MUST_USE dunlin_status dln_load_begin(struct dln_load *load, struct dln_arena *arena,
                                             struct dln_record *out, struct dln_text scope,
                                             struct dln_text key, dunlin_error *err);
/* Puts one field where it belongs today; its texts must live in the arena. False when there are too
 * many unknown ones. */
bool dln_load_field(struct dln_load *load, const struct dln_extra *field);
DUNLIN_MUST_USE dunlin_status dln_load_end(struct dln_load *load, dunlin_error *err);
/* The failure where something could not be read: for want of memory, or because it is damaged. */
dunlin_status dln_load_fail(const struct dln_load *load, dunlin_error *err);

#endif
