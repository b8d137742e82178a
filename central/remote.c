/* The remote that speaks for one user to a central in this process. */
#include <stdlib.h>
#include <string.h>

#include "central/remote.h"

#include "central/exchange.h"

enum { PIECE_BYTES = 64 * 1024 };

struct embedded {
    dunlin_remote remote;
    dunlin_central *central;
    bool owned; /* central is closed with the remote */
    struct dln_buf answer;
    size_t user_len;
    char user[];
};

static dunlin_status hand_over(const struct dln_buf *answer, const dunlin_sink *sink,
                               dunlin_error *err) {
    for (size_t done = 0; done < answer->len;) {
        size_t len = answer->len - done < PIECE_BYTES ? answer->len - done : PIECE_BYTES;
        dunlin_status status = sink->write(sink->self, answer->data + done, len);
        if (status != DUNLIN_OK) {
            return dln_fail(err, status, DUNLIN_DOMAIN_REMOTE, "the answer was not taken");
        }
        done += len;
    }
    return DUNLIN_OK;
}

static dunlin_status embedded_exchange(void *self, const char *kind, const void *request,
                                       size_t request_len, const dunlin_sink *answer,
                                       int64_t *retry_after_ms, dunlin_error *err) {
    struct embedded *embedded = self;
    struct dln_text user = {embedded->user, embedded->user_len};
    struct dln_text body = {request, request_len};
    (void)retry_after_ms;
    if (kind == NULL || request == NULL || answer == NULL || answer->write == NULL) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API,
                        "kind, request and answer are needed");
    }
    dln_buf_clear(&embedded->answer);
    dunlin_status status =
        dln_exchange_body(embedded->central, user, kind, body, &embedded->answer, err);
    return status == DUNLIN_OK ? hand_over(&embedded->answer, answer, err) : status;
}

static void embedded_close(dunlin_remote *remote) {
    struct embedded *embedded = remote->self;
    if (embedded->owned) {
        dunlin_central_close(embedded->central);
    }
    dln_buf_free(&embedded->answer);
    free(embedded);
}

dunlin_status dunlin_central_remote(dunlin_central *central, dunlin_remote **out, const char *user,
                                    dunlin_error *err) {
    dunlin_status status;
    if (out != NULL) {
        *out = NULL;
    }
    if (central == NULL || out == NULL || user == NULL) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API,
                        "central, out and user must be given");
    }
    if ((status = dln_check_id(dln_text_of(user), "user", err))) {
        return status;
    }
    size_t user_len = strlen(user);
    struct embedded *embedded = calloc(1, sizeof(*embedded) + user_len + 1);
    if (embedded == NULL) {
        return dln_central_no_memory(err);
    }
    embedded->remote =
        (dunlin_remote){.self = embedded, .exchange = embedded_exchange, .close = embedded_close};
    embedded->central = central;
    embedded->answer = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    embedded->user_len = user_len;
    memcpy(embedded->user, user, user_len + 1);
    *out = &embedded->remote;
    return DUNLIN_OK;
}

dunlin_status dln_central_remote_owning(dunlin_central *central, dunlin_remote **out,
                                        const char *user, dunlin_error *err) {
    dunlin_status status = dunlin_central_remote(central, out, user, err);
    if (status != DUNLIN_OK) {
        dunlin_central_close(central);
        return status;
    }
    ((struct embedded *)(*out)->self)->owned = true;
    return DUNLIN_OK;
}
