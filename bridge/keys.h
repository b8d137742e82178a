/* Keys that tokens are checked with: one secret, or a JSON Web Key Set (RFC 7517). Each key is good
 * for one algorithm only, by its type, whatever a token says. */
#ifndef DLN_BRIDGE_KEYS_H
#define DLN_BRIDGE_KEYS_H

#include <cjose/cjose.h>

#include "base/buf.h"
#include "base/text.h"

enum {
    DLN_SECRET_MIN = 32, /* bytes: as many as HS256 gives */
    DLN_SECRET_MAX = 4096,
    DLN_KEYS_MAX = 64, /* of one set */
    DLN_KEYS_FILE_MAX = 256 * 1024,
    DLN_RSA_BITS_MIN = 2048
};

enum dln_algorithm { DLN_HS256, DLN_RS256, DLN_ES256, DLN_ALGORITHM_COUNT };

struct dln_signing_key {
    enum dln_algorithm algorithm;
    cjose_jwk_t *jwk;
    char *id; /* "kid"; NULL: none */
};

/* Zeroed: no keys. */
struct dln_keys {
    struct dln_signing_key keys[DLN_KEYS_MAX];
    size_t count;
};

/* One key of HS256 without an id. MISUSE where it is too short or too long, OUT_OF_MEMORY. */
DUNLIN_MUST_USE dunlin_status dln_keys_secret(struct dln_keys *out, struct dln_text secret,
                                              dunlin_error *err);
/* The usable keys of a set: RSA of 2,048 bits or more, and EC on P-256, that are for signatures.
 * Others are passed over; with none left it is MISUSE, and so is what is no set. */
DUNLIN_MUST_USE dunlin_status dln_keys_set(struct dln_keys *out, struct dln_text json,
                                           dunlin_error *err);
/* Reads such a file; the secret's without one newline at its end. IO, and the above. */
DUNLIN_MUST_USE dunlin_status dln_keys_secret_file(struct dln_keys *out, const char *path,
                                                   dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_keys_set_file(struct dln_keys *out, const char *path,
                                                dunlin_error *err);
/* A whole file, up to out's ceiling: IO, MISUSE where it is larger, OUT_OF_MEMORY. */
DUNLIN_MUST_USE dunlin_status dln_file_read(struct dln_buf *out, const char *path,
                                            dunlin_error *err);
void dln_keys_free(struct dln_keys *keys);

/* The key for a token of that algorithm. With an id (no text: none) that of it; without, the only
 * one of the algorithm. A secret has no id and serves any. NULL: there is none. */
const cjose_jwk_t *dln_keys_find(const struct dln_keys *keys, enum dln_algorithm algorithm,
                                 struct dln_text id);

#endif
