/* Paths and methods. */
#include "bridge/route.h"

#include <string.h>

static const struct {
    const char *path;
    const char *methods;
} routes[DLN_ROUTE_COUNT] = {[DLN_ROUTE_SYNC] = {"/v1/sync", "POST"},
                             [DLN_ROUTE_VERIFY] = {"/v1/verify", "POST"},
                             [DLN_ROUTE_LIVE] = {"/v1/live", "GET"},
                             [DLN_ROUTE_HEALTH] = {"/healthz", "GET, HEAD"},
                             [DLN_ROUTE_METRICS] = {"/metrics", "GET, HEAD"},
                             [DLN_ROUTE_PAGE] = {"/", "GET, HEAD"},
                             [DLN_ROUTE_NONE] = {"other", ""}};

enum dln_route dln_route_find(const char *prefix, const char *path) {
    size_t len = prefix != NULL ? strlen(prefix) : 0;

    if (strncmp(path, prefix != NULL ? prefix : "", len) != 0) {
        return DLN_ROUTE_NONE;
    }
    for (int i = 0; i < DLN_ROUTE_NONE; i++) {
        if (strcmp(path + len, routes[i].path) == 0) {
            return (enum dln_route)i;
        }
    }
    return DLN_ROUTE_NONE;
}

const char *dln_route_path(enum dln_route route) {
    return routes[route].path;
}

const char *dln_route_methods(enum dln_route route) {
    return routes[route].methods;
}

bool dln_route_allows(enum dln_route route, const char *method) {
    const char *methods = routes[route].methods;
    const char *found = strstr(methods, method);
    size_t len = strlen(method);

    return found != NULL && len > 0 && (found[len] == ',' || found[len] == '\0') &&
           (found == methods || found[-1] == ' ');
}
