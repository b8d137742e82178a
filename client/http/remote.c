/* A remote over HTTP: made and closed here. Everything that may block waits for the first exchange.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "client/http/http.h"

enum { CONNECT_TIMEOUT_MS = 15000, STALL_TIMEOUT_MS = 60000, TEXT_MAX = 4096 };

dunlin_status dln_http_no_memory(dunlin_error *err) {
    return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_REMOTE, "out of memory for HTTP");
}

int64_t dln_monotonic_ms(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static dunlin_status misuse(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "%s", what);
}

static dunlin_status check_text(const char *text, const char *what, dunlin_error *err) {
    return text ? dln_check_text(dln_text_of(text), TEXT_MAX, what, err) : DUNLIN_OK;
}

static dunlin_status check_options(const dunlin_http_options *options, dunlin_error *err) {
    dunlin_status status;
    if (options->version != DUNLIN_HTTP_OPTIONS_VERSION) {
        return misuse(err, "the options are of an unknown version");
    }
    if (options->connect_timeout_ms < 0 || options->stall_timeout_ms < 0) {
        return misuse(err, "a time-out is negative");
    }
    if (options->user && (status = dln_check_id(dln_text_of(options->user), "user", err))) {
        return status;
    }
    if (options->pinned && strncmp(options->pinned, "sha256//", strlen("sha256//")) != 0) {
        return misuse(err, "pinned is not of the form sha256//BASE64");
    }
    if ((status = check_text(options->proxy, "proxy", err)) ||
        (status = check_text(options->ca_file, "ca_file", err))) {
        return status;
    }
    return check_text(options->pinned, "pinned", err);
}

/* "Dunlin-User: …", everything but letters, digits and -._~ percent-encoded: ids are any text. */
static char *make_user_header(const char *user) {
    static const char digits[] = "0123456789ABCDEF";
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    struct dln_buf line = DLN_BUF_INIT(TEXT_MAX);
    dln_buf_append_text(&line, "Dunlin-User: ");
    for (const char *at = user; *at; at++) {
        unsigned byte = (unsigned char)*at;
        if (strchr(plain, *at)) {
            dln_buf_append_byte(&line, *at);
        } else {
            dln_buf_append_byte(&line, '%');
            dln_buf_append_byte(&line, digits[byte >> 4]);
            dln_buf_append_byte(&line, digits[byte & 15]);
        }
    }
    if (dln_buf_status(&line, NULL) != DUNLIN_OK) {
        dln_buf_free(&line);
        return NULL;
    }
    return line.data;
}

/* False: out of memory. */
static bool copy(char **out, const char *text) {
    *out = text ? strdup(text) : NULL;
    return *out || !text;
}

static bool fill(struct dln_http *http, const char *url, const dunlin_http_options *options) {
    if (!copy(&http->url, url) || !copy(&http->proxy, options->proxy) ||
        !copy(&http->ca_file, options->ca_file) || !copy(&http->pinned, options->pinned)) {
        return false;
    }
    for (size_t len = strlen(url); len > 0 && http->url[len - 1] == '/'; len--) {
        http->url[len - 1] = '\0';
    }
    if (options->user && !options->token) {
        http->user_header = make_user_header(options->user);
        if (!http->user_header) {
            return false;
        }
    }
    http->ask_token = options->token;
    http->token_payload = options->token_payload;
    http->connect_timeout_ms =
        options->connect_timeout_ms > 0 ? options->connect_timeout_ms : CONNECT_TIMEOUT_MS;
    http->stall_timeout_ms =
        options->stall_timeout_ms > 0 ? options->stall_timeout_ms : STALL_TIMEOUT_MS;
    return true;
}

static void close_remote(dunlin_remote *remote) {
    struct dln_http *http = remote->self;
    dln_news_free(http->live);
    curl_easy_cleanup(http->easy);
    dln_token_forget(http);
    dln_buf_free(&http->packed);
    free(http->url);
    free(http->user_header);
    free(http->proxy);
    free(http->ca_file);
    free(http->pinned);
    free(http);
}

dunlin_status dunlin_http_remote(dunlin_remote **out, const char *url,
                                 const dunlin_http_options *options, dunlin_error *err) {
    static const dunlin_http_options defaults = DUNLIN_HTTP_OPTIONS_INIT;
    if (!out) {
        return misuse(err, "there is no place for the remote");
    }
    *out = NULL;
    if (!url) {
        return misuse(err, "there is no url");
    }
    options = options ? options : &defaults;
    dunlin_status status = check_options(options, err);
    if (status == DUNLIN_OK) {
        status = dln_url_check(url, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_http *http = calloc(1, sizeof(*http));
    if (!http) {
        return dln_http_no_memory(err);
    }
    http->remote = (dunlin_remote){
        .self = http, .exchange = dln_http_exchange, .wait = dln_http_wait, .close = close_remote};
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !fill(http, url, options)) {
        close_remote(&http->remote);
        return dln_http_no_memory(err);
    }
    *out = &http->remote;
    return DUNLIN_OK;
}
