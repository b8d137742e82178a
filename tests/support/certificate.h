/* Certificates made for one test. */
#ifndef DLN_TESTS_CERTIFICATE_H
#define DLN_TESTS_CERTIFICATE_H

#include <stdint.h>
#include <time.h>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

/* A key, and what vouches for it. */
struct certificate {
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t crt;
};

/* An authority, valid today. */
void certificate_authority(struct certificate *out, const char *name);
/* A server's: for that IPv4 address, issued by that authority, valid between these moments. The key
 * of `out` is kept where it has one. */
void certificate_issue(struct certificate *out, const struct certificate *authority,
                       const unsigned char address[4], time_t from, time_t until);
void certificate_free(struct certificate *certificate);
/* Writes the certificate as PEM. */
void certificate_write(const struct certificate *certificate, const char *path);
/* "sha256//BASE64" of the public key. */
void certificate_pin(const struct certificate *certificate, char *out, size_t size);

#endif
