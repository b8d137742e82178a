/* Handles of curl with everything set that holds for each request, and what curl's failures mean.
 *
 * What curl would do by itself and must not: read the environment or a .netrc, follow redirections,
 * unpack bodies, install signal handlers, speak anything but HTTP/1.1. It writes to sockets with
 * MSG_NOSIGNAL (7.87 and later also through TLS), so that SIGPIPE never arises.
 *
 * OFFLINE promises that nothing can have reached central; so it is only said where no connection
 * stood at any time, which curl tells just before it sends (CURLOPT_PREREQFUNCTION): it sends a
 * request again by itself where a kept connection turns out to be dead. */
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "client/http/http.h"

enum { KEEPALIVE_S = 60, BUFFER_BYTES = 64 * 1024, WHOLE_EXCHANGE_S = 900 };

/* Option by option, until the first failure. */
struct setup {
    CURL *easy;
    CURLcode code;
};

static void set_long(struct setup *setup, CURLoption option, long value) {
    if (setup->code == CURLE_OK) {
        setup->code = curl_easy_setopt(setup->easy, option, value);
    }
}

static void set_text(struct setup *setup, CURLoption option, const char *value) {
    if (setup->code == CURLE_OK) {
        setup->code = curl_easy_setopt(setup->easy, option, value);
    }
}

static void set_tls(struct setup *setup, const struct dln_http *http) {
    set_long(setup, CURLOPT_SSL_VERIFYPEER, 1);
    set_long(setup, CURLOPT_SSL_VERIFYHOST, 2);
    set_long(setup, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
    if (http->ca_file) {
        set_text(setup, CURLOPT_CAINFO, http->ca_file);
        set_text(setup, CURLOPT_CAPATH, NULL); /* else the system's would be trusted, too */
    }
    if (http->pinned) {
        set_text(setup, CURLOPT_PINNEDPUBLICKEY, http->pinned);
    }
}

dunlin_status dln_easy_new(CURL **out, const struct dln_http *http, dunlin_error *err) {
    struct setup setup = {.easy = curl_easy_init(), .code = CURLE_OK};
    *out = NULL;
    if (!setup.easy) {
        return dln_http_no_memory(err);
    }
    set_long(&setup, CURLOPT_NOSIGNAL, 1);
    set_text(&setup, CURLOPT_PROTOCOLS_STR, "http,https");
    set_long(&setup, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    set_long(&setup, CURLOPT_FOLLOWLOCATION, 0);
    set_long(&setup, CURLOPT_HTTP_CONTENT_DECODING, 0);
    set_text(&setup, CURLOPT_PROXY, http->proxy ? http->proxy : ""); /* "": not the environment's */
    set_text(&setup, CURLOPT_NOPROXY, "");
    set_long(&setup, CURLOPT_NETRC, CURL_NETRC_IGNORED);
    set_long(&setup, CURLOPT_HEADEROPT, CURLHEADER_SEPARATE); /* no token for a proxy's CONNECT */
    set_long(&setup, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1);
    set_long(&setup, CURLOPT_CONNECTTIMEOUT_MS, http->connect_timeout_ms);
    set_long(&setup, CURLOPT_TCP_KEEPALIVE, 1);
    set_long(&setup, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_S);
    set_long(&setup, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_S);
    set_long(&setup, CURLOPT_MAXCONNECTS, 1);
    set_long(&setup, CURLOPT_BUFFERSIZE, BUFFER_BYTES);
    set_long(&setup, CURLOPT_TIMEOUT, WHOLE_EXCHANGE_S);
    set_text(&setup, CURLOPT_USERAGENT, "dunlin");
    set_tls(&setup, http);
    if (setup.code != CURLE_OK) {
        curl_easy_cleanup(setup.easy);
        return setup.code == CURLE_OUT_OF_MEMORY
                   ? dln_http_no_memory(err)
                   : dln_fail(err, DUNLIN_UNSUPPORTED, DUNLIN_DOMAIN_REMOTE,
                              "the system's libcurl lacks what is needed: %s",
                              curl_easy_strerror(setup.code));
    }
    *out = setup.easy;
    return DUNLIN_OK;
}

/* ---- failures */

/* curl's own sentence, made fit for one line. */
static const char *explain(char *out, size_t size, CURLcode code, const char *message) {
    const char *text = *message ? message : curl_easy_strerror(code);
    size_t len = 0;
    for (; text[len] && len + 1 < size; len++) {
        unsigned char byte = (unsigned char)text[len];
        out[len] = byte < 0x20 || byte > 0x7e ? ' ' : text[len];
    }
    out[len] = '\0';
    return out;
}

/* What OpenSSL counts, or else what the libraries say. */
static bool is_about_time(CURL *easy, const char *text) {
    enum { NOT_YET_VALID = 9, EXPIRED = 10 };
    static const char *const signs[] = {"expired", "not yet valid", "expiration date",
                                        "not activated"};
    long result = 0;
    if (curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &result) == CURLE_OK &&
        (result == NOT_YET_VALID || result == EXPIRED)) {
        return true;
    }
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (strstr(text, signs[i])) {
            return true;
        }
    }
    return false;
}

static dunlin_status certificate_failure(CURL *easy, const char *text, dunlin_error *err) {
    char now[sizeof("2026-01-01T00:00:00Z") + 16];
    time_t seconds = time(NULL);
    struct tm parts;
    if (!is_about_time(easy, text)) {
        return dln_fail(err, DUNLIN_TLS_UNTRUSTED, DUNLIN_DOMAIN_REMOTE, "%s", text);
    }
    if (!gmtime_r(&seconds, &parts) ||
        strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
        now[0] = '\0';
    }
    return dln_fail(err, DUNLIN_TLS_TIME, DUNLIN_DOMAIN_REMOTE,
                    "this device takes it to be %s now: %s", now, text);
}

static bool proxy_wants_password(CURL *easy, CURLcode code) {
    long connect_status = 0, proxy = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &connect_status);
    (void)curl_easy_getinfo(easy, CURLINFO_PROXY_ERROR, &proxy);
    return connect_status == 407 ||
           (code == CURLE_PROXY && (proxy == CURLPX_NO_AUTH || proxy == CURLPX_USER_REJECTED));
}

dunlin_status dln_easy_failure(CURL *easy, CURLcode code, bool reached, const char *message,
                               dunlin_error *err) {
    char text[CURL_ERROR_SIZE];
    (void)explain(text, sizeof(text), code, message);
    if (proxy_wants_password(easy, code)) {
        return dln_fail(err, DUNLIN_PROXY_AUTH, DUNLIN_DOMAIN_REMOTE, "%s", text);
    }
    switch (code) {
    case CURLE_OUT_OF_MEMORY:
        return dln_http_no_memory(err);
    case CURLE_PEER_FAILED_VERIFICATION:
        return certificate_failure(easy, text, err);
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
        return dln_fail(err, DUNLIN_TLS_UNTRUSTED, DUNLIN_DOMAIN_REMOTE, "%s", text);
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
        return dln_fail(err, DUNLIN_NOT_OUR_SERVER, DUNLIN_DOMAIN_REMOTE, "%s", text);
    default:
        return dln_fail(err, reached ? DUNLIN_CONN_CLOSED : DUNLIN_OFFLINE, DUNLIN_DOMAIN_REMOTE,
                        "%s", text);
    }
}
