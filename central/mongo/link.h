/* A deployment, and one thread's link to it: running commands under one deadline. Only for the
 * files of this folder and its tests: it shows libmongoc. */
#ifndef DLN_CENTRAL_MONGO_LINK_H
#define DLN_CENTRAL_MONGO_LINK_H

#include <mongoc/mongoc.h>
#include <stdatomic.h>

#include "central/mongo/mongo.h"

enum {
    DLN_MONGO_CONNECT_MS = 10 * 1000,   /* until a connection stands */
    DLN_MONGO_SELECT_MS = 10 * 1000,    /* until there is a primary */
    DLN_MONGO_SOCKET_MS = 20 * 1000,    /* of silence */
    DLN_MONGO_MAJORITY_MS = 15 * 1000,  /* until a majority has a write */
    DLN_MONGO_DEADLINE_MS = 25 * 1000,  /* no command is begun again later than that */
    DLN_MONGO_POOL_WAIT_MS = 10 * 1000, /* until another thread gives a client back */
    DLN_MONGO_DUPLICATE_KEY = 11000
};

struct dln_mongo {
    mongoc_client_pool_t *pool;
    char *database;
    atomic_int holders; /* who opened it, and its centrals */
    bool hello;         /* else only isMaster is known */
    bool majority;      /* a replica set or a sharded cluster: majority concerns mean something */
    bool sessions;
};

struct dln_mongo_link {
    struct dln_mongo *mongo;
    mongoc_client_t *client;
    mongoc_client_session_t *session; /* NULL: the deployment has none, and `server` is pinned */
    uint32_t server;                  /* 0: none is pinned now */
    const char *probing; /* while connecting: what is looked for. Statuses then may say that nobody
                            answers, that the password is wrong, that this is missing */
};

/* How a command may be sent again, within the deadline, after a network error or a failover. */
enum dln_mongo_way {
    DLN_MONGO_READ,  /* any time */
    DLN_MONGO_SET,   /* a write that may be done twice; a collision of upserts is tried again too */
    DLN_MONGO_APPEND /* never: a late repetition is a writer that slept */
};

/* The link has a client of the pool until it is closed; closing a link that is not open is legal.
 * Both leave `mongo` to the caller. */
DUNLIN_MUST_USE dunlin_status dln_mongo_link_open(struct dln_mongo_link *link,
                                                  struct dln_mongo *mongo, dunlin_error *err);
void dln_mongo_link_close(struct dln_mongo_link *link);

/* Runs a command on the database's primary. reply is the caller's to destroy, always. A write's
 * reply was looked through: the only write error that is left in an OK one is that of a duplicate
 * key, with *at its document's index; SIZE_MAX: none. `at` may be NULL where there can be none. */
DUNLIN_MUST_USE dunlin_status dln_mongo_run(struct dln_mongo_link *link, enum dln_mongo_way way,
                                            const bson_t *command, bson_t *reply, size_t *at,
                                            dunlin_error *err);
/* A write whose reply says nothing more. */
DUNLIN_MUST_USE dunlin_status dln_mongo_write(struct dln_mongo_link *link, enum dln_mongo_way way,
                                              const bson_t *command, size_t *at, dunlin_error *err);
/* The server's hello. */
DUNLIN_MUST_USE dunlin_status dln_mongo_hello(struct dln_mongo_link *link, bson_t *reply,
                                              dunlin_error *err);

/* The documents of a find's one batch. Started, then ended always. */
struct dln_mongo_rows {
    bson_t reply;
    bson_iter_t at;
    bool any;
};

DUNLIN_MUST_USE dunlin_status dln_mongo_find(struct dln_mongo_link *link, const bson_t *command,
                                             struct dln_mongo_rows *rows, dunlin_error *err);
bool dln_mongo_row(struct dln_mongo_rows *rows, bson_t *out); /* borrowed from rows */
void dln_mongo_rows_end(struct dln_mongo_rows *rows);

#endif
