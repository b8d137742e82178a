/* One central a thread, over whichever engine the url names. */
#include "bridge/source.h"

#include <stdlib.h>
#include <string.h>

#include "central/central.h"
#include "central/gate.h"
#include "central/mongo/mongo.h"

struct dln_source {
    const char *url;
    const dunlin_central_options *options;
    struct dln_mongo *mongo; /* NULL: the url is a file's */
    struct dln_gate *gate;   /* of all its centrals */
};

static bool is_mongo(const char *url) {
    return strncmp(url, "mongodb:", 8) == 0 || strncmp(url, "mongodb+srv:", 12) == 0;
}

dunlin_status dln_source_open(struct dln_source **out, const char *url,
                              const dunlin_central_options *options, dunlin_error *err) {
    struct dln_source *source = calloc(1, sizeof(*source));
    dunlin_status status;

    if (source == NULL) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_CENTRAL, "out of memory");
    }
    source->url = url;
    source->options = options;
    if ((status = dln_gate_new(&source->gate, err)) ||
        (is_mongo(url) && (status = dln_mongo_connect(&source->mongo, url, err)))) {
        dln_source_close(source);
        return status;
    }
    *out = source;
    return DUNLIN_OK;
}

dunlin_status dln_source_central(struct dln_source *source, dunlin_central **out,
                                 dunlin_error *err) {
    dunlin_status status = source->mongo != NULL
                               ? dln_mongo_central(source->mongo, out, source->options, err)
                               : dunlin_central_open(out, source->url, source->options, err);

    if (status == DUNLIN_OK) {
        (*out)->gate = source->gate;
    }
    return status;
}

void dln_source_close(struct dln_source *source) {
    if (source == NULL) {
        return;
    }
    dln_mongo_close(source->mongo);
    dln_gate_free(source->gate);
    free(source);
}
