/* The address that dunlind listens on. */
#ifndef DLN_BRIDGE_LISTEN_H
#define DLN_BRIDGE_LISTEN_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/error.h"

struct dln_listen_address {
    struct sockaddr_storage storage;
    socklen_t len;
};

/* "127.0.0.1:8765", "[::1]:0", "localhost:80". MISUSE where it cannot be read or found; NOT_ALLOWED
 * where only loopback addresses will do and it is none. */
DUNLIN_MUST_USE dunlin_status dln_listen_resolve(struct dln_listen_address *out, const char *text,
                                                 bool loopback_only, dunlin_error *err);
/* Listens, and writes the address with its real port as text. IO. */
DUNLIN_MUST_USE dunlin_status dln_listen_open(int *fd, const struct dln_listen_address *address,
                                              char *text, size_t text_size, dunlin_error *err);

#endif
