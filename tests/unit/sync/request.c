#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sync/digest.h"
#include "tests/support/messages.h"
#include "tests/support/records.h"
static void the_lines_are_fixed(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_request request = test_request_small(messages);
    request.scopes = test_scopes + 1;
    request.record_count = 1;
    request.records[0].key.scope = DLN_TEXT("group/new");
    test_request_encode(messages, &request);
    assert_string_equal(
        messages->body.data,
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE "\",\"page\":50,\"scopes\":2}\n"
        "{\"scope\":\"group/climbers%2Ftea\",\"epoch\":\"e\",\"seq\":\"0\",\"salt\":\"0\","
        "\"rebuilding\":true}\n"
        "{\"scope\":\"group/new\",\"pull\":true}\n"
        "{\"scope\":\"group/new\",\"collection\":\"follow\",\"key\":[\"user\",\"bob\"],"
        "\"fields\":{\"present\":[\"1\",true]}}\n"
        "{\"end\":3}\n");
}

static void assert_scopes_equal(const struct dln_scope_ask *a, const struct dln_scope_ask *b) {
    assert_true(dln_text_equal(a->scope, b->scope));
    assert_true(dln_text_equal(a->epoch, b->epoch));
    assert_int_equal(a->epoch.data == NULL, b->epoch.data == NULL);
    assert_true(a->cursor.seq == b->cursor.seq && a->cursor.salt == b->cursor.salt);
    assert_int_equal(a->pull, b->pull);
    assert_int_equal(a->rebuilding, b->rebuilding);
    assert_true(a->head == b->head);
}

static void any_records_come_back_as_they_were(void **state) {
    struct test_messages *messages = *state;
    struct test_random random = {11};
    for (int round = 0; round < 150; round++) {
        struct dln_record records[40];
        struct dln_sync_request read;
        size_t count = test_random_below(&random, 41);
        dln_arena_clear(&messages->sent);
        for (size_t i = 0; i < count; i++) {
            test_record_random(&messages->sent, &random, &records[i], test_scopes[0].scope,
                               test_scopes[2].scope);
        }
        struct dln_sync_request request = {TEST_NONCE, 1000, test_scopes, 3, records, count, NULL};
        test_request_encode(messages, &request);
        assert_int_equal(test_request_decode(messages, &read), DUNLIN_OK);
        assert_string_equal(read.nonce, TEST_NONCE);
        assert_int_equal(read.page_records, 1000);
        assert_int_equal(read.scope_count, 3);
        for (size_t i = 0; i < 3; i++) {
            assert_scopes_equal(&read.scopes[i], &test_scopes[i]);
        }
        assert_int_equal(read.record_count, count);
        assert_null(read.bad);
        for (size_t i = 0; i < count; i++) {
            assert_true(test_records_equal(&read.records[i], &records[i]));
        }
    }
}

static void wire_bytes_are_an_upper_bound(void **state) {
    struct test_messages *messages = *state;
    struct test_random random = {12};
    for (int round = 0; round < 2000; round++) {
        struct dln_record record;
        dln_arena_clear(&messages->sent);
        test_record_random(&messages->sent, &random, &record, test_scopes[0].scope,
                           test_scopes[2].scope);
        dln_buf_clear(&messages->body);
        dln_record_dump_line(&messages->body, &record); /* the same line */
        size_t bound = dln_record_wire_bytes(&record);
        assert_true(bound >= messages->body.len);
        assert_true(bound <= messages->body.len + 64 + 56 * (DLN_FIELD_MAX + record.extra_count));
    }
}

/* Nothing that could be longer: greatest stamps, bytes that take six each. */
static void wire_bytes_bound_the_longest(void **state) {
    struct test_messages *messages = *state;
    struct dln_extra extras[DLN_EXTRA_MAX];
    char names[DLN_EXTRA_MAX][2];
    char title[DLN_NAME_MAX];
    struct dln_record record = {.key = {.collection = dln_collection_by_id(DLN_ITEM),
                                        .name = DLN_TEXT("item"),
                                        .scope = DLN_TEXT("user/alice")},
                                .extras = extras,
                                .extra_count = DLN_EXTRA_MAX};
    memset(title, 1, sizeof(title));
    record.fields[DLN_ITEM_TITLE].stamp = DLN_STAMP_MAX;
    record.fields[DLN_ITEM_TITLE].value = dln_value_string((struct dln_text){title, sizeof(title)});
    for (size_t i = 0; i < DLN_EXTRA_MAX; i++) {
        names[i][0] = 'x';
        names[i][1] = (char)('A' + i);
        extras[i].name = (struct dln_text){names[i], 2};
        extras[i].field.stamp = DLN_STAMP_MAX;
        extras[i].field.value = dln_value_json(DLN_TEXT("[]"));
    }
    dln_record_dump_line(&messages->body, &record);
    assert_in_range(dln_record_wire_bytes(&record), messages->body.len, messages->body.len + 200);
}

static void a_cut_request_is_refused(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_request request = test_request_small(messages), read;
    test_request_encode(messages, &request);
    for (size_t len = 0; len < messages->body.len; len++) {
        char *cut = malloc(len + 1); /* so that a sanitizer sees a read behind it */
        assert_non_null(cut);
        memcpy(cut, messages->body.data, len);
        dln_arena_clear(&messages->read);
        char *fitting = realloc(cut, len > 0 ? len : 1);
        assert_int_equal(
            dln_request_decode(&messages->read, &read, (struct dln_text){fitting, len}, NULL),
            DUNLIN_BAD_MESSAGE);
        free(fitting);
    }
}

static void a_flipped_bit_crashes_nothing(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_request request = test_request_small(messages), read;
    test_request_encode(messages, &request);
    for (size_t bit = 0; bit < 8 * messages->body.len; bit++) {
        char mask = (char)(1 << bit % 8);
        messages->body.data[bit / 8] ^= mask;
        if (test_request_decode(messages, &read) == DUNLIN_OK) {
            assert_int_equal(read.scope_count + read.record_count, 5);
            for (size_t i = 0; i < read.record_count; i++) {
                bool unread = read.records[i].key.name.len == 0;
                assert_int_equal(unread, read.bad != NULL && read.bad[i].code != DUNLIN_OK);
            }
        }
        messages->body.data[bit / 8] ^= mask;
    }
    assert_int_equal(test_request_decode(messages, &read), DUNLIN_OK);
}

static void assert_request(struct test_messages *messages, size_t line, const char *text,
                           dunlin_status status) {
    struct dln_sync_request request = test_request_small(messages), read;
    test_request_encode(messages, &request);
    test_body_exchange(&messages->body, line, text);
    if (test_request_decode(messages, &read) != status) {
        fail_msg("%s as line %zu is not judged as %s", text, line, dunlin_status_name(status));
    }
}

#define HEAD(members) "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE "\"" members "}"

static void what_is_not_a_request_is_refused(void **state) {
    struct test_messages *messages = *state;
    static const struct {
        size_t line;
        const char *text;
        dunlin_status status;
    } cases[] = {
        {0, HEAD(",\"page\":50,\"scopes\":2"), DUNLIN_OK},
        {0, HEAD(",\"scopes\":2,\"later\":[{\"a\":1}]"), DUNLIN_OK},
        {0, HEAD(",\"page\":1000000,\"scopes\":2"), DUNLIN_OK},
        {0, HEAD(",\"page\":0,\"scopes\":2"), DUNLIN_BAD_MESSAGE},
        {0, HEAD(",\"page\":\"50\",\"scopes\":2"), DUNLIN_BAD_MESSAGE},
        {0, HEAD(",\"page\":50,\"scopes\":6"), DUNLIN_BAD_MESSAGE},
        {0, HEAD(",\"page\":50,\"scopes\":-1"), DUNLIN_BAD_MESSAGE},
        {0, HEAD(",\"page\":50,\"scopes\":3"), DUNLIN_BAD_MESSAGE}, /* alice once more */
        {0, "{}", DUNLIN_BAD_MESSAGE},
        {0, "[]", DUNLIN_BAD_MESSAGE},
        {0, "{\"dunlin\":1,\"kind\":\"sync\",\"scopes\":2}", DUNLIN_BAD_MESSAGE},
        {0, "{\"dunlin\":1,\"kind\":\"sync\",\"scopes\":2,\"nonce\":\"0123\"}", DUNLIN_BAD_MESSAGE},
        {0,
         "{\"dunlin\":1,\"kind\":\"sync\",\"scopes\":2,"
         "\"nonce\":\"0123456789ABCDEF0123456789abcdef\"}",
         DUNLIN_BAD_MESSAGE},
        {0, "{\"dunlin\":1,\"kind\":\"verify\",\"scopes\":2,\"nonce\":\"" TEST_NONCE "\"}",
         DUNLIN_BAD_MESSAGE},
        {0, "{\"dunlin\":\"1\",\"kind\":\"sync\",\"scopes\":2,\"nonce\":\"" TEST_NONCE "\"}",
         DUNLIN_BAD_MESSAGE},
        {0, "{\"dunlin\":2,\"kind\":\"sync\",\"scopes\":2,\"nonce\":\"" TEST_NONCE "\"}",
         DUNLIN_UNSUPPORTED},
        {0, NULL, DUNLIN_BAD_MESSAGE},
        {1, "{\"scope\":\"actor/bob\",\"pull\":true,\"later\":1}", DUNLIN_OK},
        {1, "{\"scope\":\"\"}", DUNLIN_BAD_MESSAGE},
        {1, "{\"scope\":7}", DUNLIN_BAD_MESSAGE},
        {1, "{\"pull\":true}", DUNLIN_BAD_MESSAGE},
        {1, "{\"scope\":\"user/\\ud83d\"}", DUNLIN_BAD_MESSAGE},
        {1, "{\"scope\":\"user/x\",\"seq\":12}", DUNLIN_BAD_MESSAGE},
        {1, "{\"scope\":\"user/x\",\"seq\":\"-1\"}", DUNLIN_BAD_MESSAGE},
        {1, "{\"scope\":\"user/x\",\"salt\":\"4294967296\"}", DUNLIN_BAD_MESSAGE},
        {1, "{\"scope\":\"user/x\",\"pull\":1}", DUNLIN_BAD_MESSAGE},
        {1, "{\"scope\":\"user/x\",\"head\":null}", DUNLIN_BAD_MESSAGE},
        {1, "nonsense", DUNLIN_BAD_MESSAGE},
        {1, "{\"scope\":\"group/climbers%2Ftea\"}", DUNLIN_BAD_MESSAGE}, /* twice */
        {3, NULL, DUNLIN_BAD_MESSAGE},                                   /* one line less */
        {3, "{}\n{}", DUNLIN_BAD_MESSAGE},                               /* one line more */
        {6, "{\"end\":4}", DUNLIN_BAD_MESSAGE},
        {6, "{\"end\":\"5\"}", DUNLIN_BAD_MESSAGE},
        {6, "{\"end\":5}\n", DUNLIN_BAD_MESSAGE},
        {6, "{\"end\":5,\"later\":1}", DUNLIN_OK},
        {6, NULL, DUNLIN_BAD_MESSAGE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_request(messages, cases[i].line, cases[i].text, cases[i].status);
    }
}

static void a_page_is_at_most_the_greatest(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_request request = test_request_small(messages), read;
    test_request_encode(messages, &request);
    test_body_exchange(&messages->body, 0, HEAD(",\"page\":1000000,\"scopes\":2"));
    assert_int_equal(test_request_decode(messages, &read), DUNLIN_OK);
    assert_int_equal(read.page_records, DLN_PAGE_RECORDS_MAX);
    test_body_exchange(&messages->body, 0, HEAD(",\"scopes\":2"));
    assert_int_equal(test_request_decode(messages, &read), DUNLIN_OK);
    assert_int_equal(read.page_records, DLN_PAGE_RECORDS_MAX);
}

/* The failure that answers an unreadable request can name it. */
static void the_nonce_is_read_where_the_head_is(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_request request = test_request_small(messages), read;
    test_request_encode(messages, &request);
    test_body_exchange(&messages->body, 1, "nonsense");
    assert_int_equal(test_request_decode(messages, &read), DUNLIN_BAD_MESSAGE);
    assert_string_equal(read.nonce, TEST_NONCE);
    test_body_exchange(&messages->body, 6, "{\"end\":7}");
    assert_int_equal(test_request_decode(messages, &read), DUNLIN_BAD_MESSAGE);
    assert_string_equal(read.nonce, TEST_NONCE);
    test_body_exchange(&messages->body, 0, "{}");
    assert_int_equal(test_request_decode(messages, &read), DUNLIN_BAD_MESSAGE);
    assert_string_equal(read.nonce, "");
}

/* A body of so many equal lines. */
static dunlin_status decode_many(struct test_messages *messages, size_t scope_count,
                                 size_t record_count) {
    struct dln_sync_request read;
    dln_buf_clear(&messages->body);
    dln_buf_printf(&messages->body, HEAD(",\"scopes\":%zu") "\n", scope_count);
    for (size_t i = 0; i < scope_count; i++) {
        dln_buf_printf(&messages->body, "{\"scope\":\"user/%zu\"}\n", i);
    }
    for (size_t i = 0; i < record_count; i++) {
        dln_buf_append_text(
            &messages->body,
            "{\"scope\":\"user/0\",\"collection\":\"follow\",\"key\":[\"user\",\"x\"],"
            "\"fields\":{\"present\":[\"1\",true]}}\n");
    }
    dln_buf_printf(&messages->body, "{\"end\":%zu}\n", scope_count + record_count);
    return test_request_decode(messages, &read);
}

static void a_request_has_ceilings(void **state) {
    struct test_messages *messages = *state;
    assert_int_equal(decode_many(messages, 0, 0), DUNLIN_OK);
    assert_int_equal(decode_many(messages, DLN_REQUEST_SCOPES_MAX, DLN_REQUEST_RECORDS_MAX),
                     DUNLIN_OK);
    assert_int_equal(decode_many(messages, DLN_REQUEST_SCOPES_MAX + 1, 0), DUNLIN_TOO_LARGE);
    assert_int_equal(decode_many(messages, 1, DLN_REQUEST_RECORDS_MAX + 1), DUNLIN_TOO_LARGE);

    struct dln_sync_request read;
    size_t len = DLN_BODY_BYTES_MAX + 1;
    char *body = calloc(len, 1);
    assert_non_null(body);
    assert_int_equal(dln_request_decode(&messages->read, &read, (struct dln_text){body, len}, NULL),
                     DUNLIN_TOO_LARGE);
    free(body);
}

/* Whatever fits of memory: either all is read or the ceiling is named. */
static void an_arena_too_small_is_named(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_request request = test_request_small(messages), read;
    dunlin_status status = DUNLIN_TOO_LARGE;
    test_request_encode(messages, &request);
    size_t max = 0;
    for (; status != DUNLIN_OK && max < 100000; max += 16) {
        struct dln_arena small = DLN_ARENA_INIT(max);
        status = dln_request_decode(&small, &read, test_body(messages), NULL);
        assert_true(status == DUNLIN_OK || status == DUNLIN_TOO_LARGE);
        dln_arena_free(&small);
    }
    assert_true(max > 1000 && max < 100000);
}

static void an_encoder_stops_at_its_ceiling(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_request request = test_request_small(messages);
    struct dln_buf small = DLN_BUF_INIT(300);
    dunlin_error err = {0};
    assert_int_equal(dln_request_encode(&small, &request, &err), DUNLIN_TOO_LARGE);
    assert_int_equal(err.code, DUNLIN_TOO_LARGE);
    dln_buf_free(&small);
}

static void a_body_says_its_kind(void **state) {
    (void)state;
    assert_int_equal(dln_message_kind_of(dln_text_of(HEAD("") "\nrest")), DLN_MESSAGE_SYNC);
    assert_int_equal(dln_message_kind_of(dln_text_of("{\"dunlin\":2,\"kind\":\"verify\"}\n")),
                     DLN_MESSAGE_VERIFY);
    assert_int_equal(dln_message_kind_of(dln_text_of("{\"dunlin\":1,\"kind\":\"error\"}\n")),
                     DLN_MESSAGE_ERROR);
    assert_int_equal(dln_message_kind_of(dln_text_of("{\"dunlin\":1,\"kind\":\"other\"}\n")),
                     DLN_MESSAGE_NONE);
    assert_int_equal(dln_message_kind_of(dln_text_of("{\"kind\":\"sync\"}\n")), DLN_MESSAGE_NONE);
    assert_int_equal(dln_message_kind_of(dln_text_of("<html>\n")), DLN_MESSAGE_NONE);
    assert_int_equal(dln_message_kind_of(dln_text_of(HEAD(""))), DLN_MESSAGE_NONE);
    assert_int_equal(dln_message_kind_of(dln_text_of(NULL)), DLN_MESSAGE_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_WITH_MESSAGES(the_lines_are_fixed),
        TEST_WITH_MESSAGES(any_records_come_back_as_they_were),
        TEST_WITH_MESSAGES(wire_bytes_are_an_upper_bound),
        TEST_WITH_MESSAGES(wire_bytes_bound_the_longest),
        TEST_WITH_MESSAGES(a_cut_request_is_refused),
        TEST_WITH_MESSAGES(a_flipped_bit_crashes_nothing),
        TEST_WITH_MESSAGES(what_is_not_a_request_is_refused),
        TEST_WITH_MESSAGES(a_page_is_at_most_the_greatest),
        TEST_WITH_MESSAGES(the_nonce_is_read_where_the_head_is),
        TEST_WITH_MESSAGES(a_request_has_ceilings),
        TEST_WITH_MESSAGES(an_arena_too_small_is_named),
        TEST_WITH_MESSAGES(an_encoder_stops_at_its_ceiling),
        TEST_WITH_MESSAGES(a_body_says_its_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
