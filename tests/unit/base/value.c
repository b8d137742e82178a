#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/value.h"
#include "tests/support/random.h"

static struct dln_text encode(struct dln_buf *buf, const struct dln_value *value) {
    dln_buf_clear(buf);
    dln_value_encode(buf, value);
    assert_int_equal(buf->status, DUNLIN_OK);
    return (struct dln_text){buf->data, buf->len};
}

static void assert_encoding(struct dln_value value, struct dln_text expected) {
    struct dln_buf buf = DLN_BUF_INIT(100);
    struct dln_text bytes = encode(&buf, &value);
    assert_int_equal(bytes.len, expected.len);
    assert_memory_equal(bytes.data, expected.data, expected.len);
    dln_buf_free(&buf);
}

/* These bytes stand in hashes and break ties between devices of all versions. */
static void the_encoding_is_fixed(void **state) {
    (void)state;
    assert_encoding(dln_value_null(), DLN_TEXT("\0"));
    assert_encoding(dln_value_bool(false), DLN_TEXT("\x01"));
    assert_encoding(dln_value_bool(true), DLN_TEXT("\x02"));
    assert_encoding(dln_value_integer(0), DLN_TEXT("\x03\x80\0\0\0\0\0\0\0"));
    assert_encoding(dln_value_integer(258), DLN_TEXT("\x03\x80\0\0\0\0\0\x01\x02"));
    assert_encoding(dln_value_integer(-1), DLN_TEXT("\x03\x7f\xff\xff\xff\xff\xff\xff\xff"));
    assert_encoding(dln_value_integer(INT64_MIN), DLN_TEXT("\x03\0\0\0\0\0\0\0\0"));
    assert_encoding(dln_value_integer(INT64_MAX), DLN_TEXT("\x03\xff\xff\xff\xff\xff\xff\xff\xff"));
    assert_encoding(dln_value_real(0.0), DLN_TEXT("\x04\x80\0\0\0\0\0\0\0"));
    assert_encoding(dln_value_real(-0.0), DLN_TEXT("\x04\x80\0\0\0\0\0\0\0"));
    assert_encoding(dln_value_real(1.0), DLN_TEXT("\x04\xbf\xf0\0\0\0\0\0\0"));
    assert_encoding(dln_value_real(-1.0), DLN_TEXT("\x04\x40\x0f\xff\xff\xff\xff\xff\xff"));
    assert_encoding(dln_value_string(DLN_TEXT("ab")), DLN_TEXT("\x05"
                                                               "ab"));
    assert_encoding(dln_value_string(DLN_TEXT("")), DLN_TEXT("\x05"));
    assert_encoding(dln_value_json(DLN_TEXT("{ }")), DLN_TEXT("\x06{ }"));
    struct dln_value negative_zero = {.type = DLN_REAL, .as.real = -0.0};
    assert_encoding(negative_zero, DLN_TEXT("\x04\x80\0\0\0\0\0\0\0"));
}

static void no_text_gives_null(void **state) {
    (void)state;
    assert_int_equal(dln_value_string(dln_text_of(NULL)).type, DLN_NULL);
    assert_int_equal(dln_value_json(dln_text_of(NULL)).type, DLN_NULL);
}

static void malformed_bytes_are_refused(void **state) {
    (void)state;
    static const struct dln_text wrong[] = {
        {"", 0},
        {"\0\0", 2},
        {"\x01\0", 2},
        {"\x02\x02", 2},
        {"\x03", 1},
        {"\x03\x80\0\0\0\0\0\0", 8},
        {"\x03\x80\0\0\0\0\0\0\0\0", 10},
        {"\x04\x80\0\0\0\0\0\0", 8},
        {"\x04\x80\0\0\0\0\0\0\0\0", 10},
        {"\x04\x7f\xff\xff\xff\xff\xff\xff\xff", 9}, /* -0.0 */
        {"\x04\xff\xf8\0\0\0\0\0\0", 9},             /* NaN */
        {"\x04\xff\xff\xff\xff\xff\xff\xff\xff", 9}, /* NaN */
        {"\x04\0\0\0\0\0\0\0\0", 9},                 /* NaN with a sign */
        {"\x05\xff", 2},
        {"\x05"
         "a\0",
         3},
        {"\x06\xc0\x80", 3},
        {"\x07", 1},
        {"\xff", 1},
    };
    struct dln_value value;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (dln_value_decode(&value, wrong[i])) {
            fail_msg("encoding %zu was read", i);
        }
    }
    assert_false(dln_value_decode(&value, dln_text_of(NULL)));
}

static int64_t random_integer(struct test_random *random) {
    static const int64_t special[] = {
        0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1, 255, 256, -256};
    if (test_random_below(random, 2) == 0) {
        return special[test_random_below(random, 10)];
    }
    return (int64_t)(test_random_next(random) >> test_random_below(random, 64));
}

static double random_real(struct test_random *random) {
    static const double special[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     DBL_MIN,
                                     -DBL_MIN,
                                     DBL_MAX,
                                     -DBL_MAX,
                                     (double)INFINITY,
                                     (double)-INFINITY,
                                     4.9406564584124654e-324,
                                     -4.9406564584124654e-324,
                                     2.2250738585072009e-308,
                                     0.1,
                                     1e300};
    if (test_random_below(random, 2) == 0) {
        return special[test_random_below(random, sizeof(special) / sizeof(special[0]))];
    }
    double real;
    do {
        uint64_t bits = test_random_next(random);
        memcpy(&real, &bits, sizeof(real));
    } while (real != real);
    return real;
}

static struct dln_text random_text(struct test_random *random, char bytes[16]) {
    static const char *const pieces[] = {"a", "b", "\x01", "\x7f", "\xc3\xa9", "\xf0\x9f\x98\x80"};
    size_t len = 0;
    for (uint64_t i = test_random_below(random, 4); i > 0; i--) {
        const char *piece = pieces[test_random_below(random, 6)];
        memcpy(bytes + len, piece, strlen(piece));
        len += strlen(piece);
    }
    bytes[len] = '\0';
    return dln_text_of(bytes);
}

static struct dln_value random_value(struct test_random *random, char bytes[16]) {
    switch (test_random_below(random, 6)) {
    case 0:
        return dln_value_null();
    case 1:
        return dln_value_bool(test_random_below(random, 2) == 1);
    case 2:
        return dln_value_integer(random_integer(random));
    case 3:
        return (struct dln_value){.type = DLN_REAL, .as.real = random_real(random)};
    case 4:
        return dln_value_string(random_text(random, bytes));
    default:
        return dln_value_json(random_text(random, bytes));
    }
}

static void assert_round_trip(const struct dln_value *value, struct dln_text bytes) {
    struct dln_value decoded;
    assert_true(dln_value_decode(&decoded, bytes));
    assert_int_equal(decoded.type, value->type);
    assert_true(dln_value_equal(&decoded, value));
}

static void comparing_is_memcmp_of_the_encodings(void **state) {
    (void)state;
    struct test_random random = {7};
    struct dln_buf a_buf = DLN_BUF_INIT(100);
    struct dln_buf b_buf = DLN_BUF_INIT(100);
    for (int round = 0; round < 300000; round++) {
        char a_text[16];
        char b_text[16];
        struct dln_value a = random_value(&random, a_text);
        struct dln_value b = random_value(&random, b_text);
        struct dln_text a_bytes = encode(&a_buf, &a);
        struct dln_text b_bytes = encode(&b_buf, &b);
        int expected = dln_text_compare(a_bytes, b_bytes);
        if (dln_value_compare(&a, &b) != expected || dln_value_compare(&b, &a) != -expected) {
            fail_msg("round %d: types %d and %d", round, a.type, b.type);
        }
        assert_int_equal(dln_value_equal(&a, &b), expected == 0);
        assert_round_trip(&a, a_bytes);
    }
    dln_buf_free(&a_buf);
    dln_buf_free(&b_buf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_encoding_is_fixed),
        cmocka_unit_test(no_text_gives_null),
        cmocka_unit_test(malformed_bytes_are_refused),
        cmocka_unit_test(comparing_is_memcmp_of_the_encodings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
