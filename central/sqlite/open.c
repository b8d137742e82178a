/* Central over a file: opening it by its url. */
#include <string.h>

#include "central/remote.h"
#include "central/sqlite/engine.h"

enum { BUSY_TIMEOUT_MS = 10000 };
static const char sqlite_scheme[] = "sqlite:";

dunlin_status dunlin_central_open(dunlin_central **out, const char *url,
                                  const dunlin_central_options *options, dunlin_error *err) {
    const size_t scheme_len = sizeof(sqlite_scheme) - 1;
    dunlin_central *central;
    dunlin_status status;
    if (out != NULL) {
        *out = NULL;
    }
    if (out == NULL || url == NULL) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "out and url must be given");
    }
    if ((status = dln_central_new(&central, options, err))) {
        return status;
    }
    if (strncmp(url, sqlite_scheme, scheme_len) != 0) {
        status = dln_fail(err, DUNLIN_UNSUPPORTED, DUNLIN_DOMAIN_API,
                          "this library opens central by a url sqlite:PATH only");
    } else if (url[scheme_len] == '\0') {
        status = dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "sqlite: needs a path behind it");
    } else {
        int busy_timeout_ms = options != NULL && options->busy_timeout_ms != 0
                                  ? options->busy_timeout_ms
                                  : BUSY_TIMEOUT_MS;
        status = dln_sqlite_engine_open(&central->engine, url + scheme_len, busy_timeout_ms,
                                        &central->ports, err);
    }
    if (status != DUNLIN_OK) {
        dunlin_central_close(central);
        return status;
    }
    *out = central;
    return DUNLIN_OK;
}

dunlin_status dunlin_embedded_remote(dunlin_remote **out, const char *url, const char *user,
                                     const dunlin_central_options *options, dunlin_error *err) {
    dunlin_central *central = NULL;
    dunlin_status status;
    if (out != NULL) {
        *out = NULL;
    }
    if (out == NULL || user == NULL) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "out and user must be given");
    }
    if ((status = dln_check_id(dln_text_of(user), "user", err)) ||
        (status = dunlin_central_open(&central, url, options, err))) {
        return status;
    }
    return dln_central_remote_owning(central, out, user, err);
}
