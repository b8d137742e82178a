#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "tests/support/random.h"

static void comparing_is_by_bytes_and_the_shorter_prefix_first(void **state) {
    (void)state;
    assert_int_equal(dln_text_compare(DLN_TEXT("a"), DLN_TEXT("b")), -1);
    assert_int_equal(dln_text_compare(DLN_TEXT("ab"), DLN_TEXT("a")), 1);
    assert_int_equal(dln_text_compare(DLN_TEXT("\x7f"), DLN_TEXT("\xc3\xa9")), -1);
    assert_int_equal(dln_text_compare(DLN_TEXT(""), dln_text_of(NULL)), 0);
    assert_true(dln_text_equal(DLN_TEXT("ab"), dln_text_of("ab")));
    assert_false(dln_text_equal(DLN_TEXT("ab"), DLN_TEXT("a")));
    assert_false(dln_text_equal(DLN_TEXT("ab"), DLN_TEXT("ac")));
    assert_null(dln_text_of(NULL).data);
    assert_int_equal(dln_text_of("abc").len, 3);
}

/* Encodes any number up to 21 bits in a form of `size` bytes, legal or not. */
static void write_utf8(unsigned char *out, uint32_t number, int size) {
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = size - 1; i > 0; i--) {
        out[i] = (unsigned char)(0x80 | (number & 0x3f));
        number >>= 6;
    }
    out[0] = (unsigned char)(size == 1 ? number : leads[size] | number);
}

/* Every number in every form that can hold it: only the shortest form of a scalar value is legal.
 */
static void utf8_takes_each_scalar_value_in_its_shortest_form_only(void **state) {
    (void)state;
    static const uint32_t limits[] = {0, 0x80, 0x800, 0x10000, 0x200000};
    for (int size = 1; size <= 4; size++) {
        for (uint32_t number = 0; number < limits[size]; number++) {
            unsigned char bytes[4];
            write_utf8(bytes, number, size);
            bool legal = number != 0 && number >= limits[size - 1] && number <= 0x10ffff &&
                         (number < 0xd800 || number > 0xdfff);
            if (dln_text_is_utf8((struct dln_text){(char *)bytes, (size_t)size}) != legal) {
                fail_msg("U+%X in %d bytes", number, size);
            }
        }
    }
}

static void utf8_refuses_what_is_cut_or_stray(void **state) {
    (void)state;
    assert_true(dln_text_is_utf8((struct dln_text){NULL, 0}));
    assert_true(dln_text_is_utf8(DLN_TEXT("a\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80z")));
    assert_false(dln_text_is_utf8(DLN_TEXT("a\xc3")));
    assert_false(dln_text_is_utf8(DLN_TEXT("\xe6\x97")));
    assert_false(dln_text_is_utf8(DLN_TEXT("\xf0\x9f\x98")));
    for (size_t len = 1; len < 4; len++) { /* the rest of the character stands behind the end */
        assert_false(dln_text_is_utf8((struct dln_text){"\xf0\x9f\x98\x80", len}));
    }
    assert_false(dln_text_is_utf8(DLN_TEXT("\xc3z")));
    assert_false(dln_text_is_utf8(DLN_TEXT("\xe6z\xa5")));
    assert_false(dln_text_is_utf8(DLN_TEXT("\xf0\x9f\x98z")));
    assert_false(dln_text_is_utf8(DLN_TEXT("\xa9")));
    assert_false(dln_text_is_utf8(DLN_TEXT("a\0b")));
    for (int lead = 0xf5; lead <= 0xff; lead++) {
        const char bytes[4] = {(char)lead, '\x80', '\x80', '\x80'};
        assert_false(dln_text_is_utf8((struct dln_text){bytes, 4}));
    }
}

static void ids_are_checked(void **state) {
    (void)state;
    char longest[DLN_ID_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    dunlin_error err;
    assert_int_equal(dln_check_id(DLN_TEXT("alice"), "user", NULL), DUNLIN_OK);
    assert_int_equal(dln_check_id(DLN_TEXT("\x01 /#%"), "user", NULL), DUNLIN_OK);
    assert_int_equal(dln_check_id(DLN_TEXT("!"), "user", NULL), DUNLIN_OK);
    assert_int_equal(dln_check_id((struct dln_text){longest, DLN_ID_MAX}, "user", NULL), DUNLIN_OK);
    assert_int_equal(dln_check_id((struct dln_text){longest, DLN_ID_MAX + 1}, "user", &err),
                     DUNLIN_TOO_LONG);
    assert_string_equal(err.message, "user is longer than 256 bytes");
    assert_int_equal(dln_check_id(DLN_TEXT(""), "user", &err), DUNLIN_INVALID_ID);
    assert_int_equal(dln_check_id(dln_text_of(NULL), "user", NULL), DUNLIN_INVALID_ID);
    assert_int_equal(dln_check_id(DLN_TEXT("a\xff"), "user", NULL), DUNLIN_INVALID_TEXT);
    assert_int_equal(dln_check_id(DLN_TEXT("a\0"), "user", NULL), DUNLIN_INVALID_TEXT);
}

static void an_exclamation_mark_is_no_group(void **state) {
    (void)state;
    assert_int_equal(dln_check_group_id(DLN_TEXT("!"), NULL), DUNLIN_INVALID_ID);
    assert_int_equal(dln_check_group_id(DLN_TEXT("!!"), NULL), DUNLIN_OK);
    assert_int_equal(dln_check_group_id(DLN_TEXT(""), NULL), DUNLIN_INVALID_ID);
    assert_int_equal(dln_check_group_id(DLN_TEXT("\xc0\x80"), NULL), DUNLIN_INVALID_TEXT);
}

static void texts_are_checked(void **state) {
    (void)state;
    assert_int_equal(dln_check_text(DLN_TEXT(""), 3, "name", NULL), DUNLIN_OK);
    assert_int_equal(dln_check_text(DLN_TEXT("abc"), 3, "name", NULL), DUNLIN_OK);
    assert_int_equal(dln_check_text(DLN_TEXT("abcd"), 3, "name", NULL), DUNLIN_TOO_LONG);
    assert_int_equal(dln_check_text(DLN_TEXT("\xed\xa0\x80"), 3, "name", NULL),
                     DUNLIN_INVALID_TEXT);
}

static void assert_encodes(struct dln_text plain, const char *encoded) {
    struct dln_buf buf = DLN_BUF_INIT(1000);
    dln_percent_encode(&buf, plain);
    dln_buf_append(&buf, "", 0);
    assert_string_equal(buf.data, encoded);
    dln_buf_clear(&buf);
    assert_true(dln_percent_decode(&buf, dln_text_of(encoded)));
    assert_int_equal(buf.len, plain.len);
    assert_memory_equal(buf.data, plain.data, plain.len);
    dln_buf_free(&buf);
}

static void escaping_is_of_the_special_bytes_only(void **state) {
    (void)state;
    assert_encodes(DLN_TEXT(""), "");
    assert_encodes(DLN_TEXT("plain !\"$&'()*+,-.:;<=>?@[\\]^_`{|}~"),
                   "plain !\"$&'()*+,-.:;<=>?@[\\]^_`{|}~");
    assert_encodes(DLN_TEXT("a/b#c%d"), "a%2Fb%23c%25d");
    assert_encodes(DLN_TEXT("//"), "%2F%2F");
    assert_encodes(DLN_TEXT("\x01\x1f\x7f\n"), "%01%1F%7F%0A");
    assert_encodes(DLN_TEXT("\0"), "%00");
    assert_encodes(DLN_TEXT("caf\xc3\xa9"), "caf\xc3\xa9");
}

static bool decodes(struct dln_text encoded) {
    struct dln_buf buf = DLN_BUF_INIT(1000);
    bool ok = dln_percent_decode(&buf, encoded);
    dln_buf_free(&buf);
    return ok;
}

static void decoding_takes_one_form_only(void **state) {
    (void)state;
    static const char *const wrong[] = {"%",   "%2",   "a%2",  "%2f", "%41", "%20",   "%G0",
                                        "%0g", "% 1",  "%%25", "/",   "a#b", "\n",    "\x7f",
                                        "%-1", "%2F/", "%80",  "%ff", "%FF", "%2\x80"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (decodes(dln_text_of(wrong[i]))) {
            fail_msg("\"%s\" was decoded", wrong[i]);
        }
    }
    assert_false(decodes(DLN_TEXT("a\0b")));
    assert_false(decodes(DLN_TEXT("%2\0")));
    assert_false(decodes(DLN_TEXT("%\0"
                                  "1")));
}

/* What decodes encodes to the same again: no two texts stand for one. */
static void every_text_has_one_encoding(void **state) {
    (void)state;
    static const char alphabet[] = "%%%/#0257Ff\x01\x7f"; /* where trouble is likely */
    struct test_random random = {42};
    struct dln_buf decoded = DLN_BUF_INIT(100);
    struct dln_buf encoded = DLN_BUF_INIT(100);
    int taken = 0;
    for (int round = 0; round < 200000; round++) {
        char bytes[6];
        struct dln_text text = {bytes, test_random_below(&random, sizeof(bytes) + 1)};
        for (size_t i = 0; i < text.len; i++) {
            bytes[i] = alphabet[test_random_below(&random, sizeof(alphabet) - 1)];
        }
        dln_buf_clear(&decoded);
        dln_buf_clear(&encoded);
        if (!dln_percent_decode(&decoded, text)) {
            continue;
        }
        taken++;
        dln_percent_encode(&encoded, (struct dln_text){decoded.data, decoded.len});
        assert_true(dln_text_equal((struct dln_text){encoded.data, encoded.len}, text));
    }
    assert_true(taken > 1000);
    dln_buf_free(&decoded);
    dln_buf_free(&encoded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparing_is_by_bytes_and_the_shorter_prefix_first),
        cmocka_unit_test(utf8_takes_each_scalar_value_in_its_shortest_form_only),
        cmocka_unit_test(utf8_refuses_what_is_cut_or_stray),
        cmocka_unit_test(ids_are_checked),
        cmocka_unit_test(an_exclamation_mark_is_no_group),
        cmocka_unit_test(texts_are_checked),
        cmocka_unit_test(escaping_is_of_the_special_bytes_only),
        cmocka_unit_test(decoding_takes_one_form_only),
        cmocka_unit_test(every_text_has_one_encoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
