/* The answer to a request that failed as a whole:
 *
 *     {"dunlin":1,"kind":"error","nonce":…,"code":"UNAVAILABLE","message":…,"retryAfterMs":"1500"}
 *     {"end":0}
 *
 * The nonce is empty where the request had none that could be read. A code that this version does
 * not know is taken as UNAVAILABLE: nothing was done, and trying again later is safe. */
#include "sync/failure.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "sync/frame.h"

dunlin_status dln_failure_encode(struct dln_buf *out, const char *nonce, const dunlin_error *why,
                                 int64_t retry_after_ms, dunlin_error *err) {
    assert(why->code != DUNLIN_OK);
    dln_put_head(out, "error", nonce ? nonce : "");
    dln_put_text(out, "code", dln_text_of(dunlin_status_name(why->code)));
    dln_put_text(out, "message", dln_text_of(why->message));
    if (retry_after_ms > 0) {
        dln_put_i64(out, "retryAfterMs", retry_after_ms);
    }
    dln_put_line_end(out);
    dln_put_end(out, 0, (struct dln_text){NULL, 0});
    return dln_buf_status(out, err);
}

dunlin_status dln_failure_read(const json_t *head, int64_t *retry_after_ms, dunlin_error *err) {
    struct dln_text code = {NULL, 0}, found = {NULL, 0};
    char message[sizeof(err->message)] = "central failed";
    dunlin_status status;

    if (!dln_get_text(head, "code", SIZE_MAX, &code) || code.len == 0 ||
        !dln_get_i64(head, "retryAfterMs", 0, INT64_MAX, retry_after_ms)) {
        return dln_fail(err, DUNLIN_NOT_OUR_SERVER, DUNLIN_DOMAIN_SYNC,
                        "an error message does not say what failed");
    }
    status = dln_status_by_name(code.data, code.len);
    if (status == DUNLIN_OK) {
        status = DUNLIN_UNAVAILABLE;
    }
    if (dln_get_text(head, "message", sizeof(message) - 1, &found) && found.len > 0) {
        memcpy(message, found.data, found.len);
        message[found.len] = '\0';
    }
    for (char *at = message; *at; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            *at = ' '; /* it may end up on a terminal */
        }
    }
    return dln_fail(err, status, DUNLIN_DOMAIN_CENTRAL, "%s", message);
}
