/* What dunlind counts, and the text that Prometheus reads (text format 0.0.4). No id stands in it.
 */
#ifndef DLN_BRIDGE_METRICS_H
#define DLN_BRIDGE_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/buf.h"
#include "bridge/pool.h"
#include "bridge/route.h"

enum { DLN_METRICS_STATUSES = 15, DLN_METRICS_BUCKETS = 12 };

/* Counters; any thread adds. */
struct dln_metrics {
    atomic_uint_fast64_t requests[DLN_ROUTE_COUNT][DLN_METRICS_STATUSES];
    atomic_uint_fast64_t buckets[DLN_ROUTE_COUNT][DLN_METRICS_BUCKETS + 1]; /* each alone */
    atomic_uint_fast64_t total_us[DLN_ROUTE_COUNT];
    atomic_uint_fast64_t bytes_in, bytes_out;
    atomic_uint_fast64_t appended, conflicts, scopes, held;
    atomic_uint_fast64_t pokes;
};

/* What is read at the moment of asking. */
struct dln_gauges {
    struct dln_pool_state pool;
    size_t connections, listeners, body_bytes;
};

/* http_status 0: the client went away. A live stream's duration is left out of the histogram. */
void dln_metrics_request(struct dln_metrics *metrics, enum dln_route route, int http_status,
                         int64_t duration_us, uint64_t bytes_in, uint64_t bytes_out);
void dln_metrics_text(struct dln_buf *out, struct dln_metrics *metrics,
                      const struct dln_gauges *gauges);

#endif
