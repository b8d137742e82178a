#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sync/message.h"
#include "tests/support/records.h"

#define NONCE "0123456789abcdef0123456789abcdef"
#define OTHER_NONCE "1123456789abcdef0123456789abcdef"

enum { ARENA_BYTES = 64 << 20, ROW_COUNT = 10 };

struct fixture {
    struct dln_arena sent;
    struct dln_arena read;
    struct dln_buf body;
};

static void encode(struct fixture *fixture, const struct dln_sync_answer *answer) {
    dunlin_error err = {0};
    dln_buf_clear(&fixture->body);
    assert_int_equal(dln_answer_encode(&fixture->body, answer, &err), DUNLIN_OK);
}

static dunlin_status decode_text(struct fixture *fixture, struct dln_sync_answer *out,
                                 struct dln_text body) {
    dunlin_error err = {0};
    dln_arena_clear(&fixture->read);
    dunlin_status status = dln_answer_decode(&fixture->read, out, NONCE, body, &err);
    assert_int_equal(err.code, status);
    assert_int_equal(err.message[0] == '\0', status == DUNLIN_OK);
    return status;
}

static dunlin_status decode(struct fixture *fixture, struct dln_sync_answer *out) {
    return decode_text(fixture, out, (struct dln_text){fixture->body.data, fixture->body.len});
}

static void *take(struct fixture *fixture, size_t size) {
    void *memory = dln_arena_alloc(&fixture->sent, size);
    assert_non_null(memory);
    return memory;
}

/* An answer with every kind of line:
 *   0 head, 1 ack, 2 refusal, 3 page of alice, 4 … 13 its rows, 14 page of a group, 15 its row,
 *   16 … 19 scopes in the other states, 20 end */
static struct dln_sync_answer full_answer(struct fixture *fixture) {
    static const struct dln_scope_answer states[] = {
        {.scope = {"user/alice", 10},
         .state = DLN_SCOPE_PAGE,
         .cursor = {INT64_C(9007199254740993), UINT32_MAX},
         .more = true,
         .version_count = ROW_COUNT},
        {.scope = {"group/g", 7},
         .state = DLN_SCOPE_PAGE,
         .cursor = {7, 1},
         .head = 7,
         .version_count = 1},
        {.scope = {"group/reset", 11},
         .state = DLN_SCOPE_RESET,
         .floor = 5,
         .base = 4,
         .horizon_ms = 7776000000},
        {.scope = {"group/held", 10}, .state = DLN_SCOPE_HELD},
        {.scope = {"group/denied", 12}, .state = DLN_SCOPE_DENIED},
        {.scope = {"group/same", 10}, .state = DLN_SCOPE_SAME, .cursor = {3, 4}}};
    struct dln_sync_answer answer = {.nonce = NONCE,
                                     .epoch = DLN_TEXT("e-1"),
                                     .now_ms = 1700000000000,
                                     .ack_count = 1,
                                     .refusal_count = 1,
                                     .scope_count = 6};
    answer.acks = take(fixture, sizeof(*answer.acks));
    answer.acks[0] = (struct dln_ack){2, INT64_MAX};
    answer.refusals = take(fixture, sizeof(*answer.refusals));
    answer.refusals[0] = (struct dln_refusal){.index = 999,
                                              .code = DUNLIN_AHEAD,
                                              .reason = DLN_TEXT("too \"far\" ahead"),
                                              .held = true,
                                              .seq = 9,
                                              .field_count = 2};
    answer.refusals[0].fields = take(fixture, 2 * sizeof(*answer.refusals[0].fields));
    answer.refusals[0].fields[0] = (struct dln_refused_field){
        3, DLN_TEXT("title"), {8, dln_value_string(DLN_TEXT("old"))}, DLN_STAMP_MAX};
    answer.refusals[0].fields[1].name = DLN_TEXT("colour");
    answer.scopes = take(fixture, sizeof(states));
    memcpy(answer.scopes, states, sizeof(states));
    for (int scope = 0; scope < 2; scope++) {
        struct dln_scope_answer *page = &answer.scopes[scope];
        page->versions = take(fixture, page->version_count * sizeof(*page->versions));
        for (size_t i = 0; i < page->version_count; i++) {
            struct dln_record *record = &page->versions[i].record;
            page->versions[i].seq = page->cursor.seq - (int64_t)(page->version_count - 1 - i);
            record->key = (struct dln_key){.name = DLN_TEXT("list"),
                                           .scope = page->scope,
                                           .part_count = 1,
                                           .parts = {DLN_TEXT("l")}};
            record->key.name = scope == 0 ? DLN_TEXT("list") : DLN_TEXT("member");
            record->key.collection = dln_collection_by_name(record->key.name);
            record->fields[0] = (struct dln_field){
                i + 1, scope == 0 ? dln_value_string(DLN_TEXT("n")) : dln_value_bool(true)};
        }
    }
    return answer;
}

static void the_lines_are_fixed(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_answer answer = full_answer(fixture);
    answer.scopes[0].versions += ROW_COUNT - 1;
    answer.scopes[0].version_count = 1;
    encode(fixture, &answer);
    assert_string_equal(
        fixture->body.data,
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" NONCE "\",\"epoch\":\"e-1\","
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

static void assert_scopes_equal(const struct dln_scope_answer *a,
                                const struct dln_scope_answer *b) {
    assert_true(dln_text_equal(a->scope, b->scope));
    assert_int_equal(a->state, b->state);
    assert_true(a->cursor.seq == b->cursor.seq && a->cursor.salt == b->cursor.salt);
    assert_int_equal(a->more, b->more);
    assert_true(a->head == b->head && a->floor == b->floor && a->base == b->base &&
                a->horizon_ms == b->horizon_ms);
    assert_int_equal(a->version_count, b->version_count);
    for (size_t i = 0; i < a->version_count; i++) {
        assert_true(a->versions[i].seq == b->versions[i].seq);
        assert_true(test_records_equal(&a->versions[i].record, &b->versions[i].record));
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
        assert_scopes_equal(&a->scopes[i], &b->scopes[i]);
    }
}

static void an_answer_comes_back_as_it_was(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_answer answer = full_answer(fixture), read;
    encode(fixture, &answer);
    assert_int_equal(decode(fixture, &read), DUNLIN_OK);
    assert_int_equal(read.quarantined, 0);
    assert_answers_equal(&read, &answer);

    answer.ack_count = answer.refusal_count = answer.scope_count = 0;
    encode(fixture, &answer);
    assert_int_equal(decode(fixture, &read), DUNLIN_OK);
    assert_answers_equal(&read, &answer);
}

static void any_records_come_back_as_they_were(void **state) {
    struct fixture *fixture = *state;
    struct test_random random = {21};
    for (int round = 0; round < 150; round++) {
        struct dln_version versions[2][20];
        struct dln_sync_answer read;
        dln_arena_clear(&fixture->sent);
        struct dln_sync_answer answer = full_answer(fixture);
        answer.scope_count = 2;
        answer.scopes[0].version_count = answer.scopes[1].version_count = 0;
        for (int i = 0; i < 20; i++) {
            struct dln_record record;
            test_record_random(&fixture->sent, &random, &record, answer.scopes[0].scope,
                               answer.scopes[1].scope);
            int scope = dln_text_equal(record.key.scope, answer.scopes[0].scope) ? 0 : 1;
            size_t at = answer.scopes[scope].version_count++;
            versions[scope][at] = (struct dln_version){(int64_t)at + 1, record};
            answer.scopes[scope].cursor.seq = 20;
        }
        answer.scopes[0].versions = versions[0];
        answer.scopes[1].versions = versions[1];
        encode(fixture, &answer);
        assert_int_equal(decode(fixture, &read), DUNLIN_OK);
        assert_int_equal(read.quarantined, 0);
        assert_answers_equal(&read, &answer);
    }
}

static void a_cut_answer_is_never_accepted(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_answer answer = full_answer(fixture), read;
    encode(fixture, &answer);
    for (size_t len = 0; len < fixture->body.len; len++) {
        char *cut = malloc(len > 0 ? len : 1); /* so that a sanitizer sees a read behind it */
        assert_non_null(cut);
        memcpy(cut, fixture->body.data, len);
        assert_int_equal(decode_text(fixture, &read, (struct dln_text){cut, len}),
                         DUNLIN_NOT_OUR_SERVER);
        free(cut);
    }
}

/* Neither does one with a hole. */
static void an_answer_without_one_line_is_never_accepted(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_answer answer = full_answer(fixture), read;
    for (size_t line = 0; line <= 20; line++) {
        encode(fixture, &answer);
        test_body_exchange(&fixture->body, line, NULL);
        assert_int_equal(decode(fixture, &read), DUNLIN_NOT_OUR_SERVER);
    }
}

static void a_flipped_bit_crashes_nothing(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_answer answer = full_answer(fixture), read;
    answer.scopes[0].versions += ROW_COUNT - 2;
    answer.scopes[0].version_count = 2;
    encode(fixture, &answer);
    for (size_t bit = 0; bit < 8 * fixture->body.len; bit++) {
        char mask = (char)(1 << bit % 8);
        fixture->body.data[bit / 8] ^= mask;
        if (decode(fixture, &read) == DUNLIN_OK) {
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
        fixture->body.data[bit / 8] ^= mask;
    }
    assert_int_equal(decode(fixture, &read), DUNLIN_OK);
}

/* B55, B60: login pages, caches, proxies. */
static void what_is_not_an_answer_is_refused(void **state) {
    struct fixture *fixture = *state;
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
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" NONCE "\",\"epoch\":\"e\",\"now\":\"1\"}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" NONCE "\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":0,\"epoch\":\"e\"}",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" NONCE "\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":0,\"epoch\":\"f\"}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" NONCE "\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":0}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" NONCE "\",\"now\":\"1\"}\n{\"end\":0}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" NONCE "\",\"epoch\":\"\",\"now\":\"1\"}\n"
        "{\"end\":0,\"epoch\":\"\"}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" NONCE "\",\"epoch\":\"e\"}\n"
        "{\"end\":0,\"epoch\":\"e\"}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" NONCE "\",\"epoch\":\"e\",\"now\":1}\n"
        "{\"end\":0,\"epoch\":\"e\"}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" NONCE "\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":1,\"epoch\":\"e\"}\n",
        "{\"dunlin\":2,\"kind\":\"sync\",\"nonce\":\"" NONCE "\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":0,\"epoch\":\"e\"}\n",
        "{\"dunlin\":1,\"kind\":\"verify\",\"nonce\":\"" NONCE
        "\",\"epoch\":\"e\",\"now\":\"1\"}\n{\"end\":0,\"epoch\":\"e\"}\n",
        "{\"dunlin\":1,\"kind\":\"sync\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":0,\"epoch\":\"e\"}\n",
        "{\"kind\":\"sync\",\"nonce\":\"" NONCE "\",\"epoch\":\"e\",\"now\":\"1\"}\n"
        "{\"end\":0,\"epoch\":\"e\"}\n",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct dln_sync_answer read;
        dunlin_status status = decode_text(fixture, &read, dln_text_of(bodies[i]));
        if (status != DUNLIN_NOT_OUR_SERVER) {
            fail_msg("%s is judged as %s", bodies[i], dunlin_status_name(status));
        }
    }
}

static void the_answer_to_another_request_is_stale(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_answer answer = full_answer(fixture), read;
    memcpy(answer.nonce, OTHER_NONCE, sizeof(answer.nonce));
    encode(fixture, &answer);
    assert_int_equal(decode(fixture, &read), DUNLIN_STALE_REPLY);
    dunlin_error why = {DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_CENTRAL, "closed"};
    dln_buf_clear(&fixture->body);
    assert_int_equal(dln_failure_encode(&fixture->body, OTHER_NONCE, &why, 0, NULL), DUNLIN_OK);
    assert_int_equal(decode(fixture, &read), DUNLIN_STALE_REPLY);
}

static void a_failure_comes_back_as_its_status(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_answer read;
    dunlin_error why = {DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_CENTRAL, "closed \x1b[31m \"now\""};
    dunlin_error err;
    const char *const nonces[] = {NONCE, "", NULL};
    for (size_t i = 0; i < 3; i++) {
        dln_buf_clear(&fixture->body);
        assert_int_equal(dln_failure_encode(&fixture->body, nonces[i], &why, INT64_MAX, NULL),
                         DUNLIN_OK);
        assert_int_equal(dln_answer_decode(&fixture->read, &read, NONCE,
                                           (struct dln_text){fixture->body.data, fixture->body.len},
                                           &err),
                         DUNLIN_UNAVAILABLE);
        assert_int_equal(err.domain, DUNLIN_DOMAIN_CENTRAL);
        assert_string_equal(err.message, "closed  [31m \"now\"");
        assert_true(read.retry_after_ms == INT64_MAX);
    }
    test_body_exchange(&fixture->body, 0,
                       "{\"dunlin\":1,\"kind\":\"error\",\"nonce\":\"\",\"code\":\"LATER\"}");
    assert_int_equal(decode(fixture, &read), DUNLIN_UNAVAILABLE);
    assert_true(read.retry_after_ms == 0);
    test_body_exchange(&fixture->body, 0, "{\"dunlin\":1,\"kind\":\"error\",\"nonce\":\"\"}");
    assert_int_equal(decode(fixture, &read), DUNLIN_NOT_OUR_SERVER);
    test_body_exchange(&fixture->body, 0,
                       "{\"dunlin\":1,\"kind\":\"error\",\"nonce\":\"\",\"code\":\"OK\"}");
    assert_int_equal(decode(fixture, &read), DUNLIN_UNAVAILABLE);
}

static void every_status_survives_as_a_failure(void **state) {
    struct fixture *fixture = *state;
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
        dln_buf_clear(&fixture->body);
        assert_int_equal(dln_failure_encode(&fixture->body, NONCE, &why, 0, NULL), DUNLIN_OK);
        assert_int_equal(decode(fixture, &read), statuses[i]);
    }
}

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
        LIST(""),
        ROW("\"collection\":\"member\",\"key\":[\"u\"],\"fields\":{\"present\":[\"1\",true]}"),
        "{\"seq\":\"0\",\"collection\":\"list\",\"key\":[\"l\"],\"fields\":{\"name\":[\"1\",\"n\"]}"
        "}",
        "{\"seq\":\"9007199254740994\",\"collection\":\"list\",\"key\":[\"l\"],"
        "\"fields\":{\"name\":[\"1\",\"n\"]}}",
        "{\"collection\":\"list\",\"key\":[\"l\"],\"fields\":{\"name\":[\"1\",\"n\"]}}",
    };
    struct fixture *fixture = *state;
    struct dln_sync_answer answer = full_answer(fixture), read;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        encode(fixture, &answer);
        test_body_exchange(&fixture->body, 8, rows[i]);
        assert_int_equal(decode(fixture, &read), DUNLIN_OK);
        if (read.quarantined != 1) {
            fail_msg("%s is not passed over", rows[i]);
        }
        assert_int_equal(read.scope_count, 6);
        assert_int_equal(read.scopes[0].version_count, ROW_COUNT - 1);
        assert_true(read.scopes[0].cursor.seq == INT64_C(9007199254740993));
        assert_int_equal(read.scopes[0].versions[4].record.fields[0].stamp, 6);
        assert_scopes_equal(&read.scopes[1], &answer.scopes[1]);
    }
}

static void B42_a_very_long_id_in_a_page(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_answer answer = full_answer(fixture), read;
    char id[10001];
    memset(id, 'x', sizeof(id) - 1);
    id[sizeof(id) - 1] = '\0';
    answer.scopes[0].versions[3].record.key.parts[0] = dln_text_of(id);
    encode(fixture, &answer);
    assert_int_equal(decode(fixture, &read), DUNLIN_OK);
    assert_int_equal(read.quarantined, 1);
    assert_int_equal(read.scopes[0].version_count, ROW_COUNT - 1);
    id[DLN_ID_MAX] = '\0';
    answer.scopes[0].versions[3].record.key.parts[0] = dln_text_of(id);
    encode(fixture, &answer);
    assert_int_equal(decode(fixture, &read), DUNLIN_OK);
    assert_int_equal(read.quarantined, 0);
    assert_answers_equal(&read, &answer);
}

/* A page must never be taken for another scope's. */
static void an_unreadable_scope_takes_its_page_along(void **state) {
    struct fixture *fixture = *state;
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
        struct dln_sync_answer answer = full_answer(fixture), read;
        encode(fixture, &answer);
        test_body_exchange(&fixture->body, 14, cases[i].line);
        assert_int_equal(decode(fixture, &read), DUNLIN_OK);
        assert_int_equal(read.quarantined, cases[i].quarantined);
        assert_scopes_equal(&read.scopes[0], &answer.scopes[0]);
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
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct dln_sync_answer answer = full_answer(fixture), read;
        encode(fixture, &answer);
        test_body_exchange(&fixture->body, cases[i].line, cases[i].text);
        assert_int_equal(decode(fixture, &read), DUNLIN_NOT_OUR_SERVER);
    }
}

static void what_a_later_version_adds_is_ignored(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_answer answer = full_answer(fixture), read;
    encode(fixture, &answer);
    test_body_exchange(&fixture->body, 1, "{\"news\":[1,2.5,{}],\"seq\":7}");
    test_body_exchange(&fixture->body, 19,
                       "{\"scope\":\"group/same\",\"state\":\"same\",\"seq\":\"3\",\"salt\":\"4\","
                       "\"later\":{\"a\":[1]}}");
    test_body_exchange(
        &fixture->body, 4,
        "{\"seq\":\"9007199254740984\",\"collection\":\"list\",\"key\":[\"l\"],"
        "\"later\":1,\"fields\":{\"name\":[\"1\",\"n\"],\"colour\":[\"5\",\"teal\"]}}");
    assert_int_equal(decode(fixture, &read), DUNLIN_OK);
    assert_int_equal(read.quarantined, 0);
    assert_int_equal(read.ack_count, 0);
    assert_scopes_equal(&read.scopes[5], &answer.scopes[5]);
    const struct dln_record *record = &read.scopes[0].versions[0].record;
    assert_int_equal(record->extra_count, 1);
    assert_true(dln_text_equal(record->extras[0].name, DLN_TEXT("colour")));
    assert_int_equal(record->extras[0].field.stamp, 5);
}

static void a_refusal_for_an_unknown_reason_is_still_one(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_answer answer = full_answer(fixture), read;
    encode(fixture, &answer);
    test_body_exchange(&fixture->body, 2, "{\"refused\":3,\"code\":\"LATER\",\"reason\":\"r\"}");
    assert_int_equal(decode(fixture, &read), DUNLIN_OK);
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
    struct fixture *fixture = *state;
    struct dln_sync_answer answer = full_answer(fixture), read;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        encode(fixture, &answer);
        test_body_exchange(&fixture->body, 1, lines[i]);
        assert_int_equal(decode(fixture, &read), DUNLIN_OK);
        if (read.quarantined != 1) {
            fail_msg("%s is not passed over", lines[i]);
        }
        assert_int_equal(read.ack_count, 0);
        assert_int_equal(read.refusal_count, 1);
        assert_scopes_equal(&read.scopes[1], &answer.scopes[1]);
    }
}

static dunlin_status decode_many(struct fixture *fixture, const char *line, size_t count) {
    struct dln_sync_answer read;
    dln_buf_clear(&fixture->body);
    dln_buf_append_text(&fixture->body, "{\"dunlin\":1,\"kind\":\"sync\",\"nonce\":\"" NONCE
                                        "\",\"epoch\":\"e\",\"now\":\"1\"}\n");
    for (size_t i = 0; i < count; i++) {
        dln_buf_append_text(&fixture->body, line);
    }
    dln_buf_printf(&fixture->body, "{\"end\":%zu,\"epoch\":\"e\"}\n", count);
    return decode(fixture, &read);
}

static void an_answer_has_ceilings(void **state) {
    struct fixture *fixture = *state;
    const char *scope = "{\"scope\":\"group/g\",\"state\":\"same\"}\n";
    const char *ack = "{\"ack\":1,\"seq\":\"7\"}\n";
    const char *refusal = "{\"refused\":1,\"code\":\"QUOTA\"}\n";
    assert_int_equal(decode_many(fixture, scope, DLN_REQUEST_SCOPES_MAX), DUNLIN_OK);
    assert_int_equal(decode_many(fixture, scope, DLN_REQUEST_SCOPES_MAX + 1), DUNLIN_TOO_LARGE);
    assert_int_equal(decode_many(fixture, ack, DLN_REQUEST_RECORDS_MAX), DUNLIN_OK);
    assert_int_equal(decode_many(fixture, ack, DLN_REQUEST_RECORDS_MAX + 1), DUNLIN_TOO_LARGE);
    assert_int_equal(decode_many(fixture, refusal, DLN_REQUEST_RECORDS_MAX + 1), DUNLIN_TOO_LARGE);
    /* Announced, not there: no memory is taken for it. */
    assert_int_equal(
        decode_many(fixture,
                    "{\"scope\":\"group/g\",\"state\":\"page\",\"seq\":\"1\",\"versions\":1001}\n",
                    DLN_PAGE_RECORDS_MAX + 10),
        DUNLIN_TOO_LARGE);
    struct dln_sync_answer read;
    size_t len = DLN_BODY_BYTES_MAX + 1;
    char *body = calloc(len, 1);
    assert_non_null(body);
    assert_int_equal(decode_text(fixture, &read, (struct dln_text){body, len}), DUNLIN_TOO_LARGE);
    free(body);
}

static void an_arena_too_small_is_named(void **state) {
    struct fixture *fixture = *state;
    struct dln_sync_answer answer = full_answer(fixture), read;
    dunlin_status status = DUNLIN_TOO_LARGE;
    encode(fixture, &answer);
    size_t max = 0;
    for (; status != DUNLIN_OK && max < 100000; max += 16) {
        struct dln_arena small = DLN_ARENA_INIT(max);
        status = dln_answer_decode(&small, &read, NONCE,
                                   (struct dln_text){fixture->body.data, fixture->body.len}, NULL);
        assert_true(status == DUNLIN_TOO_LARGE || status == DUNLIN_OK);
        assert_true(status != DUNLIN_OK || read.quarantined == 0);
        dln_arena_free(&small);
    }
    assert_true(max > 1000 && max < 100000);
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
        TEST(an_answer_comes_back_as_it_was),
        TEST(any_records_come_back_as_they_were),
        TEST(a_cut_answer_is_never_accepted),
        TEST(an_answer_without_one_line_is_never_accepted),
        TEST(a_flipped_bit_crashes_nothing),
        TEST(what_is_not_an_answer_is_refused),
        TEST(the_answer_to_another_request_is_stale),
        TEST(a_failure_comes_back_as_its_status),
        TEST(every_status_survives_as_a_failure),
        TEST(an_unreadable_row_is_passed_over),
        TEST(B42_a_very_long_id_in_a_page),
        TEST(an_unreadable_scope_takes_its_page_along),
        TEST(a_page_shorter_than_it_says_is_no_answer),
        TEST(what_a_later_version_adds_is_ignored),
        TEST(a_refusal_for_an_unknown_reason_is_still_one),
        TEST(unreadable_verdicts_are_passed_over),
        TEST(an_answer_has_ceilings),
        TEST(an_arena_too_small_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
