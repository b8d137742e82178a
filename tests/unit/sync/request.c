#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sync/digest.h"
#include "sync/message.h"
#include "tests/support/records.h"

#define NONCE "0123456789abcdef0123456789abcdef"

enum { ARENA_BYTES = 64 << 20 };

struct fixture {
    struct dln_arena sent; /* what the encoder is given */
    struct dln_arena read; /* what the decoder makes */
    struct dln_buf body;
};

static struct dln_text text_of(const struct dln_buf *buf) {
    return (struct dln_text){buf->data, buf->len};
}

static void encode(struct fixture *fixture, const struct dln_sync_request *request) {
    dunlin_error err = {0};
    dln_buf_clear(&fixture->body);
    assert_int_equal(dln_request_encode(&fixture->body, request, &err), DUNLIN_OK);
}

static dunlin_status decode(struct fixture *fixture, struct dln_sync_request *out) {
    dunlin_error err = {0};
    dln_arena_clear(&fixture->read);
    dunlin_status status = dln_request_decode(&fixture->read, out, text_of(&fixture->body), &err);
    assert_int_equal(err.code, status);
    return status;
}

static struct dln_scope_ask scopes[] = {
    {.scope = {"user/alice", 10},
     .epoch = {"e-1", 3},
     .cursor = {INT64_C(9007199254740993), UINT32_MAX},
     .pull = true,
     .head = INT64_MAX},
    {.scope = {"group/climbers%2Ftea", 20}, .rebuilding = true, .epoch = {"e", 1}},
    {.scope = {"group/new", 9}, .pull = true}};

/* A small request that has every kind of line: two scopes, three records. */
static struct dln_sync_request small_request(struct fixture *fixture) {
    struct dln_record *records = dln_arena_alloc(&fixture->sent, 3 * sizeof(*records));
    assert_non_null(records);
    for (int i = 0; i < 3; i++) {
        records[i].key = (struct dln_key){.collection = dln_collection_by_id(DLN_FOLLOW),
                                          .name = DLN_TEXT("follow"),
                                          .scope = DLN_TEXT("user/alice"),
                                          .part_count = 2,
                                          .parts = {DLN_TEXT("user"), DLN_TEXT("bob")}};
        records[i].fields[0] = (struct dln_field){(dln_stamp)i + 1, dln_value_bool(true)};
    }
    return (struct dln_sync_request){.nonce = NONCE,
                                     .page_records = 50,
                                     .scopes = scopes,
                                     .scope_count = 2,
                                     .records = records,
                                     .record_count = 3};
}

static void the_lines_are_fixed(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_request request = small_request(fixture);
    request.scopes = scopes + 1;
    request.record_count = 1;
    request.records[0].key.scope = DLN_TEXT("group/new");
    encode(fixture, &request);
    assert_string_equal(
        fixture->body.data,
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" NONCE "\",\"page\":50,\"scopes\":2}\n"
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
    struct fixture *fixture = *state;
    struct test_random random = {11};
    for (int round = 0; round < 150; round++) {
        struct dln_record records[40];
        struct dln_sync_request read;
        size_t count = test_random_below(&random, 41);
        dln_arena_clear(&fixture->sent);
        for (size_t i = 0; i < count; i++) {
            test_record_random(&fixture->sent, &random, &records[i], scopes[0].scope,
                               scopes[2].scope);
        }
        struct dln_sync_request request = {NONCE, 1000, scopes, 3, records, count, NULL};
        encode(fixture, &request);
        assert_int_equal(decode(fixture, &read), DUNLIN_OK);
        assert_string_equal(read.nonce, NONCE);
        assert_int_equal(read.page_records, 1000);
        assert_int_equal(read.scope_count, 3);
        for (size_t i = 0; i < 3; i++) {
            assert_scopes_equal(&read.scopes[i], &scopes[i]);
        }
        assert_int_equal(read.record_count, count);
        assert_null(read.bad);
        for (size_t i = 0; i < count; i++) {
            assert_true(test_records_equal(&read.records[i], &records[i]));
        }
    }
}

static void wire_bytes_are_an_upper_bound(void **state) {
    struct fixture *fixture = *state;
    struct test_random random = {12};
    for (int round = 0; round < 2000; round++) {
        struct dln_record record;
        dln_arena_clear(&fixture->sent);
        test_record_random(&fixture->sent, &random, &record, scopes[0].scope, scopes[2].scope);
        dln_buf_clear(&fixture->body);
        dln_record_dump_line(&fixture->body, &record); /* the same line */
        size_t bound = dln_record_wire_bytes(&record);
        assert_true(bound >= fixture->body.len);
        assert_true(bound <= fixture->body.len + 64 + 56 * (DLN_FIELD_MAX + record.extra_count));
    }
}

static void a_cut_request_is_refused(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_request request = small_request(fixture), read;
    encode(fixture, &request);
    for (size_t len = 0; len < fixture->body.len; len++) {
        char *cut = malloc(len + 1); /* so that a sanitizer sees a read behind it */
        assert_non_null(cut);
        memcpy(cut, fixture->body.data, len);
        dln_arena_clear(&fixture->read);
        char *fitting = realloc(cut, len > 0 ? len : 1);
        assert_int_equal(
            dln_request_decode(&fixture->read, &read, (struct dln_text){fitting, len}, NULL),
            DUNLIN_BAD_MESSAGE);
        free(fitting);
    }
}

static void a_flipped_bit_crashes_nothing(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_request request = small_request(fixture), read;
    encode(fixture, &request);
    for (size_t bit = 0; bit < 8 * fixture->body.len; bit++) {
        char mask = (char)(1 << bit % 8);
        fixture->body.data[bit / 8] ^= mask;
        if (decode(fixture, &read) == DUNLIN_OK) {
            assert_int_equal(read.scope_count + read.record_count, 5);
            for (size_t i = 0; i < read.record_count; i++) {
                bool unread = read.records[i].key.name.len == 0;
                assert_int_equal(unread, read.bad != NULL && read.bad[i].code != DUNLIN_OK);
            }
        }
        fixture->body.data[bit / 8] ^= mask;
    }
    assert_int_equal(decode(fixture, &read), DUNLIN_OK);
}

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
    struct fixture *fixture = *state;
    struct dln_sync_request request = small_request(fixture), read;
    for (size_t i = 0; i < sizeof(bad_lines) / sizeof(bad_lines[0]); i++) {
        encode(fixture, &request);
        test_body_exchange(&fixture->body, 4, bad_lines[i].line);
        assert_int_equal(decode(fixture, &read), DUNLIN_OK);
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
static void exchange_long(struct fixture *fixture, const char *before, size_t len,
                          const char *after) {
    struct dln_buf line = DLN_BUF_INIT(1 << 20);
    dln_buf_append_text(&line, before);
    for (size_t i = 0; i < len; i++) {
        dln_buf_append_byte(&line, 'x');
    }
    dln_buf_append_text(&line, after);
    test_body_exchange(&fixture->body, 4, line.data);
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
    struct fixture *fixture = *state;
    struct dln_sync_request request = small_request(fixture), read;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        encode(fixture, &request);
        exchange_long(fixture, cases[i].before, cases[i].max, cases[i].after);
        assert_int_equal(decode(fixture, &read), DUNLIN_OK);
        assert_null(read.bad);
        exchange_long(fixture, cases[i].before, cases[i].max + 1, cases[i].after);
        assert_int_equal(decode(fixture, &read), DUNLIN_OK);
        assert_non_null(read.bad);
        assert_int_equal(read.bad[1].code, DUNLIN_TOO_LONG);
        exchange_long(fixture, cases[i].before, 100000, cases[i].after);
        assert_int_equal(decode(fixture, &read), DUNLIN_OK);
        assert_int_equal(read.bad[1].code, DUNLIN_TOO_LONG);
    }
}

static void exchange_many_extras(struct fixture *fixture, int count) {
    struct dln_buf line = DLN_BUF_INIT(1 << 20);
    dln_buf_append_text(&line, FOLLOW "\"fields\":{\"present\":[\"1\",true]");
    for (int i = count; i > 0; i--) {
        dln_buf_printf(&line, ",\"x%d\":[\"%d\",null]", i, i);
    }
    dln_buf_append_text(&line, "}}");
    test_body_exchange(&fixture->body, 4, line.data);
    dln_buf_free(&line);
}

static void unknown_fields_are_kept_up_to_a_number(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_request request = small_request(fixture), read;
    encode(fixture, &request);
    exchange_many_extras(fixture, DLN_EXTRA_MAX);
    assert_int_equal(decode(fixture, &read), DUNLIN_OK);
    assert_null(read.bad);
    assert_int_equal(read.records[1].extra_count, DLN_EXTRA_MAX);
    for (size_t i = 1; i < DLN_EXTRA_MAX; i++) {
        assert_true(dln_text_compare(read.records[1].extras[i - 1].name,
                                     read.records[1].extras[i].name) < 0);
    }
    exchange_many_extras(fixture, DLN_EXTRA_MAX + 1);
    assert_int_equal(decode(fixture, &read), DUNLIN_OK);
    assert_int_equal(read.bad[1].code, DUNLIN_INVALID_VALUE);
}

static void assert_request(struct fixture *fixture, size_t line, const char *text,
                           dunlin_status status) {
    struct dln_sync_request request = small_request(fixture), read;
    encode(fixture, &request);
    test_body_exchange(&fixture->body, line, text);
    if (decode(fixture, &read) != status) {
        fail_msg("%s as line %zu is not judged as %s", text, line, dunlin_status_name(status));
    }
}

#define HEAD(members) "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" NONCE "\"" members "}"

static void what_is_not_a_request_is_refused(void **state) {
    struct fixture *fixture = *state;
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
        {0, "{\"dunlin\":1,\"kind\":\"verify\",\"scopes\":2,\"nonce\":\"" NONCE "\"}",
         DUNLIN_BAD_MESSAGE},
        {0, "{\"dunlin\":\"1\",\"kind\":\"sync\",\"scopes\":2,\"nonce\":\"" NONCE "\"}",
         DUNLIN_BAD_MESSAGE},
        {0, "{\"dunlin\":2,\"kind\":\"sync\",\"scopes\":2,\"nonce\":\"" NONCE "\"}",
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
        assert_request(fixture, cases[i].line, cases[i].text, cases[i].status);
    }
}

static void a_page_is_at_most_the_greatest(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_request request = small_request(fixture), read;
    encode(fixture, &request);
    test_body_exchange(&fixture->body, 0, HEAD(",\"page\":1000000,\"scopes\":2"));
    assert_int_equal(decode(fixture, &read), DUNLIN_OK);
    assert_int_equal(read.page_records, DLN_PAGE_RECORDS_MAX);
    test_body_exchange(&fixture->body, 0, HEAD(",\"scopes\":2"));
    assert_int_equal(decode(fixture, &read), DUNLIN_OK);
    assert_int_equal(read.page_records, DLN_PAGE_RECORDS_MAX);
}

/* The failure that answers an unreadable request can name it. */
static void the_nonce_is_read_where_the_head_is(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_request request = small_request(fixture), read;
    encode(fixture, &request);
    test_body_exchange(&fixture->body, 1, "nonsense");
    assert_int_equal(decode(fixture, &read), DUNLIN_BAD_MESSAGE);
    assert_string_equal(read.nonce, NONCE);
    test_body_exchange(&fixture->body, 6, "{\"end\":7}");
    assert_int_equal(decode(fixture, &read), DUNLIN_BAD_MESSAGE);
    assert_string_equal(read.nonce, NONCE);
    test_body_exchange(&fixture->body, 0, "{}");
    assert_int_equal(decode(fixture, &read), DUNLIN_BAD_MESSAGE);
    assert_string_equal(read.nonce, "");
}

/* A body of so many equal lines. */
static dunlin_status decode_many(struct fixture *fixture, size_t scope_count, size_t record_count) {
    struct dln_sync_request read;
    dln_buf_clear(&fixture->body);
    dln_buf_printf(&fixture->body, HEAD(",\"scopes\":%zu") "\n", scope_count);
    for (size_t i = 0; i < scope_count; i++) {
        dln_buf_printf(&fixture->body, "{\"scope\":\"user/%zu\"}\n", i);
    }
    for (size_t i = 0; i < record_count; i++) {
        dln_buf_append_text(&fixture->body, FOLLOW PRESENT "\n");
    }
    dln_buf_printf(&fixture->body, "{\"end\":%zu}\n", scope_count + record_count);
    return decode(fixture, &read);
}

static void a_request_has_ceilings(void **state) {
    struct fixture *fixture = *state;
    assert_int_equal(decode_many(fixture, 0, 0), DUNLIN_OK);
    assert_int_equal(decode_many(fixture, DLN_REQUEST_SCOPES_MAX, DLN_REQUEST_RECORDS_MAX),
                     DUNLIN_OK);
    assert_int_equal(decode_many(fixture, DLN_REQUEST_SCOPES_MAX + 1, 0), DUNLIN_TOO_LARGE);
    assert_int_equal(decode_many(fixture, 1, DLN_REQUEST_RECORDS_MAX + 1), DUNLIN_TOO_LARGE);

    struct dln_sync_request read;
    size_t len = DLN_BODY_BYTES_MAX + 1;
    char *body = calloc(len, 1);
    assert_non_null(body);
    assert_int_equal(dln_request_decode(&fixture->read, &read, (struct dln_text){body, len}, NULL),
                     DUNLIN_TOO_LARGE);
    free(body);
}

/* Whatever fits of memory: either all is read or the ceiling is named. */
static void an_arena_too_small_is_named(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_request request = small_request(fixture), read;
    dunlin_status status = DUNLIN_TOO_LARGE;
    encode(fixture, &request);
    size_t max = 0;
    for (; status != DUNLIN_OK && max < 100000; max += 16) {
        struct dln_arena small = DLN_ARENA_INIT(max);
        status = dln_request_decode(&small, &read, text_of(&fixture->body), NULL);
        assert_true(status == DUNLIN_OK || status == DUNLIN_TOO_LARGE);
        dln_arena_free(&small);
    }
    assert_true(max > 1000 && max < 100000);
}

static void an_encoder_stops_at_its_ceiling(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_request request = small_request(fixture);
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

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    if (fixture == NULL) {
        return -1;
    }
    fixture->sent = DLN_ARENA_INIT(ARENA_BYTES);
    fixture->read = DLN_ARENA_INIT(ARENA_BYTES);
    fixture->body = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    dln_arena_free(&fixture->sent);
    dln_arena_free(&fixture->read);
    dln_buf_free(&fixture->body);
    free(fixture);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_lines_are_fixed),
        TEST(any_records_come_back_as_they_were),
        TEST(wire_bytes_are_an_upper_bound),
        TEST(a_cut_request_is_refused),
        TEST(a_flipped_bit_crashes_nothing),
        TEST(one_bad_record_is_refused_alone),
        TEST(lengths_are_held_to_their_limits),
        TEST(unknown_fields_are_kept_up_to_a_number),
        TEST(what_is_not_a_request_is_refused),
        TEST(a_page_is_at_most_the_greatest),
        TEST(the_nonce_is_read_where_the_head_is),
        TEST(a_request_has_ceilings),
        TEST(an_arena_too_small_is_named),
        TEST(an_encoder_stops_at_its_ceiling),
        TEST(a_body_says_its_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
