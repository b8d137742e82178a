/* The curl remote's inside: what one remote is made of, and what its parts do for each other. */
#ifndef DLN_CLIENT_HTTP_HTTP_H
#define DLN_CLIENT_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <curl/curl.h>

#include <dunlin/http.h>

#include "base/buf.h"
#include "client/http/reply.h"

enum {
    DLN_HTTP_URL_MAX = 1024,         /* bytes of the url that the app gives */
    DLN_HTTP_TOKEN_MAX = 8192,       /* bytes of a token */
    DLN_HTTP_REDIRECTS_MAX = 5,      /* followed in one exchange */
    DLN_HTTP_HEADERS_MAX = 64 * 1024 /* bytes of an answer's headers */
};

struct dln_news;

struct dln_http {
    dunlin_remote remote; /* what the app holds */
    char *url;            /* without a slash at its end */
    char *user_header;    /* NULL: none */
    char *proxy;
    char *ca_file;
    char *pinned;
    long connect_timeout_ms;
    int64_t stall_timeout_ms;

    dunlin_token_callback ask_token;
    void *token_payload;
    char *token;        /* NULL: none at hand */
    bool token_refused; /* the last one was */

    CURL *easy;            /* of exchanges; NULL before the first */
    struct dln_buf packed; /* the request's body, compressed */
    struct dln_news *live; /* NULL before the first wait */
};

dunlin_status dln_http_no_memory(dunlin_error *err);
int64_t dln_monotonic_ms(void);

/* ---- easy.c: handles */

/* A handle with all that holds for every request. */
DUNLIN_MUST_USE dunlin_status dln_easy_new(CURL **out, const struct dln_http *http,
                                           dunlin_error *err);
/* Says what curl's failure means. reached: a connection stood at any time since the request was
 * begun, so that the other side may have it. message: what stood in its error buffer. */
DUNLIN_MUST_USE dunlin_status dln_easy_failure(CURL *easy, CURLcode code, bool reached,
                                               const char *message, dunlin_error *err);

/* ---- token.c */

/* There is a token at hand afterwards, where the app has any. */
DUNLIN_MUST_USE dunlin_status dln_token_need(struct dln_http *http, dunlin_error *err);
/* The one at hand was refused: forgets it. */
void dln_token_forget(struct dln_http *http);
/* Adds who speaks. False: out of memory. */
bool dln_token_header(const struct dln_http *http, struct curl_slist **headers);
/* Adds a line. False: out of memory. */
bool dln_header_add(struct curl_slist **headers, const char *line);

/* ---- url.c */

/* Whether that is an url of a bridge. MISUSE, UNSUPPORTED, TOO_LONG, INVALID_TEXT, OUT_OF_MEMORY.
 */
DUNLIN_MUST_USE dunlin_status dln_url_check(const char *url, dunlin_error *err);
/* Where a redirection of a request to `from` points; REDIRECTED where the request must not go
 * there. The caller frees *out. */
DUNLIN_MUST_USE dunlin_status dln_url_follow(char **out, const char *from,
                                             const struct dln_reply *reply, dunlin_error *err);

/* ---- status.c */

/* What an answer's status line and headers mean where no body says more; never OK. */
DUNLIN_MUST_USE dunlin_status dln_reply_failure(const struct dln_reply *reply, dunlin_error *err);

/* ---- exchange.c, news.c */

DUNLIN_MUST_USE dunlin_status dln_http_exchange(void *self, const char *kind, const void *request,
                                                size_t request_len, const dunlin_sink *answer,
                                                int64_t *retry_after_ms, dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_http_wait(void *self, int64_t timeout_ms, int *news,
                                            dunlin_error *err);
void dln_news_free(struct dln_news *live);

#endif
