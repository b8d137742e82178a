#include "tests/support/web.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct web_client {
    struct web *web;
    struct web_connection *connection;
    int number;
    gnutls_session_t session; /* NULL: no TLS */
    char *data;               /* what came and was not taken yet */
    size_t len, size;
};

/* ---- bytes */

static ssize_t receive(struct web_client *client, char *data, size_t size) {
    if (!client->session) {
        return recv(client->connection->fd, data, size, 0);
    }
    ssize_t len;
    do {
        len = gnutls_record_recv(client->session, data, size);
    } while (len == GNUTLS_E_AGAIN || len == GNUTLS_E_INTERRUPTED);
    return len;
}

static ssize_t put(struct web_client *client, const char *data, size_t len) {
    return client->session ? gnutls_record_send(client->session, data, len)
                           : send(client->connection->fd, data, len, MSG_NOSIGNAL);
}

bool web_send(struct web_client *client, const void *data, size_t len) {
    const char *at = data;
    while (len > 0) {
        ssize_t sent = put(client, at, len);
        if (sent == GNUTLS_E_AGAIN || sent == GNUTLS_E_INTERRUPTED) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        at += sent;
        len -= (size_t)sent;
    }
    return true;
}

bool web_reply(struct web_client *client, int status, const char *headers, const void *body,
               size_t len) {
    char head[4096];
    int head_len =
        snprintf(head, sizeof(head), "HTTP/1.1 %d Status\r\nContent-Length: %zu\r\n%s\r\n", status,
                 len, headers ? headers : "");
    return web_send(client, head, (size_t)head_len) && web_send(client, body, len);
}

bool web_reply_text(struct web_client *client, int status, const char *headers, const char *text) {
    return web_reply(client, status, headers, text, strlen(text));
}

bool web_client_stirs(struct web_client *client, int timeout_ms) {
    struct pollfd poll_fd = {.fd = client->connection->fd, .events = POLLIN};
    return poll(&poll_fd, 1, timeout_ms) != 0;
}

void web_pause(struct web_client *client, int delay_ms) {
    struct timespec delay = {delay_ms / 1000, (long)(delay_ms % 1000) * 1000000};
    (void)pthread_mutex_unlock(&client->web->lock);
    (void)nanosleep(&delay, NULL);
    (void)pthread_mutex_lock(&client->web->lock);
}

static bool find_header(char *out, size_t size, const char *head, const char *name) {
    size_t name_len = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line && line[2];
         line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, name_len) == 0 && line[2 + name_len] == ':') {
            const char *from = line + 2 + name_len + 1;
            from += strspn(from, " \t");
            (void)snprintf(out, size, "%.*s", (int)strcspn(from, "\r\n"), from);
            return true;
        }
    }
    return false;
}

const char *web_header(const struct web_request *request, const char *name) {
    static char value[WEB_HEAD_MAX];
    return find_header(value, sizeof(value), request->head, name) ? value : NULL;
}

/* ---- a connection */

/* Until at least that many bytes are here. */
static bool fill(struct web_client *client, size_t len) {
    while (client->len < len) {
        if (client->size < client->len + 65536 + 1) {
            client->size = client->size * 2 + 65536 + 1;
            client->data = realloc(client->data, client->size);
        }
        ssize_t got = receive(client, client->data + client->len, 65536);
        if (got <= 0) {
            return false;
        }
        client->len += (size_t)got;
    }
    return true;
}

/* The head's length, with its empty line; 0: the client went away. */
static size_t read_head(struct web_client *client) {
    for (size_t len = 1; fill(client, len); len = client->len + 1) {
        client->data[client->len] = '\0';
        char *end = strstr(client->data, "\r\n\r\n");
        if (end) {
            return (size_t)(end - client->data) + 4;
        }
        if (client->len > WEB_HEAD_MAX) {
            return 0;
        }
    }
    return 0;
}

/* One request and its answer. False: the connection ends. */
static bool serve(struct web_client *client) {
    struct web *web = client->web;
    size_t head_len = read_head(client);
    if (head_len == 0) {
        return false;
    }
    char *head = strndup(client->data, head_len);
    struct web_request request = {.connection = client->number, .head = head};
    char number[32] = "0";
    (void)find_header(number, sizeof(number), head, "Content-Length");
    size_t body_len = (size_t)strtoul(number, NULL, 10);
    bool keep = body_len <= WEB_BODY_MAX && fill(client, head_len + body_len);
    if (keep) {
        char path[2048] = "";
        char *body = malloc(body_len + 1);
        const char *from = strchr(head, ' ');
        memcpy(body, client->data + head_len, body_len);
        body[body_len] = '\0';
        (void)snprintf(path, sizeof(path), "%.*s", from ? (int)strcspn(from + 1, " \r\n") : 0,
                       from ? from + 1 : "");
        client->len -= head_len + body_len;
        memmove(client->data, client->data + head_len + body_len, client->len);
        request.path = path;
        request.body = body;
        request.body_len = body_len;
        (void)pthread_mutex_lock(&web->lock);
        request.number = ++web->requests;
        keep = web->answer(web->payload, &request, client);
        (void)pthread_mutex_unlock(&web->lock);
        free(body);
    }
    free(head);
    return keep;
}

static bool shake_hands(struct web_client *client) {
    struct web *web = client->web;
    if (!web->tls) {
        return true;
    }
    int code;
    (void)gnutls_init(&client->session, GNUTLS_SERVER | GNUTLS_NO_SIGNAL);
    (void)gnutls_set_default_priority(client->session);
    (void)pthread_mutex_lock(&web->lock);
    (void)gnutls_credentials_set(client->session, GNUTLS_CRD_CERTIFICATE, web->credentials);
    (void)pthread_mutex_unlock(&web->lock);
    gnutls_transport_set_int(client->session, client->connection->fd);
    do {
        code = gnutls_handshake(client->session);
    } while (code < 0 && !gnutls_error_is_fatal(code));
    return code == GNUTLS_E_SUCCESS;
}

static void *run_connection(void *self) {
    struct web_connection *connection = self;
    struct web *web = connection->web;
    struct web_client client = {.web = web, .connection = connection};
    (void)pthread_mutex_lock(&web->lock);
    client.number = ++web->connections;
    (void)pthread_mutex_unlock(&web->lock);
    if (shake_hands(&client)) {
        while (serve(&client)) {
        }
    }
    if (client.session) {
        gnutls_deinit(client.session);
    }
    free(client.data);
    (void)pthread_mutex_lock(&web->lock);
    (void)close(connection->fd);
    connection->fd = -1;
    connection->ended = true;
    (void)pthread_mutex_unlock(&web->lock);
    return NULL;
}

/* ---- the server */

static void take_connection(struct web *web, int fd) {
    (void)pthread_mutex_lock(&web->lock);
    for (int i = 0; i < WEB_CONNECTIONS && fd >= 0; i++) {
        struct web_connection *connection = &web->open[i];
        if (connection->used && !connection->ended) {
            continue;
        }
        if (connection->used) {
            (void)pthread_join(connection->thread, NULL);
        }
        *connection = (struct web_connection){.web = web, .fd = fd};
        connection->used =
            pthread_create(&connection->thread, NULL, run_connection, connection) == 0;
        fd = connection->used ? -1 : fd;
    }
    (void)pthread_mutex_unlock(&web->lock);
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void *run_server(void *self) {
    struct web *web = self;
    for (;;) {
        int fd = accept(web->fd, NULL, NULL);
        (void)pthread_mutex_lock(&web->lock);
        bool stopping = web->stopping;
        (void)pthread_mutex_unlock(&web->lock);
        if (stopping) {
            if (fd >= 0) {
                (void)close(fd);
            }
            return NULL;
        }
        if (fd >= 0) {
            take_connection(web, fd);
        }
    }
}

static void start(struct web *web) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    web->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(web->fd >= 0);
    assert_int_equal(bind(web->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(web->fd, WEB_CONNECTIONS), 0);
    assert_int_equal(getsockname(web->fd, (struct sockaddr *)&address, &len), 0);
    web->port = ntohs(address.sin_port);
    (void)snprintf(web->url, sizeof(web->url), "http%s://127.0.0.1:%d", web->tls ? "s" : "",
                   web->port);
    assert_int_equal(pthread_mutex_init(&web->lock, NULL), 0);
    assert_int_equal(pthread_create(&web->thread, NULL, run_server, web), 0);
}

void web_start(struct web *web, web_answer answer, void *payload) {
    *web = (struct web){.answer = answer, .payload = payload};
    start(web);
}

static gnutls_certificate_credentials_t credentials_of(const struct certificate *certificate) {
    gnutls_certificate_credentials_t credentials = NULL;
    gnutls_x509_crt_t chain[] = {certificate->crt};
    assert_int_equal(gnutls_certificate_allocate_credentials(&credentials), 0);
    assert_int_equal(gnutls_certificate_set_x509_key(credentials, chain, 1, certificate->key), 0);
    return credentials;
}

void web_start_tls(struct web *web, web_answer answer, void *payload,
                   const struct certificate *certificate) {
    *web = (struct web){.answer = answer, .payload = payload, .tls = true};
    web->credentials = credentials_of(certificate);
    start(web);
}

void web_set_certificate(struct web *web, const struct certificate *certificate) {
    gnutls_certificate_credentials_t credentials = credentials_of(certificate);
    (void)pthread_mutex_lock(&web->lock);
    for (int i = 0; i < WEB_CONNECTIONS; i++) { /* those that stand use the old one */
        if (web->open[i].used && !web->open[i].ended) {
            (void)shutdown(web->open[i].fd, SHUT_RDWR);
        }
    }
    gnutls_certificate_credentials_t old = web->credentials;
    web->credentials = credentials;
    (void)pthread_mutex_unlock(&web->lock);
    for (int i = 0; i < WEB_CONNECTIONS; i++) {
        if (web->open[i].used) {
            (void)pthread_join(web->open[i].thread, NULL);
            web->open[i].used = false;
        }
    }
    gnutls_certificate_free_credentials(old);
}

void web_settle(struct web *web) {
    (void)pthread_mutex_lock(&web->lock);
    (void)pthread_mutex_unlock(&web->lock);
}

void web_stop(struct web *web) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)web->port)};
    (void)pthread_mutex_lock(&web->lock);
    web->stopping = true;
    for (int i = 0; i < WEB_CONNECTIONS; i++) {
        if (web->open[i].used && !web->open[i].ended) {
            (void)shutdown(web->open[i].fd, SHUT_RDWR);
        }
    }
    (void)pthread_mutex_unlock(&web->lock);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0); /* wakes accept() */
    (void)connect(fd, (struct sockaddr *)&address, sizeof(address));
    (void)pthread_join(web->thread, NULL);
    (void)close(fd);
    (void)close(web->fd);
    for (int i = 0; i < WEB_CONNECTIONS; i++) {
        if (web->open[i].used) {
            (void)pthread_join(web->open[i].thread, NULL);
        }
    }
    if (web->credentials) {
        gnutls_certificate_free_credentials(web->credentials);
    }
    (void)pthread_mutex_destroy(&web->lock);
}
