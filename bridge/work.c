/* The exchange on a thread of the pool: unpack, let central answer, pack. */
#include "bridge/work.h"

#include "bridge/answer.h"
#include "bridge/gzip.h"
#include "central/exchange.h"

enum { PACKED_FROM_BYTES = 1024, RETRY_MS = 2000 };

static void fail(struct dln_request *request, const dunlin_error *why) {
    dln_answer_fail(request, 0, why, dunlin_status_is_retryable(why->code) ? RETRY_MS : 0);
}

/* Puts what the body unpacks to in its place. */
static dunlin_status unpack(struct dln_request *request, dunlin_error *err) {
    struct dln_buf plain = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    struct dln_text packed = {request->body.data, request->body.len};
    dunlin_status status = dln_gzip_unpack(&plain, packed, err);

    if (status != DUNLIN_OK) {
        dln_buf_free(&plain);
        return status;
    }
    dln_buf_free(&request->body);
    request->body = plain;
    request->packed = false;
    return DUNLIN_OK;
}

/* An answer that cannot be packed goes as it is. */
static void pack(struct dln_request *request) {
    struct dln_buf packed = DLN_BUF_INIT(request->answer.len);
    struct dln_text plain = {request->answer.data, request->answer.len};

    if (dln_gzip_pack(&packed, plain, NULL) != DUNLIN_OK) {
        dln_buf_free(&packed);
        return;
    }
    dln_buf_free(&request->answer);
    request->answer = packed;
    request->answer_packed = true;
}

static void count(struct dln_server *server, const struct dln_central_counts *before,
                  const struct dln_central_counts *after) {
    struct dln_metrics *metrics = &server->metrics;

    atomic_fetch_add(&metrics->appended, after->appended - before->appended);
    atomic_fetch_add(&metrics->conflicts, after->conflicts - before->conflicts);
    atomic_fetch_add(&metrics->scopes, after->scopes - before->scopes);
    atomic_fetch_add(&metrics->held, after->held - before->held);
}

static void exchange_run(struct dln_job *job, dunlin_central *central) {
    struct dln_request *request = (struct dln_request *)job;
    struct dln_text user = dln_text_of(request->identity.user);
    const char *kind = request->route == DLN_ROUTE_SYNC ? "sync" : "verify";
    dunlin_status status = DUNLIN_OK;
    dunlin_error why;

    if (request->packed) {
        status = unpack(request, &why);
    }
    if (status == DUNLIN_OK) {
        struct dln_text body = {request->body.data ? request->body.data : "", request->body.len};
        const struct dln_central_counts before = central->counts;
        status = dln_exchange_body(central, user, kind, body, &request->answer, &why);
        count(request->server, &before, &central->counts);
    }
    if (status != DUNLIN_OK) {
        fail(request, &why);
    } else {
        request->http_status = MHD_HTTP_OK;
        request->content_type = "application/x-ndjson";
    }
    dln_buf_free(&request->body);
    if (request->may_pack && request->answer.len >= PACKED_FROM_BYTES) {
        pack(request);
    }
    MHD_resume_connection(request->connection);
}

/* The store answers, if it can say its epoch. */
static void health_run(struct dln_job *job, dunlin_central *central) {
    struct dln_request *request = (struct dln_request *)job;
    struct dln_epoch epoch;
    dunlin_error why;

    if (dln_central_epoch(central, &central->arena, &epoch, &why)) {
        dln_answer_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, &why, RETRY_MS);
    } else {
        request->http_status = MHD_HTTP_OK;
        dln_buf_append_text(&request->answer, "ok\n");
    }
    dln_arena_clear(&central->arena);
    MHD_resume_connection(request->connection);
}

bool dln_work_is_for_pool(struct dln_request *request) {
    switch (request->route) {
    case DLN_ROUTE_SYNC:
    case DLN_ROUTE_VERIFY:
        request->job.run = exchange_run;
        return true;
    case DLN_ROUTE_HEALTH:
        request->job.run = health_run;
        return true;
    default:
        return false;
    }
}

static void metrics_page(struct dln_request *request) {
    struct dln_server *server = request->server;
    struct dln_gauges gauges = {.connections = dln_connections_count(&server->connections),
                                .listeners = dln_listeners_count(&server->listeners),
                                .body_bytes = atomic_load(&server->body_bytes)};

    dln_pool_state_get(server->pool, &gauges.pool);
    request->content_type = "text/plain; version=0.0.4; charset=utf-8";
    dln_metrics_text(&request->answer, &server->metrics, &gauges);
}

void dln_work_page(struct dln_request *request) {
    request->http_status = MHD_HTTP_OK;
    if (request->route == DLN_ROUTE_METRICS) {
        metrics_page(request);
    } else {
        dln_buf_printf(&request->answer, "dunlind %s, protocol %d\n", DUNLIN_VERSION,
                       DLN_PROTOCOL_VERSION);
    }
    if (request->answer.status != DUNLIN_OK) {
        dln_buf_clear(&request->answer);
        request->http_status = MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}
