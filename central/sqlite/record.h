/* A record as two blobs. */
#ifndef DLN_CENTRAL_SQLITE_RECORD_H
#define DLN_CENTRAL_SQLITE_RECORD_H

#include "base/record.h"

/* Known and unknown fields, each by name, in the form of dln_extras_encode(). */
DUNLIN_MUST_USE dunlin_status dln_record_store(struct dln_buf *fields, struct dln_buf *extras,
                                               const struct dln_record *record, dunlin_error *err);
/* The record with that key. A field that was stored as unknown may be known by now, and the other
 * way round. CORRUPT, OUT_OF_MEMORY. */
DUNLIN_MUST_USE dunlin_status dln_record_load(struct dln_arena *arena, struct dln_record *out,
                                              struct dln_text scope, struct dln_text key,
                                              struct dln_text fields, struct dln_text extras,
                                              dunlin_error *err);

#endif
