/* Opening, listening, draining. */
#include "bridge/server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bridge/keys.h"
#include "bridge/listen.h"
#include "bridge/request.h"

enum {
    CONNECTION_MEMORY = 24 * 1024, /* of a head: a token may have 8 KiB */
    CONNECTIONS_SPARE = 64,        /* beyond the ceiling: those that are told 503 */
    DESCRIPTORS_SPARE = 256,       /* for the store, logs, epoll */
    IO_THREADS_MAX = 8,
    PEM_BYTES_MAX = 1024 * 1024,
    DRAIN_STEP_MS = 20
};

/* GnuTLS's: nothing older than TLS 1.2. */
static char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

int64_t dln_server_steady_ms(const struct dln_server *server) {
    return server->ports.steady_ms(server->ports.steady_self);
}

/* Remembers what the HTTP library says to whoever starts it. Its own threads speak of clients only.
 */
static void trouble_note(void *context, const char *format, va_list arguments) DUNLIN_PRINTF(2, 0);
static void trouble_note(void *context, const char *format, va_list arguments) {
    struct dln_server *server = context;

    if (pthread_equal(pthread_self(), server->starter)) {
        (void)vsnprintf(server->trouble, sizeof(server->trouble), format, arguments);
        server->trouble[strcspn(server->trouble, "\n")] = '\0';
    }
}

static void connection_changed(void *context, struct MHD_Connection *connection,
                               void **connection_context,
                               enum MHD_ConnectionNotificationCode what) {
    struct dln_server *server = context;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *connection_context =
            dln_connections_opened(&server->connections, info != NULL ? info->connect_fd : -1,
                                   dln_server_steady_ms(server));
    } else {
        dln_connections_closed(&server->connections, *connection_context);
        *connection_context = NULL;
    }
}

/* As many connections as were asked for, or as the descriptors that this process may have allow. */
static size_t connections_fit(const struct dln_options *options) {
    rlim_t wanted = (rlim_t)options->connections + CONNECTIONS_SPARE + DESCRIPTORS_SPARE;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return (size_t)options->connections;
    }
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        (void)getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= wanted) {
        return (size_t)options->connections;
    }
    return limit.rlim_cur > CONNECTIONS_SPARE + DESCRIPTORS_SPARE
               ? (size_t)limit.rlim_cur - CONNECTIONS_SPARE - DESCRIPTORS_SPARE
               : 1;
}

static unsigned io_threads(void) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    return processors < 2 ? 2 : processors > IO_THREADS_MAX ? IO_THREADS_MAX : (unsigned)processors;
}

static dunlin_status tls_read(struct dln_server *server, dunlin_error *err) {
    dunlin_status status;

    server->tls_cert = server->tls_key = DLN_BUF_INIT(PEM_BYTES_MAX);
    if (server->options->tls_cert == NULL) {
        return DUNLIN_OK;
    }
    if ((status = dln_file_read(&server->tls_cert, server->options->tls_cert, err)) ||
        (status = dln_file_read(&server->tls_key, server->options->tls_key, err))) {
        return status;
    }
    if (server->tls_cert.len == 0 || server->tls_key.len == 0) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API,
                        "--tls-cert or --tls-key names an empty file");
    }
    return DUNLIN_OK;
}

static dunlin_status daemon_start(struct dln_server *server, int fd, dunlin_error *err) {
    const struct dln_options *options = server->options;
    unsigned threads = io_threads();
    unsigned connections = (unsigned)(server->connections_max + CONNECTIONS_SPARE);

    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, server->tls_cert.data},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, server->tls_key.data},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, priorities},
        {MHD_OPTION_END, 0, NULL},
    };

    if (options->tls_cert == NULL) {
        tls[0].option = MHD_OPTION_END;
    } else {
        flags |= MHD_USE_TLS;
    }
    server->starter = pthread_self();
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, dln_request_handle, server, MHD_OPTION_EXTERNAL_LOGGER, trouble_note,
        server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, threads,
        MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)options->idle_seconds,
        MHD_OPTION_NOTIFY_CONNECTION, connection_changed, server, MHD_OPTION_NOTIFY_COMPLETED,
        dln_request_completed, server, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, tls,
        MHD_OPTION_END);
    if (server->daemon == NULL) {
        (void)close(fd);
        return dln_fail(err, DUNLIN_IO, DUNLIN_DOMAIN_API, "the HTTP server cannot start: %.150s",
                        server->trouble);
    }
    return DUNLIN_OK;
}

dunlin_status dln_server_open(struct dln_server *server, const struct dln_options *options,
                              dunlin_error *err) {
    struct dln_listen_address address;
    dunlin_status status;
    int fd = -1;

    server->options = options;
    server->connections_max = connections_fit(options);
    dln_central_ports_init(&server->ports, NULL);
    dln_people_init(&server->people);
    dln_connections_init(&server->connections, options->request_seconds * 1000);
    dln_upkeep_init(&server->upkeep, options->maintain_seconds * 1000, dln_server_steady_ms(server),
                    dln_central_salt(&server->ports));
    dln_listeners_init(&server->listeners, (size_t)options->listeners, &server->metrics);
    if ((status = dln_access_log_open(&server->log, options->log, err)) ||
        (status = dln_listen_resolve(&address, options->listen, options->insecure, err)) ||
        (status = tls_read(server, err)) || (status = dln_auth_open(&server->auth, options, err)) ||
        (status = dln_source_open(&server->source, options->store, options->central, err)) ||
        (status = dln_pool_start(&server->pool, server->source, (size_t)options->threads,
                                 (size_t)options->queue, err)) ||
        (status = dln_poker_start(&server->poker, server->source, &server->listeners, err)) ||
        (status = dln_listen_open(&fd, &address, server->address, sizeof(server->address), err))) {
        return status;
    }
    return daemon_start(server, fd, err);
}

void dln_server_tick(struct dln_server *server) {
    int64_t now_ms = dln_server_steady_ms(server);

    dln_connections_sweep(&server->connections, now_ms);
    dln_upkeep_tick(&server->upkeep, server->pool, &server->metrics, now_ms);
}

bool dln_server_drain(struct dln_server *server) {
    const struct timespec step = {0, DRAIN_STEP_MS * 1000000L};
    int64_t until_ms = dln_server_steady_ms(server) + server->options->drain_seconds * 1000;
    MHD_socket fd;

    atomic_store(&server->draining, true);
    fd = MHD_quiesce_daemon(server->daemon);
    if (fd != MHD_INVALID_SOCKET) {
        (void)close(fd);
    }
    dln_listeners_close(&server->listeners);
    while (atomic_load(&server->under_way) > 0) {
        if (dln_server_steady_ms(server) > until_ms) {
            return false;
        }
        (void)nanosleep(&step, NULL);
    }
    return true;
}

void dln_server_close(struct dln_server *server) {
    if (server->daemon != NULL) {
        MHD_stop_daemon(server->daemon);
    }
    dln_pool_stop(server->pool);
    dln_poker_stop(server->poker);
    dln_listeners_free(&server->listeners);
    dln_source_close(server->source);
    dln_auth_close(server->auth);
    dln_access_log_close(&server->log);
    dln_buf_free(&server->tls_cert);
    dln_buf_free(&server->tls_key);
    dln_connections_free(&server->connections);
    dln_people_free(&server->people);
}
