/* Open connections in a list. The lock is what makes shutting down safe: a descriptor in the list
 * is not closed yet. */
#include "bridge/connections.h"

#include <stdlib.h>
#include <sys/socket.h>

enum { ANSWER_FACTOR = 10 };

void dln_connections_init(struct dln_connections *connections, int64_t request_ms) {
    *connections = (struct dln_connections){.request_ms = request_ms};
    (void)pthread_mutex_init(&connections->lock, NULL);
}

void dln_connections_free(struct dln_connections *connections) {
    (void)pthread_mutex_destroy(&connections->lock);
}

struct dln_connection *dln_connections_opened(struct dln_connections *connections, int fd,
                                              int64_t now_ms) {
    struct dln_connection *connection = calloc(1, sizeof(*connection));

    if (connection == NULL) {
        return NULL;
    }
    connection->fd = fd;
    connection->since_ms = now_ms;
    (void)pthread_mutex_lock(&connections->lock);
    connection->next = connections->first;
    if (connection->next != NULL) {
        connection->next->previous = connection;
    }
    connections->first = connection;
    connections->count++;
    (void)pthread_mutex_unlock(&connections->lock);
    return connection;
}

void dln_connections_closed(struct dln_connections *connections,
                            struct dln_connection *connection) {
    if (connection == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&connections->lock);
    if (connection->previous != NULL) {
        connection->previous->next = connection->next;
    } else {
        connections->first = connection->next;
    }
    if (connection->next != NULL) {
        connection->next->previous = connection->previous;
    }
    connections->count--;
    (void)pthread_mutex_unlock(&connections->lock);
    free(connection);
}

void dln_connections_phase(struct dln_connections *connections, struct dln_connection *connection,
                           enum dln_phase phase, int64_t now_ms) {
    if (connection == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&connections->lock);
    connection->phase = phase;
    connection->since_ms = now_ms;
    (void)pthread_mutex_unlock(&connections->lock);
}

size_t dln_connections_count(struct dln_connections *connections) {
    size_t count;

    (void)pthread_mutex_lock(&connections->lock);
    count = connections->count;
    (void)pthread_mutex_unlock(&connections->lock);
    return count;
}

void dln_connections_sweep(struct dln_connections *connections, int64_t now_ms) {
    const int64_t most_ms[] = {[DLN_PHASE_HEAD] = connections->request_ms,
                               [DLN_PHASE_BODY] = connections->request_ms,
                               [DLN_PHASE_WORK] = INT64_MAX,
                               [DLN_PHASE_ANSWER] = connections->request_ms * ANSWER_FACTOR,
                               [DLN_PHASE_LIVE] = INT64_MAX};

    (void)pthread_mutex_lock(&connections->lock);
    for (struct dln_connection *at = connections->first; at != NULL; at = at->next) {
        if (now_ms - at->since_ms > most_ms[at->phase]) {
            (void)shutdown(at->fd, SHUT_RDWR);
        }
    }
    (void)pthread_mutex_unlock(&connections->lock);
}
