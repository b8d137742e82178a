#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/messages.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/records.h"

enum { ARENA_BYTES = 64 << 20 };

int test_messages_set_up(void **state) {
    struct test_messages *messages = calloc(1, sizeof(*messages));
    if (messages == NULL) {
        return -1;
    }
    messages->sent = DLN_ARENA_INIT(ARENA_BYTES);
    messages->read = DLN_ARENA_INIT(ARENA_BYTES);
    messages->body = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    *state = messages;
    return 0;
}

int test_messages_tear_down(void **state) {
    struct test_messages *messages = *state;
    dln_arena_free(&messages->sent);
    dln_arena_free(&messages->read);
    dln_buf_free(&messages->body);
    free(messages);
    return 0;
}

struct dln_text test_body(const struct test_messages *messages) {
    return (struct dln_text){messages->body.data, messages->body.len};
}

static void *take(struct test_messages *messages, size_t size) {
    void *memory = dln_arena_alloc(&messages->sent, size);
    assert_non_null(memory);
    return memory;
}

struct dln_scope_ask test_scopes[TEST_SCOPE_COUNT] = {
    {.scope = {"user/alice", 10},
     .epoch = {"e-1", 3},
     .cursor = {INT64_C(9007199254740993), UINT32_MAX},
     .pull = true,
     .head = INT64_MAX},
    {.scope = {"group/climbers%2Ftea", 20}, .rebuilding = true, .epoch = {"e", 1}},
    {.scope = {"group/new", 9}, .pull = true}};

struct dln_sync_request test_request_small(struct test_messages *messages) {
    struct dln_record *records = take(messages, 3 * sizeof(*records));
    for (int i = 0; i < 3; i++) {
        records[i].key = (struct dln_key){.collection = dln_collection_by_id(DLN_FOLLOW),
                                          .name = DLN_TEXT("follow"),
                                          .scope = DLN_TEXT("user/alice"),
                                          .part_count = 2,
                                          .parts = {DLN_TEXT("user"), DLN_TEXT("bob")}};
        records[i].fields[0] = (struct dln_field){(dln_stamp)i + 1, dln_value_bool(true)};
    }
    return (struct dln_sync_request){.nonce = TEST_NONCE,
                                     .page_records = 50,
                                     .scopes = test_scopes,
                                     .scope_count = 2,
                                     .records = records,
                                     .record_count = 3};
}

void test_request_encode(struct test_messages *messages, const struct dln_sync_request *request) {
    dunlin_error err = {0};
    dln_buf_clear(&messages->body);
    assert_int_equal(dln_request_encode(&messages->body, request, &err), DUNLIN_OK);
}

dunlin_status test_request_decode(struct test_messages *messages, struct dln_sync_request *out) {
    dunlin_error err = {0};
    dln_arena_clear(&messages->read);
    dunlin_status status = dln_request_decode(&messages->read, out, test_body(messages), &err);
    assert_int_equal(err.code, status);
    return status;
}

/* Lists or members, with the seqs up to the cursor. */
static void add_rows(struct test_messages *messages, struct dln_scope_answer *page) {
    bool user = dln_text_equal(page->scope, DLN_TEXT("user/alice"));
    page->versions = take(messages, page->version_count * sizeof(*page->versions));
    for (size_t i = 0; i < page->version_count; i++) {
        struct dln_record *record = &page->versions[i].record;
        page->versions[i].seq = page->cursor.seq - (int64_t)(page->version_count - 1 - i);
        record->key.name = user ? DLN_TEXT("list") : DLN_TEXT("member");
        record->key.collection = dln_collection_by_name(record->key.name);
        record->key.scope = page->scope;
        record->key.part_count = 1;
        record->key.parts[0] = DLN_TEXT("l");
        record->fields[0].stamp = i + 1;
        record->fields[0].value = user ? dln_value_string(DLN_TEXT("n")) : dln_value_bool(true);
    }
}

struct dln_sync_answer test_answer_full(struct test_messages *messages) {
    static const struct dln_scope_answer states[] = {
        {.scope = {"user/alice", 10},
         .state = DLN_SCOPE_PAGE,
         .cursor = {INT64_C(9007199254740993), UINT32_MAX},
         .more = true,
         .version_count = TEST_ROW_COUNT},
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
    struct dln_sync_answer answer = {.nonce = TEST_NONCE,
                                     .epoch = DLN_TEXT("e-1"),
                                     .now_ms = 1700000000000,
                                     .ack_count = 1,
                                     .refusal_count = 1,
                                     .scope_count = 6};
    answer.acks = take(messages, sizeof(*answer.acks));
    answer.acks[0] = (struct dln_ack){2, INT64_MAX};
    answer.refusals = take(messages, sizeof(*answer.refusals));
    answer.refusals[0] = (struct dln_refusal){.index = 999,
                                              .code = DUNLIN_AHEAD,
                                              .reason = DLN_TEXT("too \"far\" ahead"),
                                              .held = true,
                                              .seq = 9,
                                              .field_count = 2};
    answer.refusals[0].fields = take(messages, 2 * sizeof(*answer.refusals[0].fields));
    answer.refusals[0].fields[0] = (struct dln_refused_field){
        3, DLN_TEXT("title"), {8, dln_value_string(DLN_TEXT("old"))}, DLN_STAMP_MAX};
    answer.refusals[0].fields[1].name = DLN_TEXT("colour");
    answer.scopes = take(messages, sizeof(states));
    memcpy(answer.scopes, states, sizeof(states));
    for (int scope = 0; scope < 2; scope++) {
        add_rows(messages, &answer.scopes[scope]);
    }
    return answer;
}

void test_answer_encode(struct test_messages *messages, const struct dln_sync_answer *answer) {
    dunlin_error err = {0};
    dln_buf_clear(&messages->body);
    assert_int_equal(dln_answer_encode(&messages->body, answer, &err), DUNLIN_OK);
}

dunlin_status test_answer_decode(struct test_messages *messages, struct dln_sync_answer *out) {
    dunlin_error err = {0};
    dln_arena_clear(&messages->read);
    dunlin_status status =
        dln_answer_decode(&messages->read, out, TEST_NONCE, test_body(messages), &err);
    assert_int_equal(err.code, status);
    assert_int_equal(err.message[0] == '\0', status == DUNLIN_OK);
    return status;
}

bool test_scope_answers_equal(const struct dln_scope_answer *a, const struct dln_scope_answer *b) {
    bool equal = dln_text_equal(a->scope, b->scope) && a->state == b->state &&
                 a->cursor.seq == b->cursor.seq && a->cursor.salt == b->cursor.salt &&
                 a->more == b->more && a->head == b->head && a->floor == b->floor &&
                 a->base == b->base && a->horizon_ms == b->horizon_ms &&
                 a->version_count == b->version_count;
    for (size_t i = 0; equal && i < a->version_count; i++) {
        equal = a->versions[i].seq == b->versions[i].seq &&
                test_records_equal(&a->versions[i].record, &b->versions[i].record);
    }
    return equal;
}
