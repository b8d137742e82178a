/* The remote over the driver. */
#include <dunlin/mongo.h>

#include "central/mongo/mongo.h"
#include "central/remote.h"

dunlin_status dunlin_mongo_remote(dunlin_remote **out, const char *url, const char *user,
                                  const dunlin_central_options *options, dunlin_error *err) {
    struct dln_mongo *mongo = NULL;
    dunlin_central *central = NULL;
    dunlin_status status;
    if (out != NULL) {
        *out = NULL;
    }
    if (out == NULL || url == NULL || user == NULL) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "out, url and user must be given");
    }
    if ((status = dln_check_id(dln_text_of(user), "user", err)) ||
        (status = dln_central_check_options(options, err)) ||
        (status = dln_mongo_connect(&mongo, url, err))) {
        return status;
    }
    status = dln_mongo_central(mongo, &central, options, err);
    dln_mongo_close(mongo); /* central keeps it open */
    return status != DUNLIN_OK ? status : dln_central_remote_owning(central, out, user, err);
}
