/* The command line of dunlind: commands, their options, and what these are without being given. */
#ifndef DLN_BRIDGE_OPTIONS_H
#define DLN_BRIDGE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <dunlin/central.h>

#include "base/buf.h"
#include "base/error.h"

enum dln_command {
    DLN_COMMAND_SERVE,
    DLN_COMMAND_TOKEN,
    DLN_COMMAND_RESTORED,
    DLN_COMMAND_DUMP,
    DLN_COMMAND_HELP,
    DLN_COMMAND_VERSION
};

/* Texts are borrowed from the command line; NULL: not given. */
struct dln_options {
    enum dln_command command;
    const char *store;
    const char *listen;
    const char *prefix;
    const char *secret_file;
    const char *jwks_file;
    bool insecure;
    const char *audience;
    const char *issuer;
    const char *tls_cert;
    const char *tls_key;
    const char *log;

    int64_t threads; /* that talk to the store */
    int64_t queue;   /* requests that wait for one of them */
    int64_t connections;
    int64_t listeners;       /* of /v1/live, together */
    int64_t user_listeners;  /* of one user */
    int64_t user_requests;   /* of one user, under way at once */
    int64_t memory_mib;      /* of bodies under way */
    int64_t idle_seconds;    /* a connection without a byte */
    int64_t request_seconds; /* from a request's first byte to its last */
    int64_t drain_seconds;
    int64_t maintain_seconds; /* between rounds of maintenance */

    const dunlin_central_options *central; /* no option gives it: for whoever embeds the server */

    const char *user;
    int64_t ttl_seconds;
    bool fuzzy;
};

/* MISUSE with a sentence for the person. */
DUNLIN_MUST_USE dunlin_status dln_options_read(struct dln_options *out, int argc, char *const *argv,
                                               dunlin_error *err);
/* Appends the help. */
void dln_options_help(struct dln_buf *out);

#endif
