/* A token as it comes in a header. None of them is good: the clock stands behind each one's end. */
#include "bridge/jwt.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct dln_jwt_rules rules = {NULL, NULL};
    static struct dln_keys keys;
    struct dln_claims claims;
    if (keys.count == 0) {
        HOLDS(dln_keys_secret(&keys, DLN_TEXT("0123456789abcdef0123456789abcdef"), NULL) ==
              DUNLIN_OK);
    }
    struct dln_text token = {(const char *)data, size};
    HOLDS(dln_jwt_check(&keys, &rules, token, INT64_MAX / 4, &claims, NULL) != DUNLIN_OK);
    return 0;
}
