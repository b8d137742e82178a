/* Names, ports, a listening socket. */
#include "bridge/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HOST_MAX = 256, BACKLOG = 511 };

static dunlin_status wrong(dunlin_error *err, const char *text, const char *what) {
    return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "--listen %.100s: %.100s", text, what);
}

/* Cuts "host:port" and "[host]:port" apart. */
static bool split(const char *text, char host[HOST_MAX], const char **port) {
    const char *colon = strrchr(text, ':');
    size_t len;

    if (colon == NULL || colon == text || colon[1] == '\0') {
        return false;
    }
    *port = colon + 1;
    len = (size_t)(colon - text);
    if (text[0] == '[' && text[len - 1] == ']') {
        text++;
        len -= 2;
    } else if (memchr(text, ':', len) != NULL) {
        return false;
    }
    if (len == 0 || len >= HOST_MAX) {
        return false;
    }
    memcpy(host, text, len);
    host[len] = '\0';
    return true;
}

static bool is_loopback(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof(in));
        return ntohl(in.sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, address, sizeof(in6));
        return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
    }
    return false;
}

dunlin_status dln_listen_resolve(struct dln_listen_address *out, const char *text,
                                 bool loopback_only, dunlin_error *err) {
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    char host[HOST_MAX];
    const char *port;
    int code;

    if (!split(text, host, &port) || strspn(port, "0123456789") != strlen(port)) {
        return wrong(err, text, "is not HOST:PORT");
    }
    if ((code = getaddrinfo(host, port, &hints, &found)) != 0) {
        return wrong(err, text, gai_strerror(code));
    }
    memcpy(&out->storage, found->ai_addr, found->ai_addrlen);
    out->len = found->ai_addrlen;
    bool may = !loopback_only || is_loopback(found->ai_addr);
    freeaddrinfo(found);
    if (!may) {
        return dln_fail(err, DUNLIN_NOT_ALLOWED, DUNLIN_DOMAIN_API,
                        "--insecure listens on loopback addresses only, and %.100s is none", text);
    }
    return DUNLIN_OK;
}

static bool address_text(int fd, char *text, size_t text_size) {
    struct sockaddr_storage bound;
    socklen_t len = sizeof(bound);
    char host[HOST_MAX], port[16];

    if (getsockname(fd, (struct sockaddr *)&bound, &len) != 0 ||
        getnameinfo((struct sockaddr *)&bound, len, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return false;
    }
    (void)snprintf(text, text_size, bound.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    return true;
}

dunlin_status dln_listen_open(int *fd, const struct dln_listen_address *address, char *text,
                              size_t text_size, dunlin_error *err) {
    const int on = 1;
    int made = socket(address->storage.ss_family, SOCK_STREAM, 0);

    if (made >= 0 && fcntl(made, F_SETFD, FD_CLOEXEC) == 0 &&
        setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        bind(made, (const struct sockaddr *)&address->storage, address->len) == 0 &&
        listen(made, BACKLOG) == 0 && address_text(made, text, text_size)) {
        *fd = made;
        return DUNLIN_OK;
    }
    dunlin_status status =
        dln_fail(err, DUNLIN_IO, DUNLIN_DOMAIN_API, "cannot listen: %s", strerror(errno));
    if (made >= 0) {
        (void)close(made);
    }
    return status;
}
