/* Who sends a request: a token's subject, or, for --insecure, whoever he says he is.
 *
 * A key set is read again when its file changed (looked at once a second at most), so that keys can
 * be rotated without a restart. While the new file cannot be read, the keys that were read before
 * stay good. */
#include "bridge/auth.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "bridge/jwt.h"

enum { LOOK_EVERY_MS = 1000 };

struct dln_auth {
    const struct dln_options *options;
    pthread_mutex_t lock; /* also over the keys: cjose counts references without atomics */
    struct dln_keys keys;
    struct stat file; /* of the key set, as it was when it was read */
    int64_t looked_ms;
};

static dunlin_status nobody(dunlin_error *err, const char *why) {
    return dln_fail(err, DUNLIN_NEED_LOGIN, DUNLIN_DOMAIN_CENTRAL, "%s", why);
}

static dunlin_status keys_load(struct dln_auth *auth, dunlin_error *err) {
    const struct dln_options *options = auth->options;

    if (options->secret_file != NULL) {
        return dln_keys_secret_file(&auth->keys, options->secret_file, err);
    }
    if (options->jwks_file != NULL) {
        (void)stat(options->jwks_file, &auth->file);
        return dln_keys_set_file(&auth->keys, options->jwks_file, err);
    }
    return DUNLIN_OK;
}

dunlin_status dln_auth_open(struct dln_auth **out, const struct dln_options *options,
                            dunlin_error *err) {
    struct dln_auth *auth = calloc(1, sizeof(*auth));
    dunlin_status status;

    if (auth == NULL) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_API, "out of memory");
    }
    auth->options = options;
    (void)pthread_mutex_init(&auth->lock, NULL);
    if ((status = keys_load(auth, err))) {
        dln_auth_close(auth);
        return status;
    }
    *out = auth;
    return DUNLIN_OK;
}

void dln_auth_close(struct dln_auth *auth) {
    if (auth == NULL) {
        return;
    }
    dln_keys_free(&auth->keys);
    (void)pthread_mutex_destroy(&auth->lock);
    free(auth);
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void keys_refresh(struct dln_auth *auth, int64_t now_ms) {
    struct dln_keys fresh;
    struct stat file;
    dunlin_error why;

    if (auth->options->jwks_file == NULL ||
        (now_ms >= auth->looked_ms && now_ms < auth->looked_ms + LOOK_EVERY_MS)) {
        return;
    }
    auth->looked_ms = now_ms;
    if (stat(auth->options->jwks_file, &file) != 0 || is_same_file(&file, &auth->file)) {
        return;
    }
    auth->file = file;
    if (dln_keys_set_file(&fresh, auth->options->jwks_file, &why)) {
        (void)fprintf(stderr, "dunlind: the key set was not read again: %s\n", why.message);
        return;
    }
    dln_keys_free(&auth->keys);
    auth->keys = fresh;
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

static dunlin_status insecure_check(const char *user, struct dln_identity *out, dunlin_error *err) {
    if (user == NULL || !user_decode(user, out->user) ||
        dln_check_id(dln_text_of(out->user), "user", NULL)) {
        return nobody(err, "the header Dunlin-User names no user");
    }
    out->until_ms = INT64_MAX;
    return DUNLIN_OK;
}

static dunlin_status token_find(const char *authorization, struct dln_text *out,
                                dunlin_error *err) {
    static const char scheme[] = "Bearer ";
    const size_t scheme_len = sizeof(scheme) - 1;

    if (authorization == NULL || strncasecmp(authorization, scheme, scheme_len) != 0) {
        return nobody(err, "a token is needed");
    }
    authorization += scheme_len;
    authorization += strspn(authorization, " ");
    *out = (struct dln_text){authorization, strcspn(authorization, " ")};
    return DUNLIN_OK;
}

dunlin_status dln_auth_check(struct dln_auth *auth, const struct dln_credentials *credentials,
                             int64_t now_ms, struct dln_identity *out, dunlin_error *err) {
    const struct dln_jwt_rules rules = {auth->options->audience, auth->options->issuer};
    struct dln_claims claims;
    struct dln_text token;
    dunlin_status status;

    if (auth->options->insecure) {
        return insecure_check(credentials->user, out, err);
    }
    if ((status = token_find(credentials->authorization, &token, err))) {
        return status;
    }
    (void)pthread_mutex_lock(&auth->lock);
    keys_refresh(auth, now_ms);
    status = dln_jwt_check(&auth->keys, &rules, token, now_ms, &claims, err);
    (void)pthread_mutex_unlock(&auth->lock);
    if (status == DUNLIN_OK) {
        memcpy(out->user, claims.user, sizeof(out->user));
        out->until_ms = claims.until_ms;
    }
    return status;
}
