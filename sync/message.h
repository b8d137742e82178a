/* The exchange's two messages in memory, and the ceilings that hold for both sides. How they look
 * on the wire: sync/request.c and sync/answer.c, encoder beside decoder. */
#ifndef DLN_SYNC_MESSAGE_H
#define DLN_SYNC_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/record.h"
#include "base/row.h"

enum {
    DLN_PROTOCOL_VERSION = 1,
    DLN_NONCE_LEN = 32,                   /* hex digits */
    DLN_EPOCH_MAX = 64,                   /* bytes */
    DLN_SCOPE_MAX = 1024,                 /* bytes of a scope's name */
    DLN_REASON_MAX = 1024,                /* bytes of a refusal's reason */
    DLN_REQUEST_RECORDS_MAX = 1000,       /* records of one request */
    DLN_REQUEST_SCOPES_MAX = 500,         /* scopes of one request */
    DLN_PAGE_RECORDS_MAX = 1000,          /* records of one answer's pages, all scopes together */
    DLN_REQUEST_BYTES_MAX = 1024 * 1024,  /* a device's own ceiling; central takes up to BODY_MAX */
    DLN_PAGE_BYTES_MAX = 2 * 1024 * 1024, /* encoded pages of one answer */
    DLN_BODY_BYTES_MAX = 8 * 1024 * 1024  /* any body, unpacked */
};

/* One scope in a request: pushed to, pulled from, or both. */
struct dln_scope_ask {
    struct dln_text scope;
    struct dln_text epoch; /* of the cursor; no text: this device has never read the scope */
    struct dln_cursor cursor;
    bool rebuilding; /* the cursor belongs to a rebuild: the floor does not interrupt it, and no
                        record of this scope is sent */
    bool pull;       /* a page is wanted */
    int64_t head;    /* the head that this device remembers, 0: none */
};

/* What was wrong with a record's line. */
struct dln_bad_line {
    dunlin_status code; /* OK: nothing */
    struct dln_text reason;
};

struct dln_sync_request {
    char nonce[DLN_NONCE_LEN + 1];
    int page_records; /* at most that many records in the answer's pages, 1 … DLN_PAGE_RECORDS_MAX
                       */
    struct dln_scope_ask *scopes;
    size_t scope_count;
    /* Only the fields that are pending, in the order in which they shall be judged. Each record's
     * scope stands among `scopes`. */
    struct dln_record *records;
    size_t record_count;
    /* Set by the decoder: one for each record, why it has an empty `key.name`; NULL: all could be
     * read. */
    struct dln_bad_line *bad;
};

enum dln_scope_state {
    DLN_SCOPE_PAGE,   /* records, maybe none */
    DLN_SCOPE_RESET,  /* start over: epoch, floor, base, horizon say how */
    DLN_SCOPE_HELD,   /* central has lost history of this scope */
    DLN_SCOPE_DENIED, /* this user may not read it */
    DLN_SCOPE_SAME    /* the remembered head still stands: nothing new, nothing was looked up */
};

/* A record's version as central has it. */
struct dln_version {
    int64_t seq;
    struct dln_record record;
};

/* What central says of one scope. `cursor` is what the device keeps once the page is applied. */
struct dln_scope_answer {
    struct dln_text scope;
    enum dln_scope_state state;
    struct dln_cursor cursor;
    bool more;          /* PAGE: more behind cursor */
    int64_t head;       /* PAGE, not more: the head to remember; 0: do not */
    int64_t floor;      /* RESET: central's floor */
    int64_t base;       /* RESET with another epoch: last seq shared with the lost history */
    int64_t horizon_ms; /* RESET: how long tombstones are kept */
    struct dln_version *versions;
    size_t version_count;
};

/* Central took the record (or held it already): its version's seq. */
struct dln_ack {
    size_t index; /* of the record in the request */
    int64_t seq;
};

struct dln_refused_field {
    int field; /* index in the descriptor, or -1. It does not travel: the decoder, which
                  does not know the record, leaves -1, and `name` tells the field */
    struct dln_text name;
    struct dln_field now; /* central's value, stamp 0: it has none */
    dln_stamp take;       /* AHEAD: the stamp that central would take */
};

/* Central did not take the record, or not those fields of it. A record may have both an ack (for
 * fields that went through) and a refusal. */
struct dln_refusal {
    size_t index;
    dunlin_status
        code; /* AHEAD, NO_LIST, NO_GROUP, NOT_ALLOWED, GONE, QUOTA, TOO_LARGE, INVALID_… */
    struct dln_text reason;
    bool held;   /* central holds a record under that key; else the whole row is refused */
    int64_t seq; /* of what central holds */
    struct dln_refused_field *fields; /* none: all that were sent */
    size_t field_count;
};

struct dln_sync_answer {
    char nonce[DLN_NONCE_LEN + 1];
    struct dln_text epoch; /* the same at its beginning and its end, else it is no answer */
    int64_t now_ms;        /* central's clock */
    struct dln_ack *acks;
    size_t ack_count;
    struct dln_refusal *refusals;
    size_t refusal_count;
    struct dln_scope_answer
        *scopes; /* a scope that was asked for and is missing did not fit: ask again */
    size_t scope_count;
    size_t
        quarantined; /* lines that could not be read as a record: counted, kept in nobody's way */
    int64_t retry_after_ms; /* set when the decoder returns an error message's status: when to come
                               back, 0: unsaid */
};

enum dln_message_kind {
    DLN_MESSAGE_NONE, /* not one of ours */
    DLN_MESSAGE_SYNC,
    DLN_MESSAGE_VERIFY,
    DLN_MESSAGE_ERROR
};

/* What a body's first line says it is; nothing else of it is looked at. */
enum dln_message_kind dln_message_kind_of(struct dln_text body);

/* Encoders append a whole body. Decoders allocate in the arena and borrow nothing from the body.
 *
 * A request that cannot be read whole is BAD_MESSAGE (one bad record line is a refusal of that
 * record, which the decoder notes by an empty `key.name`), TOO_LARGE over a ceiling, UNSUPPORTED in
 * another version of the protocol; `nonce` is filled wherever the head could be read, so that the
 * failure can name it. An answer that lacks its head, its end mark, or whose counts or epochs
 * differ is NOT_OUR_SERVER; one over a ceiling is TOO_LARGE; one with another nonce than `nonce` is
 * STALE_REPLY; an error message from central (its nonce may be empty, where central could not read
 * one) comes back as the status that it names. */
DUNLIN_MUST_USE dunlin_status dln_request_encode(struct dln_buf *out,
                                                 const struct dln_sync_request *request,
                                                 dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_request_decode(struct dln_arena *arena,
                                                 struct dln_sync_request *out, struct dln_text body,
                                                 dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_answer_encode(struct dln_buf *out,
                                                const struct dln_sync_answer *answer,
                                                dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_answer_decode(struct dln_arena *arena,
                                                struct dln_sync_answer *out, const char *nonce,
                                                struct dln_text body, dunlin_error *err);
/* A body that says that the whole request failed: status, text, and when to come back (0: unsaid).
 */
DUNLIN_MUST_USE dunlin_status dln_failure_encode(struct dln_buf *out, const char *nonce,
                                                 const dunlin_error *why, int64_t retry_after_ms,
                                                 dunlin_error *err);

/* How many bytes a record takes as a line, at most; for keeping a batch below its ceiling. */
size_t dln_record_wire_bytes(const struct dln_record *record);

#endif
