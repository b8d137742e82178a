/* Counting and printing. Series that are still 0 are left out where there are many. */
#include "bridge/metrics.h"

#include <inttypes.h>

/* The last one stands for every status that is not named here. */
static const int statuses[DLN_METRICS_STATUSES] = {200, 400, 401, 403, 404, 405, 408, 411,
                                                   413, 415, 429, 499, 500, 503, 0};

static const struct {
    int64_t us;
    const char *seconds;
} bounds[DLN_METRICS_BUCKETS] = {{1000, "0.001"}, {2500, "0.0025"}, {5000, "0.005"},
                                 {10000, "0.01"}, {25000, "0.025"}, {50000, "0.05"},
                                 {100000, "0.1"}, {250000, "0.25"}, {500000, "0.5"},
                                 {1000000, "1"},  {5000000, "5"},   {30000000, "30"}};

void dln_metrics_request(struct dln_metrics *metrics, enum dln_route route, int http_status,
                         int64_t duration_us, uint64_t bytes_in, uint64_t bytes_out) {
    int status = 0, bucket = 0;

    while (status < DLN_METRICS_STATUSES - 1 && statuses[status] != http_status) {
        status++;
    }
    while (bucket < DLN_METRICS_BUCKETS && duration_us > bounds[bucket].us) {
        bucket++;
    }
    atomic_fetch_add(&metrics->requests[route][status], 1);
    if (route != DLN_ROUTE_LIVE) {
        atomic_fetch_add(&metrics->buckets[route][bucket], 1);
        atomic_fetch_add(&metrics->total_us[route], (uint64_t)duration_us);
    }
    atomic_fetch_add(&metrics->bytes_in, bytes_in);
    atomic_fetch_add(&metrics->bytes_out, bytes_out);
}

static void head(struct dln_buf *out, const char *name, const char *type, const char *help) {
    dln_buf_printf(out, "# HELP dunlin_%s %s\n# TYPE dunlin_%s %s\n", name, help, name, type);
}

static void single(struct dln_buf *out, const char *name, const char *type, const char *help,
                   uint64_t value) {
    head(out, name, type, help);
    dln_buf_printf(out, "dunlin_%s %" PRIu64 "\n", name, value);
}

static void requests(struct dln_buf *out, struct dln_metrics *metrics) {
    head(out, "requests_total", "counter", "Requests that ended, by path and HTTP status.");
    for (int route = 0; route < DLN_ROUTE_COUNT; route++) {
        for (int i = 0; i < DLN_METRICS_STATUSES; i++) {
            uint64_t count = atomic_load(&metrics->requests[route][i]);
            if (count > 0) {
                dln_buf_printf(out,
                               "dunlin_requests_total{path=\"%s\",status=\"%d\"} %" PRIu64 "\n",
                               dln_route_path((enum dln_route)route), statuses[i], count);
            }
        }
    }
}

static void latencies(struct dln_buf *out, struct dln_metrics *metrics) {
    head(out, "request_seconds", "histogram",
         "From a request's head to the end of its answer, by path.");
    for (int route = 0; route < DLN_ROUTE_COUNT; route++) {
        const char *path = dln_route_path((enum dln_route)route);
        uint64_t total = 0;
        if (route == DLN_ROUTE_LIVE) {
            continue;
        }
        for (int i = 0; i <= DLN_METRICS_BUCKETS; i++) {
            total += atomic_load(&metrics->buckets[route][i]);
            dln_buf_printf(out,
                           "dunlin_request_seconds_bucket{path=\"%s\",le=\"%s\"} %" PRIu64 "\n",
                           path, i < DLN_METRICS_BUCKETS ? bounds[i].seconds : "+Inf", total);
        }
        uint64_t us = atomic_load(&metrics->total_us[route]);
        dln_buf_printf(out,
                       "dunlin_request_seconds_sum{path=\"%s\"} %" PRIu64 ".%06" PRIu64 "\n"
                       "dunlin_request_seconds_count{path=\"%s\"} %" PRIu64 "\n",
                       path, us / 1000000, us % 1000000, path, total);
    }
}

void dln_metrics_text(struct dln_buf *out, struct dln_metrics *metrics,
                      const struct dln_gauges *gauges) {
    const struct dln_pool_state *pool = &gauges->pool;

    head(out, "info", "gauge", "Always 1.");
    dln_buf_append_text(out, "dunlin_info{version=\"" DUNLIN_VERSION "\"} 1\n");
    requests(out, metrics);
    latencies(out, metrics);
    single(out, "received_bytes_total", "counter", "Bytes of request bodies, as they came.",
           atomic_load(&metrics->bytes_in));
    single(out, "sent_bytes_total", "counter", "Bytes of answers' bodies, as they went.",
           atomic_load(&metrics->bytes_out));
    single(out, "appended_total", "counter", "Record versions appended to scopes' logs.",
           atomic_load(&metrics->appended));
    single(out, "conflicts_total", "counter", "Appends that somebody else was faster than.",
           atomic_load(&metrics->conflicts));
    single(out, "scopes_total", "counter", "Scopes that requests named.",
           atomic_load(&metrics->scopes));
    single(out, "held_total", "counter",
           "Scopes whose history was found lost: dunlind restored must be run.",
           atomic_load(&metrics->held));
    single(out, "pokes_total", "counter", "News sent to listeners.", atomic_load(&metrics->pokes));
    single(out, "queue_jobs", "gauge", "Requests that wait for a thread.", pool->waiting);
    single(out, "queue_limit", "gauge", "Beyond it requests are answered 503.", pool->queue_max);
    single(out, "pool_threads", "gauge", "Threads that talk to the store.", pool->threads);
    single(out, "pool_busy", "gauge", "Those of them that do.", pool->busy);
    single(out, "connections", "gauge", "Open connections.", gauges->connections);
    single(out, "listeners", "gauge", "Open live streams.", gauges->listeners);
    single(out, "body_bytes", "gauge", "Memory of request bodies under way.", gauges->body_bytes);
}
