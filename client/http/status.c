/* What an HTTP status means to a sync, where the answer brings no error message of a bridge.
 * Whoever stands in between (a proxy, a login page, a load balancer) speaks like that. */
#include "base/error.h"
#include "client/http/http.h"

static dunlin_status failure(dunlin_error *err, dunlin_status status, int http_status,
                             const char *what) {
    return dln_fail(err, status, DUNLIN_DOMAIN_REMOTE, "%s (HTTP status %d)", what, http_status);
}

static dunlin_status refusal(const struct dln_reply *reply, dunlin_error *err) {
    switch (reply->status) {
    case 401:
        return failure(err, DUNLIN_NEED_LOGIN, 401, "the remote wants a new token");
    case 403:
        return reply->media == DLN_MEDIA_HTML
                   ? failure(err, DUNLIN_NOT_OUR_SERVER, 403, "what answered is no bridge")
                   : failure(err, DUNLIN_NOT_ALLOWED, 403, "the remote does not allow this");
    case 407:
        return failure(err, DUNLIN_PROXY_AUTH, 407, "a proxy asks for a password");
    case 408:
        return failure(err, DUNLIN_UNAVAILABLE, 408, "the remote waited too long for the request");
    case 413:
        return failure(err, DUNLIN_TOO_LARGE, 413, "the remote takes no request as large as this");
    case 429:
        return failure(err, DUNLIN_UNAVAILABLE, 429, "the remote has had too many requests");
    default:
        return failure(err, DUNLIN_NOT_OUR_SERVER, reply->status, "what answered is no bridge");
    }
}

dunlin_status dln_reply_failure(const struct dln_reply *reply, dunlin_error *err) {
    if (reply->status >= 400 && reply->status < 500) {
        return refusal(reply, err);
    }
    if (reply->status == 511) { /* "network authentication required": a login page */
        return failure(err, DUNLIN_NOT_OUR_SERVER, 511, "the network wants somebody to sign in");
    }
    if (reply->status >= 500 && reply->status < 600) {
        return failure(err, DUNLIN_UNAVAILABLE, reply->status, "the remote cannot serve now");
    }
    if (reply->status >= 300 && reply->status < 400 && reply->status != 304) {
        return failure(err, DUNLIN_REDIRECTED, reply->status, "the remote points elsewhere");
    }
    if (reply->status == 200 && !reply->protocol) {
        return failure(err, DUNLIN_NOT_OUR_SERVER, 200,
                       "what answered does not speak this protocol");
    }
    if (reply->status == 200 && reply->coding == DLN_CODING_OTHER) {
        return failure(err, DUNLIN_NOT_OUR_SERVER, 200, "an answer is packed in an unknown way");
    }
    return failure(err, DUNLIN_NOT_OUR_SERVER, reply->status, "what answered is no bridge");
}
