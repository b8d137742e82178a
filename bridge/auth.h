/* Who sends a request. */
#ifndef DLN_BRIDGE_AUTH_H
#define DLN_BRIDGE_AUTH_H

#include <stdint.h>

#include "base/text.h"
#include "bridge/options.h"

struct dln_auth;

/* What a request says of its sender, each NULL where it does not. */
struct dln_credentials {
    const char *authorization; /* the header */
    const char *user;          /* the header Dunlin-User, percent-encoded */
};

struct dln_identity {
    char user[DLN_ID_MAX + 1];
    int64_t until_ms; /* Unix: when the token runs out; INT64_MAX: never */
};

/* Reads the secret or the key set that the options (which outlive it) name. */
DUNLIN_MUST_USE dunlin_status dln_auth_open(struct dln_auth **out,
                                            const struct dln_options *options, dunlin_error *err);
/* NEED_LOGIN where it is nobody, UNAVAILABLE, OUT_OF_MEMORY. Any thread. */
DUNLIN_MUST_USE dunlin_status dln_auth_check(struct dln_auth *auth,
                                             const struct dln_credentials *credentials,
                                             int64_t now_ms, struct dln_identity *out,
                                             dunlin_error *err);
void dln_auth_close(struct dln_auth *auth); /* NULL is allowed */

#endif
