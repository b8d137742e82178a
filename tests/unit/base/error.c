#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/error.h"

static void every_status_has_a_name_and_a_text(void **state) {
    (void)state;
#define CHECK(symbol, value, text)                                                                 \
    assert_int_equal(DUNLIN_##symbol, value);                                                      \
    assert_string_equal(dunlin_status_name(DUNLIN_##symbol), #symbol);                             \
    assert_string_equal(dunlin_status_text(DUNLIN_##symbol), text);
    DUNLIN_STATUSES(CHECK)
#undef CHECK
    assert_string_equal(dunlin_status_name((dunlin_status)-9999), "UNKNOWN");
    assert_non_null(dunlin_status_text((dunlin_status)-9999));
}

static void a_name_gives_its_status(void **state) {
    (void)state;
#define CHECK(symbol, value, text)                                                                 \
    assert_int_equal(dln_status_by_name(#symbol, sizeof(#symbol) - 1), value);
    DUNLIN_STATUSES(CHECK)
#undef CHECK
    assert_int_equal(dln_status_by_name("TOO_LONGER", 10), DUNLIN_OK);
    assert_int_equal(dln_status_by_name("TOO_LONGER", 8), DUNLIN_TOO_LONG);
    assert_int_equal(dln_status_by_name("TOO_LON", 7), DUNLIN_OK);
    assert_int_equal(dln_status_by_name("", 0), DUNLIN_OK);
    assert_int_equal(dln_status_by_name(NULL, 0), DUNLIN_OK);
}

static void only_the_retryable_class_is_retryable(void **state) {
    (void)state;
    assert_true(dunlin_status_is_retryable(DUNLIN_BUSY));
    assert_true(dunlin_status_is_retryable(DUNLIN_INTERRUPTED));
    assert_true(dunlin_status_is_retryable((dunlin_status)-199));
    assert_false(dunlin_status_is_retryable(DUNLIN_OK));
    assert_false(dunlin_status_is_retryable((dunlin_status)-99));
    assert_false(dunlin_status_is_retryable(DUNLIN_NOT_A_STORE));
    assert_false(dunlin_status_is_retryable(DUNLIN_CORRUPT));
}

static void fail_fills_and_returns(void **state) {
    (void)state;
    dunlin_error err;
    memset(&err, 0x5a, sizeof(err));
    assert_int_equal(dln_fail(&err, DUNLIN_IO, DUNLIN_DOMAIN_STORE, "cannot read %s", "x.db"),
                     DUNLIN_IO);
    assert_int_equal(err.code, DUNLIN_IO);
    assert_int_equal(err.domain, DUNLIN_DOMAIN_STORE);
    assert_string_equal(err.message, "cannot read x.db");
    assert_int_equal(dln_fail(NULL, DUNLIN_IO, DUNLIN_DOMAIN_STORE, "nobody asks"), DUNLIN_IO);
}

static void a_message_is_one_line(void **state) {
    (void)state;
    dunlin_error err;
    (void)dln_fail(&err, DUNLIN_IO, DUNLIN_DOMAIN_API, "no list \"%s\"", "a\nb\x7f\tc");
    assert_string_equal(err.message, "no list \"a?b??c\"");
}

/* However far a character of any size reaches over the end, the message ends before it. */
static void a_long_message_is_cut_between_characters(void **state) {
    (void)state;
    static const char *const characters[] = {"x", "\xc3\xa9", "\xe6\x97\xa5", "\xf0\x9f\x98\x80"};
    const size_t room = sizeof(((dunlin_error *)0)->message) - 1;
    for (size_t c = 0; c < 4; c++) {
        const size_t size = strlen(characters[c]);
        for (size_t before = 0; before < 4; before++) {
            char text[600] = "";
            memset(text, '.', before);
            for (size_t len = before; len + size < sizeof(text); len += size) {
                memcpy(text + len, characters[c], size + 1);
            }
            dunlin_error err;
            (void)dln_fail(&err, DUNLIN_IO, DUNLIN_DOMAIN_API, "%s", text);
            size_t whole = before + (room - before) / size * size;
            assert_int_equal(strlen(err.message), whole);
            assert_memory_equal(err.message, text, whole);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_and_a_text),
        cmocka_unit_test(a_name_gives_its_status),
        cmocka_unit_test(only_the_retryable_class_is_retryable),
        cmocka_unit_test(fail_fills_and_returns),
        cmocka_unit_test(a_message_is_one_line),
        cmocka_unit_test(a_long_message_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
