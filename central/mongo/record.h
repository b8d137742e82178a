/* A version of a record as a document. */
#ifndef DLN_CENTRAL_MONGO_RECORD_H
#define DLN_CENTRAL_MONGO_RECORD_H

#include "central/mongo/documents.h"

/* Appends collection, fields and extras. */
void dln_mongo_record_store(bson_t *document, const struct dln_record *record);
/* The version that the document is, with all its texts in the arena. CORRUPT, OUT_OF_MEMORY. */
DUNLIN_MUST_USE dunlin_status dln_mongo_record_load(struct dln_arena *arena, struct dln_stored *out,
                                                    struct dln_text scope, const bson_t *document,
                                                    dunlin_error *err);

#endif
