/* One central a thread, over whichever engine the url names. */
#include "bridge/source.h"

#include <stdlib.h>

#include "base/error.h"

struct dln_source {
    const char *url;
};

dunlin_status dln_source_open(struct dln_source **out, const char *url, dunlin_error *err) {
    struct dln_source *source = calloc(1, sizeof(*source));

    if (source == NULL) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_CENTRAL, "out of memory");
    }
    source->url = url;
    *out = source;
    return DUNLIN_OK;
}

dunlin_status dln_source_central(struct dln_source *source, dunlin_central **out,
                                 dunlin_error *err) {
    return dunlin_central_open(out, source->url, NULL, err);
}

void dln_source_close(struct dln_source *source) {
    free(source);
}
