/* Tokens made and checked here; those that others make: tests/bridge/authentication.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/jwt.h"

static const int64_t now_ms = INT64_C(1700000000000);
static const char secret[] = "0123456789abcdef0123456789abcdef";
static const struct dln_jwt_rules anybody = {NULL, NULL};

static void with_secret(struct dln_keys *keys, const char *text) {
    assert_int_equal(dln_keys_secret(keys, dln_text_of(text), NULL), DUNLIN_OK);
}

static dunlin_status check(const struct dln_keys *keys, const struct dln_jwt_rules *rules,
                           const struct dln_buf *token, int64_t at_ms, struct dln_claims *out) {
    return dln_jwt_check(keys, rules, (struct dln_text){token->data, token->len}, at_ms, out, NULL);
}

static void make(struct dln_buf *out, const struct dln_keys *keys,
                 const struct dln_jwt_rules *rules, const char *user) {
    *out = DLN_BUF_INIT(DLN_TOKEN_MAX);
    assert_int_equal(dln_jwt_make(out, keys, rules, user, now_ms, 600, NULL), DUNLIN_OK);
}

static void times_have_a_leeway(void **state) {
    struct dln_keys keys;
    struct dln_buf token;
    struct dln_claims claims;
    (void)state;
    with_secret(&keys, secret);
    make(&token, &keys, &anybody, "alice");
    assert_int_equal(check(&keys, &anybody, &token, now_ms, &claims), DUNLIN_OK);
    assert_string_equal(claims.user, "alice");
    assert_int_equal(claims.until_ms, now_ms + 660 * 1000);
    assert_int_equal(check(&keys, &anybody, &token, now_ms + 659999, &claims), DUNLIN_OK);
    assert_int_equal(check(&keys, &anybody, &token, now_ms + 660000, &claims), DUNLIN_NEED_LOGIN);
    dln_buf_free(&token);
    dln_keys_free(&keys);
}

static void every_bit_counts(void **state) {
    struct dln_keys keys;
    struct dln_buf token;
    struct dln_claims claims;
    (void)state;
    with_secret(&keys, secret);
    make(&token, &keys, &anybody, "alice");
    for (size_t i = 0; i + 1 < token.len; i++) { /* the last one holds bits that say nothing */
        char kept = token.data[i];
        token.data[i] = kept == 'A' ? 'B' : 'A';
        assert_int_equal(check(&keys, &anybody, &token, now_ms, &claims), DUNLIN_NEED_LOGIN);
        token.data[i] = kept;
    }
    for (size_t len = 0; len < token.len; len++) {
        struct dln_text cut = {token.data, len};
        assert_int_equal(dln_jwt_check(&keys, &anybody, cut, now_ms, &claims, NULL),
                         DUNLIN_NEED_LOGIN);
    }
    dln_buf_free(&token);
    dln_keys_free(&keys);
}

static void audience_and_issuer(void **state) {
    const struct dln_jwt_rules ours = {"app", "us"}, others = {"app2", "us"},
                               strangers = {"app", "them"};
    struct dln_keys keys;
    struct dln_buf token;
    struct dln_claims claims;
    (void)state;
    with_secret(&keys, secret);
    make(&token, &keys, &ours, "見\"逃\\し");
    assert_int_equal(check(&keys, &ours, &token, now_ms, &claims), DUNLIN_OK);
    assert_string_equal(claims.user, "見\"逃\\し");
    assert_int_equal(check(&keys, &others, &token, now_ms, &claims), DUNLIN_NEED_LOGIN);
    assert_int_equal(check(&keys, &strangers, &token, now_ms, &claims), DUNLIN_NEED_LOGIN);
    assert_int_equal(check(&keys, &anybody, &token, now_ms, &claims), DUNLIN_NEED_LOGIN);
    dln_buf_free(&token);
    make(&token, &keys, &anybody, "alice");
    assert_int_equal(check(&keys, &ours, &token, now_ms, &claims), DUNLIN_NEED_LOGIN);
    dln_buf_free(&token);
    dln_keys_free(&keys);
}

static void illegal_users_get_none(void **state) {
    struct dln_keys keys;
    struct dln_buf token = DLN_BUF_INIT(DLN_TOKEN_MAX);
    (void)state;
    with_secret(&keys, secret);
    assert_int_equal(dln_jwt_make(&token, &keys, &anybody, "", now_ms, 1, NULL), DUNLIN_INVALID_ID);
    assert_int_equal(dln_jwt_make(&token, &keys, &anybody, "\xff", now_ms, 1, NULL),
                     DUNLIN_INVALID_TEXT);
    dln_buf_free(&token);
    dln_keys_free(&keys);
}

static void secrets_have_a_length(void **state) {
    static char longest[DLN_SECRET_MAX + 2];
    struct dln_keys keys;
    (void)state;
    memset(longest, 'x', DLN_SECRET_MAX + 1);
    assert_int_equal(dln_keys_secret(&keys, (struct dln_text){secret, 31}, NULL), DUNLIN_MISUSE);
    assert_int_equal(dln_keys_secret(&keys, (struct dln_text){longest, DLN_SECRET_MAX + 1}, NULL),
                     DUNLIN_MISUSE);
    assert_int_equal(dln_keys_secret(&keys, (struct dln_text){longest, DLN_SECRET_MAX}, NULL),
                     DUNLIN_OK);
    assert_non_null(dln_keys_find(&keys, DLN_HS256, DLN_TEXT("any")));
    assert_null(dln_keys_find(&keys, DLN_RS256, DLN_TEXT("any")));
    dln_keys_free(&keys);
}

#define EC(kid)                                                                                    \
    "{\"kty\":\"EC\",\"crv\":\"P-256\"" kid                                                        \
    ",\"x\":\"axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY\""                                       \
    ",\"y\":\"T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU\"}"

static void sets(void **state) {
    static const char *const none[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"keys\":{}}",
        "{\"keys\":[]}",
        "{\"keys\":[1,null,{}]}",
        "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\"}]}",
        "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",
        "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-384\"}]}"};
    struct dln_keys keys;
    (void)state;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        assert_int_equal(dln_keys_set(&keys, dln_text_of(none[i]), NULL), DUNLIN_MISUSE);
        assert_int_equal(keys.count, 0);
    }
    assert_int_equal(dln_keys_set(&keys, DLN_TEXT("{\"keys\":[" EC("") "]}"), NULL), DUNLIN_OK);
    assert_non_null(dln_keys_find(&keys, DLN_ES256, (struct dln_text){NULL, 0}));
    assert_null(dln_keys_find(&keys, DLN_ES256, DLN_TEXT("a")));
    assert_null(dln_keys_find(&keys, DLN_HS256, (struct dln_text){NULL, 0}));
    dln_keys_free(&keys);
    assert_int_equal(dln_keys_set(&keys,
                                  DLN_TEXT("{\"keys\":[" EC(",\"kid\":\"a\"") "," EC(
                                      ",\"kid\":\"b\"") "," EC(",\"use\":\"enc\"") "]}"),
                                  NULL),
                     DUNLIN_OK);
    assert_int_equal(keys.count, 2);
    assert_non_null(dln_keys_find(&keys, DLN_ES256, DLN_TEXT("b")));
    assert_null(dln_keys_find(&keys, DLN_ES256, DLN_TEXT("c")));
    assert_null(dln_keys_find(&keys, DLN_HS256, DLN_TEXT("b"))); /* whatever a header says */
    assert_null(dln_keys_find(&keys, DLN_RS256, DLN_TEXT("b")));
    assert_null(dln_keys_find(&keys, DLN_ES256, (struct dln_text){NULL, 0})); /* which of two? */
    dln_keys_free(&keys);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_a_leeway),   cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(audience_and_issuer),   cmocka_unit_test(illegal_users_get_none),
        cmocka_unit_test(secrets_have_a_length), cmocka_unit_test(sets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
