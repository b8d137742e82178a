/* The remote over HTTP: central behind a bridge, dunlind.
 *
 *     dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
 *     options.token = my_token;
 *     dunlin_http_remote(&remote, "https://sync.example.org", &options, &err);
 *     dunlin_sync(store, remote, &result, &err);
 *
 * Nothing but this struct says how it connects: no environment variable, no file of curl's. It
 * verifies the server's certificate always, touches no signal, and keeps no thread. */
#ifndef DUNLIN_HTTP_H
#define DUNLIN_HTTP_H

#include <dunlin/error.h>
#include <dunlin/sys/remote.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Asked for a token before the first request, and again when the bridge has refused the one that it
 * gave last: renew is 1 then. Gives the token (a JWT; 1 to 8,192 bytes of visible ASCII) to `take`,
 * which copies it; of several calls the last counts. The token is used until it is refused.
 * Called on the thread that uses the remote, at most once in an exchange and once in a connection
 * of wait; it may block, and must not use the remote.
 * Returns OK, or NEED_LOGIN where the person must sign in again, or a retryable status; the
 * exchange then ends with that. */
typedef dunlin_status (*dunlin_token_callback)(void *payload, int renew,
                                               void (*take)(void *taker, const char *token),
                                               void *taker);

typedef struct dunlin_http_options {
    int version;                 /* DUNLIN_HTTP_OPTIONS_VERSION */
    dunlin_token_callback token; /* NULL: no token is sent, which only `dunlind --insecure` takes */
    void *token_payload;
    const char *user;    /* who speaks, where there is no token; NULL: nobody is named */
    const char *proxy;   /* "http://host:port", "socks5h://host:port"; NULL: none */
    const char *ca_file; /* PEM file of the authorities to trust, and no others; NULL: the system's
                          */
    const char *pinned;  /* "sha256//BASE64[;sha256//BASE64…]": besides, the server's public key
                            must be one of these; NULL: any will do */
    int connect_timeout_ms; /* until a connection stands, its TLS included; 0: 15,000 */
    int stall_timeout_ms;   /* an exchange without a single byte either way; 0: 60,000 */
} dunlin_http_options;

#define DUNLIN_HTTP_OPTIONS_VERSION 1
#define DUNLIN_HTTP_OPTIONS_INIT                                                                   \
    { DUNLIN_HTTP_OPTIONS_VERSION, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/* Makes a remote that speaks to a bridge. Connects at the first exchange and keeps the connection;
 * its wait listens on one of its own.
 *   out      receives the remote, to be closed with dunlin_remote_close(); NULL on failure
 *   url      "https://host[:port][/prefix]" or "http://…"; a password has no place in it
 *   options  copied, texts too (token_payload is the app's); NULL: the defaults
 * One thread at a time uses the remote; several remotes may be used by several threads.
 *
 * Its exchange() returns OFFLINE (no connection was made), CONN_CLOSED (none that lasted),
 * NOT_OUR_SERVER (a login page, another server, a damaged answer), REDIRECTED (it points to another
 * host, to plain http, in a circle, or by a status that would turn the request into another),
 * PROXY_AUTH, TLS_TIME (the certificate and this device's clock disagree; the message has the
 * device's time), TLS_UNTRUSTED (another host's certificate, an unknown authority, another key than
 * those pinned), NEED_LOGIN, NOT_ALLOWED, TOO_LARGE, UNAVAILABLE, OUT_OF_MEMORY, and what the token
 * callback returns.
 * Its wait() returns UNSUPPORTED where the server tells no news; else the same.
 *
 * Returns MISUSE, INVALID_TEXT, TOO_LONG, UNSUPPORTED (an url of another kind), OUT_OF_MEMORY. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_http_remote(dunlin_remote **out, const char *url,
                                                            const dunlin_http_options *options,
                                                            dunlin_error *err);

#ifdef __cplusplus
}
#endif
#endif
