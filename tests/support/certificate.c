#include "tests/support/certificate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>

#include <cmocka.h>

enum { DAY_S = 24 * 60 * 60, DIGEST_BYTES = 32 };

#define GOOD(call) assert_int_equal((call), GNUTLS_E_SUCCESS)

static void make_key(struct certificate *out) {
    if (!out->key) {
        GOOD(gnutls_x509_privkey_init(&out->key));
        GOOD(gnutls_x509_privkey_generate(out->key, GNUTLS_PK_ECDSA,
                                          GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0));
    }
}

static void begin(struct certificate *out, const char *name, time_t from, time_t until) {
    unsigned char serial[8] = {1};
    make_key(out);
    if (out->crt) {
        gnutls_x509_crt_deinit(out->crt);
    }
    GOOD(gnutls_rnd(GNUTLS_RND_NONCE, serial + 1, sizeof(serial) - 1));
    GOOD(gnutls_x509_crt_init(&out->crt));
    GOOD(gnutls_x509_crt_set_version(out->crt, 3));
    GOOD(gnutls_x509_crt_set_serial(out->crt, serial, sizeof(serial)));
    GOOD(gnutls_x509_crt_set_dn_by_oid(out->crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                       (unsigned)strlen(name)));
    GOOD(gnutls_x509_crt_set_activation_time(out->crt, from));
    GOOD(gnutls_x509_crt_set_expiration_time(out->crt, until));
    GOOD(gnutls_x509_crt_set_key(out->crt, out->key));
}

void certificate_authority(struct certificate *out, const char *name) {
    *out = (struct certificate){0};
    begin(out, name, time(NULL) - DAY_S, time(NULL) + 30 * DAY_S);
    GOOD(gnutls_x509_crt_set_basic_constraints(out->crt, 1, -1));
    GOOD(gnutls_x509_crt_set_key_usage(out->crt, GNUTLS_KEY_KEY_CERT_SIGN));
    GOOD(gnutls_x509_crt_sign2(out->crt, out->crt, out->key, GNUTLS_DIG_SHA256, 0));
}

void certificate_issue(struct certificate *out, const struct certificate *authority,
                       const unsigned char address[4], time_t from, time_t until) {
    begin(out, "a bridge", from, until);
    GOOD(gnutls_x509_crt_set_basic_constraints(out->crt, 0, -1));
    GOOD(gnutls_x509_crt_set_subject_alt_name(out->crt, GNUTLS_SAN_IPADDRESS, address, 4,
                                              GNUTLS_FSAN_SET));
    GOOD(gnutls_x509_crt_set_key_usage(out->crt, GNUTLS_KEY_DIGITAL_SIGNATURE));
    GOOD(gnutls_x509_crt_sign2(out->crt, authority->crt, authority->key, GNUTLS_DIG_SHA256, 0));
}

void certificate_free(struct certificate *certificate) {
    if (certificate->crt) {
        gnutls_x509_crt_deinit(certificate->crt);
    }
    if (certificate->key) {
        gnutls_x509_privkey_deinit(certificate->key);
    }
    *certificate = (struct certificate){0};
}

void certificate_write(const struct certificate *certificate, const char *path) {
    gnutls_datum_t pem = {NULL, 0};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    GOOD(gnutls_x509_crt_export2(certificate->crt, GNUTLS_X509_FMT_PEM, &pem));
    assert_int_equal(fwrite(pem.data, 1, pem.size, file), pem.size);
    assert_int_equal(fclose(file), 0);
    gnutls_free(pem.data);
}

void certificate_pin(const struct certificate *certificate, char *out, size_t size) {
    unsigned char digest[DIGEST_BYTES];
    gnutls_pubkey_t key = NULL;
    gnutls_datum_t der = {NULL, 0}, base64 = {NULL, 0};
    gnutls_datum_t raw = {digest, sizeof(digest)};
    GOOD(gnutls_pubkey_init(&key));
    GOOD(gnutls_pubkey_import_x509(key, certificate->crt, 0));
    GOOD(gnutls_pubkey_export2(key, GNUTLS_X509_FMT_DER, &der));
    GOOD(gnutls_hash_fast(GNUTLS_DIG_SHA256, der.data, der.size, digest));
    GOOD(gnutls_base64_encode2(&raw, &base64));
    assert_true((size_t)snprintf(out, size, "sha256//%.*s", (int)base64.size, base64.data) < size);
    gnutls_free(der.data);
    gnutls_free(base64.data);
    gnutls_pubkey_deinit(key);
}
