/* Filling and sending a request's answer. An error's body is a message of the protocol, so that a
 * device that reads only the body learns the same as one that reads only the status. */
#include "bridge/answer.h"

#include <inttypes.h>
#include <stdio.h>

#include "sync/frame.h"

static const char ndjson[] = "application/x-ndjson";

int dln_answer_http_status(dunlin_status status) {
    switch (status) {
    case DUNLIN_NEED_LOGIN:
        return MHD_HTTP_UNAUTHORIZED;
    case DUNLIN_NOT_ALLOWED:
        return MHD_HTTP_FORBIDDEN;
    case DUNLIN_TOO_LARGE:
        return MHD_HTTP_CONTENT_TOO_LARGE;
    case DUNLIN_BAD_MESSAGE:
    case DUNLIN_UNSUPPORTED:
        return MHD_HTTP_BAD_REQUEST;
    case DUNLIN_CORRUPT:
    case DUNLIN_READ_ONLY:
    case DUNLIN_NEWER_SCHEMA:
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    default:
        return dunlin_status_is_retryable(status) ? MHD_HTTP_SERVICE_UNAVAILABLE
               : status > -100                    ? MHD_HTTP_BAD_REQUEST
                                                  : MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}

static const char *kind_of(enum dln_route route) {
    return route == DLN_ROUTE_SYNC ? "sync" : "verify";
}

void dln_answer_fail(struct dln_request *request, int http_status, const dunlin_error *why,
                     int64_t retry_after_ms) {
    struct dln_frame frame = {0};
    char nonce[DLN_NONCE_LEN + 1] = "";
    dunlin_status status;

    if (request->body.len > 0 && !request->packed) {
        status = dln_request_open(&frame, kind_of(request->route), nonce,
                                  (struct dln_text){request->body.data, request->body.len}, NULL);
        (void)status; /* whatever it is, the nonce is there or empty */
        dln_frame_close(&frame);
    }
    request->http_status = http_status != 0 ? http_status : dln_answer_http_status(why->code);
    request->code = why->code;
    request->content_type = ndjson;
    request->answer_packed = false;
    request->retry_after_ms = retry_after_ms;
    dln_buf_clear(&request->answer);
    status = dln_failure_encode(&request->answer, nonce, why, retry_after_ms, NULL);
    if (status != DUNLIN_OK) {
        dln_buf_clear(&request->answer); /* the status line has to do */
    }
}

static void add(struct MHD_Response *response, const char *name, const char *value) {
    (void)MHD_add_response_header(response, name, value);
}

static void add_status_headers(const struct dln_request *request, struct MHD_Response *response) {
    char number[32];

    if (request->http_status == MHD_HTTP_UNAUTHORIZED) {
        add(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
            request->token_given ? "Bearer error=\"invalid_token\"" : "Bearer");
    }
    if (request->http_status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        add(response, MHD_HTTP_HEADER_ALLOW, dln_route_methods(request->route));
    }
    if (request->http_status == MHD_HTTP_UNSUPPORTED_MEDIA_TYPE) {
        add(response, MHD_HTTP_HEADER_ACCEPT_ENCODING, "gzip");
    }
    if (request->retry_after_ms > 0) {
        (void)snprintf(number, sizeof(number), "%" PRId64, (request->retry_after_ms + 999) / 1000);
        add(response, MHD_HTTP_HEADER_RETRY_AFTER, number);
    }
}

static void add_headers(const struct dln_request *request, struct MHD_Response *response) {
    char number[16];

    (void)snprintf(number, sizeof(number), "%d", DLN_PROTOCOL_VERSION);
    add(response, "Dunlin-Protocol", number);
    add(response, "Dunlin-Request", request->id);
    add(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    add(response, MHD_HTTP_HEADER_CONTENT_TYPE, request->content_type);
    add(response, "X-Content-Type-Options", "nosniff");
    if (atomic_load(&request->server->draining)) {
        add(response, MHD_HTTP_HEADER_CONNECTION, "close");
    }
}

enum MHD_Result dln_answer_send(struct dln_request *request) {
    struct dln_server *server = request->server;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        request->answer.len, request->answer.data, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result;

    if (response == NULL) {
        return MHD_NO;
    }
    add_headers(request, response);
    add_status_headers(request, response);
    if (request->answer_packed) {
        add(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    }
    if (request->answer_packed || request->may_pack) {
        add(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    }
    dln_connections_phase(&server->connections, request->place, DLN_PHASE_ANSWER,
                          dln_server_steady_ms(server));
    result = MHD_queue_response(request->connection, (unsigned)request->http_status, response);
    request->queued = result == MHD_YES;
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result dln_answer_stream(struct dln_request *request) {
    struct dln_server *server = request->server;
    struct MHD_Response *response =
        dln_listeners_join(&server->listeners, request->connection, request->identity.user,
                           request->identity.until_ms, dln_server_steady_ms(server));
    enum MHD_Result result;

    if (response == NULL) {
        return MHD_NO;
    }
    request->http_status = MHD_HTTP_OK;
    request->content_type = "text/event-stream";
    add_headers(request, response);
    add(response, "X-Accel-Buffering", "no"); /* a proxy must not keep events back */
    dln_connections_phase(&server->connections, request->place, DLN_PHASE_LIVE,
                          dln_server_steady_ms(server));
    result = MHD_queue_response(request->connection, MHD_HTTP_OK, response);
    request->queued = result == MHD_YES;
    MHD_destroy_response(response);
    return result;
}
