/* Loading keys, and choosing one. */
#include "bridge/keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sync/lines.h"

static dunlin_status wrong(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "%s", what);
}

static dunlin_status no_memory(dunlin_error *err) {
    return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_API, "out of memory");
}

dunlin_status dln_keys_secret(struct dln_keys *out, struct dln_text secret, dunlin_error *err) {
    cjose_err why;

    *out = (struct dln_keys){.count = 0};
    if (secret.len < DLN_SECRET_MIN || secret.len > DLN_SECRET_MAX) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API,
                        "a secret has %d to %d bytes, not %zu", DLN_SECRET_MIN, DLN_SECRET_MAX,
                        secret.len);
    }
    out->keys[0].algorithm = DLN_HS256;
    out->keys[0].jwk = cjose_jwk_create_oct_spec((const uint8_t *)secret.data, secret.len, &why);
    if (out->keys[0].jwk == NULL) {
        return no_memory(err);
    }
    out->count = 1;
    return DUNLIN_OK;
}

static bool has_text(const json_t *json, const char *name, const char *expected) {
    const char *found = json_string_value(json_object_get(json, name));

    return found != NULL && strcmp(found, expected) == 0;
}

/* Members that narrow a key's use narrow it here too. */
static bool is_for(const json_t *json, const char *type, const char *algorithm) {
    return has_text(json, "kty", type) &&
           (json_object_get(json, "use") == NULL || has_text(json, "use", "sig")) &&
           (json_object_get(json, "alg") == NULL || has_text(json, "alg", algorithm));
}

static bool algorithm_of(const json_t *json, enum dln_algorithm *out) {
    if (is_for(json, "RSA", "RS256")) {
        *out = DLN_RS256;
        return true;
    }
    *out = DLN_ES256;
    return is_for(json, "EC", "ES256") && has_text(json, "crv", "P-256");
}

static bool is_strong(const struct dln_signing_key *key) {
    cjose_err why;

    return key->algorithm != DLN_RS256 || cjose_jwk_get_keysize(key->jwk, &why) >= DLN_RSA_BITS_MIN;
}

static void key_free(struct dln_signing_key *key) {
    if (key->jwk != NULL) {
        (void)cjose_jwk_release(key->jwk);
    }
    free(key->id);
    *key = (struct dln_signing_key){.jwk = NULL};
}

static dunlin_status key_add(struct dln_keys *out, const json_t *json, dunlin_error *err) {
    struct dln_signing_key key = {.jwk = NULL};
    const char *id = json_string_value(json_object_get(json, "kid"));
    cjose_err why;
    char *text;

    if (!algorithm_of(json, &key.algorithm)) {
        return DUNLIN_OK;
    }
    if (out->count == DLN_KEYS_MAX) {
        return wrong(err, "a key set holds too many keys");
    }
    text = json_dumps(json, JSON_COMPACT);
    key.id = id != NULL ? strdup(id) : NULL;
    if (text == NULL || (id != NULL && key.id == NULL)) {
        free(text);
        free(key.id);
        return no_memory(err);
    }
    key.jwk = cjose_jwk_import(text, strlen(text), &why);
    free(text);
    if (key.jwk == NULL || !is_strong(&key)) {
        key_free(&key);
        return DUNLIN_OK;
    }
    out->keys[out->count++] = key;
    return DUNLIN_OK;
}

dunlin_status dln_keys_set(struct dln_keys *out, struct dln_text text, dunlin_error *err) {
    dunlin_status status;
    json_t *json = NULL;
    const json_t *keys;

    *out = (struct dln_keys){.count = 0};
    status = dln_json_parse(&json, text, 0, err);
    keys = json_object_get(json, "keys");
    if (status != DUNLIN_OK || !json_is_array(keys)) {
        status = wrong(err, "a key set is no JSON object with an array \"keys\"");
        goto done;
    }
    for (size_t i = 0; status == DUNLIN_OK && i < json_array_size(keys); i++) {
        status = key_add(out, json_array_get(keys, i), err);
    }
    if (status == DUNLIN_OK && out->count == 0) {
        status = wrong(err, "a key set holds no key for RS256 (2,048 bits or more) or ES256");
    }
done:
    json_decref(json);
    if (status != DUNLIN_OK) {
        dln_keys_free(out);
    }
    return status;
}

dunlin_status dln_file_read(struct dln_buf *out, const char *path, dunlin_error *err) {
    char piece[4096];
    FILE *file = fopen(path, "rb");
    size_t got;

    if (file == NULL) {
        return dln_fail(err, DUNLIN_IO, DUNLIN_DOMAIN_API, "%.150s: %.60s", path, strerror(errno));
    }
    while ((got = fread(piece, 1, sizeof(piece), file)) > 0) {
        dln_buf_append(out, piece, got);
    }
    bool good = ferror(file) == 0;
    (void)fclose(file);
    if (out->status == DUNLIN_TOO_LARGE) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "%.150s: is too large", path);
    }
    if (!good) {
        return dln_fail(err, DUNLIN_IO, DUNLIN_DOMAIN_API, "%.150s: cannot be read", path);
    }
    return dln_buf_status(out, err);
}

dunlin_status dln_keys_secret_file(struct dln_keys *out, const char *path, dunlin_error *err) {
    struct dln_buf bytes = DLN_BUF_INIT(DLN_SECRET_MAX + 1);
    dunlin_status status = dln_file_read(&bytes, path, err);

    if (status == DUNLIN_OK) {
        size_t len = bytes.len;
        len -= len > 0 && bytes.data[len - 1] == '\n';
        status = dln_keys_secret(out, (struct dln_text){bytes.data, len}, err);
    }
    dln_buf_free(&bytes);
    return status;
}

dunlin_status dln_keys_set_file(struct dln_keys *out, const char *path, dunlin_error *err) {
    struct dln_buf bytes = DLN_BUF_INIT(DLN_KEYS_FILE_MAX);
    dunlin_status status = dln_file_read(&bytes, path, err);

    if (status == DUNLIN_OK) {
        status = dln_keys_set(
            out, (struct dln_text){bytes.data != NULL ? bytes.data : "", bytes.len}, err);
    }
    dln_buf_free(&bytes);
    return status;
}

void dln_keys_free(struct dln_keys *keys) {
    for (size_t i = 0; i < keys->count; i++) {
        key_free(&keys->keys[i]);
    }
    keys->count = 0;
}

const cjose_jwk_t *dln_keys_find(const struct dln_keys *keys, enum dln_algorithm algorithm,
                                 struct dln_text id) {
    const cjose_jwk_t *only = NULL;
    size_t fitting = 0;

    for (size_t i = 0; i < keys->count; i++) {
        const struct dln_signing_key *key = &keys->keys[i];
        if (key->algorithm != algorithm) {
            continue;
        }
        if (id.data != NULL && key->id != NULL && dln_text_equal(id, dln_text_of(key->id))) {
            return key->jwk;
        }
        if (algorithm == DLN_HS256 || id.data == NULL) {
            only = key->jwk;
            fitting++;
        }
    }
    return fitting == 1 ? only : NULL;
}
