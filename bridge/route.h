/* Paths and methods. No id ever stands in a path. */
#ifndef DLN_BRIDGE_ROUTE_H
#define DLN_BRIDGE_ROUTE_H

#include <stdbool.h>

enum dln_route {
    DLN_ROUTE_SYNC,
    DLN_ROUTE_VERIFY,
    DLN_ROUTE_LIVE,
    DLN_ROUTE_HEALTH,
    DLN_ROUTE_METRICS,
    DLN_ROUTE_PAGE,
    DLN_ROUTE_NONE,
    DLN_ROUTE_COUNT
};

/* prefix may be NULL. */
enum dln_route dln_route_find(const char *prefix, const char *path);
/* "/v1/sync"; "other" for none. */
const char *dln_route_path(enum dln_route route);
/* What the header Allow says. */
const char *dln_route_methods(enum dln_route route);
bool dln_route_allows(enum dln_route route, const char *method);

#endif
