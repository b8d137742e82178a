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
static dunlin_status decode_text(struct test_messages *messages, struct dln_sync_answer *out,
                                 struct dln_text body) {
    dunlin_error err = {0};
    dln_arena_clear(&messages->read);
    dunlin_status status = dln_answer_decode(&messages->read, out, TEST_NONCE, body, &err);
    assert_int_equal(err.code, status);
    return status;
}

static void the_lines_are_fixed(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_answer answer = test_answer_full(messages);
    answer.scopes[0].versions += TEST_ROW_COUNT - 1;
    answer.scopes[0].version_count = 1;
    test_answer_encode(messages, &answer);
    assert_string_equal(
        messages->body.data,
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE "\",\"epoch\":\"e-1\","
        "\"now\":\"1700000000000\"}\n"
        "{\"ack\":2,\"seq\":\"9223372036854775807\"}\n"
        "{\"refused\":999,\"code\":\"AHEAD\",\"reason\":\"too \\\"far\\\" ahead\",\"held\":true,"
        "\"seq\":\"9\",\"fields\":[{\"name\":\"title\",\"now\":[\"8\",\"old\"],"
        "\"take\":\"9223372036854775807\"},{\"name\":\"colour\"}]}\n"
        "{\"scope\":\"user/alice\",\"state\":\"page\",\"seq\":\"9007199254740993\","
        "\"salt\":\"4294967295\",\"more\":true,\"versions\":1}\n"
        "{\"seq\":\"9007199254740993\",\"collection\":\"list\",\"key\":[\"l\"],"
        "\"fields\":{\"name\":[\"10\",\"n\"]}}\n"
        "{\"scope\":\"group/g\",\"state\":\"page\",\"seq\":\"7\",\"salt\":\"1\",\"head\":\"7\","
        "\"versions\":1}\n"
        "{\"seq\":\"7\",\"collection\":\"member\",\"key\":[\"l\"],"
        "\"fields\":{\"present\":[\"1\",true]}}\n"
        "{\"scope\":\"group/reset\",\"state\":\"reset\",\"floor\":\"5\",\"base\":\"4\","
        "\"horizon\":\"7776000000\"}\n"
        "{\"scope\":\"group/held\",\"state\":\"held\"}\n"
        "{\"scope\":\"group/denied\",\"state\":\"denied\"}\n"
        "{\"scope\":\"group/same\",\"state\":\"same\",\"seq\":\"3\",\"salt\":\"4\"}\n"
        "{\"end\":10,\"epoch\":\"e-1\"}\n");
}

static void assert_refusals_equal(const struct dln_refusal *a, const struct dln_refusal *b) {
    assert_int_equal(a->index, b->index);
    assert_int_equal(a->code, b->code);
    assert_true(dln_text_equal(a->reason, b->reason));
    assert_int_equal(a->held, b->held);
    assert_true(a->seq == b->seq);
    assert_int_equal(a->field_count, b->field_count);
    for (size_t i = 0; i < a->field_count; i++) {
        assert_int_equal(a->fields[i].field, -1); /* only the name travels */
        assert_true(dln_text_equal(a->fields[i].name, b->fields[i].name));
        assert_true(a->fields[i].now.stamp == b->fields[i].now.stamp);
        assert_true(dln_value_equal(&a->fields[i].now.value, &b->fields[i].now.value));
        assert_true(a->fields[i].take == b->fields[i].take);
    }
}

static void assert_answers_equal(const struct dln_sync_answer *a, const struct dln_sync_answer *b) {
    assert_string_equal(a->nonce, b->nonce);
    assert_true(dln_text_equal(a->epoch, b->epoch));
    assert_true(a->now_ms == b->now_ms);
    assert_int_equal(a->ack_count, b->ack_count);
    for (size_t i = 0; i < a->ack_count; i++) {
        assert_true(a->acks[i].index == b->acks[i].index && a->acks[i].seq == b->acks[i].seq);
    }
    assert_int_equal(a->refusal_count, b->refusal_count);
    for (size_t i = 0; i < a->refusal_count; i++) {
        assert_refusals_equal(&a->refusals[i], &b->refusals[i]);
    }
    assert_int_equal(a->scope_count, b->scope_count);
    for (size_t i = 0; i < a->scope_count; i++) {
        assert_true(test_scope_answers_equal(&a->scopes[i], &b->scopes[i]));
    }
}

static void an_answer_comes_back_as_it_was(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_answer answer = test_answer_full(messages), read;
    test_answer_encode(messages, &answer);
    assert_int_equal(test_answer_decode(messages, &read), DUNLIN_OK);
    assert_int_equal(read.quarantined, 0);
    assert_answers_equal(&read, &answer);

    answer.ack_count = answer.refusal_count = answer.scope_count = 0;
    test_answer_encode(messages, &answer);
    assert_int_equal(test_answer_decode(messages, &read), DUNLIN_OK);
    assert_answers_equal(&read, &answer);
}

static void any_records_come_back_as_they_were(void **state) {
    struct test_messages *messages = *state;
    struct test_random random = {21};
    for (int round = 0; round < 150; round++) {
        struct dln_version versions[2][20];
        struct dln_sync_answer read;
        dln_arena_clear(&messages->sent);
        struct dln_sync_answer answer = test_answer_full(messages);
        answer.scope_count = 2;
        answer.scopes[0].version_count = answer.scopes[1].version_count = 0;
        for (int i = 0; i < 20; i++) {
            struct dln_record record;
            test_record_random(&messages->sent, &random, &record, answer.scopes[0].scope,
                               answer.scopes[1].scope);
            int scope = dln_text_equal(record.key.scope, answer.scopes[0].scope) ? 0 : 1;
            size_t at = answer.scopes[scope].version_count++;
            versions[scope][at] = (struct dln_version){(int64_t)at + 1, record};
            answer.scopes[scope].cursor.seq = 20;
        }
        answer.scopes[0].versions = versions[0];
        answer.scopes[1].versions = versions[1];
        test_answer_encode(messages, &answer);
        assert_int_equal(test_answer_decode(messages, &read), DUNLIN_OK);
        assert_int_equal(read.quarantined, 0);
        assert_answers_equal(&read, &answer);
    }
}

static void a_cut_answer_is_never_accepted(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_answer answer = test_answer_full(messages), read;
    test_answer_encode(messages, &answer);
    for (size_t len = 0; len < messages->body.len; len++) {
        char *cut = malloc(len > 0 ? len : 1); /* so that a sanitizer sees a read behind it */
        assert_non_null(cut);
        memcpy(cut, messages->body.data, len);
        assert_int_equal(decode_text(messages, &read, (struct dln_text){cut, len}),
                         DUNLIN_NOT_OUR_SERVER);
        free(cut);
    }
}

/* Neither does one with a hole. */
static void an_answer_without_one_line_is_never_accepted(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_answer answer = test_answer_full(messages), read;
    for (size_t line = 0; line <= 20; line++) {
        test_answer_encode(messages, &answer);
        test_body_exchange(&messages->body, line, NULL);
        assert_int_equal(test_answer_decode(messages, &read), DUNLIN_NOT_OUR_SERVER);
    }
}

static void a_flipped_bit_crashes_nothing(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_answer answer = test_answer_full(messages), read;
    answer.scopes[0].versions += TEST_ROW_COUNT - 2;
    answer.scopes[0].version_count = 2;
    test_answer_encode(messages, &answer);
    for (size_t bit = 0; bit < 8 * messages->body.len; bit++) {
        char mask = (char)(1 << bit % 8);
        messages->body.data[bit / 8] ^= mask;
        if (test_answer_decode(messages, &read) == DUNLIN_OK) {
            /* One bit damages one line; a scope's takes its page with it. */
            assert_true(read.quarantined <= 3);
            for (size_t i = 0; i < read.scope_count; i++) {
                for (size_t at = 0; at < read.scopes[i].version_count; at++) {
                    const struct dln_version *version = &read.scopes[i].versions[at];
                    assert_true(version->record.key.name.len > 0);
                    assert_true(dln_text_equal(version->record.key.scope, read.scopes[i].scope));
                    assert_true(version->seq > 0 && version->seq <= read.scopes[i].cursor.seq);
                }
            }
        }
        messages->body.data[bit / 8] ^= mask;
    }
    assert_int_equal(test_answer_decode(messages, &read), DUNLIN_OK);
}

/* B55, B60: login pages, caches, proxies. */
static void what_is_not_an_answer_is_refused(void **state) {
    struct test_messages *messages = *state;
    static const char *const bodies[] = {
        "",
        "\n",
        "\n\n",
        "{}",
        "{}\n",
        "{}\n{}\n",
        "[]",
        "[]\n[]\n",
        "null\nnull\n",
        "<!DOCTYPE html>\n<html><body>Sign in</body>\n</html>\n",
        "{\"end\":0}\n{\"end\":0}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE
        "\",\"epoch\":\"e\",\"now\":\"1\"}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE
        "\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":0,\"epoch\":\"e\"}",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE
        "\",\"epoch\":\"e\",\"now\":\"1\"}\n{\"end\":0,\"epoch\":\"e\"}x",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE
        "\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":0,\"epoch\":\"f\"}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE
        "\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":0}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE
        "\",\"now\":\"1\"}\n{\"end\":0}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE
        "\",\"epoch\":\"\",\"now\":\"1\"}\n"
        "{\"end\":0,\"epoch\":\"\"}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE "\",\"epoch\":\"e\"}\n"
        "{\"end\":0,\"epoch\":\"e\"}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE "\",\"epoch\":\"e\",\"now\":1}\n"
        "{\"end\":0,\"epoch\":\"e\"}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE
        "\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":1,\"epoch\":\"e\"}\n",
        "{\"dunlin\":2,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE
        "\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":0,\"epoch\":\"e\"}\n",
        "{\"dunlin\":1,\"kind\":\"verify\",\"nonce\":\"" TEST_NONCE
        "\",\"epoch\":\"e\",\"now\":\"1\"}\n{\"end\":0,\"epoch\":\"e\"}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":0,\"epoch\":\"e\"}\n",
        "{\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE "\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":0,\"epoch\":\"e\"}\n",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct dln_sync_answer read;
        dunlin_status status = decode_text(messages, &read, dln_text_of(bodies[i]));
        if (status != DUNLIN_NOT_OUR_SERVER) {
            fail_msg("%s is judged as %s", bodies[i], dunlin_status_name(status));
        }
    }
}

static void the_answer_to_another_request_is_stale(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_answer answer = test_answer_full(messages), read;
    memcpy(answer.nonce, TEST_OTHER_NONCE, sizeof(answer.nonce));
    test_answer_encode(messages, &answer);
    assert_int_equal(test_answer_decode(messages, &read), DUNLIN_STALE_REPLY);
    dunlin_error why = {DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_CENTRAL, "closed"};
    dln_buf_clear(&messages->body);
    assert_int_equal(dln_failure_encode(&messages->body, TEST_OTHER_NONCE, &why, 0, NULL),
                     DUNLIN_OK);
    assert_int_equal(test_answer_decode(messages, &read), DUNLIN_STALE_REPLY);
}

static void a_failure_comes_back_as_its_status(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_answer read;
    dunlin_error why = {DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_CENTRAL, "closed \x1b[31m \"now\""};
    dunlin_error err;
    const char *const nonces[] = {TEST_NONCE, "", NULL};
    for (size_t i = 0; i < 3; i++) {
        dln_buf_clear(&messages->body);
        assert_int_equal(dln_failure_encode(&messages->body, nonces[i], &why, INT64_MAX, NULL),
                         DUNLIN_OK);
        assert_int_equal(
            dln_answer_decode(&messages->read, &read, TEST_NONCE, test_body(messages), &err),
            DUNLIN_UNAVAILABLE);
        assert_int_equal(err.domain, DUNLIN_DOMAIN_CENTRAL);
        assert_string_equal(err.message, "closed  [31m \"now\"");
        assert_true(read.retry_after_ms == INT64_MAX);
    }
    test_body_exchange(&messages->body, 0,
                       "{\"dunlin\":1,\"kind\":\"error\",\"nonce\":\"\",\"code\":\"LATER\"}");
    assert_int_equal(test_answer_decode(messages, &read), DUNLIN_UNAVAILABLE);
    assert_true(read.retry_after_ms == 0);
    test_body_exchange(&messages->body, 0, "{\"dunlin\":1,\"kind\":\"error\",\"nonce\":\"\"}");
    assert_int_equal(test_answer_decode(messages, &read), DUNLIN_NOT_OUR_SERVER);
    test_body_exchange(&messages->body, 0,
                       "{\"dunlin\":1,\"kind\":\"error\",\"nonce\":\"\",\"code\":\"OK\"}");
    assert_int_equal(test_answer_decode(messages, &read), DUNLIN_UNAVAILABLE);
}

static void every_status_survives_as_a_failure(void **state) {
    struct test_messages *messages = *state;
    static const dunlin_status statuses[] = {
#define STATUS(symbol, value, text) DUNLIN_##symbol,
        DUNLIN_STATUSES(STATUS)
#undef STATUS
    };
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        struct dln_sync_answer read;
        dunlin_error why = {statuses[i], DUNLIN_DOMAIN_CENTRAL, "why"};
        if (statuses[i] == DUNLIN_OK) {
            continue;
        }
        dln_buf_clear(&messages->body);
        assert_int_equal(dln_failure_encode(&messages->body, TEST_NONCE, &why, 0, NULL), DUNLIN_OK);
        assert_int_equal(test_answer_decode(messages, &read), statuses[i]);
    }
}

static dunlin_status decode_many(struct test_messages *messages, const char *line, size_t count) {
    struct dln_sync_answer read;
    dln_buf_clear(&messages->body);
    dln_buf_append_text(&messages->body, "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" TEST_NONCE
                                         "\",\"epoch\":\"e\",\"now\":\"1\"}\n");
    for (size_t i = 0; i < count; i++) {
        dln_buf_append_text(&messages->body, line);
    }
    dln_buf_printf(&messages->body, "{\"end\":%zu,\"epoch\":\"e\"}\n", count);
    return test_answer_decode(messages, &read);
}

static void an_answer_has_ceilings(void **state) {
    struct test_messages *messages = *state;
    const char *scope = "{\"scope\":\"group/g\",\"state\":\"same\"}\n";
    const char *ack = "{\"ack\":1,\"seq\":\"7\"}\n";
    const char *refusal = "{\"refused\":1,\"code\":\"QUOTA\"}\n";
    assert_int_equal(decode_many(messages, scope, DLN_REQUEST_SCOPES_MAX), DUNLIN_OK);
    assert_int_equal(decode_many(messages, scope, DLN_REQUEST_SCOPES_MAX + 1), DUNLIN_TOO_LARGE);
    assert_int_equal(decode_many(messages, ack, DLN_REQUEST_RECORDS_MAX), DUNLIN_OK);
    assert_int_equal(decode_many(messages, ack, DLN_REQUEST_RECORDS_MAX + 1), DUNLIN_TOO_LARGE);
    assert_int_equal(decode_many(messages, refusal, DLN_REQUEST_RECORDS_MAX + 1), DUNLIN_TOO_LARGE);
    /* Announced, not there: no memory is taken for it. */
    assert_int_equal(
        decode_many(messages,
                    "{\"scope\":\"group/g\",\"state\":\"page\",\"seq\":\"1\",\"versions\":1001}\n",
                    DLN_PAGE_RECORDS_MAX + 10),
        DUNLIN_TOO_LARGE);
    struct dln_sync_answer read;
    size_t len = DLN_BODY_BYTES_MAX + 1;
    char *body = calloc(len, 1);
    assert_non_null(body);
    assert_int_equal(decode_text(messages, &read, (struct dln_text){body, len}), DUNLIN_TOO_LARGE);
    free(body);
}

static void an_arena_too_small_is_named(void **state) {
    struct test_messages *messages = *state;
    struct dln_sync_answer answer = test_answer_full(messages), read;
    dunlin_status status = DUNLIN_TOO_LARGE;
    test_answer_encode(messages, &answer);
    size_t max = 0;
    for (; status != DUNLIN_OK && max < 100000; max += 16) {
        struct dln_arena small = DLN_ARENA_INIT(max);
        status = dln_answer_decode(&small, &read, TEST_NONCE, test_body(messages), NULL);
        assert_true(status == DUNLIN_TOO_LARGE || status == DUNLIN_OK);
        assert_true(status != DUNLIN_OK || read.quarantined == 0);
        dln_arena_free(&small);
    }
    assert_true(max > 1000 && max < 100000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_WITH_MESSAGES(the_lines_are_fixed),
        TEST_WITH_MESSAGES(an_answer_comes_back_as_it_was),
        TEST_WITH_MESSAGES(any_records_come_back_as_they_were),
        TEST_WITH_MESSAGES(a_cut_answer_is_never_accepted),
        TEST_WITH_MESSAGES(an_answer_without_one_line_is_never_accepted),
        TEST_WITH_MESSAGES(a_flipped_bit_crashes_nothing),
        TEST_WITH_MESSAGES(what_is_not_an_answer_is_refused),
        TEST_WITH_MESSAGES(the_answer_to_another_request_is_stale),
        TEST_WITH_MESSAGES(a_failure_comes_back_as_its_status),
        TEST_WITH_MESSAGES(every_status_survives_as_a_failure),
        TEST_WITH_MESSAGES(an_answer_has_ceilings),
        TEST_WITH_MESSAGES(an_arena_too_small_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
