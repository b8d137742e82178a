#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sync/json.h"
#include "sync/lines.h"
#include "tests/support/locale.h"
#include "tests/support/random.h"
#include "tests/support/temp.h"

static void assert_written(struct dln_value value, const char *expected) {
    struct dln_buf buf = DLN_BUF_INIT(1000);
    dln_json_value(&buf, &value);
    assert_int_equal(buf.status, DUNLIN_OK);
    assert_string_equal(buf.data, expected);
    dln_buf_free(&buf);
}

static void values_have_one_form(void **state) {
    (void)state;
    assert_written(dln_value_null(), "null");
    assert_written(dln_value_bool(true), "true");
    assert_written(dln_value_bool(false), "false");
    assert_written(dln_value_integer(0), "{\"i\":\"0\"}");
    assert_written(dln_value_integer(-7), "{\"i\":\"-7\"}");
    assert_written(dln_value_integer(INT64_MIN), "{\"i\":\"-9223372036854775808\"}");
    assert_written(dln_value_integer(INT64_MAX), "{\"i\":\"9223372036854775807\"}");
    assert_written(dln_value_real(1.5), "{\"r\":1.5}");
    assert_written(dln_value_real(0.1), "{\"r\":0.1}");
    assert_written(dln_value_real(1.0), "{\"r\":1.0}");
    assert_written(dln_value_real(-0.0), "{\"r\":0.0}");
    assert_written(dln_value_real(1e22), "{\"r\":1e+22}");
    assert_written(dln_value_real(0.1 + 0.2), "{\"r\":0.30000000000000004}");
    struct dln_value negative_zero = {.type = DLN_REAL, .as.real = -0.0};
    assert_written(negative_zero, "{\"r\":0.0}");
    assert_written(dln_value_string(DLN_TEXT("")), "\"\"");
    assert_written(dln_value_json(DLN_TEXT("{\"a\": 1.50,\n2}")),
                   "{\"j\":\"{\\\"a\\\": 1.50,\\n2}\"}");
}

static void strings_escape_only_what_must_be(void **state) {
    (void)state;
    assert_written(dln_value_string(DLN_TEXT("\"\\/\b\f\n\r\t")), "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
    assert_written(dln_value_string(DLN_TEXT("\x01\x1f\x7f")), "\"\\u0001\\u001f\x7f\"");
    assert_written(dln_value_string(DLN_TEXT("\xf0\x9f\x91\xa9\xef\xbf\xbf")),
                   "\"\xf0\x9f\x91\xa9\xef\xbf\xbf\"");
}

static void assert_read_back(const struct dln_value *value) {
    struct dln_buf buf = DLN_BUF_INIT(100000);
    struct dln_value read;
    json_t *json = NULL;
    dln_json_value(&buf, value);
    assert_int_equal(dln_json_parse(&json, (struct dln_text){buf.data, buf.len}, 0, NULL), 0);
    assert_int_equal(dln_value_read(&read, json, NULL), DUNLIN_OK);
    assert_true(dln_value_equal(&read, value));
    json_decref(json);
    dln_buf_free(&buf);
}

static void every_value_reads_back(void **state) {
    (void)state;
    struct test_random random = {3};
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = test_random_next(&random);
        struct dln_value value = dln_value_integer((int64_t)bits);
        assert_read_back(&value);
        double real;
        memcpy(&real, &bits, sizeof(real));
        if (isfinite(real)) {
            value = dln_value_real(real);
            assert_read_back(&value);
        }
    }
    const double corners[] = {0.0, DBL_MAX, -DBL_MAX, DBL_MIN, DBL_TRUE_MIN, 1e15, 1e17, 1.0 / 3};
    for (size_t i = 0; i < sizeof(corners) / sizeof(corners[0]); i++) {
        struct dln_value value = dln_value_real(corners[i]);
        assert_read_back(&value);
    }
}

static void unknown_forms_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *json;
        dunlin_status status;
    } cases[] = {
        {"1", DUNLIN_INVALID_VALUE},
        {"1.5", DUNLIN_INVALID_VALUE},
        {"[]", DUNLIN_INVALID_VALUE},
        {"{}", DUNLIN_INVALID_VALUE},
        {"{\"i\":1}", DUNLIN_INVALID_VALUE},
        {"{\"i\":\"\"}", DUNLIN_INVALID_VALUE},
        {"{\"i\":\"-\"}", DUNLIN_INVALID_VALUE},
        {"{\"i\":\"-0\"}", DUNLIN_INVALID_VALUE},
        {"{\"i\":\"01\"}", DUNLIN_INVALID_VALUE},
        {"{\"i\":\"+1\"}", DUNLIN_INVALID_VALUE},
        {"{\"i\":\" 1\"}", DUNLIN_INVALID_VALUE},
        {"{\"i\":\"1e3\"}", DUNLIN_INVALID_VALUE},
        {"{\"i\":\"9223372036854775808\"}", DUNLIN_INVALID_VALUE},
        {"{\"i\":\"-9223372036854775809\"}", DUNLIN_INVALID_VALUE},
        {"{\"i\":\"99999999999999999999\"}", DUNLIN_INVALID_VALUE},
        {"{\"i\":\"1\",\"x\":1}", DUNLIN_INVALID_VALUE},
        {"{\"x\":\"1\"}", DUNLIN_INVALID_VALUE},
        {"{\"r\":\"1.5\"}", DUNLIN_INVALID_VALUE},
        {"{\"j\":{}}", DUNLIN_INVALID_VALUE},
        {"{\"j\":\"{\"}", DUNLIN_INVALID_JSON},
        {"{\"j\":\"\"}", DUNLIN_INVALID_JSON},
        {"{\"r\":3}", DUNLIN_OK},
        {"{\"j\":\"1\"}", DUNLIN_OK},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct dln_value value;
        json_t *json = NULL;
        assert_int_equal(dln_json_parse(&json, dln_text_of(cases[i].json), 0, NULL), 0);
        if (dln_value_read(&value, json, NULL) != cases[i].status) {
            fail_msg("%s is not judged as %s", cases[i].json, dunlin_status_name(cases[i].status));
        }
        json_decref(json);
    }
}

static void app_json_is_checked(void **state) {
    (void)state;
    static const struct {
        const char *json;
        dunlin_status status;
    } cases[] = {
        {"{\"a\":1,\"b\":2}", DUNLIN_OK},
        {" [1.50, \"x\\u00e9\\ud83d\\udc69\", null] \n", DUNLIN_OK},
        {"7", DUNLIN_OK},
        {"123456789012345678901234567890", DUNLIN_OK},
        {"-0.0e-400", DUNLIN_OK},
        {"", DUNLIN_INVALID_JSON},
        {"{", DUNLIN_INVALID_JSON},
        {"{\"a\":1}}", DUNLIN_INVALID_JSON},
        {"[1,]", DUNLIN_INVALID_JSON},
        {"nul", DUNLIN_INVALID_JSON},
        {"NaN", DUNLIN_INVALID_JSON},
        {"'a'", DUNLIN_INVALID_JSON},
        {"{\"a\":1,\"a\":2}", DUNLIN_INVALID_JSON},
        {"{\"a\":1,\"\\u0061\":2}", DUNLIN_INVALID_JSON},
        {"\"\\ud83d\"", DUNLIN_INVALID_JSON},
        {"\"\\u0000\"", DUNLIN_INVALID_TEXT},
        {"{\"a\\u0000b\":1}", DUNLIN_INVALID_TEXT},
        {"\"\xed\xa0\x80\"", DUNLIN_INVALID_TEXT},
        {"\"\xc0\x80\"", DUNLIN_INVALID_TEXT},
        {"\"\xf0\x9f\x91\"", DUNLIN_INVALID_TEXT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        dunlin_error err = {0};
        dunlin_status status = dln_check_json(dln_text_of(cases[i].json), &err);
        if (status != cases[i].status || err.code != status) {
            fail_msg("%s is judged as %s", cases[i].json, dunlin_status_name(status));
        }
    }
}

static void app_json_has_ceilings(void **state) {
    (void)state;
    char text[DLN_DATA_MAX + 3];
    memset(text, 'a', sizeof(text));
    text[0] = text[DLN_DATA_MAX - 1] = '"';
    assert_int_equal(dln_check_json((struct dln_text){text, DLN_DATA_MAX}, NULL), DUNLIN_OK);
    text[DLN_DATA_MAX - 1] = 'a';
    text[DLN_DATA_MAX] = '"';
    assert_int_equal(dln_check_json((struct dln_text){text, DLN_DATA_MAX + 1}, NULL),
                     DUNLIN_TOO_LONG);

    memset(text, '[', DLN_JSON_DEPTH_MAX);
    memset(text + DLN_JSON_DEPTH_MAX, ']', DLN_JSON_DEPTH_MAX);
    assert_int_equal(dln_check_json((struct dln_text){text, 2 * DLN_JSON_DEPTH_MAX}, NULL),
                     DUNLIN_OK);
    memset(text, '[', DLN_JSON_DEPTH_MAX + 1);
    memset(text + DLN_JSON_DEPTH_MAX + 1, ']', DLN_JSON_DEPTH_MAX + 1);
    assert_int_equal(dln_check_json((struct dln_text){text, 2 * (DLN_JSON_DEPTH_MAX + 1)}, NULL),
                     DUNLIN_INVALID_JSON);
    memset(text, '[', DLN_DATA_MAX);
    assert_int_equal(dln_check_json((struct dln_text){text, DLN_DATA_MAX}, NULL),
                     DUNLIN_INVALID_JSON);
    /* Brackets in strings are none. */
    memset(text, '[', 200);
    text[0] = text[199] = '"';
    text[100] = '\\';
    text[101] = '"';
    assert_int_equal(dln_check_json((struct dln_text){text, 200}, NULL), DUNLIN_OK);
}

/* B47: 1.5 goes out as 1.5 and comes back, and {"a":1,"b":2} has two members, where the host's
 * decimal point is a comma (German) or several bytes (Pashto). */
static void a_host_locale_changes_nothing(const char *decimal_point) {
    char *folder = temp_new();
    if (!test_locale_set(folder, decimal_point)) {
        temp_remove(folder);
        skip();
    }
    char digits[16];
    (void)snprintf(digits, sizeof(digits), "%.1f", 1.5);
    assert_string_not_equal(digits, "1.5"); /* the host's own numbers */

    assert_written(dln_value_real(1.5), "{\"r\":1.5}");
    assert_written(dln_value_real(1e22), "{\"r\":1e+22}");
    assert_written(dln_value_integer(-1234567), "{\"i\":\"-1234567\"}");
    struct dln_value real = dln_value_real(-0.30000000000000004);
    assert_read_back(&real);
    assert_int_equal(dln_check_json(DLN_TEXT("[1.5,-2.5e-3,{\"a\":1,\"b\":2}]"), NULL), DUNLIN_OK);
    assert_int_equal(dln_check_json(DLN_TEXT("[1,5.]"), NULL), DUNLIN_INVALID_JSON);
    json_t *json = NULL;
    assert_int_equal(dln_json_parse(&json, DLN_TEXT("{\"a\":1,\"b\":2}"), 0, NULL), DUNLIN_OK);
    assert_int_equal(json_object_size(json), 2);
    json_decref(json);

    (void)snprintf(digits, sizeof(digits), "%.1f", 1.5);
    assert_string_not_equal(digits, "1.5"); /* and they are still that */
    assert_non_null(setlocale(LC_NUMERIC, "C"));
    temp_remove(folder);
}

static void B47_a_comma_locale(void **state) {
    (void)state;
    a_host_locale_changes_nothing("<U002C>");
}

static void B47_a_locale_with_a_long_decimal_point(void **state) {
    (void)state;
    a_host_locale_changes_nothing("<U066B>");
}

static void fields_stand_in_order_of_their_names(void **state) {
    (void)state;
    struct dln_extra extras[] = {{DLN_TEXT("aa"), {3, dln_value_null()}},
                                 {DLN_TEXT("na"), {0, dln_value_null()}},
                                 {DLN_TEXT("zz"), {4, dln_value_bool(true)}}};
    struct dln_record record = {
        .key = {.collection = dln_collection_by_id(DLN_LIST)}, .extras = extras, .extra_count = 3};
    struct dln_buf buf = DLN_BUF_INIT(1000);
    dln_json_fields(&buf, &record);
    assert_string_equal(buf.data, "{\"aa\":[\"3\",null],\"zz\":[\"4\",true]}");
    record.fields[DLN_LIST_NAME] = (struct dln_field){1, dln_value_string(DLN_TEXT("n"))};
    record.fields[DLN_LIST_DELETED] = (struct dln_field){DLN_STAMP_MAX, dln_value_bool(false)};
    dln_buf_clear(&buf);
    dln_json_fields(&buf, &record);
    assert_string_equal(buf.data,
                        "{\"aa\":[\"3\",null],\"deleted\":[\"9223372036854775807\",false],"
                        "\"name\":[\"1\",\"n\"],\"zz\":[\"4\",true]}");
    dln_buf_clear(&buf);
    dln_json_fields(&buf, &(struct dln_record){.extra_count = 0});
    assert_string_equal(buf.data, "{}");
    dln_buf_free(&buf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_one_form),
        cmocka_unit_test(strings_escape_only_what_must_be),
        cmocka_unit_test(every_value_reads_back),
        cmocka_unit_test(unknown_forms_are_refused),
        cmocka_unit_test(app_json_is_checked),
        cmocka_unit_test(app_json_has_ceilings),
        cmocka_unit_test(B47_a_comma_locale),
        cmocka_unit_test(B47_a_locale_with_a_long_decimal_point),
        cmocka_unit_test(fields_stand_in_order_of_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
