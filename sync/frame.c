/* The frame of every message:
 *
 *     {"dunlin":1,"kind":"sync","nonce":"0123456789abcdef0123456789abcdef",…}    head
 *     …                                                                         lines
 *     {"end":17}                                          end: 17 lines stood in between
 *
 * each ended by a newline, nothing behind the last. An answer's head has "epoch" and "now"
 * (central's clock, Unix milliseconds) besides, and its end the epoch again. A request that failed
 * as a whole is answered by kind "error", see failure.c.
 *
 * The end is looked at first: a body that was cut anywhere is known as such before anything of it
 * is read. What a captive portal, a cache or a proxy sends instead lacks one of nonce, count and
 * end. */
#include "sync/frame.h"

#include <string.h>

#include "base/error.h"
#include "sync/failure.h"

enum { FRAME_LINE_MAX = 4096 }; /* bytes of a head, of an end */

static dunlin_status bad(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_BAD_MESSAGE, DUNLIN_DOMAIN_SYNC, "%s", what);
}

/* A line of the frame itself, an object. Its own errors say nothing to anybody but that. */
static dunlin_status object_parse(json_t **out, struct dln_text line, const char *what,
                                  dunlin_error *err) {
    dunlin_status status;

    if (line.len > FRAME_LINE_MAX) {
        return bad(err, what);
    }
    status = dln_json_parse(out, line, 0, err);
    if (status == DUNLIN_OUT_OF_MEMORY) {
        return status;
    }
    if (status != DUNLIN_OK || !json_is_object(*out)) {
        return bad(err, what);
    }
    return DUNLIN_OK;
}

static size_t count_newlines(struct dln_text text) {
    const char *at = text.data;
    const char *end = text.data + text.len;
    size_t count = 0;

    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at++;
        count++;
    }
    return count;
}

/* Cuts the body into head line, middle, end line. */
static bool split(struct dln_text body, struct dln_text *head, struct dln_text *middle,
                  struct dln_text *end) {
    const char *newline;
    size_t end_at;

    if (body.len < 2 || body.data[body.len - 1] != '\n') {
        return false;
    }
    newline = memchr(body.data, '\n', body.len);
    head->data = body.data;
    head->len = (size_t)(newline - body.data);
    if (head->len + 1 == body.len) {
        return false;
    }
    end_at = body.len - 1;
    while (body.data[end_at - 1] != '\n') {
        end_at--;
    }
    end->data = body.data + end_at;
    end->len = body.len - 1 - end_at;
    middle->data = newline + 1;
    middle->len = end_at - head->len - 1;
    return true;
}

dunlin_status dln_frame_open(struct dln_frame *frame, struct dln_text body, dunlin_error *err) {
    struct dln_text head = {NULL, 0}, end = {NULL, 0};
    size_t version = 0, count = SIZE_MAX;
    dunlin_status status;

    if (body.len > DLN_BODY_BYTES_MAX) {
        return dln_fail(err, DUNLIN_TOO_LARGE, DUNLIN_DOMAIN_SYNC,
                        "a message is larger than %d bytes", DLN_BODY_BYTES_MAX);
    }
    if (!split(body, &head, &frame->rest, &end)) {
        return bad(err, "a message lacks its head or its end mark");
    }
    if ((status = object_parse(&frame->end, end, "a message lacks its end mark", err)) !=
        DUNLIN_OK) {
        return status;
    }
    if ((status = object_parse(&frame->head, head, "a message lacks its head", err)) != DUNLIN_OK) {
        return status;
    }
    if (!dln_get_count(frame->head, "dunlin", SIZE_MAX, &version) || version == 0) {
        return bad(err, "a message lacks its head");
    }
    if (version != DLN_PROTOCOL_VERSION) {
        return dln_fail(err, DUNLIN_UNSUPPORTED, DUNLIN_DOMAIN_SYNC,
                        "a message has version %zu of the protocol, not %d", version,
                        DLN_PROTOCOL_VERSION);
    }
    frame->line_count = count_newlines(frame->rest);
    if (!dln_get_count(frame->end, "end", SIZE_MAX, &count) || count != frame->line_count) {
        return bad(err, "a message's end mark counts other lines than there are");
    }
    return DUNLIN_OK;
}

bool dln_frame_next(struct dln_frame *frame, struct dln_text *line) {
    const char *newline;

    if (frame->rest.len == 0) {
        return false;
    }
    newline = memchr(frame->rest.data, '\n', frame->rest.len);
    line->data = frame->rest.data;
    line->len = (size_t)(newline - frame->rest.data);
    frame->rest.data += line->len + 1;
    frame->rest.len -= line->len + 1;
    return true;
}

void dln_frame_close(struct dln_frame *frame) {
    json_decref(frame->head);
    json_decref(frame->end);
    *frame = (struct dln_frame){0};
}

static bool has_kind(const struct dln_frame *frame, const char *kind) {
    struct dln_text found = {NULL, 0};

    return dln_get_text(frame->head, "kind", FRAME_LINE_MAX, &found) &&
           dln_text_equal(found, dln_text_of(kind));
}

static bool nonce_read(const json_t *head, char *nonce) {
    struct dln_text found = {NULL, 0};

    if (!dln_get_text(head, "nonce", DLN_NONCE_LEN, &found) || found.len != DLN_NONCE_LEN) {
        return false;
    }
    if (strspn(found.data, "0123456789abcdef") != DLN_NONCE_LEN) {
        return false;
    }
    memcpy(nonce, found.data, DLN_NONCE_LEN + 1);
    return true;
}

dunlin_status dln_request_open(struct dln_frame *frame, const char *kind, char *nonce,
                               struct dln_text body, dunlin_error *err) {
    dunlin_status status = dln_frame_open(frame, body, err);
    bool named = frame->head && nonce_read(frame->head, nonce);

    if (status != DUNLIN_OK) {
        return status;
    }
    if (!named) {
        return bad(err, "a request lacks its nonce");
    }
    if (!has_kind(frame, kind)) {
        return bad(err, "a request is of another kind");
    }
    return DUNLIN_OK;
}

static dunlin_status not_ours(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_NOT_OUR_SERVER, DUNLIN_DOMAIN_SYNC, "%s", what);
}

dunlin_status dln_answer_open(struct dln_frame *frame, struct dln_answer_head *out,
                              const char *kind, const char *nonce, struct dln_text body,
                              dunlin_error *err) {
    dunlin_error why;
    dunlin_status status = dln_frame_open(frame, body, &why);
    struct dln_text end_epoch = {NULL, 0}, found = {NULL, 0};
    bool failed;

    *out = (struct dln_answer_head){0};
    if (status == DUNLIN_BAD_MESSAGE || status == DUNLIN_UNSUPPORTED) {
        return not_ours(err, why.message);
    }
    if (status != DUNLIN_OK) {
        return dln_fail(err, status, why.domain, "%s", why.message);
    }

    failed = has_kind(frame, "error");
    if (!dln_get_text(frame->head, "nonce", DLN_NONCE_LEN, &found) || !found.data) {
        return not_ours(err, "an answer lacks its nonce");
    }
    if (!(failed && found.len == 0) && !dln_text_equal(found, dln_text_of(nonce))) {
        return dln_fail(err, DUNLIN_STALE_REPLY, DUNLIN_DOMAIN_SYNC,
                        "an answer belongs to another request");
    }
    if (failed) {
        return dln_failure_read(frame->head, &out->retry_after_ms, err);
    }
    if (!has_kind(frame, kind)) {
        return not_ours(err, "an answer is of another kind");
    }
    if (!dln_get_text(frame->head, "epoch", DLN_EPOCH_MAX, &out->epoch) || out->epoch.len == 0 ||
        !dln_get_text(frame->end, "epoch", DLN_EPOCH_MAX, &end_epoch) ||
        !dln_text_equal(out->epoch, end_epoch)) {
        return not_ours(err, "an answer's epoch changed on its way");
    }
    out->now_ms = INT64_MIN;
    if (!dln_get_i64(frame->head, "now", 0, INT64_MAX, &out->now_ms) || out->now_ms < 0) {
        return not_ours(err, "an answer lacks central's time");
    }
    return DUNLIN_OK;
}

bool dln_is_fatal(dunlin_status status) {
    return status == DUNLIN_OUT_OF_MEMORY || status == DUNLIN_TOO_LARGE;
}

enum dln_message_kind dln_message_kind_of(struct dln_text body) {
    enum dln_message_kind kind = DLN_MESSAGE_NONE;
    struct dln_frame frame = {0};
    const char *newline = body.len > 0 ? memchr(body.data, '\n', body.len) : NULL;
    size_t version = 0;

    if (!newline) {
        return DLN_MESSAGE_NONE;
    }
    struct dln_text line = {body.data, (size_t)(newline - body.data)};
    if (object_parse(&frame.head, line, "", NULL) == DUNLIN_OK &&
        dln_get_count(frame.head, "dunlin", SIZE_MAX, &version) && version > 0) {
        if (has_kind(&frame, "sync")) {
            kind = DLN_MESSAGE_SYNC;
        } else if (has_kind(&frame, "verify")) {
            kind = DLN_MESSAGE_VERIFY;
        } else if (has_kind(&frame, "error")) {
            kind = DLN_MESSAGE_ERROR;
        }
    }
    dln_frame_close(&frame);
    return kind;
}

void dln_put_head(struct dln_buf *out, const char *kind, const char *nonce) {
    dln_buf_printf(out, "{\"dunlin\":%d", DLN_PROTOCOL_VERSION);
    dln_put_text(out, "kind", dln_text_of(kind));
    dln_put_text(out, "nonce", dln_text_of(nonce));
}

void dln_put_answer_head(struct dln_buf *out, const char *kind, const char *nonce,
                         struct dln_text epoch, int64_t now_ms) {
    dln_put_head(out, kind, nonce);
    dln_put_text(out, "epoch", epoch);
    dln_put_i64(out, "now", now_ms);
    dln_put_line_end(out);
}

void dln_put_line_end(struct dln_buf *out) {
    dln_buf_append(out, "}\n", 2);
}

void dln_put_end(struct dln_buf *out, size_t line_count, struct dln_text epoch) {
    dln_buf_printf(out, "{\"end\":%zu", line_count);
    if (epoch.data) {
        dln_put_text(out, "epoch", epoch);
    }
    dln_put_line_end(out);
}
