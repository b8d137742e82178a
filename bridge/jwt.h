/* JSON Web Tokens (RFC 7519) signed by HS256, RS256 or ES256. */
#ifndef DLN_BRIDGE_JWT_H
#define DLN_BRIDGE_JWT_H

#include <stdint.h>

#include "bridge/keys.h"

enum { DLN_TOKEN_MAX = 8192, DLN_LEEWAY_S = 60 };

/* What a token must say; NULL: nothing is asked. A token that names an audience is not taken where
 * none is configured: it is meant for somebody else. */
struct dln_jwt_rules {
    const char *audience;
    const char *issuer;
};

struct dln_claims {
    char user[DLN_ID_MAX + 1];
    int64_t until_ms; /* when it is not taken any more: exp and the leeway */
};

/* NEED_LOGIN, with a sentence that says why; OUT_OF_MEMORY. Not from two threads at once with the
 * same keys. */
DUNLIN_MUST_USE dunlin_status dln_jwt_check(const struct dln_keys *keys,
                                            const struct dln_jwt_rules *rules,
                                            struct dln_text token, int64_t now_ms,
                                            struct dln_claims *out, dunlin_error *err);
/* Appends a token of HS256 for that user. `keys` holds a secret. INVALID_ID, INVALID_TEXT,
 * TOO_LONG, OUT_OF_MEMORY. */
DUNLIN_MUST_USE dunlin_status dln_jwt_make(struct dln_buf *out, const struct dln_keys *keys,
                                           const struct dln_jwt_rules *rules, const char *user,
                                           int64_t now_ms, int64_t ttl_seconds, dunlin_error *err);

#endif
