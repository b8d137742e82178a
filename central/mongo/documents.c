#include "central/mongo/documents.h"

#include <assert.h>
#include <string.h>

enum { DIGITS = 16 };

static void join(struct dln_mongo_id *id, struct dln_text first, char between,
                 struct dln_text second) {
    id->len = first.len + 1 + second.len;
    assert(id->len <= sizeof(id->data));
    memcpy(id->data, first.data, first.len);
    id->data[first.len] = between;
    if (second.len > 0) {
        memcpy(id->data + first.len + 1, second.data, second.len);
    }
}

struct dln_text dln_mongo_place(struct dln_mongo_id *id, struct dln_text scope, int64_t number) {
    static const char digits[] = "0123456789abcdef";
    char hex[DIGITS];
    uint64_t rest = (uint64_t)number;
    assert(number >= 0);
    for (int i = DIGITS - 1; i >= 0; i--) {
        hex[i] = digits[rest & 15];
        rest >>= 4;
    }
    join(id, scope, '#', (struct dln_text){hex, DIGITS});
    return (struct dln_text){id->data, id->len};
}

struct dln_text dln_mongo_places_end(struct dln_mongo_id *id, struct dln_text scope) {
    join(id, scope, '#' + 1, (struct dln_text){NULL, 0});
    return (struct dln_text){id->data, id->len};
}

struct dln_text dln_mongo_part(struct dln_mongo_id *id, const char *part, struct dln_text scope) {
    join(id, dln_text_of(part), '#', scope);
    return (struct dln_text){id->data, id->len};
}

void dln_mongo_append_text(bson_t *document, const char *key, struct dln_text text) {
    const char *data = text.data != NULL ? text.data : "";
    bool appended = bson_append_utf8(document, key, -1, data, (int)text.len);
    assert(appended);
    (void)appended;
}

void dln_mongo_append_range(bson_t *document, const char *key, const char *low_operator,
                            struct dln_text low, const char *high_operator, struct dln_text high) {
    bson_t range;
    bson_append_document_begin(document, key, -1, &range);
    dln_mongo_append_text(&range, low_operator, low);
    dln_mongo_append_text(&range, high_operator, high);
    bson_append_document_end(document, &range);
}

int64_t dln_mongo_integer(const bson_t *document, const char *key) {
    bson_iter_t at;
    return bson_iter_init_find(&at, document, key) && BSON_ITER_HOLDS_NUMBER(&at)
               ? bson_iter_as_int64(&at)
               : 0;
}

int64_t dln_mongo_time(const bson_t *document, const char *key) {
    bson_iter_t at;
    return bson_iter_init_find(&at, document, key) && BSON_ITER_HOLDS_DATE_TIME(&at)
               ? bson_iter_date_time(&at)
               : 0;
}

struct dln_text dln_mongo_text(const bson_t *document, const char *key) {
    bson_iter_t at;
    uint32_t len = 0;
    if (!bson_iter_init_find(&at, document, key) || !BSON_ITER_HOLDS_UTF8(&at)) {
        return (struct dln_text){NULL, 0};
    }
    const char *data = bson_iter_utf8(&at, &len);
    return (struct dln_text){data, len};
}

bool dln_mongo_bool(const bson_t *document, const char *key) {
    bson_iter_t at;
    return bson_iter_init_find(&at, document, key) && BSON_ITER_HOLDS_BOOL(&at) &&
           bson_iter_bool(&at);
}

int64_t dln_mongo_number(const bson_t *document) {
    struct dln_text id = dln_mongo_text(document, "_id");
    uint64_t number = 0;
    if (id.len <= DIGITS || id.data[id.len - DIGITS - 1] != '#') {
        return 0;
    }
    for (size_t i = id.len - DIGITS; i < id.len; i++) {
        char digit = id.data[i];
        if (digit >= '0' && digit <= '9') {
            number = number << 4 | (uint64_t)(digit - '0');
        } else if (digit >= 'a' && digit <= 'f') {
            number = number << 4 | (uint64_t)(digit - 'a' + 10);
        } else {
            return 0;
        }
    }
    return number <= INT64_MAX ? (int64_t)number : 0;
}

void dln_mongo_query_begin(struct dln_mongo_query *query, const char *collection, size_t limit) {
    query->collection = collection;
    query->limit = limit;
    bson_init(&query->filter);
    bson_init(&query->sort);
    bson_init(&query->projection);
}

/* One batch, so that no cursor is left open on the server. It may be cut where it grows to the
 * size of the largest document (16 MiB). */
dunlin_status dln_mongo_query_run(struct dln_mongo_query *query, struct dln_mongo_link *link,
                                  struct dln_mongo_rows *rows, dunlin_error *err) {
    bson_t command = BSON_INITIALIZER;
    bson_append_utf8(&command, "find", -1, query->collection, -1);
    bson_append_document(&command, "filter", -1, &query->filter);
    if (!bson_empty(&query->sort)) {
        bson_append_document(&command, "sort", -1, &query->sort);
    }
    if (!bson_empty(&query->projection)) {
        bson_append_document(&command, "projection", -1, &query->projection);
    }
    bson_append_int64(&command, "limit", -1, (int64_t)query->limit);
    bson_append_int64(&command, "batchSize", -1, (int64_t)query->limit);
    bson_append_bool(&command, "singleBatch", -1, true);
    dunlin_status status = dln_mongo_find(link, &command, rows, err);
    bson_destroy(&command);
    bson_destroy(&query->filter);
    bson_destroy(&query->sort);
    bson_destroy(&query->projection);
    return status;
}

void dln_mongo_batch_begin(struct dln_mongo_batch *batch, const char *collection) {
    batch->collection = collection;
    batch->count = 0;
    bson_init(&batch->documents);
    bson_init(&batch->document);
}

bson_t *dln_mongo_batch_document(struct dln_mongo_batch *batch) {
    bson_reinit(&batch->document);
    return &batch->document;
}

void dln_mongo_batch_add(struct dln_mongo_batch *batch) {
    const char *key = NULL;
    char digits[16];
    (void)bson_uint32_to_string(batch->count++, &key, digits, sizeof(digits));
    bson_append_document(&batch->documents, key, -1, &batch->document);
}

dunlin_status dln_mongo_batch_run(struct dln_mongo_batch *batch, struct dln_mongo_link *link,
                                  size_t *at, dunlin_error *err) {
    bson_t command = BSON_INITIALIZER;
    bson_append_utf8(&command, "insert", -1, batch->collection, -1);
    bson_append_array(&command, "documents", -1, &batch->documents);
    bson_append_bool(&command, "ordered", -1, true);
    dunlin_status status = dln_mongo_write(link, DLN_MONGO_APPEND, &command, at, err);
    bson_destroy(&command);
    bson_reinit(&batch->documents);
    batch->count = 0;
    return status;
}

void dln_mongo_batch_end(struct dln_mongo_batch *batch) {
    bson_destroy(&batch->documents);
    bson_destroy(&batch->document);
}

/* {verb: collection, plural: [statement], ordered: true} */
static dunlin_status run_statement(struct dln_mongo_link *link, const char *verb,
                                   const char *plural, const char *collection,
                                   const bson_t *statement, dunlin_error *err) {
    bson_t command = BSON_INITIALIZER;
    bson_t statements = BSON_INITIALIZER;
    bson_append_utf8(&command, verb, -1, collection, -1);
    bson_append_document(&statements, "0", -1, statement);
    bson_append_array(&command, plural, -1, &statements);
    bson_append_bool(&command, "ordered", -1, true);
    dunlin_status status = dln_mongo_write(link, DLN_MONGO_SET, &command, NULL, err);
    bson_destroy(&statements);
    bson_destroy(&command);
    return status;
}

dunlin_status dln_mongo_update(struct dln_mongo_link *link, const char *collection,
                               struct dln_text id, const bson_t *change, bool upsert,
                               dunlin_error *err) {
    bson_t statement = BSON_INITIALIZER;
    bson_t filter;
    bson_append_document_begin(&statement, "q", -1, &filter);
    dln_mongo_append_text(&filter, "_id", id);
    bson_append_document_end(&statement, &filter);
    bson_append_document(&statement, "u", -1, change);
    bson_append_bool(&statement, "upsert", -1, upsert);
    dunlin_status status = run_statement(link, "update", "updates", collection, &statement, err);
    bson_destroy(&statement);
    return status;
}

dunlin_status dln_mongo_remove(struct dln_mongo_link *link, const char *collection,
                               const bson_t *filter, dunlin_error *err) {
    bson_t statement = BSON_INITIALIZER;
    bson_append_document(&statement, "q", -1, filter);
    bson_append_int32(&statement, "limit", -1, 0);
    dunlin_status status = run_statement(link, "delete", "deletes", collection, &statement, err);
    bson_destroy(&statement);
    return status;
}
