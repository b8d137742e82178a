/* dunlin: an offline-first social data layer. This header brings everything that an app needs;
 * dunlin/central.h and dunlin/mongo.h, for a central inside the process, are apart. */
#ifndef DUNLIN_DUNLIN_H
#define DUNLIN_DUNLIN_H

#include <dunlin/error.h>
#include <dunlin/graph.h>
#include <dunlin/http.h>
#include <dunlin/iter.h>
#include <dunlin/list.h>
#include <dunlin/store.h>
#include <dunlin/sync.h>

#endif
