/* Open connections, and until when each may do what it does. The HTTP library closes those that are
 * silent; whoever sends or takes a byte now and then is closed from here. */
#ifndef DLN_BRIDGE_CONNECTIONS_H
#define DLN_BRIDGE_CONNECTIONS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum dln_phase {
    DLN_PHASE_HEAD,   /* until a request's head is there */
    DLN_PHASE_BODY,   /* until its body is */
    DLN_PHASE_WORK,   /* until there is an answer: our time, not his */
    DLN_PHASE_ANSWER, /* until he has taken it */
    DLN_PHASE_LIVE
};

struct dln_connection {
    struct dln_connection *next, *previous;
    int fd;
    enum dln_phase phase;
    int64_t since_ms; /* steady clock */
};

struct dln_connections {
    pthread_mutex_t lock;
    struct dln_connection *first;
    size_t count;
    int64_t request_ms; /* for head and body; an answer may take ten times as long */
};

void dln_connections_init(struct dln_connections *connections, int64_t request_ms);
void dln_connections_free(struct dln_connections *connections);
/* NULL when out of memory. */
struct dln_connection *dln_connections_opened(struct dln_connections *connections, int fd,
                                              int64_t now_ms);
/* Before the descriptor is closed. NULL is allowed. */
void dln_connections_closed(struct dln_connections *connections, struct dln_connection *connection);
/* NULL is allowed. */
void dln_connections_phase(struct dln_connections *connections, struct dln_connection *connection,
                           enum dln_phase phase, int64_t now_ms);
size_t dln_connections_count(struct dln_connections *connections);
/* Shuts down those whose time is over; the HTTP library then sees their end. */
void dln_connections_sweep(struct dln_connections *connections, int64_t now_ms);

#endif
