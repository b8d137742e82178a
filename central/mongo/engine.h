/* Between the files of the MongoDB engine. */
#ifndef DLN_CENTRAL_MONGO_ENGINE_H
#define DLN_CENTRAL_MONGO_ENGINE_H

#include "central/mongo/documents.h"

struct dln_mongo_engine {
    struct dln_mongo_link link;
    const struct dln_central_ports *ports;
    bool app_clock; /* the app's clock is "the server's" */
    /* The server's time is the steady clock plus the offset, as of offset_taken_ms on the latter.
     */
    bool offset_known;
    int64_t offset_ms;
    int64_t offset_taken_ms;
};

/* Opens the engine over that deployment, which it keeps open. */
DUNLIN_MUST_USE dunlin_status dln_mongo_engine_open(struct dln_central_engine *out,
                                                    struct dln_mongo *mongo, bool app_clock,
                                                    const struct dln_central_ports *ports,
                                                    dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_mongo_now(void *self, int64_t *now_ms, dunlin_error *err);

/* Fill in the operations on the log, and on what is not a record. */
void dln_mongo_log(struct dln_central_engine *out);
void dln_mongo_scopes(struct dln_central_engine *out);

#endif
