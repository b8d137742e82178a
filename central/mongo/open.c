#include "central/mongo/engine.h"

dunlin_status dln_mongo_central(struct dln_mongo *mongo, dunlin_central **out,
                                const dunlin_central_options *options, dunlin_error *err) {
    dunlin_central *central;
    dunlin_status status;
    *out = NULL;
    if ((status = dln_central_new(&central, options, err))) {
        return status;
    }
    bool app_clock = options != NULL && options->ports != NULL;
    if ((status =
             dln_mongo_engine_open(&central->engine, mongo, app_clock, &central->ports, err))) {
        dunlin_central_close(central);
        return status;
    }
    *out = central;
    return DUNLIN_OK;
}
