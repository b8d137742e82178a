/* Central's engine over MongoDB, for who embeds it: a deployment, and centrals over it. */
#ifndef DLN_CENTRAL_MONGO_MONGO_H
#define DLN_CENTRAL_MONGO_MONGO_H

#include "central/central.h"

/* A deployment: the pool of clients, and what was found out when connecting. Any thread. */
struct dln_mongo;

/* url: "mongodb://…/DATABASE" or "mongodb+srv://…/DATABASE". Looks what the deployment can do, and
 * makes the indexes that are missing. MISUSE, INVALID_TEXT, UNSUPPORTED, NEWER_SCHEMA, OFFLINE,
 * NOT_ALLOWED, UNAVAILABLE, OUT_OF_MEMORY. */
DUNLIN_MUST_USE dunlin_status dln_mongo_connect(struct dln_mongo **out, const char *url,
                                                dunlin_error *err);
/* NULL is allowed. Centrals over it may still be open: the last of them takes the pool along. */
void dln_mongo_close(struct dln_mongo *mongo);
/* A central of one thread over it, which has one client of the pool until dunlin_central_close().
 * Its clock is the database server's, unless options give ports. UNAVAILABLE where all clients of
 * the pool (maxPoolSize in the url, 100 if unsaid) are taken for 10 seconds. */
DUNLIN_MUST_USE dunlin_status dln_mongo_central(struct dln_mongo *mongo, dunlin_central **out,
                                                const dunlin_central_options *options,
                                                dunlin_error *err);

#endif
