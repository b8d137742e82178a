/* One request from its head to the end of its answer. */
#ifndef DLN_BRIDGE_REQUEST_H
#define DLN_BRIDGE_REQUEST_H

#include "bridge/auth.h"
#include "bridge/pool.h"
#include "bridge/route.h"
#include "bridge/server.h"

enum { DLN_REQUEST_ID_LEN = 16, DLN_METHOD_SHOWN = 16, DLN_PATH_SHOWN = 128 };

struct dln_request {
    struct dln_job job; /* must stay first */
    struct dln_server *server;
    struct MHD_Connection *connection;
    struct dln_connection *place;
    enum dln_route route;
    char id[DLN_REQUEST_ID_LEN + 1];
    char method[DLN_METHOD_SHOWN + 1];
    char path[DLN_PATH_SHOWN + 1];
    int64_t started_us;
    struct dln_identity identity;
    bool counted;  /* among what its user has under way */
    bool reserved; /* a listener's place */
    bool packed;   /* the body is gzip */
    bool may_pack;
    bool submitted; /* the connection was suspended */

    struct dln_buf body;
    size_t charged_bytes; /* of server->body_bytes */
    uint64_t bytes_in;

    int http_status; /* 0: there is no answer yet */
    bool queued;
    dunlin_status code;
    const char *content_type;
    int64_t retry_after_ms;
    bool token_given;
    bool answer_packed;
    struct dln_buf answer;
};

/* For the HTTP library: access handler and end of a request. */
enum MHD_Result dln_request_handle(void *server, struct MHD_Connection *connection, const char *url,
                                   const char *method, const char *version, const char *data,
                                   size_t *data_len, void **context);
void dln_request_completed(void *server, struct MHD_Connection *connection, void **context,
                           enum MHD_RequestTerminationCode how);

#endif
