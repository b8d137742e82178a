/* A small HTTP(S) server in the test's hands, on a free port of 127.0.0.1: reads requests whole,
 * and answers whatever the test says, byte for byte. Each connection has a thread; the test's
 * callback runs on it, one at a time over all connections. */
#ifndef DLN_TESTS_WEB_H
#define DLN_TESTS_WEB_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "tests/support/certificate.h"

enum { WEB_CONNECTIONS = 32, WEB_HEAD_MAX = 32 * 1024, WEB_BODY_MAX = 16 * 1024 * 1024 };

struct web_request {
    int connection;   /* from 1 */
    int number;       /* from 1, over all connections */
    const char *head; /* request line and headers, with the empty line; zero-ended */
    const char *path; /* zero-ended */
    const char *body; /* as it came; zero-ended besides */
    size_t body_len;
};

struct web_client; /* where the answer goes */

/* Returns whether the connection is kept. */
typedef bool (*web_answer)(void *payload, const struct web_request *request,
                           struct web_client *client);

struct web_connection {
    struct web *web;
    pthread_t thread;
    int fd; /* -1: free */
    bool used;
    bool ended;
};

struct web {
    web_answer answer;
    void *payload;
    char url[64]; /* "http://127.0.0.1:PORT" */
    int port;
    int connections; /* so far */
    int requests;

    bool tls;
    gnutls_certificate_credentials_t credentials; /* of the next connection */

    int fd;
    bool stopping;
    pthread_t thread;
    pthread_mutex_t lock;
    struct web_connection open[WEB_CONNECTIONS];
};

void web_start(struct web *web, web_answer answer, void *payload);
/* The same over TLS. */
void web_start_tls(struct web *web, web_answer answer, void *payload,
                   const struct certificate *certificate);
/* From the next connection on. */
void web_set_certificate(struct web *web, const struct certificate *certificate);
void web_stop(struct web *web);
/* Waits for the callback that runs, if one does; what it read may be changed then. */
void web_settle(struct web *web);

/* False: the client is gone. */
bool web_send(struct web_client *client, const void *data, size_t len);
/* A whole answer. headers: more of them, each ended by CRLF; may be NULL. */
bool web_reply(struct web_client *client, int status, const char *headers, const void *body,
               size_t len);
bool web_reply_text(struct web_client *client, int status, const char *headers, const char *text);
/* Whether another request, or anything else, has come from the client, or it has gone. */
bool web_client_stirs(struct web_client *client, int timeout_ms);
/* Waits with the server unlocked, for an answer that takes its time. */
void web_pause(struct web_client *client, int delay_ms);
/* The header's value; NULL: none. Good until the next call. */
const char *web_header(const struct web_request *request, const char *name);

#define WEB_HTML "Content-Type: text/html\r\n"
#define WEB_OURS "Content-Type: application/x-ndjson\r\nDunlin-Protocol: 1\r\n"

#endif
