#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"

static void appends_are_joined_and_ended_by_a_zero(void **state) {
    (void)state;
    struct dln_buf buf = DLN_BUF_INIT(1000);
    dln_buf_append(&buf, "a\0b", 3);
    dln_buf_append_text(&buf, "cd");
    dln_buf_append_byte(&buf, '!');
    dln_buf_append_u64_be(&buf, UINT64_C(0x0102030405060708));
    dln_buf_printf(&buf, "%d-%s", -7, "x");
    static const char expected[] = "a\0bcd!\x01\x02\x03\x04\x05\x06\x07\x08-7-x";
    assert_int_equal(buf.len, sizeof(expected) - 1);
    assert_memory_equal(buf.data, expected, sizeof(expected));
    assert_int_equal(dln_buf_status(&buf, NULL), DUNLIN_OK);
    dln_buf_free(&buf);
}

static void an_empty_append_makes_an_empty_text(void **state) {
    (void)state;
    struct dln_buf buf = DLN_BUF_INIT(0);
    assert_null(buf.data);
    dln_buf_append(&buf, NULL, 0);
    assert_int_equal(buf.status, DUNLIN_OK);
    assert_string_equal(buf.data, "");
    dln_buf_free(&buf);
    assert_null(buf.data);
}

static void growth_keeps_the_contents(void **state) {
    (void)state;
    struct dln_buf buf = DLN_BUF_INIT(100000);
    for (size_t i = 0; i < 100000; i++) {
        dln_buf_append_byte(&buf, (char)('a' + i % 26));
        assert_int_equal(buf.data[buf.len], '\0');
        assert_true(buf.size <= buf.max + 1);
    }
    assert_int_equal(buf.len, 100000);
    for (size_t i = 0; i < buf.len; i++) {
        assert_int_equal(buf.data[i], 'a' + i % 26);
    }
    assert_int_equal(dln_buf_status(&buf, NULL), DUNLIN_OK);
    dln_buf_free(&buf);
}

static void the_ceiling_is_kept_to_the_byte_and_failure_sticks(void **state) {
    (void)state;
    struct dln_buf buf = DLN_BUF_INIT(10);
    dln_buf_append_text(&buf, "0123456789");
    assert_int_equal(buf.status, DUNLIN_OK);
    dln_buf_append(&buf, NULL, 0);
    assert_int_equal(buf.status, DUNLIN_OK);
    dln_buf_append_byte(&buf, 'x');
    assert_int_equal(buf.status, DUNLIN_TOO_LARGE);
    assert_string_equal(buf.data, "0123456789");

    dunlin_error err;
    assert_int_equal(dln_buf_status(&buf, &err), DUNLIN_TOO_LARGE);
    assert_int_equal(err.code, DUNLIN_TOO_LARGE);
    assert_string_equal(err.message, dunlin_status_text(DUNLIN_TOO_LARGE));

    dln_buf_clear(&buf);
    assert_int_equal(buf.status, DUNLIN_OK);
    assert_string_equal(buf.data, "");
    dln_buf_append_text(&buf, "0123456789x"); /* too long as a whole: nothing of it is taken */
    dln_buf_append_text(&buf, "y");
    assert_int_equal(buf.len, 0);
    assert_int_equal(buf.status, DUNLIN_TOO_LARGE);

    dln_buf_free(&buf);
    assert_int_equal(buf.status, DUNLIN_OK);
    assert_int_equal(buf.max, 10);
    dln_buf_printf(&buf, "%s", "0123456789");
    assert_string_equal(buf.data, "0123456789");
    dln_buf_printf(&buf, "%s", "x");
    assert_int_equal(buf.status, DUNLIN_TOO_LARGE);
    assert_string_equal(buf.data, "0123456789");
    dln_buf_free(&buf);
}

static void sizes_that_would_overflow_are_too_large(void **state) {
    (void)state;
    struct dln_buf buf = DLN_BUF_INIT(SIZE_MAX);
    dln_buf_append_text(&buf, "abc");
    dln_buf_append(&buf, "", SIZE_MAX);
    assert_int_equal(buf.status, DUNLIN_TOO_LARGE);
    dln_buf_clear(&buf);
    dln_buf_append_text(&buf, "abc");
    dln_buf_append(&buf, "", SIZE_MAX - 3);
    assert_int_equal(buf.status, DUNLIN_TOO_LARGE);
    assert_string_equal(buf.data, "abc");
    dln_buf_free(&buf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_are_joined_and_ended_by_a_zero),
        cmocka_unit_test(an_empty_append_makes_an_empty_text),
        cmocka_unit_test(growth_keeps_the_contents),
        cmocka_unit_test(the_ceiling_is_kept_to_the_byte_and_failure_sticks),
        cmocka_unit_test(sizes_that_would_overflow_are_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
