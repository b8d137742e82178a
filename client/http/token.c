/* Tokens. The one that the app gave is used until the bridge refuses it; then the app is asked
 * again. No token ever stands in a message, and what is not needed any more is wiped. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "client/http/http.h"

struct taker {
    char *token;
    bool bad;
    bool no_memory;
};

/* The compiler may leave out a memset() before free(). */
static void wipe(char *text) {
    if (text) {
        for (volatile char *at = text; *at; at++) {
            *at = '\0';
        }
        free(text);
    }
}

/* A header's line ends with what a token must not hold. */
static bool is_token(const char *token) {
    size_t len = 0;
    for (; token[len]; len++) {
        if (len == DLN_HTTP_TOKEN_MAX || token[len] <= ' ' || token[len] > '~') {
            return false;
        }
    }
    return len > 0;
}

static void take(void *self, const char *token) {
    struct taker *taker = self;
    wipe(taker->token);
    taker->token = NULL;
    taker->bad = !token || !is_token(token);
    if (!taker->bad) {
        taker->token = strdup(token);
        taker->no_memory = !taker->token;
    }
}

dunlin_status dln_token_need(struct dln_http *http, dunlin_error *err) {
    struct taker taker = {0};
    if (!http->ask_token || http->token) {
        return DUNLIN_OK;
    }
    dunlin_status status = http->ask_token(http->token_payload, http->token_refused, take, &taker);
    if (status != DUNLIN_OK) {
        status = dln_fail(err, status, DUNLIN_DOMAIN_REMOTE, "there is no token: %s",
                          dunlin_status_text(status));
    } else if (taker.no_memory) {
        status = dln_http_no_memory(err);
    } else if (taker.bad) {
        status = dln_fail(err, DUNLIN_INVALID_TEXT, DUNLIN_DOMAIN_API,
                          "a token is 1 to %d bytes of visible ASCII", DLN_HTTP_TOKEN_MAX);
    } else if (!taker.token) {
        status =
            dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "the token callback gave no token");
    }
    if (status != DUNLIN_OK) {
        wipe(taker.token);
        return status;
    }
    http->token = taker.token;
    return DUNLIN_OK;
}

void dln_token_forget(struct dln_http *http) {
    wipe(http->token);
    http->token = NULL;
    http->token_refused = true;
}

bool dln_header_add(struct curl_slist **headers, const char *line) {
    struct curl_slist *longer = curl_slist_append(*headers, line);
    if (!longer) {
        return false;
    }
    *headers = longer;
    return true;
}

bool dln_token_header(const struct dln_http *http, struct curl_slist **headers) {
    struct dln_buf line = DLN_BUF_INIT(DLN_HTTP_TOKEN_MAX + 64);
    if (!http->token) {
        return !http->user_header || dln_header_add(headers, http->user_header);
    }
    dln_buf_append_text(&line, "Authorization: Bearer ");
    dln_buf_append_text(&line, http->token);
    bool added = dln_buf_status(&line, NULL) == DUNLIN_OK && dln_header_add(headers, line.data);
    wipe(line.data);
    return added;
}
