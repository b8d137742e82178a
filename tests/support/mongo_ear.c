#include "tests/support/mongo_ear.h"

#include <dlfcn.h>
#include <mongoc/mongoc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEARD_BYTES = 8192 };

/* What the server of a pool said of itself. */
struct server {
    atomic_bool majority;
    atomic_bool sessions;
    struct server *next; /* kept to the end of the process: a pool's events may come late */
};

static struct server *_Atomic servers;

_Thread_local bool mongo_ear_mine;

static pthread_t listener; /* whoever called mongo_listen() */
static bool listening;
static size_t heard;
static char heard_text[HEARD_BYTES];

/* ---- rules */

static bool text_at(const bson_t *command, const char *path, const char *text) {
    bson_iter_t top;
    bson_iter_t at;
    return bson_iter_init(&top, command) && bson_iter_find_descendant(&top, path, &at) &&
           BSON_ITER_HOLDS_UTF8(&at) && strcmp(bson_iter_utf8(&at, NULL), text) == 0;
}

static bool names_scope(const bson_iter_t *holder, const char *where) {
    bson_iter_t inside;
    bson_iter_t scope;
    return bson_iter_recurse(holder, &inside) &&
           bson_iter_find_descendant(&inside, where, &scope) && BSON_ITER_HOLDS_UTF8(&scope);
}

/* Each element of that array names its scope, at `where` inside. */
static bool all_name_scope(const bson_t *command, const char *array, const char *where) {
    bson_iter_t at;
    bson_iter_t element;
    size_t count = 0;
    if (!bson_iter_init_find(&at, command, array) || !bson_iter_recurse(&at, &element)) {
        return false;
    }
    for (; bson_iter_next(&element); count++) {
        if (!names_scope(&element, where)) {
            return false;
        }
    }
    return count > 0;
}

static bool is_of_one_scope(const char *name, const bson_t *command) {
    bson_iter_t filter;
    if (strcmp(name, "createIndexes") == 0) {
        return true;
    }
    if (strcmp(name, "find") == 0) {
        return bson_iter_init_find(&filter, command, "filter") && names_scope(&filter, "scope");
    }
    if (strcmp(name, "insert") == 0) {
        return all_name_scope(command, "documents", "scope");
    }
    return strcmp(name, "delete") == 0 && all_name_scope(command, "deletes", "q.scope");
}

static bool is_safe(struct server *server, const char *name, const bson_t *command) {
    bson_iter_t top;
    bson_iter_t at;
    bool majority = atomic_load(&server->majority);
    if (atomic_load(&server->sessions) && !bson_has_field(command, "lsid")) {
        return false;
    }
    if (strcmp(name, "find") == 0) {
        return text_at(command, "readConcern.level", "majority") == majority;
    }
    return text_at(command, "writeConcern.w", "majority") == majority &&
           bson_iter_init(&top, command) &&
           bson_iter_find_descendant(&top, "writeConcern.j", &at) && bson_iter_as_bool(&at);
}

static const char *broken(struct server *server, const char *name, const char *collection,
                          const bson_t *command) {
    static const char *const ours[] = {"changes", "scopes", "epochs", "leases"};
    bool is_ours = false;
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        is_ours = is_ours || strcmp(collection, ours[i]) == 0;
    }
    if (strcmp(collection, "changes") == 0 && !is_of_one_scope(name, command)) {
        return "does not name its scope";
    }
    return is_ours && !is_safe(server, name, command) ? "lacks its concerns or its session" : NULL;
}

/* ---- hearing */

static void on_command(const mongoc_apm_command_started_t *event) {
    const char *name = mongoc_apm_command_started_get_command_name(event);
    const bson_t *command = mongoc_apm_command_started_get_command(event);
    struct server *server = mongoc_apm_command_started_get_context(event);
    bson_iter_t at;
    const char *collection = "";
    if (bson_iter_init(&at, command) && bson_iter_next(&at) && BSON_ITER_HOLDS_UTF8(&at)) {
        collection = bson_iter_utf8(&at, NULL);
    }
    const char *what = mongo_ear_mine ? NULL : broken(server, name, collection, command);
    if (what != NULL) {
        char *json = bson_as_relaxed_extended_json(command, NULL);
        (void)fprintf(stderr, "a command on %s %s: %s\n", collection, what, json);
        abort();
    }
    if (!listening || !pthread_equal(listener, pthread_self())) {
        return;
    }
    size_t len = strlen(heard_text);
    (void)snprintf(heard_text + len, sizeof(heard_text) - len, "%s%s %s", len > 0 ? ", " : "", name,
                   collection);
    heard++;
}

/* central asks for hello before anything else. */
static void on_answer(const mongoc_apm_command_succeeded_t *event) {
    const char *name = mongoc_apm_command_succeeded_get_command_name(event);
    const bson_t *reply = mongoc_apm_command_succeeded_get_reply(event);
    struct server *server = mongoc_apm_command_succeeded_get_context(event);
    if (strcmp(name, "hello") == 0 || strcasecmp(name, "isMaster") == 0) {
        atomic_store(&server->majority,
                     bson_has_field(reply, "setName") || text_at(reply, "msg", "isdbgrid"));
        atomic_store(&server->sessions, bson_has_field(reply, "logicalSessionTimeoutMinutes"));
    }
}

static struct server *new_server(void) {
    struct server *server = calloc(1, sizeof(*server));
    if (server == NULL) {
        abort();
    }
    server->next = atomic_load(&servers);
    while (!atomic_compare_exchange_weak(&servers, &server->next, server)) {
    }
    return server;
}

/* Called in libmongoc's place. */
__attribute__((visibility("default"))) mongoc_client_pool_t *
mongoc_client_pool_new_with_error(const mongoc_uri_t *uri, bson_error_t *error) {
    mongoc_client_pool_t *(*real)(const mongoc_uri_t *, bson_error_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "mongoc_client_pool_new_with_error");
    mongoc_client_pool_t *pool = real != NULL ? real(uri, error) : NULL;
    if (pool == NULL) {
        return NULL;
    }
    mongoc_apm_callbacks_t *callbacks = mongoc_apm_callbacks_new();
    mongoc_apm_set_command_started_cb(callbacks, on_command);
    mongoc_apm_set_command_succeeded_cb(callbacks, on_answer);
    if (!mongoc_client_pool_set_apm_callbacks(pool, callbacks, new_server())) {
        abort();
    }
    mongoc_apm_callbacks_destroy(callbacks);
    if (getenv("DUNLIN_TEST_EAR_SAYS") != NULL) {
        (void)fputs("the ear hears\n", stderr);
    }
    return pool;
}

void mongo_listen(void) {
    listener = pthread_self();
    listening = true;
    heard = 0;
    heard_text[0] = '\0';
}

size_t mongo_heard(void) {
    return heard;
}

const char *mongo_heard_text(void) {
    return heard_text;
}
