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
/* What becomes of single lines of an answer that cannot be read, or that a later version wrote. */

#define ROW(members) "{\"seq\":\"9007199254740990\"," members "}"
#define LIST(members) ROW("\"collection\":\"list\",\"key\":[\"l\"],\"fields\":{" members "}")

/* B45, B42: a lone surrogate, an id of 10,000 bytes; and other damage. The rest of the page stands.
 */
static void an_unreadable_row_is_passed_over(void **state) {
    static const char *const rows[] = {
        "",
        "{",
        "[]",
        "{}",
        "<html>",
        ROW("\"key\":[\"l\"],\"fields\":{\"name\":[\"1\",\"n\"]}"),
        LIST("\"name\":[\"1\",\"\\ud83d\"]"),
        LIST("\"name\":[\"1\",\"\xf0\x9f\x91\"]"),
        LIST("\"name\":[\"1\",\"a\\u0000\"]"),
        LIST("\"name\":[\"1\",7]"),
        LIST("\"name\":[\"1\",{\"x\":1}]"),
        LIST("\"name\":[\"0\",\"n\"]"),
        LIST("\"name\":[\"1\",\"n\"],\"name\":[\"2\",\"n\"]"),
        LIST("\"colour\":[\"1\",[]]"),
        LIST("\"deleted\":[\"1\",true],\"colour\":[\"1\",null],\"rank\":[\"1\",7]"),
        LIST(""),
        ROW("\"collection\":\"member\",\"key\":[\"u\"],\"fields\":{\"present\":[\"1\",true]}"),
        "{\"seq\":\"0\",\"collection\":\"list\",\"key\":[\"l\"],\"fields\":{\"name\":[\"1\",\"n\"]}"
        "}",
        "{\"seq\":\"9007199254740994\",\"collection\":\"list\",\"key\":[\"l\"],"
        "\"fields\":{\"name\":[\"1\",\"n\"]}}",
        "{\"collection\":\"list\",\"key\":[\"l\"],\"fields\":{\"name\":[\"1\",\"n\"]}}",
    };
    struct test_messages *messages = *state;
    struct dln_sync_answer answer = test_answer_full(messages), read;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        test_answer_encode(messages, &answer);
        test_body_exchange(&messages->body, 8, rows[i]);
        assert_int_equal(test_answer_decode(messages, &read), DUNLIN_OK);
        if (read.quarantined != 1) {
            fail_msg("%s is not passed over", rows[i]);
        }
        assert_int_equal(read.scope_count, 6);
        assert_int_equal(read.scopes[0].version_count, TEST_ROW_COUNT - 1);
        assert_true(read.scopes[0].cursor.seq == INT64_C(9007199254740993));
        /* Nothing of it is left in the row behind it. */
        assert_true(test_records_equal(&read.scopes[0].versions[4].record,
                                       &answer.scopes[0].versions[5].record));
        assert_true(test_scope_answers_equal(&read.scopes[1], &answer.scopes[1]));
    }
}

static void B42_a_very_long_id_in_a_page(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_answer answer = test_answer_full(messages), read;
    char id[10001];
    memset(id, 'x', sizeof(id) - 1);
    id[sizeof(id) - 1] = '\0';
    answer.scopes[0].versions[3].record.key.parts[0] = dln_text_of(id);
    test_answer_encode(messages, &answer);
    assert_int_equal(test_answer_decode(messages, &read), DUNLIN_OK);
    assert_int_equal(read.quarantined, 1);
    assert_int_equal(read.scopes[0].version_count, TEST_ROW_COUNT - 1);
    id[DLN_ID_MAX] = '\0';
    answer.scopes[0].versions[3].record.key.parts[0] = dln_text_of(id);
    test_answer_encode(messages, &answer);
    assert_int_equal(test_answer_decode(messages, &read), DUNLIN_OK);
    assert_int_equal(read.quarantined, 0);
    assert_true(test_scope_answers_equal(&read.scopes[0], &answer.scopes[0]));
}

/* A page must never be taken for another scope's. */
static void an_unreadable_scope_takes_its_page_along(void **state) {
    struct test_messages *messages = *state;
    static const struct {
        const char *line;
        size_t quarantined;
    } cases[] = {{"nonsense", 2},
                 {"{\"scope\":\"group/g\",\"state\":\"later\",\"seq\":\"7\",\"versions\":1}", 2},
                 {"{\"scope\":\"group/g\",\"seq\":\"7\",\"versions\":1}", 2},
                 {"{\"scope\":\"group/g\",\"state\":\"page\",\"seq\":7,\"versions\":1}", 2},
                 {"{\"scope\":\"group/g\",\"state\":\"held\",\"versions\":1}", 2},
                 {"{\"scope\":\"\",\"state\":\"page\",\"seq\":\"7\",\"versions\":1}", 2},
                 {"{\"later\":\"group/g\",\"state\":\"page\",\"seq\":\"7\",\"versions\":1}", 1},
                 {"{\"scope\":\"group/g\",\"state\":\"page\",\"seq\":\"7\"}", 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct dln_sync_answer answer = test_answer_full(messages), read;
        test_answer_encode(messages, &answer);
        test_body_exchange(&messages->body, 14, cases[i].line);
        assert_int_equal(test_answer_decode(messages, &read), DUNLIN_OK);
        assert_int_equal(read.quarantined, cases[i].quarantined);
        assert_true(test_scope_answers_equal(&read.scopes[0], &answer.scopes[0]));
        for (size_t at = 1; at < read.scope_count; at++) {
            assert_int_equal(read.scopes[at].version_count, 0);
        }
    }
}

static void a_page_shorter_than_it_says_is_no_answer(void **state) {
    static const struct {
        size_t line;
        const char *text;
    } cases[] = {
        {14, "{\"scope\":\"group/g\",\"state\":\"page\",\"seq\":\"7\",\"versions\":2}"},
        {8, "{\"scope\":\"group/h\",\"state\":\"denied\"}"},
        {8, "{\"ack\":1,\"seq\":\"7\"}"},
        {8, "{\"refused\":1,\"code\":\"QUOTA\"}"},
        {19, "{\"scope\":\"group/h\",\"state\":\"page\",\"seq\":\"7\",\"versions\":1}"},
    };
    struct test_messages *messages = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct dln_sync_answer answer = test_answer_full(messages), read;
        test_answer_encode(messages, &answer);
        test_body_exchange(&messages->body, cases[i].line, cases[i].text);
        assert_int_equal(test_answer_decode(messages, &read), DUNLIN_NOT_OUR_SERVER);
    }
}

static void what_a_later_version_adds_is_ignored(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_answer answer = test_answer_full(messages), read;
    test_answer_encode(messages, &answer);
    test_body_exchange(&messages->body, 1, "{\"news\":[1,2.5,{}],\"seq\":7}");
    test_body_exchange(&messages->body, 19,
                       "{\"scope\":\"group/same\",\"state\":\"same\",\"seq\":\"3\",\"salt\":\"4\","
                       "\"later\":{\"a\":[1]}}");
    test_body_exchange(
        &messages->body, 4,
        "{\"seq\":\"9007199254740984\",\"collection\":\"list\",\"key\":[\"l\"],"
        "\"later\":1,\"fields\":{\"name\":[\"1\",\"n\"],\"colour\":[\"5\",\"teal\"]}}");
    assert_int_equal(test_answer_decode(messages, &read), DUNLIN_OK);
    assert_int_equal(read.quarantined, 0);
    assert_int_equal(read.ack_count, 0);
    assert_true(test_scope_answers_equal(&read.scopes[5], &answer.scopes[5]));
    const struct dln_record *record = &read.scopes[0].versions[0].record;
    assert_int_equal(record->extra_count, 1);
    assert_true(dln_text_equal(record->extras[0].name, DLN_TEXT("colour")));
    assert_int_equal(record->extras[0].field.stamp, 5);
}

static void a_refusal_for_an_unknown_reason_is_still_one(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_answer answer = test_answer_full(messages), read;
    test_answer_encode(messages, &answer);
    test_body_exchange(&messages->body, 2, "{\"refused\":3,\"code\":\"LATER\",\"reason\":\"r\"}");
    assert_int_equal(test_answer_decode(messages, &read), DUNLIN_OK);
    assert_int_equal(read.refusal_count, 1);
    assert_int_equal(read.refusals[0].code, DUNLIN_UNSUPPORTED);
    assert_int_equal(read.refusals[0].index, 3);
}

static void unreadable_verdicts_are_passed_over(void **state) {
    static const char *const lines[] = {
        "{\"ack\":-1,\"seq\":\"7\"}",
        "{\"ack\":1000,\"seq\":\"7\"}",
        "{\"ack\":\"1\",\"seq\":\"7\"}",
        "{\"ack\":1}",
        "{\"ack\":1,\"seq\":\"0\"}",
        "{\"ack\":1,\"seq\":7}",
        "{\"refused\":1000,\"code\":\"QUOTA\"}",
        "{\"refused\":1}",
        "{\"refused\":1,\"code\":\"\"}",
        "{\"refused\":1,\"code\":\"QUOTA\",\"held\":1}",
        "{\"refused\":1,\"code\":\"QUOTA\",\"reason\":7}",
        "{\"refused\":1,\"code\":\"QUOTA\",\"fields\":{}}",
        "{\"refused\":1,\"code\":\"QUOTA\",\"fields\":[7]}",
        "{\"refused\":1,\"code\":\"QUOTA\",\"fields\":[{\"name\":\"\"}]}",
        "{\"refused\":1,\"code\":\"QUOTA\",\"fields\":[{\"name\":\"a\",\"now\":[\"1\",7]}]}",
        "{\"refused\":1,\"code\":\"AHEAD\",\"fields\":[{\"name\":\"a\",\"take\":\"0\"}]}",
    };
    struct test_messages *messages = *state;
    struct dln_sync_answer answer = test_answer_full(messages), read;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        test_answer_encode(messages, &answer);
        test_body_exchange(&messages->body, 1, lines[i]);
        assert_int_equal(test_answer_decode(messages, &read), DUNLIN_OK);
        if (read.quarantined != 1) {
            fail_msg("%s is not passed over", lines[i]);
        }
        assert_int_equal(read.ack_count, 0);
        assert_int_equal(read.refusal_count, 1);
        assert_true(test_scope_answers_equal(&read.scopes[1], &answer.scopes[1]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_WITH_MESSAGES(an_unreadable_row_is_passed_over),
        TEST_WITH_MESSAGES(B42_a_very_long_id_in_a_page),
        TEST_WITH_MESSAGES(an_unreadable_scope_takes_its_page_along),
        TEST_WITH_MESSAGES(a_page_shorter_than_it_says_is_no_answer),
        TEST_WITH_MESSAGES(what_a_later_version_adds_is_ignored),
        TEST_WITH_MESSAGES(a_refusal_for_an_unknown_reason_is_still_one),
        TEST_WITH_MESSAGES(unreadable_verdicts_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
