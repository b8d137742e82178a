/* Connecting: the url's options are tightened, the deployment is looked at, and everything that is
 * needed later is done once, so that what is missing is said now and never in the middle of a push.
 *
 * What is needed: hello with the server's time, insert-if-absent that names the document it stopped
 * at, a range over _id in its order, indexes; on a replica set or a sharded cluster majority
 * concerns too. Sessions are used where there are some. Nothing else is: no transactions, change
 * streams, retryable writes, findAndModify. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "central/mongo/documents.h"
#include "central/mongo/link.h"

enum { SCHEMA_VERSION = 1 };

/* mongoc_cleanup() is never called: the process may use libmongoc elsewhere, and it cannot be
 * initialised a second time. Its log would go to the host's stderr. */
static void initialise(void) {
    mongoc_init();
    mongoc_log_set_handler(NULL, NULL);
}

static dunlin_status unsupported(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_UNSUPPORTED, DUNLIN_DOMAIN_CENTRAL,
                    "this MongoDB deployment cannot be used: %s", what);
}

static bool at_most(mongoc_uri_t *uri, const char *option, int32_t ms) {
    int32_t given = mongoc_uri_get_option_as_int32(uri, option, 0);
    return mongoc_uri_set_option_as_int32(uri, option, given > 0 && given < ms ? given : ms);
}

/* Whatever the url says: the primary only, nothing repeated by the driver, nothing that hangs. */
static bool tighten(mongoc_uri_t *uri) {
    mongoc_read_prefs_t *primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
    mongoc_uri_set_read_prefs_t(uri, primary);
    mongoc_read_prefs_destroy(primary);
    mongoc_read_concern_t *read_concern = mongoc_read_concern_new();
    mongoc_uri_set_read_concern(uri, read_concern);
    mongoc_read_concern_destroy(read_concern);
    mongoc_write_concern_t *write_concern = mongoc_write_concern_new();
    mongoc_uri_set_write_concern(uri, write_concern);
    mongoc_write_concern_destroy(write_concern);
    if (mongoc_uri_get_appname(uri) == NULL) {
        (void)mongoc_uri_set_appname(uri, "dunlin");
    }
    return mongoc_uri_set_option_as_bool(uri, MONGOC_URI_RETRYWRITES, false) &&
           mongoc_uri_set_option_as_bool(uri, MONGOC_URI_RETRYREADS, false) &&
           at_most(uri, MONGOC_URI_CONNECTTIMEOUTMS, DLN_MONGO_CONNECT_MS) &&
           at_most(uri, MONGOC_URI_SOCKETTIMEOUTMS, DLN_MONGO_SOCKET_MS) &&
           at_most(uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS, DLN_MONGO_SELECT_MS) &&
           at_most(uri, MONGOC_URI_WAITQUEUETIMEOUTMS, DLN_MONGO_POOL_WAIT_MS);
}

static dunlin_status parse_url(mongoc_uri_t **out, const char *url, dunlin_error *err) {
    bson_error_t error = {0};
    if (strncmp(url, "mongodb://", 10) != 0 && strncmp(url, "mongodb+srv://", 14) != 0) {
        return dln_fail(err, DUNLIN_UNSUPPORTED, DUNLIN_DOMAIN_API,
                        "the url of a MongoDB deployment starts with mongodb:// or mongodb+srv://");
    }
    if (!dln_text_is_utf8(dln_text_of(url))) {
        return dln_fail(err, DUNLIN_INVALID_TEXT, DUNLIN_DOMAIN_API, "the url is not UTF-8");
    }
    mongoc_uri_t *uri = mongoc_uri_new_with_error(url, &error);
    if (uri == NULL) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "the url cannot be read: %s",
                        error.message);
    }
    const char *database = mongoc_uri_get_database(uri);
    if (database == NULL || database[0] == '\0' || !tighten(uri)) {
        mongoc_uri_destroy(uri);
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API,
                        "the url needs a database's name behind its hosts");
    }
    *out = uri;
    return DUNLIN_OK;
}

static dunlin_status make_pool(struct dln_mongo *mongo, const mongoc_uri_t *uri,
                               dunlin_error *err) {
    bson_error_t error = {0};
    if ((mongo->database = strdup(mongoc_uri_get_database(uri))) == NULL) {
        return dln_central_no_memory(err);
    }
    if ((mongo->pool = mongoc_client_pool_new_with_error(uri, &error)) == NULL) {
        bool resolving = error.domain == MONGOC_ERROR_STREAM; /* mongodb+srv: asks a name server */
        return dln_fail(err, resolving ? DUNLIN_OFFLINE : DUNLIN_MISUSE, DUNLIN_DOMAIN_CENTRAL,
                        "MongoDB: %s", error.message);
    }
    (void)mongoc_client_pool_set_error_api(mongo->pool, MONGOC_ERROR_API_VERSION_2);
    return DUNLIN_OK;
}

/* Fills in what the deployment says of itself. */
static dunlin_status look(struct dln_mongo *mongo, dunlin_error *err) {
    struct dln_mongo_link link;
    bson_iter_t at;
    bson_t reply;
    dunlin_status status;
    mongo->hello = true;
    if ((status = dln_mongo_link_open(&link, mongo, err))) {
        return status;
    }
    link.probing = "hello";
    if ((status = dln_mongo_hello(&link, &reply, err)) == DUNLIN_OK) {
        bool replica_set = bson_iter_init_find(&at, &reply, "setName");
        bool router = bson_iter_init_find(&at, &reply, "msg") && BSON_ITER_HOLDS_UTF8(&at) &&
                      strcmp(bson_iter_utf8(&at, NULL), "isdbgrid") == 0;
        mongo->majority = replica_set || router;
        mongo->sessions = bson_iter_init_find(&at, &reply, "logicalSessionTimeoutMinutes") &&
                          BSON_ITER_HOLDS_NUMBER(&at);
        if (!bson_iter_init_find(&at, &reply, "localTime") || !BSON_ITER_HOLDS_DATE_TIME(&at)) {
            status = unsupported(err, "hello does not tell the server's time");
        }
    }
    bson_destroy(&reply);
    dln_mongo_link_close(&link);
    return status;
}

static dunlin_status make_index(struct dln_mongo_link *link, const char *collection,
                                const char *const *fields, const char *name, dunlin_error *err) {
    bson_t command = BSON_INITIALIZER;
    bson_t indexes;
    bson_t index;
    bson_t key;
    bson_append_utf8(&command, "createIndexes", -1, collection, -1);
    bson_init(&indexes);
    bson_append_document_begin(&indexes, "0", -1, &index);
    bson_append_document_begin(&index, "key", -1, &key);
    for (; *fields != NULL; fields++) {
        bson_append_int32(&key, *fields, -1, 1);
    }
    bson_append_document_end(&index, &key);
    bson_append_utf8(&index, "name", -1, name, -1);
    bson_append_document_end(&indexes, &index);
    bson_append_array(&command, "indexes", -1, &indexes);
    dunlin_status status = dln_mongo_write(link, DLN_MONGO_SET, &command, NULL, err);
    bson_destroy(&indexes);
    bson_destroy(&command);
    return status;
}

static dunlin_status make_indexes(struct dln_mongo_link *link, dunlin_error *err) {
    static const char *const by_key[] = {"scope", "key", "_id", NULL};
    static const char *const by_touched[] = {"touched", NULL};
    dunlin_status status = make_index(link, "changes", by_key, "by_key", err);
    return status != DUNLIN_OK ? status : make_index(link, "scopes", by_touched, "by_touched", err);
}

/* The schema's version is a document that is inserted if absent, twice in one command: whether it
 * was there or not, the command must stop, and name the document that it stopped at. */
static dunlin_status probe_insert(struct dln_mongo_link *link, dunlin_error *err) {
    struct dln_mongo_batch batch;
    size_t at = SIZE_MAX;
    dln_mongo_batch_begin(&batch, "scopes");
    for (int i = 0; i < 2; i++) {
        bson_t *document = dln_mongo_batch_document(&batch);
        bson_append_utf8(document, "_id", -1, "schema", -1);
        bson_append_int64(document, "version", -1, SCHEMA_VERSION);
        dln_mongo_batch_add(&batch);
    }
    dunlin_status status = dln_mongo_batch_run(&batch, link, &at, err);
    dln_mongo_batch_end(&batch);
    if (status == DUNLIN_OK && at > 1) {
        status = unsupported(err, "an insert of what is there already is not refused");
    }
    return status;
}

static dunlin_status probe_find(struct dln_mongo_link *link, dunlin_error *err) {
    struct dln_mongo_query query;
    struct dln_mongo_rows rows;
    bson_t document;
    int64_t version = 0;
    dln_mongo_query_begin(&query, "scopes", 1);
    dln_mongo_append_range(&query.filter, "_id", "$gte", DLN_TEXT("schema"), "$lt",
                           DLN_TEXT("schemb"));
    bson_append_int32(&query.sort, "_id", -1, -1);
    dunlin_status status = dln_mongo_query_run(&query, link, &rows, err);
    if (status == DUNLIN_OK && dln_mongo_row(&rows, &document)) {
        version = dln_mongo_integer(&document, "version");
    }
    dln_mongo_rows_end(&rows);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (version > SCHEMA_VERSION) {
        return dln_fail(err, DUNLIN_NEWER_SCHEMA, DUNLIN_DOMAIN_CENTRAL,
                        "central's database has schema %lld, this version knows %d",
                        (long long)version, SCHEMA_VERSION);
    }
    return version > 0
               ? DUNLIN_OK
               : unsupported(err, "what was just inserted is not found by a range over _id");
}

static dunlin_status probe(struct dln_mongo *mongo, dunlin_error *err) {
    struct dln_mongo_link link;
    dunlin_status status;
    if ((status = dln_mongo_link_open(&link, mongo, err))) {
        return status;
    }
    link.probing = "indexes";
    if ((status = make_indexes(&link, err)) == DUNLIN_OK) {
        link.probing = mongo->majority ? "journaled majority writes" : "journaled writes";
        status = probe_insert(&link, err);
    }
    if (status == DUNLIN_OK) {
        link.probing = mongo->majority ? "majority reads" : "reads by a range";
        status = probe_find(&link, err);
    }
    dln_mongo_link_close(&link);
    return status;
}

dunlin_status dln_mongo_connect(struct dln_mongo **out, const char *url, dunlin_error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    mongoc_uri_t *uri = NULL;
    dunlin_status status;
    *out = NULL;
    (void)pthread_once(&once, initialise);
    if ((status = parse_url(&uri, url, err))) {
        return status;
    }
    struct dln_mongo *mongo = calloc(1, sizeof(*mongo));
    if (mongo == NULL) {
        status = dln_central_no_memory(err);
        goto done;
    }
    atomic_init(&mongo->holders, 1);
    if ((status = make_pool(mongo, uri, err)) || (status = look(mongo, err)) ||
        (status = probe(mongo, err))) {
        goto done;
    }
    *out = mongo;
    mongo = NULL;
done:
    dln_mongo_close(mongo);
    mongoc_uri_destroy(uri);
    return status;
}

void dln_mongo_close(struct dln_mongo *mongo) {
    if (mongo == NULL || atomic_fetch_sub(&mongo->holders, 1) > 1) {
        return;
    }
    if (mongo->pool != NULL) {
        mongoc_client_pool_destroy(mongo->pool);
    }
    free(mongo->database);
    free(mongo);
}
