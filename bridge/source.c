/* One central a thread, over whichever engine the url names. */
#include "bridge/source.h"

#include <stdlib.h>

#include "central/central.h"
#include "central/gate.h"

struct dln_source {
    const char *url;
    const dunlin_central_options *options;
    struct dln_gate *gate; /* of all its centrals */
};

dunlin_status dln_source_open(struct dln_source **out, const char *url,
                              const dunlin_central_options *options, dunlin_error *err) {
    struct dln_source *source = calloc(1, sizeof(*source));
    dunlin_status status;

    if (source == NULL) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_CENTRAL, "out of memory");
    }
    source->url = url;
    source->options = options;
    if ((status = dln_gate_new(&source->gate, err))) {
        dln_source_close(source);
        return status;
    }
    *out = source;
    return DUNLIN_OK;
}

dunlin_status dln_source_central(struct dln_source *source, dunlin_central **out,
                                 dunlin_error *err) {
    dunlin_status status = dunlin_central_open(out, source->url, source->options, err);

    if (status == DUNLIN_OK) {
        (*out)->gate = source->gate;
    }
    return status;
}

void dln_source_close(struct dln_source *source) {
    if (source == NULL) {
        return;
    }
    dln_gate_free(source->gate);
    free(source);
}
