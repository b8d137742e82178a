/* Commands are sent as they are, not by the driver's helpers: so their number and their form are
 * ours, and none is repeated behind our back.
 *
 * A read or a write that may be done twice is sent again after a network error or a failover, until
 * the deadline. In a causally consistent session that is the same history, wherever the primary is
 * by then. Without sessions the link keeps to one server; once that fails, so does the operation,
 * and its caller starts over, on the server that is chosen next. */
#include "central/mongo/link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAUSE_MS = 20, PAUSE_MAX_MS = 500 };

static int64_t clock_ms(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void pause_ms(int64_t ms) {
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    (void)nanosleep(&time, NULL);
}

/* What MongoDB's drivers take for a failover, a shutdown or a lost connection. */
static bool is_passing(const bson_error_t *error) {
    static const uint32_t codes[] = {6,   7,   64,   89,    91,    112,   133,   134,   189,  262,
                                     317, 358, 9001, 10058, 10107, 11600, 11602, 13435, 13436};
    if (error->domain == MONGOC_ERROR_STREAM || error->domain == MONGOC_ERROR_SERVER_SELECTION) {
        return true;
    }
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
        if (error->code == codes[i] &&
            (error->domain == MONGOC_ERROR_SERVER || error->domain == MONGOC_ERROR_WRITE_CONCERN)) {
            return true;
        }
    }
    return false;
}

static bool is_refused(const bson_error_t *error) {
    enum { UNAUTHORIZED = 13, AUTHENTICATION_FAILED = 18 };
    return (error->domain == MONGOC_ERROR_CLIENT &&
            error->code == MONGOC_ERROR_CLIENT_AUTHENTICATE) ||
           error->code == UNAUTHORIZED || error->code == AUTHENTICATION_FAILED;
}

static dunlin_status status_of(const struct dln_mongo_link *link, const bson_error_t *error) {
    enum { OUT_OF_DISK_SPACE = 14031 };
    if (error->code == OUT_OF_DISK_SPACE) {
        return DUNLIN_DISK_FULL;
    }
    if (link->probing == NULL) {
        return DUNLIN_UNAVAILABLE;
    }
    if (is_refused(error)) {
        return DUNLIN_NOT_ALLOWED;
    }
    if (error->domain == MONGOC_ERROR_SERVER_SELECTION) {
        return DUNLIN_OFFLINE;
    }
    return is_passing(error) ? DUNLIN_UNAVAILABLE : DUNLIN_UNSUPPORTED;
}

static dunlin_status fail(const struct dln_mongo_link *link, const bson_error_t *error,
                          dunlin_error *err) {
    dunlin_status status = status_of(link, error);
    if (status == DUNLIN_UNSUPPORTED) {
        return dln_fail(err, status, DUNLIN_DOMAIN_CENTRAL, "this MongoDB deployment lacks %s: %s",
                        link->probing, error->message);
    }
    return dln_fail(err, status, DUNLIN_DOMAIN_CENTRAL, "MongoDB: %s", error->message);
}

/* Chooses the server that this link keeps to. */
static bool pin(struct dln_mongo_link *link, bson_error_t *error) {
    mongoc_server_description_t *server =
        mongoc_client_select_server(link->client, true, NULL, error);
    if (server == NULL) {
        return false;
    }
    link->server = mongoc_server_description_id(server);
    mongoc_server_description_destroy(server);
    return true;
}

static void append_read_concern(bson_t *opts) {
    bson_t concern;
    bson_append_document_begin(opts, "readConcern", -1, &concern);
    bson_append_utf8(&concern, "level", -1, "majority", -1);
    bson_append_document_end(opts, &concern);
}

static void append_write_concern(bson_t *opts, bool majority) {
    bson_t concern;
    bson_append_document_begin(opts, "writeConcern", -1, &concern);
    if (majority) {
        bson_append_utf8(&concern, "w", -1, "majority", -1);
        bson_append_int32(&concern, "wtimeout", -1, DLN_MONGO_MAJORITY_MS);
    } else {
        bson_append_int32(&concern, "w", -1, 1);
    }
    bson_append_bool(&concern, "j", -1, true);
    bson_append_document_end(opts, &concern);
}

static bool make_opts(struct dln_mongo_link *link, bool read, bson_t *opts, bson_error_t *error) {
    if (read && link->mongo->majority) {
        append_read_concern(opts);
    } else if (!read) {
        append_write_concern(opts, link->mongo->majority);
    }
    if (link->session != NULL) {
        return mongoc_client_session_append(link->session, opts, error);
    }
    if (link->server == 0 && !pin(link, error)) {
        return false;
    }
    bson_append_int32(opts, "serverId", -1, (int32_t)link->server);
    return true;
}

/* The first write error of a reply, made a bson_error_t; false where there is none. */
static bool first_write_error(const bson_t *reply, size_t *at, bson_error_t *error) {
    bson_iter_t errors;
    bson_iter_t entry;
    bson_iter_t field;
    if (!bson_iter_init_find(&errors, reply, "writeErrors") || !BSON_ITER_HOLDS_ARRAY(&errors) ||
        !bson_iter_recurse(&errors, &entry) || !bson_iter_next(&entry)) {
        return false;
    }
    const char *message = "a write was refused";
    int64_t code = 0;
    *at = SIZE_MAX;
    if (BSON_ITER_HOLDS_DOCUMENT(&entry) && bson_iter_recurse(&entry, &field)) {
        while (bson_iter_next(&field)) {
            const char *key = bson_iter_key(&field);
            if (strcmp(key, "index") == 0) {
                *at = (size_t)bson_iter_as_int64(&field);
            } else if (strcmp(key, "code") == 0) {
                code = bson_iter_as_int64(&field);
            } else if (strcmp(key, "errmsg") == 0 && BSON_ITER_HOLDS_UTF8(&field)) {
                message = bson_iter_utf8(&field, NULL);
            }
        }
    }
    bson_set_error(error, MONGOC_ERROR_SERVER, (uint32_t)code, "%s", message);
    return true;
}

/* One try. *at: a duplicate key's document. */
static bool run_once(struct dln_mongo_link *link, bool read, const bson_t *command, bson_t *reply,
                     size_t *at, bson_error_t *error) {
    bson_t opts = BSON_INITIALIZER;
    bool ran = false;
    *at = SIZE_MAX;
    if (!make_opts(link, read, &opts, error)) {
        bson_init(reply);
    } else if (read) {
        ran = mongoc_client_read_command_with_opts(link->client, link->mongo->database, command,
                                                   NULL, &opts, reply, error);
    } else {
        ran = mongoc_client_write_command_with_opts(link->client, link->mongo->database, command,
                                                    &opts, reply, error);
    }
    bson_destroy(&opts);
    if (ran && !read && first_write_error(reply, at, error)) {
        return error->code == DLN_MONGO_DUPLICATE_KEY && *at != SIZE_MAX;
    }
    return ran;
}

dunlin_status dln_mongo_run(struct dln_mongo_link *link, enum dln_mongo_way way,
                            const bson_t *command, bson_t *reply, size_t *at, dunlin_error *err) {
    const int64_t deadline_ms = clock_ms() + DLN_MONGO_DEADLINE_MS;
    int64_t wait_ms = PAUSE_MS;
    bson_error_t error = {0};
    size_t ignored = SIZE_MAX;
    at = at != NULL ? at : &ignored;
    for (;;) {
        bool ran = run_once(link, way == DLN_MONGO_READ, command, reply, at, &error);
        bool collided = ran && way == DLN_MONGO_SET && *at != SIZE_MAX;
        if (ran && !collided) {
            return DUNLIN_OK;
        }
        bool pinned = link->session == NULL;
        bool again = collided || (is_passing(&error) && !pinned && link->probing == NULL);
        link->server = collided ? link->server : 0;
        if (way == DLN_MONGO_APPEND || !again || clock_ms() + wait_ms > deadline_ms) {
            return fail(link, &error, err);
        }
        bson_destroy(reply);
        pause_ms(wait_ms);
        wait_ms = wait_ms * 2 < PAUSE_MAX_MS ? wait_ms * 2 : PAUSE_MAX_MS;
    }
}

dunlin_status dln_mongo_write(struct dln_mongo_link *link, enum dln_mongo_way way,
                              const bson_t *command, size_t *at, dunlin_error *err) {
    bson_t reply;
    dunlin_status status = dln_mongo_run(link, way, command, &reply, at, err);
    bson_destroy(&reply);
    return status;
}

static bool hello_once(struct dln_mongo_link *link, bson_t *reply, bson_error_t *error) {
    bson_t command = BSON_INITIALIZER;
    bson_append_int32(&command, link->mongo->hello ? "hello" : "isMaster", -1, 1);
    bool ran = mongoc_client_command_simple(link->client, "admin", &command, NULL, reply, error);
    bson_destroy(&command);
    return ran;
}

dunlin_status dln_mongo_hello(struct dln_mongo_link *link, bson_t *reply, dunlin_error *err) {
    enum { COMMAND_NOT_FOUND = 59 };
    const int64_t deadline_ms = clock_ms() + DLN_MONGO_DEADLINE_MS;
    bson_error_t error = {0};
    while (!hello_once(link, reply, &error)) {
        if (link->probing != NULL && link->mongo->hello && error.code == COMMAND_NOT_FOUND) {
            link->mongo->hello = false;
        } else if (link->probing != NULL || !is_passing(&error) ||
                   clock_ms() + PAUSE_MAX_MS > deadline_ms) {
            return fail(link, &error, err);
        } else {
            pause_ms(PAUSE_MAX_MS);
        }
        bson_destroy(reply);
    }
    return DUNLIN_OK;
}

dunlin_status dln_mongo_find(struct dln_mongo_link *link, const bson_t *command,
                             struct dln_mongo_rows *rows, dunlin_error *err) {
    bson_iter_t reply;
    bson_iter_t batch;
    dunlin_status status = dln_mongo_run(link, DLN_MONGO_READ, command, &rows->reply, NULL, err);
    rows->any = false;
    if (status != DUNLIN_OK) {
        return status;
    }
    if (!bson_iter_init(&reply, &rows->reply) ||
        !bson_iter_find_descendant(&reply, "cursor.firstBatch", &batch) ||
        !BSON_ITER_HOLDS_ARRAY(&batch) || !bson_iter_recurse(&batch, &rows->at)) {
        return dln_fail(err, DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_CENTRAL,
                        "MongoDB: the answer to a find is none");
    }
    rows->any = true;
    return DUNLIN_OK;
}

bool dln_mongo_row(struct dln_mongo_rows *rows, bson_t *out) {
    const uint8_t *data = NULL;
    uint32_t len = 0;
    if (!rows->any || !bson_iter_next(&rows->at) || !BSON_ITER_HOLDS_DOCUMENT(&rows->at)) {
        return false;
    }
    bson_iter_document(&rows->at, &len, &data);
    return bson_init_static(out, data, len);
}

void dln_mongo_rows_end(struct dln_mongo_rows *rows) {
    bson_destroy(&rows->reply);
}

dunlin_status dln_mongo_link_open(struct dln_mongo_link *link, struct dln_mongo *mongo,
                                  dunlin_error *err) {
    bson_error_t error = {0};
    *link = (struct dln_mongo_link){.mongo = mongo};
    if ((link->client = mongoc_client_pool_pop(mongo->pool)) == NULL) {
        return dln_fail(err, DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_CENTRAL,
                        "MongoDB: all clients of the pool are taken (maxPoolSize in the url)");
    }
    if (mongo->sessions) {
        link->session = mongoc_client_start_session(link->client, NULL, &error);
        if (link->session == NULL) {
            dln_mongo_link_close(link);
            return fail(link, &error, err);
        }
    }
    return DUNLIN_OK;
}

void dln_mongo_link_close(struct dln_mongo_link *link) {
    if (link->session != NULL) {
        mongoc_client_session_destroy(link->session);
    }
    if (link->client != NULL) {
        mongoc_client_pool_push(link->mongo->pool, link->client);
    }
    link->session = NULL;
    link->client = NULL;
}
