/* One listening dunlind: what its requests share. */
#ifndef DLN_BRIDGE_SERVER_H
#define DLN_BRIDGE_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>

#include <microhttpd.h>

#include "bridge/access_log.h"
#include "bridge/auth.h"
#include "bridge/connections.h"
#include "bridge/listeners.h"
#include "bridge/metrics.h"
#include "bridge/options.h"
#include "bridge/people.h"
#include "bridge/poker.h"
#include "bridge/pool.h"
#include "bridge/upkeep.h"
#include "central/central.h"

struct dln_server {
    const struct dln_options *options;
    struct dln_central_ports ports; /* the system's clocks and random */
    struct dln_source *source;
    struct dln_pool *pool;
    struct dln_auth *auth;
    struct dln_listeners listeners;
    struct dln_poker *poker;
    struct dln_upkeep upkeep;
    struct dln_people people;
    struct dln_metrics metrics;
    struct dln_access_log log;
    struct dln_connections connections;
    struct MHD_Daemon *daemon;
    pthread_t starter; /* who started it */
    atomic_bool draining;
    atomic_size_t under_way;  /* requests */
    atomic_size_t body_bytes; /* of them */
    size_t connections_max;
    char address[128];                /* "127.0.0.1:8765" */
    struct dln_buf tls_cert, tls_key; /* PEM; empty: plain HTTP */
    char trouble[200];                /* what the HTTP library said last, before it ran */
};

int64_t dln_server_steady_ms(const struct dln_server *server);

/* Opens everything and listens. Where it fails, dln_server_close() frees what was opened. `server`
 * is zeroed before. MISUSE, IO, NOT_ALLOWED (--insecure elsewhere than on loopback), and what
 * opening the store returns. */
DUNLIN_MUST_USE dunlin_status dln_server_open(struct dln_server *server,
                                              const struct dln_options *options, dunlin_error *err);
/* Once a second. */
void dln_server_tick(struct dln_server *server);
/* Takes no more connections or requests, and waits for what is under way; false: some of it still
 * was when the time was over. Then the server cannot be closed. */
bool dln_server_drain(struct dln_server *server);
void dln_server_close(struct dln_server *server);

#endif
