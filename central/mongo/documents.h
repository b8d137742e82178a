/* Building commands and reading documents. Only for the files of this folder: it shows libbson,
 * whose functions that append cannot fail below 2 GiB but for memory, and end the process then. */
#ifndef DLN_CENTRAL_MONGO_DOCUMENTS_H
#define DLN_CENTRAL_MONGO_DOCUMENTS_H

#include "central/mongo/link.h"

enum { DLN_MONGO_ID_MAX = DLN_SCOPE_MAX + 64 };

/* An _id: texts joined by '#', which no scope and no name of ours holds. */
struct dln_mongo_id {
    char data[DLN_MONGO_ID_MAX];
    size_t len;
};

/* scope + "#" + number as 16 hex digits; ids of one scope sort by their number. */
struct dln_text dln_mongo_place(struct dln_mongo_id *id, struct dln_text scope, int64_t number);
/* Behind every place of that scope, and before those of any other. */
struct dln_text dln_mongo_places_end(struct dln_mongo_id *id, struct dln_text scope);
/* part + "#" + scope. */
struct dln_text dln_mongo_part(struct dln_mongo_id *id, const char *part, struct dln_text scope);

void dln_mongo_append_text(bson_t *document, const char *key, struct dln_text text);
/* key: {low_operator: low, high_operator: high} */
void dln_mongo_append_range(bson_t *document, const char *key, const char *low_operator,
                            struct dln_text low, const char *high_operator, struct dln_text high);

/* What is not there, or of another type, is 0 or no text. Texts are borrowed. */
int64_t dln_mongo_integer(const bson_t *document, const char *key);
int64_t dln_mongo_time(const bson_t *document, const char *key);
struct dln_text dln_mongo_text(const bson_t *document, const char *key);
bool dln_mongo_bool(const bson_t *document, const char *key);
/* The number at the end of the document's _id, made by dln_mongo_place(); 0 where there is none. */
int64_t dln_mongo_number(const bson_t *document);

/* A find of one batch. The caller fills in filter, and sort and projection where he wants them. */
struct dln_mongo_query {
    const char *collection;
    size_t limit;
    bson_t filter;
    bson_t sort;
    bson_t projection;
};

void dln_mongo_query_begin(struct dln_mongo_query *query, const char *collection, size_t limit);
/* Sends it and ends the query; rows are to be ended by the caller, always. */
DUNLIN_MUST_USE dunlin_status dln_mongo_query_run(struct dln_mongo_query *query,
                                                  struct dln_mongo_link *link,
                                                  struct dln_mongo_rows *rows, dunlin_error *err);

/* An ordered insert. */
struct dln_mongo_batch {
    const char *collection;
    bson_t documents;
    bson_t document;
    uint32_t count;
};

void dln_mongo_batch_begin(struct dln_mongo_batch *batch, const char *collection);
bson_t *dln_mongo_batch_document(struct dln_mongo_batch *batch); /* empty, for the caller to fill */
void dln_mongo_batch_add(struct dln_mongo_batch *batch);         /* takes that document */
/* Inserts what was added, each if absent, and empties the batch. *at: the first document that was
 * there already, or SIZE_MAX. Sent once only. */
DUNLIN_MUST_USE dunlin_status dln_mongo_batch_run(struct dln_mongo_batch *batch,
                                                  struct dln_mongo_link *link, size_t *at,
                                                  dunlin_error *err);
void dln_mongo_batch_end(struct dln_mongo_batch *batch);

/* Changes the document with that _id, which is made where it is not there. May be done twice. */
DUNLIN_MUST_USE dunlin_status dln_mongo_update(struct dln_mongo_link *link, const char *collection,
                                               struct dln_text id, const bson_t *change,
                                               bool upsert, dunlin_error *err);
/* Removes all that the filter finds. */
DUNLIN_MUST_USE dunlin_status dln_mongo_remove(struct dln_mongo_link *link, const char *collection,
                                               const bson_t *filter, dunlin_error *err);

#endif
