/* One exchange: POST the request, hand the answer on as it arrives.
 *
 *   send ─ 200, ours ─────────────────────────→ the sink, piece by piece
 *     │ ├─ any status with a bridge's error body → the sink: whoever reads the answer knows better
 *     │ ├─ 401, once ─ a new token ─→ send          what it says than a status does
 *     │ ├─ 307, 308 within the origin, 5 times ─→ send
 *     │ ├─ a kept connection that was dead, once ─→ send on a fresh one
 *     │ └─ else: what the status means
 *     └─ no answer: what curl says
 *
 * Sending again is safe at any time, since a request may be repeated; but the sink cannot take
 * bytes back, so nothing is sent again once it has some. */
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "client/http/http.h"
#include "client/http/unpack.h"
#include "sync/message.h"

enum {
    PACK_FROM_BYTES = 512,            /* below, gzip saves nothing */
    ERROR_BODY_BYTES_MAX = 64 * 1024, /* of a body under another status than 200 */
    PACKED_BYTES_MAX = 16 * 1024 * 1024
};

struct carriage {
    struct dln_http *http;
    const dunlin_sink *sink;
    struct curl_slist *headers;
    const void *body;
    size_t body_len;
    const char *url;

    struct dln_reply reply;
    struct dln_unpack *unpack;
    struct dln_buf error_body;
    dunlin_status stopped; /* why a callback of this file ended the transfer */
    dunlin_error why;
    bool reached; /* a connection stood, in any of the attempts */
    bool handed_on;
    int64_t moved_ms; /* when a byte went either way */
    curl_off_t moved_bytes;
    char message[CURL_ERROR_SIZE];
};

/* ---- callbacks of curl */

static size_t stop(struct carriage *carriage, dunlin_status status) {
    carriage->stopped = status;
    return 0; /* fewer bytes than were given: curl ends the transfer */
}

static int on_connected(void *self, char *peer, char *local, int peer_port, int local_port) {
    struct carriage *carriage = self;
    (void)peer;
    (void)local;
    (void)peer_port;
    (void)local_port;
    carriage->reached = true;
    return CURL_PREREQFUNC_OK;
}

static size_t on_header(char *line, size_t size, size_t count, void *self) {
    struct carriage *carriage = self;
    size_t len = size * count;
    dln_reply_line(&carriage->reply, line, len);
    if (carriage->reply.header_bytes > DLN_HTTP_HEADERS_MAX) {
        return stop(carriage,
                    dln_fail(&carriage->why, DUNLIN_NOT_OUR_SERVER, DUNLIN_DOMAIN_REMOTE,
                             "an answer's headers are larger than %d bytes", DLN_HTTP_HEADERS_MAX));
    }
    return len;
}

static bool is_answer(const struct dln_reply *reply) {
    return reply->status == 200 && reply->protocol && reply->media == DLN_MEDIA_NDJSON;
}

/* A piece of the body, unpacked. */
static dunlin_status take_plain(void *self, const void *data, size_t len) {
    struct carriage *carriage = self;
    if (!is_answer(&carriage->reply)) {
        dln_buf_append(&carriage->error_body, data, len);
        return dln_buf_status(&carriage->error_body, NULL);
    }
    carriage->handed_on = true;
    dunlin_status status = carriage->sink->write(carriage->sink->self, data, len);
    if (status != DUNLIN_OK) {
        (void)dln_fail(&carriage->why, status, DUNLIN_DOMAIN_REMOTE, "the answer was not taken");
    }
    return status;
}

static dunlin_status take_piece(struct carriage *carriage, const void *data, size_t len) {
    dunlin_status status = DUNLIN_OK;
    if (carriage->reply.coding == DLN_CODING_NONE) {
        return take_plain(carriage, data, len);
    }
    if (!carriage->unpack) {
        status = dln_unpack_new(&carriage->unpack, &carriage->why);
    }
    return status == DUNLIN_OK
               ? dln_unpack_feed(carriage->unpack, data, len, take_plain, carriage, &carriage->why)
               : status;
}

static size_t on_body(char *data, size_t size, size_t count, void *self) {
    struct carriage *carriage = self;
    const struct dln_reply *reply = &carriage->reply;
    size_t len = size * count;
    bool readable = reply->protocol && reply->media == DLN_MEDIA_NDJSON;
    if (!readable || reply->coding == DLN_CODING_OTHER) {
        return stop(carriage, dln_reply_failure(reply, &carriage->why));
    }
    dunlin_status status = take_piece(carriage, data, len);
    return status == DUNLIN_OK ? len : stop(carriage, status);
}

static int on_progress(void *self, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                       curl_off_t up) {
    struct carriage *carriage = self;
    int64_t now_ms = dln_monotonic_ms();
    (void)down_total;
    (void)up_total;
    if (down + up != carriage->moved_bytes || !carriage->reached) {
        carriage->moved_bytes = down + up;
        carriage->moved_ms = now_ms; /* until it is connected, another time-out holds */
    }
    if (now_ms - carriage->moved_ms < carriage->http->stall_timeout_ms) {
        return 0;
    }
    carriage->stopped = dln_fail(&carriage->why, DUNLIN_CONN_CLOSED, DUNLIN_DOMAIN_REMOTE,
                                 "not a byte went either way for %lld ms",
                                 (long long)carriage->http->stall_timeout_ms);
    return 1;
}

/* ---- an attempt */

static dunlin_status set_up(struct carriage *carriage, bool fresh, dunlin_error *err) {
    CURL *easy = carriage->http->easy;
    const CURLcode codes[] = {
        curl_easy_setopt(easy, CURLOPT_URL, carriage->url),
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, carriage->headers),
        curl_easy_setopt(easy, CURLOPT_POST, 1L),
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)carriage->body_len),
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, carriage->body),
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L),
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header),
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, carriage),
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body),
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, carriage),
        curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected),
        curl_easy_setopt(easy, CURLOPT_PREREQDATA, carriage),
        curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress),
        curl_easy_setopt(easy, CURLOPT_XFERINFODATA, carriage),
        curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L),
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i] != CURLE_OK) {
            return dln_http_no_memory(err);
        }
    }
    return DUNLIN_OK;
}

/* Whether nothing came over a connection that had been kept: the other side had closed it. */
static bool is_stale(const struct carriage *carriage, CURLcode code) {
    long connects = 1;
    if (carriage->stopped != DUNLIN_OK ||
        curl_easy_getinfo(carriage->http->easy, CURLINFO_NUM_CONNECTS, &connects) != CURLE_OK ||
        connects > 0) {
        return false;
    }
    return code == CURLE_OK ? carriage->reply.status == 408
                            : carriage->reached && carriage->reply.header_bytes == 0;
}

static CURLcode attempt(struct carriage *carriage) {
    dln_reply_init(&carriage->reply);
    dln_unpack_free(carriage->unpack);
    carriage->unpack = NULL;
    dln_buf_clear(&carriage->error_body);
    carriage->stopped = DUNLIN_OK;
    carriage->moved_ms = dln_monotonic_ms();
    carriage->moved_bytes = 0;
    carriage->message[0] = '\0';
    return curl_easy_perform(carriage->http->easy);
}

/* Sends once, or twice where a kept connection was dead. */
static dunlin_status send_once_or_twice(struct carriage *carriage, CURLcode *code,
                                        dunlin_error *err) {
    dunlin_status status = set_up(carriage, false, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    *code = attempt(carriage);
    if (is_stale(carriage, *code)) {
        status = set_up(carriage, true, err);
        if (status == DUNLIN_OK) {
            *code = attempt(carriage);
        }
    }
    return status;
}

/* ---- what came */

/* The answer, or the failure, of the last attempt. */
static dunlin_status settle(struct carriage *carriage, CURLcode code, dunlin_error *err) {
    const struct dln_reply *reply = &carriage->reply;
    struct dln_text body = {carriage->error_body.data, carriage->error_body.len};
    if (carriage->stopped != DUNLIN_OK && carriage->handed_on) {
        return dln_fail(err, carriage->stopped, carriage->why.domain, "%s", carriage->why.message);
    }
    bool whole = !carriage->unpack || dln_unpack_is_whole(carriage->unpack);
    if (code == CURLE_OK && whole && reply->status != 200 && body.len > 0 &&
        dln_message_kind_of(body) == DLN_MESSAGE_ERROR) {
        return carriage->sink->write(carriage->sink->self, body.data, body.len);
    }
    if (carriage->stopped != DUNLIN_OK && reply->status != 0 && reply->status != 200) {
        return dln_reply_failure(reply, err); /* whatever was wrong with the body */
    }
    if (carriage->stopped != DUNLIN_OK) {
        return dln_fail(err, carriage->stopped, carriage->why.domain, "%s", carriage->why.message);
    }
    if (code != CURLE_OK) {
        return dln_easy_failure(carriage->http->easy, code, carriage->reached, carriage->message,
                                err);
    }
    if (!reply->ended) {
        return dln_fail(err, DUNLIN_CONN_CLOSED, DUNLIN_DOMAIN_REMOTE,
                        "an answer broke off in its headers");
    }
    if (!is_answer(reply)) {
        return dln_reply_failure(reply, err);
    }
    return whole ? DUNLIN_OK
                 : dln_fail(err, DUNLIN_NOT_OUR_SERVER, DUNLIN_DOMAIN_REMOTE,
                            "an answer's gzip ends too early");
}

static dunlin_status make_headers(struct carriage *carriage, bool packed, dunlin_error *err) {
    curl_slist_free_all(carriage->headers);
    carriage->headers = NULL;
    struct curl_slist **headers = &carriage->headers;
    bool made = dln_header_add(headers, "Content-Type: application/x-ndjson") &&
                dln_header_add(headers, "Accept: application/x-ndjson") &&
                dln_header_add(headers, "Accept-Encoding: gzip") &&
                dln_header_add(headers, "Expect:") && /* curl's own, which costs a round trip */
                (!packed || dln_header_add(headers, "Content-Encoding: gzip")) &&
                dln_token_header(carriage->http, headers);
    return made ? DUNLIN_OK : dln_http_no_memory(err);
}

/* Sends until there is an answer, or a failure that another attempt would not change. */
static dunlin_status carry(struct carriage *carriage, bool packed, const char *url,
                           dunlin_error *err) {
    char *moved_to = NULL;
    int redirects = 0;
    bool renewed = carriage->http->token_refused && !carriage->http->token;
    CURLcode code = CURLE_OK;
    carriage->url = url;
    dunlin_status status = dln_token_need(carriage->http, err);
    if (status == DUNLIN_OK) {
        status = make_headers(carriage, packed, err);
    }
    while (status == DUNLIN_OK &&
           (status = send_once_or_twice(carriage, &code, err)) == DUNLIN_OK) {
        int answered =
            code == CURLE_OK || carriage->stopped != DUNLIN_OK ? carriage->reply.status : 0;
        if (answered == 401 && carriage->http->ask_token) {
            dln_token_forget(carriage->http);
            if (!renewed) {
                renewed = true;
                status = dln_token_need(carriage->http, err);
                status = status == DUNLIN_OK ? make_headers(carriage, packed, err) : status;
                continue;
            }
        } else if (answered >= 300 && answered < 400 && answered != 304) {
            char *target = NULL;
            status = dln_url_follow(&target, carriage->url, &carriage->reply, err);
            free(moved_to);
            carriage->url = moved_to = target;
            if (status == DUNLIN_OK && ++redirects > DLN_HTTP_REDIRECTS_MAX) {
                status = dln_fail(err, DUNLIN_REDIRECTED, DUNLIN_DOMAIN_REMOTE,
                                  "the remote points elsewhere more than %d times",
                                  DLN_HTTP_REDIRECTS_MAX);
            }
            continue;
        }
        status = settle(carriage, code, err);
        break;
    }
    free(moved_to);
    return status;
}

/* ---- the exchange */

/* The body as it travels. */
static dunlin_status pack(struct carriage *carriage, const void *request, size_t len, bool *packed,
                          dunlin_error *err) {
    struct dln_buf *buf = &carriage->http->packed;
    carriage->body = request;
    carriage->body_len = len;
    *packed = len >= PACK_FROM_BYTES;
    if (!*packed) {
        return DUNLIN_OK;
    }
    dln_buf_clear(buf);
    buf->max = PACKED_BYTES_MAX;
    dunlin_status status = dln_pack(buf, request, len, err);
    carriage->body = buf->data;
    carriage->body_len = buf->len;
    return status;
}

dunlin_status dln_http_exchange(void *self, const char *kind, const void *request,
                                size_t request_len, const dunlin_sink *answer,
                                int64_t *retry_after_ms, dunlin_error *err) {
    struct dln_http *http = self;
    struct carriage carriage = {.http = http, .sink = answer};
    struct dln_buf url = DLN_BUF_INIT(2 * DLN_HTTP_URL_MAX);
    bool packed = false;
    dunlin_status status = DUNLIN_OK;
    carriage.error_body = DLN_BUF_INIT(ERROR_BODY_BYTES_MAX);
    dln_reply_init(&carriage.reply);
    if (!kind || !request || !answer || !answer->write || !retry_after_ms) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API,
                        "kind, request, answer and a place for retry_after_ms are needed");
    }
    if (!http->easy) {
        status = dln_easy_new(&http->easy, http, err);
    }
    if (status == DUNLIN_OK) {
        (void)curl_easy_setopt(http->easy, CURLOPT_ERRORBUFFER, carriage.message);
        dln_buf_printf(&url, "%s/v1/%s", http->url, kind);
        status = dln_buf_status(&url, err);
    }
    if (status == DUNLIN_OK) {
        status = pack(&carriage, request, request_len, &packed, err);
    }
    if (status == DUNLIN_OK) {
        status = carry(&carriage, packed, url.data, err);
        int64_t asked_ms = dln_reply_retry_after_ms(&carriage.reply, (int64_t)time(NULL));
        *retry_after_ms = asked_ms > 0 ? asked_ms : *retry_after_ms;
    }
    if (http->easy) {
        (void)curl_easy_setopt(http->easy, CURLOPT_ERRORBUFFER, NULL);
    }
    curl_slist_free_all(carriage.headers);
    dln_unpack_free(carriage.unpack);
    dln_buf_free(&carriage.error_body);
    dln_buf_free(&url);
    return status;
}
