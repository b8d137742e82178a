/* The one merge of two versions of a record: per field the newer stamp wins, with equal stamps the
 * greater encoded value. Commutative, associative, idempotent. */
#ifndef DLN_SYNC_MERGE_H
#define DLN_SYNC_MERGE_H

#include <stdbool.h>

#include "base/record.h"

/* Whether `a` wins over `b`: a newer stamp, or the same stamp and a greater value. A field with
 * stamp 0 never wins. */
bool dln_field_wins(const struct dln_field *a, const struct dln_field *b);

/* Merges `from` into `into` (same key), field by field, extras included (new extras are allocated
 * in the arena; values stay borrowed). *changed tells whether anything of `into` changed. False
 * when out of memory or over DLN_EXTRA_MAX. */
bool dln_merge(struct dln_arena *arena, struct dln_record *into, const struct dln_record *from,
               bool *changed);

#endif
