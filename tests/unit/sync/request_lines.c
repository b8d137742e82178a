#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/messages.h"
#include "tests/support/records.h"
/* What becomes of single records of a request that cannot be read. */

#define ALICE "{\"scope\":\"user/alice\","
#define FOLLOW ALICE "\"collection\":\"follow\",\"key\":[\"user\",\"x\"],"
#define ITEM ALICE "\"collection\":\"item\",\"key\":[\"l\",\"t\",\"i\"],"
#define OTHER ALICE "\"collection\":\"other\",\"key\":[],"
#define PRESENT "\"fields\":{\"present\":[\"1\",true]}}"

static const struct {
    const char *line;
    dunlin_status code;
} bad_lines[] = {
    {"", DUNLIN_INVALID_JSON},
    {"{", DUNLIN_INVALID_JSON},
    {"<html>", DUNLIN_INVALID_JSON},
    {"[]", DUNLIN_BAD_MESSAGE},
    {"null", DUNLIN_BAD_MESSAGE},
    {"{}", DUNLIN_BAD_MESSAGE},
    {"{\"collection\":\"follow\",\"key\":[\"user\",\"x\"]," PRESENT, DUNLIN_BAD_MESSAGE},
    {"{\"scope\":\"user/bob\",\"collection\":\"follow\",\"key\":[\"user\",\"x\"]," PRESENT,
     DUNLIN_BAD_MESSAGE},
    {ALICE "\"collection\":\"\",\"key\":[]," PRESENT, DUNLIN_BAD_MESSAGE},
    {ALICE "\"collection\":7,\"key\":[]," PRESENT, DUNLIN_BAD_MESSAGE},
    {ALICE "\"collection\":\"group\",\"key\":[],\"fields\":{\"name\":[\"1\",\"n\"]}}",
     DUNLIN_INVALID_VALUE},
    {ALICE "\"collection\":\"follow\",\"key\":[\"user\"]," PRESENT, DUNLIN_BAD_MESSAGE},
    {ALICE "\"collection\":\"follow\",\"key\":[\"user\",7]," PRESENT, DUNLIN_BAD_MESSAGE},
    {ALICE "\"collection\":\"follow\",\"key\":{}," PRESENT, DUNLIN_BAD_MESSAGE},
    {ALICE "\"collection\":\"follow\",\"key\":[\"user\",\"\"]," PRESENT, DUNLIN_INVALID_ID},
    {ALICE "\"collection\":\"follow\",\"key\":[\"cat\",\"x\"]," PRESENT, DUNLIN_INVALID_VALUE},
    {ALICE "\"collection\":\"follow\",\"key\":[\"group\",\"!\"]," PRESENT, DUNLIN_INVALID_ID},
    {ALICE "\"collection\":\"follow\",\"key\":[\"user\",\"\\ud83d\"]," PRESENT,
     DUNLIN_INVALID_JSON},
    {ALICE "\"collection\":\"follow\",\"key\":[\"user\",\"a\\u0000\"]," PRESENT,
     DUNLIN_INVALID_TEXT},
    {ALICE "\"collection\":\"follow\",\"key\":[\"user\",\"\xed\xa0\x80\"]," PRESENT,
     DUNLIN_INVALID_JSON},
    {ALICE "\"collection\":\"other\",\"key\":[\"a\",\"b\",\"c\",\"d\"]," PRESENT,
     DUNLIN_BAD_MESSAGE},
    {FOLLOW "\"fields\":{}}", DUNLIN_BAD_MESSAGE},
    {FOLLOW "\"fields\":[]}", DUNLIN_BAD_MESSAGE},
    {ALICE "\"collection\":\"follow\",\"key\":[\"user\",\"x\"]}", DUNLIN_BAD_MESSAGE},
    {FOLLOW "\"fields\":{\"present\":true}}", DUNLIN_BAD_MESSAGE},
    {FOLLOW "\"fields\":{\"present\":[\"1\"]}}", DUNLIN_BAD_MESSAGE},
    {FOLLOW "\"fields\":{\"present\":[\"1\",true,0]}}", DUNLIN_BAD_MESSAGE},
    {FOLLOW "\"fields\":{\"present\":[1,true]}}", DUNLIN_INVALID_VALUE},
    {FOLLOW "\"fields\":{\"present\":[\"0\",true]}}", DUNLIN_INVALID_VALUE},
    {FOLLOW "\"fields\":{\"present\":[\"-1\",true]}}", DUNLIN_INVALID_VALUE},
    {FOLLOW "\"fields\":{\"present\":[\"9223372036854775808\",true]}}", DUNLIN_INVALID_VALUE},
    {FOLLOW "\"fields\":{\"present\":[\"1\",null]}}", DUNLIN_INVALID_VALUE},
    {FOLLOW "\"fields\":{\"present\":[\"1\",\"yes\"]}}", DUNLIN_INVALID_VALUE},
    {FOLLOW "\"fields\":{\"present\":[\"1\",true],\"present\":[\"2\",true]}}", DUNLIN_INVALID_JSON},
    {FOLLOW "\"fields\":{\"\":[\"1\",true]}}", DUNLIN_INVALID_ID},
    {FOLLOW "\"fields\":{\"colour\":[\"1\",7]}}", DUNLIN_INVALID_VALUE},
    {FOLLOW "\"fields\":{\"colour\":[\"1\",{\"b\":\"00\"}]}}", DUNLIN_INVALID_VALUE},
    {FOLLOW "\"fields\":{\"colour\":[\"1\",{\"j\":\"{]\"}]}}", DUNLIN_INVALID_JSON},
    {FOLLOW "\"fields\":{\"colour\":[\"1\",1e999]}}", DUNLIN_INVALID_JSON},
    {ITEM "\"fields\":{\"created_at\":[\"1\",{\"r\":1.5}]}}", DUNLIN_INVALID_VALUE},
    {ITEM "\"fields\":{\"rank\":[\"1\",\"\"]}}", DUNLIN_INVALID_VALUE},
    {ITEM "\"fields\":{\"data\":[\"1\",\"text\"]}}", DUNLIN_INVALID_VALUE},
    {ITEM "\"fields\":{\"data\":[\"1\",{\"j\":\"[1,\"}]}}", DUNLIN_INVALID_JSON},
    {OTHER "\"fields\":{\"a\":[\"1\",{\"i\":\"1\",\"j\":\"1\"}]}}", DUNLIN_INVALID_VALUE},
};

static void one_bad_record_is_refused_alone(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_request request = test_request_small(messages), read;
    for (size_t i = 0; i < sizeof(bad_lines) / sizeof(bad_lines[0]); i++) {
        test_request_encode(messages, &request);
        test_body_exchange(&messages->body, 4, bad_lines[i].line);
        assert_int_equal(test_request_decode(messages, &read), DUNLIN_OK);
        assert_int_equal(read.record_count, 3);
        assert_non_null(read.bad);
        if (read.bad[1].code != bad_lines[i].code) {
            fail_msg("%s is judged as %s: %s", bad_lines[i].line,
                     dunlin_status_name(read.bad[1].code), read.bad[1].reason.data);
        }
        assert_true(read.bad[1].reason.len > 0);
        assert_int_equal(read.records[1].key.name.len, 0);
        assert_int_equal(read.bad[0].code, DUNLIN_OK);
        assert_int_equal(read.bad[2].code, DUNLIN_OK);
        assert_true(test_records_equal(&read.records[0], &request.records[0]));
        assert_true(test_records_equal(&read.records[2], &request.records[2]));
    }
}

/* Builds a record's line with one text of a given length in it. */
static void exchange_long(struct test_messages *messages, const char *before, size_t len,
                          const char *after) {
    struct dln_buf line = DLN_BUF_INIT(1 << 20);
    dln_buf_append_text(&line, before);
    for (size_t i = 0; i < len; i++) {
        dln_buf_append_byte(&line, 'x');
    }
    dln_buf_append_text(&line, after);
    test_body_exchange(&messages->body, 4, line.data);
    dln_buf_free(&line);
}

static void lengths_are_held_to_their_limits(void **state) {
    static const struct {
        const char *before, *after;
        size_t max;
    } cases[] = {
        {ALICE "\"collection\":\"follow\",\"key\":[\"user\",\"", "\"]," PRESENT, DLN_ID_MAX},
        {ALICE "\"collection\":\"other\",\"key\":[\"", "\"]," PRESENT, DLN_ID_MAX},
        {ALICE "\"collection\":\"", "\",\"key\":[]," PRESENT, DLN_FIELD_NAME_MAX},
        {ITEM "\"fields\":{\"title\":[\"1\",\"", "\"]}}", DLN_NAME_MAX},
        {ITEM "\"fields\":{\"data\":[\"1\",{\"j\":\"\\\"", "\\\"\"}]}}", DLN_DATA_MAX - 2},
        {FOLLOW "\"fields\":{\"colour\":[\"1\",\"", "\"]}}", DLN_DATA_MAX},
        {FOLLOW "\"fields\":{\"", "\":[\"1\",true]}}", DLN_FIELD_NAME_MAX},
    };
    struct test_messages *messages = *state;
    struct dln_sync_request request = test_request_small(messages), read;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_request_encode(messages, &request);
        exchange_long(messages, cases[i].before, cases[i].max, cases[i].after);
        assert_int_equal(test_request_decode(messages, &read), DUNLIN_OK);
        assert_null(read.bad);
        exchange_long(messages, cases[i].before, cases[i].max + 1, cases[i].after);
        assert_int_equal(test_request_decode(messages, &read), DUNLIN_OK);
        assert_non_null(read.bad);
        assert_int_equal(read.bad[1].code, DUNLIN_TOO_LONG);
        exchange_long(messages, cases[i].before, 100000, cases[i].after);
        assert_int_equal(test_request_decode(messages, &read), DUNLIN_OK);
        assert_int_equal(read.bad[1].code, DUNLIN_TOO_LONG);
    }
}

static void exchange_many_extras(struct test_messages *messages, int count) {
    struct dln_buf line = DLN_BUF_INIT(1 << 20);
    dln_buf_append_text(&line, FOLLOW "\"fields\":{\"present\":[\"1\",true]");
    for (int i = count; i > 0; i--) {
        dln_buf_printf(&line, ",\"x%d\":[\"%d\",null]", i, i);
    }
    dln_buf_append_text(&line, "}}");
    test_body_exchange(&messages->body, 4, line.data);
    dln_buf_free(&line);
}

static void unknown_fields_are_kept_up_to_a_number(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_request request = test_request_small(messages), read;
    test_request_encode(messages, &request);
    exchange_many_extras(messages, DLN_EXTRA_MAX);
    assert_int_equal(test_request_decode(messages, &read), DUNLIN_OK);
    assert_null(read.bad);
    assert_int_equal(read.records[1].extra_count, DLN_EXTRA_MAX);
    for (size_t i = 1; i < DLN_EXTRA_MAX; i++) {
        assert_true(dln_text_compare(read.records[1].extras[i - 1].name,
                                     read.records[1].extras[i].name) < 0);
    }
    exchange_many_extras(messages, DLN_EXTRA_MAX + 1);
    assert_int_equal(test_request_decode(messages, &read), DUNLIN_OK);
    assert_int_equal(read.bad[1].code, DUNLIN_INVALID_VALUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_WITH_MESSAGES(one_bad_record_is_refused_alone),
        TEST_WITH_MESSAGES(lengths_are_held_to_their_limits),
        TEST_WITH_MESSAGES(unknown_fields_are_kept_up_to_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
