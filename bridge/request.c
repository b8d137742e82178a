/* One request. The HTTP library calls dln_request_handle() with the head, then with pieces of the
 * body, then with nothing more to come; the last call finds or makes the answer.
 *
 * What central does, it does on a thread of the pool: the connection is suspended, the job answers
 * and resumes it, and the library calls again. A suspended request cannot end, so the job has it
 * for itself.
 *
 * A request that is refused by its head keeps that answer while its body (up to a ceiling) is read
 * and dropped: closing on somebody who still sends would destroy the answer on its way. */
#include "bridge/request.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "bridge/answer.h"
#include "bridge/gzip.h"
#include "bridge/work.h"

enum {
    DROPPED_BYTES_MAX = 4 * DLN_BODY_BYTES_MAX, /* of a body that nobody wants */
    MEBIBYTE = 1024 * 1024,
    LATER_MS = 2000, /* what a client that is one too many is told to wait */
    LISTENER_LATER_MS = 60 * 1000
};

static int64_t now_us(void) {
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static const char *header(const struct dln_request *request, const char *name) {
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static void refuse(struct dln_request *request, int http_status, dunlin_status code,
                   const char *message, int64_t retry_after_ms) {
    dunlin_error why = {.code = code};

    (void)dln_fail(&why, code, DUNLIN_DOMAIN_CENTRAL, "%s", message);
    dln_answer_fail(request, http_status, &why, retry_after_ms);
}

static void release_body(struct dln_request *request) {
    atomic_fetch_sub(&request->server->body_bytes, request->charged_bytes);
    request->charged_bytes = 0;
    dln_buf_free(&request->body);
}

/* -1: there is none; -2: it cannot be read. */
static int64_t content_length(const struct dln_request *request) {
    const char *text = header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    int64_t length = 0;

    if (text == NULL) {
        return -1;
    }
    if (text[0] == '\0' || strlen(text) > 18 || strspn(text, "0123456789") != strlen(text)) {
        return -2;
    }
    for (; *text != '\0'; text++) {
        length = length * 10 + (*text - '0');
    }
    return length;
}

static bool is_type(const char *value, const char *type) {
    size_t len = strlen(type);

    return value != NULL && strncasecmp(value, type, len) == 0 &&
           (value[len] == '\0' || strchr("; \t", value[len]) != NULL);
}

static void check_content(struct dln_request *request) {
    const char *encoding = header(request, MHD_HTTP_HEADER_CONTENT_ENCODING);
    int64_t length = content_length(request);

    request->packed = is_type(encoding, "gzip");
    if (length == -1 && header(request, MHD_HTTP_HEADER_TRANSFER_ENCODING) == NULL) {
        refuse(request, MHD_HTTP_LENGTH_REQUIRED, DUNLIN_BAD_MESSAGE,
               "a request needs its Content-Length", 0);
    } else if (length == -2) {
        refuse(request, MHD_HTTP_BAD_REQUEST, DUNLIN_BAD_MESSAGE, "a Content-Length cannot be read",
               0);
    } else if (length > DLN_BODY_BYTES_MAX) {
        refuse(request, 0, DUNLIN_TOO_LARGE, "a body is larger than 8 MiB", 0);
    } else if (encoding != NULL && !request->packed && !is_type(encoding, "identity")) {
        refuse(request, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, DUNLIN_UNSUPPORTED,
               "a body may be packed by gzip, or not at all", 0);
    } else if (!is_type(header(request, MHD_HTTP_HEADER_CONTENT_TYPE), "application/x-ndjson")) {
        refuse(request, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, DUNLIN_UNSUPPORTED,
               "a body is application/x-ndjson", 0);
    }
}

static void check_sender(struct dln_request *request) {
    struct dln_server *server = request->server;
    struct dln_credentials credentials = {header(request, MHD_HTTP_HEADER_AUTHORIZATION),
                                          header(request, "Dunlin-User")};
    int64_t now_ms = server->ports.app.now_ms(server->ports.app.self);
    dunlin_error why;

    request->token_given = credentials.authorization != NULL;
    if (dln_auth_check(server->auth, &credentials, now_ms, &request->identity, &why)) {
        request->identity.user[0] = '\0';
        dln_answer_fail(request, 0, &why, why.code == DUNLIN_NEED_LOGIN ? 0 : LATER_MS);
    }
}

static enum dln_presence presence_of(const struct dln_request *request) {
    return request->route == DLN_ROUTE_LIVE ? DLN_PRESENCE_LISTENER : DLN_PRESENCE_REQUEST;
}

static void count_in(struct dln_request *request) {
    struct dln_server *server = request->server;
    enum dln_presence presence = presence_of(request);
    int64_t max = presence == DLN_PRESENCE_LISTENER ? server->options->user_listeners
                                                    : server->options->user_requests;

    request->counted =
        dln_people_enter(&server->people, request->identity.user, presence, (long)max);
    if (!request->counted) {
        refuse(request, MHD_HTTP_TOO_MANY_REQUESTS, DUNLIN_UNAVAILABLE,
               "this user has too many requests under way", LATER_MS);
        return;
    }
    if (presence == DLN_PRESENCE_LISTENER) {
        request->reserved = dln_listeners_reserve(&server->listeners);
        if (!request->reserved) {
            refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, DUNLIN_UNAVAILABLE,
                   "dunlind has too many listeners", LISTENER_LATER_MS);
        }
    }
}

/* The head is there: everything that can be refused by it is. */
static void check_head(struct dln_request *request) {
    struct dln_server *server = request->server;
    bool exchanges = request->route == DLN_ROUTE_SYNC || request->route == DLN_ROUTE_VERIFY;

    if (atomic_load(&server->draining)) {
        refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, DUNLIN_UNAVAILABLE, "dunlind is stopping",
               LATER_MS);
    } else if (dln_connections_count(&server->connections) > server->connections_max) {
        refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, DUNLIN_UNAVAILABLE,
               "dunlind has too many connections", LATER_MS);
    } else if (request->route == DLN_ROUTE_NONE) {
        refuse(request, MHD_HTTP_NOT_FOUND, DUNLIN_UNSUPPORTED, "there is nothing at this path", 0);
    } else if (!dln_route_allows(request->route, request->method)) {
        refuse(request, MHD_HTTP_METHOD_NOT_ALLOWED, DUNLIN_UNSUPPORTED,
               "this path does not take that method", 0);
    } else if (exchanges || request->route == DLN_ROUTE_LIVE) {
        check_sender(request);
        if (request->http_status == 0 && exchanges) {
            check_content(request);
        }
        if (request->http_status == 0) {
            count_in(request);
        }
    }
}

static void copy_shown(char *out, size_t max, const char *text) {
    size_t len = strlen(text);

    len = len < max ? len : max;
    memcpy(out, text, len);
    out[len] = '\0';
}

static struct dln_request *request_new(struct dln_server *server, struct MHD_Connection *connection,
                                       const char *url, const char *method) {
    struct dln_request *request = calloc(1, sizeof(*request));
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    char random[33];

    if (request == NULL) {
        return NULL;
    }
    request->server = server;
    request->connection = connection;
    request->place = info != NULL ? info->socket_context : NULL;
    request->started_us = now_us();
    request->route = dln_route_find(server->options->prefix, url);
    request->body = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    request->answer = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    request->content_type = "text/plain; charset=utf-8";
    copy_shown(request->method, DLN_METHOD_SHOWN, method);
    copy_shown(request->path, DLN_PATH_SHOWN, url);
    dln_central_random_id(&server->ports, random);
    copy_shown(request->id, DLN_REQUEST_ID_LEN, random);
    atomic_fetch_add(&server->under_way, 1);
    return request;
}

static enum MHD_Result begin(struct dln_request *request) {
    const char *expects = header(request, MHD_HTTP_HEADER_EXPECT);
    struct dln_server *server = request->server;

    request->may_pack = dln_gzip_is_accepted(header(request, MHD_HTTP_HEADER_ACCEPT_ENCODING));
    dln_connections_phase(&server->connections, request->place, DLN_PHASE_BODY,
                          dln_server_steady_ms(server));
    check_head(request);
    if (request->http_status != 0 &&
        (expects != NULL || content_length(request) > DROPPED_BYTES_MAX)) {
        return dln_answer_send(request);
    }
    return MHD_YES;
}

static void piece_keep(struct dln_request *request, const char *data, size_t len) {
    struct dln_server *server = request->server;
    size_t most = (size_t)server->options->memory_mib * MEBIBYTE;

    if (atomic_fetch_add(&server->body_bytes, len) > most - len) {
        atomic_fetch_sub(&server->body_bytes, len);
        release_body(request);
        refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, DUNLIN_UNAVAILABLE,
               "dunlind has too many bodies in memory", LATER_MS);
        return;
    }
    request->charged_bytes += len;
    dln_buf_append(&request->body, data, len);
    if (request->body.status != DUNLIN_OK) {
        dunlin_status code = request->body.status;
        release_body(request);
        refuse(request, 0, code,
               code == DUNLIN_TOO_LARGE ? "a body is larger than 8 MiB" : "out of memory", 0);
    }
}

static enum MHD_Result piece_take(struct dln_request *request, const char *data, size_t len) {
    request->bytes_in += len;
    if (request->bytes_in > DROPPED_BYTES_MAX) {
        return MHD_NO;
    }
    if (request->http_status == 0) {
        piece_keep(request, data, len);
    }
    return MHD_YES;
}

/* The job runs on another thread as soon as it was pushed, so the connection is suspended first. */
static enum MHD_Result submit(struct dln_request *request) {
    struct dln_server *server = request->server;

    request->submitted = true;
    dln_connections_phase(&server->connections, request->place, DLN_PHASE_WORK,
                          dln_server_steady_ms(server));
    MHD_suspend_connection(request->connection);
    if (!dln_pool_push(server->pool, &request->job)) {
        refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, DUNLIN_UNAVAILABLE,
               "too many requests wait for the store", LATER_MS);
        MHD_resume_connection(request->connection);
    }
    return MHD_YES;
}

static enum MHD_Result end(struct dln_request *request) {
    if (request->http_status == 0 && !request->submitted) {
        if (dln_work_is_for_pool(request)) {
            return submit(request);
        }
        if (request->route == DLN_ROUTE_LIVE) {
            return dln_answer_stream(request);
        }
        dln_work_page(request);
    }
    return dln_answer_send(request);
}

enum MHD_Result dln_request_handle(void *server, struct MHD_Connection *connection, const char *url,
                                   const char *method, const char *version, const char *data,
                                   size_t *data_len, void **context) {
    struct dln_request *request = *context;

    (void)version;
    if (request == NULL) {
        *context = request = request_new(server, connection, url, method);
        return request != NULL ? begin(request) : MHD_NO;
    }
    if (*data_len > 0) {
        size_t len = *data_len;
        *data_len = 0;
        return piece_take(request, data, len);
    }
    return request->queued ? MHD_YES : end(request);
}

static int final_status(const struct dln_request *request, enum MHD_RequestTerminationCode how) {
    if (request->queued) {
        return request->http_status;
    }
    return how == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED ? MHD_HTTP_REQUEST_TIMEOUT : 499;
}

static void account(struct dln_request *request, enum MHD_RequestTerminationCode how) {
    struct dln_server *server = request->server;
    bool broke = how != MHD_REQUEST_TERMINATED_COMPLETED_OK && request->route != DLN_ROUTE_LIVE;
    dunlin_status code = request->code == DUNLIN_OK && broke ? DUNLIN_CONN_CLOSED : request->code;
    struct dln_access access = {
        .time_ms = server->ports.app.now_ms(server->ports.app.self),
        .id = request->id,
        .method = request->method,
        .path = request->path,
        .user = request->identity.user,
        .code = code != DUNLIN_OK ? dunlin_status_name(code) : NULL,
        .http_status = final_status(request, how),
        .bytes_in = request->bytes_in,
        .bytes_out = request->queued ? request->answer.len : 0,
        .duration_us = now_us() - request->started_us,
    };

    dln_metrics_request(&server->metrics, request->route, access.http_status, access.duration_us,
                        access.bytes_in, access.bytes_out);
    dln_access_log_write(&server->log, &access);
}

void dln_request_completed(void *context_of_server, struct MHD_Connection *connection,
                           void **context, enum MHD_RequestTerminationCode how) {
    struct dln_server *server = context_of_server;
    struct dln_request *request = *context;

    (void)connection;
    if (request == NULL) {
        return;
    }
    account(request, how);
    dln_connections_phase(&server->connections, request->place, DLN_PHASE_HEAD,
                          dln_server_steady_ms(server));
    if (request->counted) {
        dln_people_leave(&server->people, request->identity.user, presence_of(request));
    }
    if (request->reserved) {
        dln_listeners_leave(&server->listeners);
    }
    release_body(request);
    dln_buf_free(&request->answer);
    free(request);
    *context = NULL;
    atomic_fetch_sub(&server->under_way, 1);
}
