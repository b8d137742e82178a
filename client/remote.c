/* Remotes from the caller's side. */
#include <string.h>

#include "base/error.h"
#include "client/sync_port.h"
#include "sync/message.h"

void dunlin_remote_close(dunlin_remote *remote) {
    if (remote && remote->close) {
        remote->close(remote);
    }
}

dunlin_status dln_check_remote(const dunlin_remote *remote, dunlin_error *err) {
    if (!remote || !remote->exchange) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "there is no remote");
    }
    return DUNLIN_OK;
}

static dunlin_status take_piece(void *self, const void *data, size_t len) {
    struct dln_buf *answer = self;
    dln_buf_append(answer, data, len);
    return dln_buf_status(answer, NULL);
}

dunlin_status dln_exchange(dunlin_remote *remote, const char *kind, struct dln_text request,
                           struct dln_buf *answer, int64_t *retry_after_ms, dunlin_error *err) {
    const dunlin_sink sink = {.self = answer, .write = take_piece};
    dln_buf_clear(answer);
    answer->max = DLN_BODY_BYTES_MAX;
    *retry_after_ms = 0;
    dunlin_status status =
        remote->exchange(remote->self, kind, request.data, request.len, &sink, retry_after_ms, err);
    if (dln_buf_status(answer, NULL) != DUNLIN_OK) { /* whatever the remote made of it */
        return dln_fail(err, answer->status, DUNLIN_DOMAIN_SYNC,
                        "an answer cannot be taken: it is larger than %d bytes, or than memory",
                        DLN_BODY_BYTES_MAX);
    }
    return status;
}
