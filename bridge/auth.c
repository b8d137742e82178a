/* Who sends a request: a token's subject, or, for --insecure, whoever he says he is. */
#include "bridge/auth.h"

#include <stdlib.h>
#include <string.h>

struct dln_auth {
    const struct dln_options *options;
};

static dunlin_status nobody(dunlin_error *err, const char *why) {
    return dln_fail(err, DUNLIN_NEED_LOGIN, DUNLIN_DOMAIN_CENTRAL, "%s", why);
}

dunlin_status dln_auth_open(struct dln_auth **out, const struct dln_options *options,
                            dunlin_error *err) {
    struct dln_auth *auth = calloc(1, sizeof(*auth));

    if (auth == NULL) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_API, "out of memory");
    }
    auth->options = options;
    *out = auth;
    return DUNLIN_OK;
}

void dln_auth_close(struct dln_auth *auth) {
    free(auth);
}

static int hex_digit(char c) {
    const char *digits = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

    return found != NULL ? (int)(found - digits) : -1;
}

/* Any byte may be percent-encoded here, not only those that a scope's name encodes. */
static bool user_decode(const char *text, char out[DLN_ID_MAX + 1]) {
    size_t len = 0;

    for (; *text != '\0'; text++) {
        char byte = *text;
        if (byte == '%') {
            int high = hex_digit(text[1]);
            int low = high < 0 ? -1 : hex_digit(text[2]);
            if (low < 0 || high + low == 0) {
                return false;
            }
            byte = (char)(high * 16 + low);
            text += 2;
        }
        if (len == DLN_ID_MAX) {
            return false;
        }
        out[len++] = byte;
    }
    out[len] = '\0';
    return true;
}

dunlin_status dln_auth_check(struct dln_auth *auth, const struct dln_credentials *credentials,
                             int64_t now_ms, struct dln_identity *out, dunlin_error *err) {
    (void)now_ms;
    if (!auth->options->insecure) {
        return nobody(err, "tokens are not taken yet");
    }
    if (credentials->user == NULL || !user_decode(credentials->user, out->user) ||
        dln_check_id(dln_text_of(out->user), "user", NULL)) {
        return nobody(err, "the header Dunlin-User names no user");
    }
    out->until_ms = INT64_MAX;
    return DUNLIN_OK;
}
