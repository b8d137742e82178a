#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/fold.h"
#include "store/search_text.h"

typedef void (*transformation)(struct dln_buf *out, struct dln_text text);

static void assert_gives(transformation transform, const char *text, const char *expected) {
    struct dln_buf out = DLN_BUF_INIT(1 << 16);
    transform(&out, dln_text_of(text));
    assert_int_equal(out.status, DUNLIN_OK);
    assert_string_equal(out.data ? out.data : "", expected);
    dln_buf_free(&out);
}

static void composing_is_canonical(void **state) {
    (void)state;
    assert_gives(dln_nfc, "", "");
    assert_gives(dln_nfc, "Abc", "Abc");
    assert_gives(dln_nfc, "e\xcc\x81", "\xc3\xa9");
    assert_gives(dln_nfc, "\xe3\x83\x92\xe3\x82\x99", "\xe3\x83\x93");
    assert_gives(dln_nfc, "\xef\xbd\xb6\xef\xbe\x9e", "\xef\xbd\xb6\xef\xbe\x9e"); /* half-width */
    assert_gives(dln_nfc, "\xe2\x84\xab", "\xc3\x85"); /* the angstrom sign is the letter */
}

static void folding_forgets_case(void **state) {
    (void)state;
    assert_gives(dln_fold, "ABC xyz [Z]", "abc xyz [z]");
    assert_gives(dln_fold, "E\xcc\x81", "\xc3\xa9");
    assert_gives(dln_fold, "\xc3\x89", "\xc3\xa9");
    assert_gives(dln_fold, "\xc3\x9f", "ss");
    assert_gives(dln_fold, "\xce\xa3\xcf\x82", "\xcf\x83\xcf\x83"); /* the final sigma too */
    assert_gives(dln_fold, "\xff\x41", "\xff\x41");                 /* damage stays as it is */
}

static void strings_are_taken_from_json(void **state) {
    (void)state;
    static const struct {
        const char *json, *texts;
    } cases[] = {{"", ""},
                 {"1.5", ""},
                 {"\"a b\"", "\na b"},
                 {"{\"name\" : \"x\", \"y\"\n:[\"z\", 1, null, \"\"]}", "\nx\nz\n"},
                 {"\"\\\"\\\\\\/\\b\\n\\u0041\"", "\n\"\\/  A"},
                 {"\"\\u5922\"", "\n\xe5\xa4\xa2"},
                 {"\"\\ud83d\\uDE00\"", "\n\xf0\x9f\x98\x80"},
                 {"\"\\ud83d x\"", "\n x"},
                 {"\"\\ude00\"", "\n"},
                 {"\"\\u0000a\"", "\na"},
                 /* nothing that the parser would have let in, but files can be damaged */
                 {"\"open", "\nopen"},
                 {"\"\\", "\n"},
                 {"\"\\u12", "\n12"},
                 {"\"\\ud83d\\u12\"", "\n12"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_gives(dln_json_texts, cases[i].json, cases[i].texts);
    }
}

static void pairs_are_neighbours(void **state) {
    (void)state;
    assert_gives(dln_search_pairs, "", "");
    assert_gives(dln_search_pairs, " \n", "");
    assert_gives(dln_search_pairs, "a", " a");
    assert_gives(dln_search_pairs, "tea", " te ea a");
    assert_gives(dln_search_pairs, "a bc\n", " a bc c");
    assert_gives(dln_search_pairs, "\xe6\x98\xa0\xe7\x94\xbb\xe3\x80\x80x",
                 " \xe6\x98\xa0\xe7\x94\xbb \xe7\x94\xbb x");
    assert_gives(dln_search_quote, "a\"", "\"a\"\"\"");
}

static void a_full_buffer_is_told(void **state) {
    (void)state;
    static const transformation all[] = {dln_nfc, dln_fold, dln_json_texts, dln_search_pairs};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct dln_buf out = DLN_BUF_INIT(3);
        all[i](&out, DLN_TEXT("\"\xc3\xa9 long text\""));
        assert_int_equal(out.status, DUNLIN_TOO_LARGE);
        dln_buf_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composing_is_canonical),      cmocka_unit_test(folding_forgets_case),
        cmocka_unit_test(strings_are_taken_from_json), cmocka_unit_test(pairs_are_neighbours),
        cmocka_unit_test(a_full_buffer_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
