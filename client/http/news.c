/* Listening: GET /v1/live on a connection of its own, driven only inside wait.
 *
 *   DOWN ── it is time ──→ OPENING ── "hello" ──→ OPEN       news, since some may have been missed
 *     ↑                       │                     │ ─ "news" event: news
 *     └── failed, closed, silent: the next try waits longer (full jitter, 1 s to 1 min)
 *
 * While it is DOWN or OPENING at the end of a wait, wait returns what failed, so that its caller
 * polls; the next wait goes on where this one stopped. A server without /v1/live is asked again
 * only after an hour. What the server sends between two waits stands in the socket until the next.
 *
 * The server writes a line every 15 s at least; a connection without one is dead, whatever TCP says
 * (a network that was changed, a device that slept). */
#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "client/http/events.h"
#include "client/http/http.h"

enum {
    SILENCE_MS = 45 * 1000,
    RETRY_FIRST_MS = 1000,
    RETRY_MAX_MS = 60 * 1000,
    ABSENT_MS = 60 * 60 * 1000, /* until a server without /v1/live is asked again */
    POLL_MAX_MS = 1000
};

enum live_state { LIVE_DOWN, LIVE_OPENING, LIVE_OPEN };

struct dln_news {
    struct dln_http *http;
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    char *url;
    char *moved_to; /* where it was redirected, NULL: nowhere */
    enum live_state state;
    bool added; /* easy is in multi */

    struct dln_reply reply;
    struct dln_events events;
    bool reached;
    bool renewed; /* a new token was asked for since the last success */
    int redirects;
    int64_t heard_ms; /* when the last byte came; moved on by the time nobody listened */
    int64_t left_ms;  /* when the last wait ended */

    bool news;
    int failures;
    int64_t retry_at_ms; /* monotonic */
    dunlin_error why;    /* it is not open: the last failure */
    char message[CURL_ERROR_SIZE];
};

/* ---- callbacks of curl */

static int on_connected(void *self, char *peer, char *local, int peer_port, int local_port) {
    struct dln_news *live = self;
    (void)peer;
    (void)local;
    (void)peer_port;
    (void)local_port;
    live->reached = true;
    return CURL_PREREQFUNC_OK;
}

static size_t on_header(char *line, size_t size, size_t count, void *self) {
    struct dln_news *live = self;
    dln_reply_line(&live->reply, line, size * count);
    live->heard_ms = dln_monotonic_ms();
    return live->reply.header_bytes <= DLN_HTTP_HEADERS_MAX ? size * count : 0;
}

static bool is_stream(const struct dln_reply *reply) {
    return reply->status == 200 && reply->protocol && reply->media == DLN_MEDIA_EVENTS &&
           reply->coding == DLN_CODING_NONE;
}

static size_t on_body(char *data, size_t size, size_t count, void *self) {
    struct dln_news *live = self;
    struct dln_events_seen seen = {false, false};
    if (!is_stream(&live->reply)) {
        return 0; /* ends the transfer; what it means is in the headers */
    }
    live->heard_ms = dln_monotonic_ms();
    dln_events_feed(&live->events, data, size * count, &seen);
    if (seen.hello && live->state == LIVE_OPENING) {
        live->state = LIVE_OPEN;
        live->failures = 0;
        live->renewed = false;
        live->news = true;
    }
    live->news = live->news || (seen.news && live->state == LIVE_OPEN);
    return size * count;
}

/* ---- opening and closing */

static void hang_up(struct dln_news *live) {
    if (live->added) {
        (void)curl_multi_remove_handle(live->multi, live->easy);
        live->added = false;
    }
    live->state = LIVE_DOWN;
}

/* Full jitter. These bits need not be secret, only different on different devices. */
static int64_t draw(int64_t most_ms) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint64_t bits = (uint64_t)now.tv_sec * 1000000007U + (uint64_t)now.tv_nsec;
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((bits ^ (bits >> 31)) % (uint64_t)(most_ms + 1));
}

static void failed(struct dln_news *live, int64_t least_ms) {
    int64_t most_ms = RETRY_FIRST_MS;
    for (int i = 0; i < live->failures && most_ms < RETRY_MAX_MS; i++) {
        most_ms *= 2;
    }
    live->failures++;
    int64_t wait_ms = draw(most_ms < RETRY_MAX_MS ? most_ms : RETRY_MAX_MS);
    live->retry_at_ms = dln_monotonic_ms() + (wait_ms > least_ms ? wait_ms : least_ms);
    hang_up(live);
}

static bool set_options(struct dln_news *live) {
    CURL *easy = live->easy;
    const CURLcode codes[] = {
        curl_easy_setopt(easy, CURLOPT_URL, live->moved_to ? live->moved_to : live->url),
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, live->headers),
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L),
        curl_easy_setopt(easy, CURLOPT_TIMEOUT, 0L), /* it lasts as long as it can */
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L),
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header),
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, live),
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body),
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, live),
        curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected),
        curl_easy_setopt(easy, CURLOPT_PREREQDATA, live),
        curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, live->message),
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i] != CURLE_OK) {
            return false;
        }
    }
    return true;
}

/* Begins to connect. A failure is the callback's for the token, or of memory. */
static dunlin_status open_stream(struct dln_news *live, dunlin_error *err) {
    dunlin_status status = dln_token_need(live->http, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    curl_slist_free_all(live->headers);
    live->headers = NULL;
    live->message[0] = '\0';
    live->reached = false;
    live->events = (struct dln_events){0};
    dln_reply_init(&live->reply);
    if (!dln_header_add(&live->headers, "Accept: text/event-stream") ||
        !dln_header_add(&live->headers, "Cache-Control: no-store") ||
        !dln_token_header(live->http, &live->headers) || !set_options(live) ||
        curl_multi_add_handle(live->multi, live->easy) != CURLM_OK) {
        return dln_http_no_memory(err);
    }
    live->added = true;
    live->state = LIVE_OPENING;
    live->heard_ms = dln_monotonic_ms();
    return DUNLIN_OK;
}

/* ---- what ended it */

static bool follow(struct dln_news *live) {
    const char *from = live->moved_to ? live->moved_to : live->url;
    char *target = NULL;
    if (live->reply.status < 300 || live->reply.status >= 400 || live->reply.status == 304 ||
        dln_url_follow(&target, from, &live->reply, &live->why) != DUNLIN_OK) {
        return false;
    }
    free(live->moved_to);
    live->moved_to = target;
    if (++live->redirects <= DLN_HTTP_REDIRECTS_MAX) {
        return true;
    }
    (void)dln_fail(&live->why, DUNLIN_REDIRECTED, DUNLIN_DOMAIN_REMOTE,
                   "the remote points elsewhere more than %d times", DLN_HTTP_REDIRECTS_MAX);
    return false;
}

/* Whether another try is to follow at once. */
static bool explain(struct dln_news *live, CURLcode code) {
    const struct dln_reply *reply = &live->reply;
    dunlin_error *why = &live->why;
    if (is_stream(reply)) {
        (void)dln_fail(why, DUNLIN_CONN_CLOSED, DUNLIN_DOMAIN_REMOTE,
                       "the server ended the stream of news");
        return false;
    }
    if (reply->status == 0) {
        (void)!dln_easy_failure(live->easy, code, live->reached, live->message, why);
        return false;
    }
    if (reply->status == 401 && live->http->ask_token) {
        bool first = !live->renewed;
        dln_token_forget(live->http);
        live->renewed = true;
        (void)!dln_reply_failure(reply, why);
        return first;
    }
    if (reply->status == 404 || reply->status == 405) {
        (void)dln_fail(why, DUNLIN_UNSUPPORTED, DUNLIN_DOMAIN_REMOTE,
                       "this server tells no news (HTTP status %d)", reply->status);
        return false;
    }
    (void)!dln_reply_failure(reply, why);
    return follow(live);
}

static void ended(struct dln_news *live, CURLcode code) {
    int64_t least_ms = dln_reply_retry_after_ms(&live->reply, (int64_t)time(NULL));
    bool again = explain(live, code);
    hang_up(live);
    if (again) {
        live->retry_at_ms = 0;
        return;
    }
    free(live->moved_to);
    live->moved_to = NULL;
    live->redirects = 0;
    failed(live, live->why.code == DUNLIN_UNSUPPORTED ? ABSENT_MS : least_ms);
}

/* ---- wait */

static void drive(struct dln_news *live) {
    int running = 0, left = 0;
    (void)curl_multi_perform(live->multi, &running);
    for (CURLMsg *message; (message = curl_multi_info_read(live->multi, &left)) != NULL;) {
        if (message->msg == CURLMSG_DONE) {
            ended(live, message->data.result);
            return; /* there is only one transfer, and it is out of the multi handle now */
        }
    }
    if (live->state != LIVE_DOWN && dln_monotonic_ms() - live->heard_ms > SILENCE_MS) {
        (void)dln_fail(&live->why, DUNLIN_CONN_CLOSED, DUNLIN_DOMAIN_REMOTE,
                       "not a byte of news came for %d ms", SILENCE_MS);
        failed(live, 0);
    }
}

static void pause_until(struct dln_news *live, int64_t until_ms) {
    int64_t left_ms = until_ms - dln_monotonic_ms();
    if (left_ms > 0) {
        (void)curl_multi_poll(live->multi, NULL, 0,
                              (int)(left_ms < POLL_MAX_MS ? left_ms : POLL_MAX_MS), NULL);
    }
}

static dunlin_status listen_until(struct dln_news *live, int64_t deadline_ms, int *news,
                                  dunlin_error *err) {
    for (;;) {
        if (live->state == LIVE_DOWN && dln_monotonic_ms() >= live->retry_at_ms) {
            dunlin_status status = open_stream(live, &live->why);
            if (status != DUNLIN_OK) {
                failed(live, 0);
            }
        }
        drive(live);
        if (live->news) {
            live->news = false;
            *news = 1;
            return DUNLIN_OK;
        }
        if (live->state == LIVE_DOWN && live->why.code == DUNLIN_UNSUPPORTED) {
            break; /* waiting would not help */
        }
        int64_t now_ms = dln_monotonic_ms();
        if (now_ms >= deadline_ms) {
            break;
        }
        bool retry_first = live->state == LIVE_DOWN && live->retry_at_ms < deadline_ms;
        pause_until(live, retry_first ? live->retry_at_ms : deadline_ms);
    }
    if (live->state == LIVE_OPEN) {
        return DUNLIN_OK;
    }
    return dln_fail(err, live->why.code, live->why.domain, "%s", live->why.message);
}

static dunlin_status make(struct dln_news **out, struct dln_http *http, dunlin_error *err) {
    struct dln_news *live = calloc(1, sizeof(*live));
    struct dln_buf url = DLN_BUF_INIT(2 * DLN_HTTP_URL_MAX);
    if (!live) {
        return dln_http_no_memory(err);
    }
    live->http = http;
    dunlin_status status = dln_easy_new(&live->easy, http, err);
    if (status == DUNLIN_OK) {
        dln_buf_printf(&url, "%s/v1/live", http->url);
        live->url = url.data;
        live->multi = curl_multi_init();
        status = live->multi ? dln_buf_status(&url, err) : dln_http_no_memory(err);
    }
    (void)dln_fail(&live->why, DUNLIN_OFFLINE, DUNLIN_DOMAIN_REMOTE,
                   "the stream of news is not open yet");
    if (status != DUNLIN_OK) {
        dln_news_free(live);
        return status;
    }
    *out = live;
    return DUNLIN_OK;
}

void dln_news_free(struct dln_news *live) {
    if (live) {
        hang_up(live);
        curl_easy_cleanup(live->easy);
        (void)curl_multi_cleanup(live->multi);
        curl_slist_free_all(live->headers);
        free(live->url);
        free(live->moved_to);
        free(live);
    }
}

dunlin_status dln_http_wait(void *self, int64_t timeout_ms, int *news, dunlin_error *err) {
    struct dln_http *http = self;
    if (timeout_ms < 0 || !news) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API,
                        "a time-out of 0 or more and a place for news are needed");
    }
    *news = 0;
    if (!http->live) {
        dunlin_status status = make(&http->live, http, err);
        if (status != DUNLIN_OK) {
            return status;
        }
    }
    assert(http->live);
    int64_t now_ms = dln_monotonic_ms();
    http->live->heard_ms += now_ms - http->live->left_ms;
    dunlin_status status = listen_until(http->live, now_ms + timeout_ms, news, err);
    http->live->left_ms = dln_monotonic_ms();
    return status;
}
