/* Serving until a signal. All signals are blocked in every thread, and taken here one by one. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <jansson.h>

#include "bridge/command/command.h"
#include "bridge/server.h"

static void signals_block(sigset_t *set) {
    const struct sigaction ignore = {.sa_handler = SIG_IGN};

    (void)sigaction(SIGPIPE, &ignore, NULL); /* somebody who hangs up is no reason to end */
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGTERM);
    (void)sigaddset(set, SIGINT);
    (void)sigaddset(set, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, set, NULL);
}

static void until_told(struct dln_server *server, const sigset_t *set) {
    const struct timespec second = {1, 0};
    int number;

    do {
        number = sigtimedwait(set, NULL, &second);
        if (number == SIGHUP) {
            dln_access_log_reopen(&server->log);
        }
        dln_server_tick(server);
    } while (number != SIGTERM && number != SIGINT);
}

int dln_command_serve(const struct dln_options *options) {
    static struct dln_server server;
    dunlin_error why;
    sigset_t set;

    signals_block(&set);
    json_object_seed(0); /* before there are threads */
    if (dln_server_open(&server, options, &why)) {
        dln_server_close(&server);
        return dln_command_fail(&why);
    }
    if ((int64_t)server.connections_max < options->connections) {
        (void)fprintf(stderr,
                      "dunlind: only %zu connections, since the process may open no more files\n",
                      server.connections_max);
    }
    (void)fprintf(stderr, "dunlind: listening on %s://%s%s\n",
                  options->tls_cert != NULL ? "https" : "http", server.address,
                  options->prefix != NULL ? options->prefix : "");
    until_told(&server, &set);
    (void)fprintf(stderr, "dunlind: stopping\n");
    if (!dln_server_drain(&server)) {
        (void)fprintf(stderr, "dunlind: %zu requests were still under way\n",
                      atomic_load(&server.under_way));
        _Exit(EXIT_FAILURE); /* threads still work on them; there is nothing to wait for */
    }
    (void)fprintf(stderr, "dunlind: stopped\n");
    if (atomic_load(&server.upkeep.running)) {
        _Exit(EXIT_SUCCESS); /* maintenance may be cut off anywhere */
    }
    dln_server_close(&server);
    return 0;
}
