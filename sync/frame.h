/* The frame of every message: a head, lines that are parsed alone, an end mark that counts them. */
#ifndef DLN_SYNC_FRAME_H
#define DLN_SYNC_FRAME_H

#include "sync/lines.h"
#include "sync/message.h"

struct dln_frame {
    json_t *head;
    json_t *end;
    struct dln_text rest; /* lines between head and end that were not read yet */
    size_t line_count;    /* how many there are in all */
};

/* Zeroed before; closed after, also where opening failed.
 * BAD_MESSAGE, TOO_LARGE over DLN_BODY_BYTES_MAX, UNSUPPORTED in another version of the protocol
 * (head is there then), OUT_OF_MEMORY. */
DUNLIN_MUST_USE dunlin_status dln_frame_open(struct dln_frame *frame, struct dln_text body,
                                             dunlin_error *err);
/* The next line, without its end; false behind the last. */
bool dln_frame_next(struct dln_frame *frame, struct dln_text *line);
void dln_frame_close(struct dln_frame *frame);

/* Opens a request of that kind; `nonce` (DLN_NONCE_LEN + 1 bytes) is filled wherever a head could
 * be read, else left alone. */
DUNLIN_MUST_USE dunlin_status dln_request_open(struct dln_frame *frame, const char *kind,
                                               char *nonce, struct dln_text body,
                                               dunlin_error *err);

/* What the answers to every kind of request say. */
struct dln_answer_head {
    struct dln_text epoch; /* borrowed from the frame */
    int64_t now_ms;
    int64_t retry_after_ms; /* of an error message */
};

/* Opens an answer of that kind, with what dln_answer_decode() says of wrong ones. */
DUNLIN_MUST_USE dunlin_status dln_answer_open(struct dln_frame *frame, struct dln_answer_head *out,
                                              const char *kind, const char *nonce,
                                              struct dln_text body, dunlin_error *err);

/* Whether a status that a line's reader returned ends the reading of the whole message: memory. Any
 * other is that one line's matter. */
bool dln_is_fatal(dunlin_status status);

/* {"dunlin":1,"kind":…,"nonce":…  without its end: members may follow, then dln_put_line_end(). */
void dln_put_head(struct dln_buf *out, const char *kind, const char *nonce);
void dln_put_answer_head(struct dln_buf *out, const char *kind, const char *nonce,
                         struct dln_text epoch, int64_t now_ms);
void dln_put_line_end(struct dln_buf *out);
/* The end mark; no text leaves the epoch out. */
void dln_put_end(struct dln_buf *out, size_t line_count, struct dln_text epoch);

#endif
