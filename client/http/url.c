/* Urls, taken apart by curl. A redirection is followed only by 307 and 308, which keep the request
 * as it is, and only within one origin: the same scheme, host and port. So no token leaves for
 * another host or onto a line that everybody reads, and no push becomes a read. */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "client/http/http.h"

static dunlin_status misuse(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "%s", what);
}

/* Whether the url has that part. */
static bool has(CURLU *url, CURLUPart part) {
    char *text = NULL;
    CURLUcode code = curl_url_get(url, part, &text, 0);
    bool found = code == CURLUE_OK && text != NULL && *text != '\0';
    curl_free(text);
    return found;
}

static bool is_equal(CURLU *a, CURLU *b, CURLUPart part) {
    char *of_a = NULL, *of_b = NULL;
    bool equal = curl_url_get(a, part, &of_a, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                 curl_url_get(b, part, &of_b, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                 curl_strequal(of_a, of_b);
    curl_free(of_a);
    curl_free(of_b);
    return equal;
}

static bool is_http(CURLU *url) {
    char *scheme = NULL;
    bool found = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                 (curl_strequal(scheme, "https") || curl_strequal(scheme, "http"));
    curl_free(scheme);
    return found;
}

dunlin_status dln_url_check(const char *text, dunlin_error *err) {
    CURLUcode code;
    CURLU *url = NULL;
    dunlin_status status = DUNLIN_OK;
    if (strlen(text) > DLN_HTTP_URL_MAX) {
        return dln_fail(err, DUNLIN_TOO_LONG, DUNLIN_DOMAIN_API,
                        "the remote's url is longer than %d bytes", DLN_HTTP_URL_MAX);
    }
    if (!dln_text_is_utf8(dln_text_of(text))) {
        return dln_fail(err, DUNLIN_INVALID_TEXT, DUNLIN_DOMAIN_API, "the url is not UTF-8");
    }
    url = curl_url();
    if (!url) {
        return dln_http_no_memory(err);
    }
    code = curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);
    if (code == CURLUE_OUT_OF_MEMORY) {
        status = dln_http_no_memory(err);
    } else if (code != CURLUE_OK) {
        status = misuse(err, "the remote's url cannot be read");
    } else if (!is_http(url)) {
        status = dln_fail(err, DUNLIN_UNSUPPORTED, DUNLIN_DOMAIN_API,
                          "this remote speaks http:// and https:// only");
    } else if (has(url, CURLUPART_USER) || has(url, CURLUPART_PASSWORD)) {
        status = misuse(err, "a user or password has no place in the remote's url");
    } else if (has(url, CURLUPART_QUERY) || has(url, CURLUPART_FRAGMENT)) {
        status = misuse(err, "the remote's url must end with the path");
    }
    curl_url_cleanup(url);
    return status;
}

static dunlin_status redirected(dunlin_error *err, const char *why) {
    return dln_fail(err, DUNLIN_REDIRECTED, DUNLIN_DOMAIN_REMOTE, "%s", why);
}

dunlin_status dln_url_follow(char **out, const char *from, const struct dln_reply *reply,
                             dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    CURLU *here = NULL, *there = NULL;
    char *text = NULL;
    *out = NULL;
    if (reply->status != 307 && reply->status != 308) {
        return dln_fail(err, DUNLIN_REDIRECTED, DUNLIN_DOMAIN_REMOTE,
                        "the remote points elsewhere by a status %d, which does not keep a "
                        "request as it is",
                        reply->status);
    }
    if (*reply->location == '\0') {
        return redirected(err, reply->location_too_long ? "a redirection's target is too long"
                                                        : "a redirection names no target");
    }
    here = curl_url();
    there =
        here && curl_url_set(here, CURLUPART_URL, from, 0) == CURLUE_OK ? curl_url_dup(here) : NULL;
    if (!there) {
        status = dln_http_no_memory(err);
    } else if (curl_url_set(there, CURLUPART_URL, reply->location, CURLU_NON_SUPPORT_SCHEME) !=
                   CURLUE_OK ||
               has(there, CURLUPART_USER)) {
        status = redirected(err, "a redirection's target cannot be read");
    } else if (!is_equal(here, there, CURLUPART_SCHEME) || !is_equal(here, there, CURLUPART_HOST) ||
               !is_equal(here, there, CURLUPART_PORT)) {
        status = redirected(err, "the remote points to another host, port or scheme, where the "
                                 "request must not go");
    } else if (curl_url_get(there, CURLUPART_URL, &text, 0) != CURLUE_OK) {
        status = dln_http_no_memory(err);
    }
    if (status == DUNLIN_OK) {
        assert(text);
        *out = strdup(text);
        status = *out ? DUNLIN_OK : dln_http_no_memory(err);
    }
    curl_free(text);
    curl_url_cleanup(there);
    curl_url_cleanup(here);
    return status;
}
