/* A request's body as the bridge gets it, packed or not, all the way through central. Whatever it
 * is, there is an answer or a named error, and the same body again changes nothing. */
#include "bridge/gzip.h"
#include "central/exchange.h"
#include "tests/fuzz/fuzz.h"

enum { BODY_MAX = 1 << 20 };

static int64_t fixed_now(void *self) {
    (void)self;
    return INT64_C(1767225600000);
}

static void fixed_random(void *self, void *out, size_t len) {
    static unsigned char next;
    (void)self;
    for (size_t i = 0; i < len; i++) {
        ((unsigned char *)out)[i] = next++;
    }
}

static dunlin_central *open_central(void) {
    static const dunlin_ports ports = {NULL, fixed_now, fixed_random};
    dunlin_central_options options = DUNLIN_CENTRAL_OPTIONS_INIT;
    dunlin_central *central = NULL;
    options.ports = &ports;
    HOLDS(dunlin_central_open(&central, "sqlite::memory:", &options, NULL) == DUNLIN_OK);
    return central;
}

static int64_t last_of(dunlin_central *central, const char *scope) {
    struct dln_cursor last = {0};
    HOLDS(central->engine.last(central->engine.self, dln_text_of(scope), &last, NULL) == DUNLIN_OK);
    return last.seq;
}

static void exchange_twice(dunlin_central *central, const char *kind, struct dln_text body) {
    struct dln_buf answer = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    const struct dln_text user = DLN_TEXT("aoi");
    dunlin_error err;
    dunlin_status first = dln_exchange_body(central, user, kind, body, &answer, &err);
    HOLDS(first == DUNLIN_OK || err.code == first);
    HOLDS(last_of(central, "user/ben") == 0); /* nobody writes to another's scope */
    int64_t last = last_of(central, "user/aoi");
    dln_buf_clear(&answer);
    HOLDS(dln_exchange_body(central, user, kind, body, &answer, &err) == first);
    HOLDS(last_of(central, "user/aoi") == last);
    dln_buf_free(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct dln_text body = {(const char *)data, size};
    struct dln_buf unpacked = DLN_BUF_INIT(BODY_MAX);
    if (size > 1 && data[0] == 0x1f && data[1] == 0x8b) {
        if (dln_gzip_unpack(&unpacked, body, NULL) != DUNLIN_OK) {
            dln_buf_free(&unpacked);
            return 0;
        }
        body = (struct dln_text){unpacked.data, unpacked.len};
    }
    dunlin_central *central = open_central();
    exchange_twice(central, "sync", body);
    exchange_twice(central, "verify", body);
    dunlin_central_close(central);
    dln_buf_free(&unpacked);
    return 0;
}
