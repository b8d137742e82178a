/* Checking a token. Its header is read here first, strictly, and only chooses among the algorithms
 * and keys that the operator gave; the signature is cjose's matter; no claim is looked at before it
 * is good.
 *
 * What must never be: a token without a signature ("none"), one by a public key taken for a secret
 * (each key has one algorithm), one whose header holds extensions that we do not know ("crit"), or
 * one of another kind ("typ"). */
#include "bridge/jwt.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "sync/json.h"
#include "sync/lines.h"

static const char *const algorithm_names[DLN_ALGORITHM_COUNT] = {
    [DLN_HS256] = "HS256", [DLN_RS256] = "RS256", [DLN_ES256] = "ES256"};
static const double time_max = 1e15; /* seconds: beyond any date, and exact in a double */

static dunlin_status no(dunlin_error *err, const char *why) {
    return dln_fail(err, DUNLIN_NEED_LOGIN, DUNLIN_DOMAIN_CENTRAL, "%s", why);
}

static bool is_token(struct dln_text token) {
    int dots = 0;

    if (token.len == 0 || token.len > DLN_TOKEN_MAX) {
        return false;
    }
    for (size_t i = 0; i < token.len; i++) {
        char c = token.data[i];
        bool legal = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '_' || c == '.';
        if (!legal) {
            return false;
        }
        dots += c == '.';
    }
    return dots == 2;
}

static dunlin_status object_read(json_t **out, const uint8_t *bytes, size_t len,
                                 dunlin_error *err) {
    struct dln_text text = {(const char *)bytes, len};
    dunlin_status status = dln_json_parse(out, text, 0, err);

    if (status == DUNLIN_OUT_OF_MEMORY) {
        return status;
    }
    if (status != DUNLIN_OK || !json_is_object(*out)) {
        return no(err, "the token cannot be read");
    }
    return DUNLIN_OK;
}

static bool is_known_type(const json_t *type) {
    const char *text = json_string_value(type);

    return type == NULL ||
           (text != NULL && (strcasecmp(text, "JWT") == 0 || strcasecmp(text, "at+jwt") == 0 ||
                             strcasecmp(text, "application/at+jwt") == 0));
}

static dunlin_status key_choose(const cjose_jwk_t **out, const struct dln_keys *keys,
                                const json_t *header, dunlin_error *err) {
    const char *algorithm = json_string_value(json_object_get(header, "alg"));
    const json_t *id = json_object_get(header, "kid");
    int i = 0;

    if (json_object_get(header, "crit") != NULL || !is_known_type(json_object_get(header, "typ")) ||
        (id != NULL && !json_is_string(id))) {
        return no(err, "the token is of a kind that is not taken");
    }
    while (i < DLN_ALGORITHM_COUNT &&
           (algorithm == NULL || strcmp(algorithm, algorithm_names[i]) != 0)) {
        i++;
    }
    if (i == DLN_ALGORITHM_COUNT) {
        return no(err, "the token's algorithm is not taken");
    }
    *out = dln_keys_find(keys, (enum dln_algorithm)i,
                         dln_text_of(id != NULL ? json_string_value(id) : NULL));
    return *out != NULL ? DUNLIN_OK : no(err, "no key is known for the token");
}

static dunlin_status header_read(const cjose_jwk_t **key, const struct dln_keys *keys,
                                 struct dln_text token, dunlin_error *err) {
    const char *dot = memchr(token.data, '.', token.len);
    uint8_t *bytes = NULL;
    json_t *header = NULL;
    dunlin_status status;
    size_t len = 0;
    cjose_err why;

    if (!cjose_base64url_decode(token.data, (size_t)(dot - token.data), &bytes, &len, &why)) {
        return no(err, "the token cannot be read");
    }
    if ((status = object_read(&header, bytes, len, err)) == DUNLIN_OK) {
        status = key_choose(key, keys, header, err);
    }
    json_decref(header);
    cjose_get_dealloc()(bytes);
    return status;
}

/* A NumericDate; false where it is none. */
static bool date_read(const json_t *claims, const char *name, double *out) {
    const json_t *date = json_object_get(claims, name);

    *out = json_number_value(date);
    return json_is_number(date) && isfinite(*out) && fabs(*out) <= time_max;
}

static dunlin_status times_check(const json_t *claims, int64_t now_ms, struct dln_claims *out,
                                 dunlin_error *err) {
    double now = (double)now_ms / 1000.0;
    double expires, begins;

    if (!date_read(claims, "exp", &expires)) {
        return no(err, "the token does not say when it expires");
    }
    if (now >= expires + DLN_LEEWAY_S) {
        return no(err, "the token has expired");
    }
    if (json_object_get(claims, "nbf") != NULL &&
        (!date_read(claims, "nbf", &begins) || now < begins - DLN_LEEWAY_S)) {
        return no(err, "the token is not valid yet");
    }
    out->until_ms = (int64_t)((expires + DLN_LEEWAY_S) * 1000.0);
    return DUNLIN_OK;
}

static bool is_text(const json_t *json, const char *expected) {
    return json_is_string(json) && strcmp(json_string_value(json), expected) == 0;
}

static bool names_audience(const json_t *audience, const char *expected) {
    if (expected == NULL) {
        return audience == NULL;
    }
    if (is_text(audience, expected)) {
        return true;
    }
    for (size_t i = 0; i < json_array_size(audience); i++) {
        if (is_text(json_array_get(audience, i), expected)) {
            return true;
        }
    }
    return false;
}

static dunlin_status claims_check(const json_t *claims, const struct dln_jwt_rules *rules,
                                  int64_t now_ms, struct dln_claims *out, dunlin_error *err) {
    const json_t *subject = json_object_get(claims, "sub");
    struct dln_text user = {json_string_value(subject), json_string_length(subject)};
    dunlin_status status;

    if ((status = times_check(claims, now_ms, out, err))) {
        return status;
    }
    if (!names_audience(json_object_get(claims, "aud"), rules->audience)) {
        return no(err, "the token is meant for another audience");
    }
    if (rules->issuer != NULL && !is_text(json_object_get(claims, "iss"), rules->issuer)) {
        return no(err, "the token is another issuer's");
    }
    if (user.data == NULL || dln_check_id(user, "sub", NULL)) {
        return no(err, "the token's subject is no user");
    }
    memcpy(out->user, user.data, user.len);
    out->user[user.len] = '\0';
    return DUNLIN_OK;
}

static dunlin_status signature_check(cjose_jws_t **out, const cjose_jwk_t *key,
                                     struct dln_text token, dunlin_error *err) {
    cjose_err why;

    *out = cjose_jws_import(token.data, token.len, &why);
    if (*out == NULL) {
        return no(err, "the token cannot be read");
    }
    return cjose_jws_verify(*out, key, &why) ? DUNLIN_OK
                                             : no(err, "the token's signature is wrong");
}

dunlin_status dln_jwt_check(const struct dln_keys *keys, const struct dln_jwt_rules *rules,
                            struct dln_text token, int64_t now_ms, struct dln_claims *out,
                            dunlin_error *err) {
    const cjose_jwk_t *key = NULL;
    cjose_jws_t *jws = NULL;
    json_t *claims = NULL;
    uint8_t *payload; /* the jws's */
    dunlin_status status;
    size_t len;
    cjose_err why;

    if (!is_token(token)) {
        return no(err, "the token cannot be read");
    }
    if ((status = header_read(&key, keys, token, err)) ||
        (status = signature_check(&jws, key, token, err))) {
        goto done;
    }
    if (!cjose_jws_get_plaintext(jws, &payload, &len, &why)) {
        status = no(err, "the token cannot be read");
    } else if ((status = object_read(&claims, payload, len, err)) == DUNLIN_OK) {
        status = claims_check(claims, rules, now_ms, out, err);
    }
done:
    json_decref(claims);
    cjose_jws_release(jws);
    return status;
}

static void payload_make(struct dln_buf *out, const struct dln_jwt_rules *rules, const char *user,
                         int64_t now_s, int64_t ttl_seconds) {
    dln_buf_append_text(out, "{\"sub\":");
    dln_json_string(out, dln_text_of(user));
    dln_buf_printf(out, ",\"iat\":%" PRId64 ",\"exp\":%" PRId64, now_s, now_s + ttl_seconds);
    if (rules->audience != NULL) {
        dln_put_text(out, "aud", dln_text_of(rules->audience));
    }
    if (rules->issuer != NULL) {
        dln_put_text(out, "iss", dln_text_of(rules->issuer));
    }
    dln_buf_append_byte(out, '}');
}

static bool sign(struct dln_buf *out, const cjose_jwk_t *key, const struct dln_buf *payload) {
    cjose_err why;
    cjose_header_t *header = cjose_header_new(&why);
    cjose_jws_t *jws = NULL;
    const char *token = NULL;

    if (header != NULL && cjose_header_set(header, "alg", "HS256", &why) &&
        cjose_header_set(header, "typ", "JWT", &why)) {
        jws = cjose_jws_sign(key, header, (const uint8_t *)payload->data, payload->len, &why);
    }
    bool good = jws != NULL && cjose_jws_export(jws, &token, &why);
    if (good) {
        dln_buf_append_text(out, token);
    }
    cjose_jws_release(jws);
    cjose_header_release(header);
    return good;
}

dunlin_status dln_jwt_make(struct dln_buf *out, const struct dln_keys *keys,
                           const struct dln_jwt_rules *rules, const char *user, int64_t now_ms,
                           int64_t ttl_seconds, dunlin_error *err) {
    struct dln_buf payload = DLN_BUF_INIT(DLN_TOKEN_MAX);
    const cjose_jwk_t *key = dln_keys_find(keys, DLN_HS256, (struct dln_text){NULL, 0});
    dunlin_status status;

    if ((status = dln_check_id(dln_text_of(user), "user", err))) {
        return status;
    }
    payload_make(&payload, rules, user, now_ms / 1000, ttl_seconds);
    if ((status = dln_buf_status(&payload, err)) == DUNLIN_OK &&
        (key == NULL || !sign(out, key, &payload))) {
        status =
            dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_API, "the token cannot be signed");
    }
    dln_buf_free(&payload);
    return status != DUNLIN_OK ? status : dln_buf_status(out, err);
}
