/* Messages for tests of their encoders and decoders: a small request and an answer that have every
 * kind of line, and a fixture that sends them through a body. */
#ifndef DLN_TESTS_MESSAGES_H
#define DLN_TESTS_MESSAGES_H

#include "sync/message.h"

#define TEST_NONCE "0123456789abcdef0123456789abcdef"
#define TEST_OTHER_NONCE "1123456789abcdef0123456789abcdef"

enum { TEST_SCOPE_COUNT = 3, TEST_ROW_COUNT = 10 };

struct test_messages {
    struct dln_arena sent; /* what the encoder is given */
    struct dln_arena read; /* what the decoder makes */
    struct dln_buf body;
};

/* For cmocka_unit_test_setup_teardown(): *state is a struct test_messages. */
int test_messages_set_up(void **state);
int test_messages_tear_down(void **state);

#define TEST_WITH_MESSAGES(name)                                                                   \
    cmocka_unit_test_setup_teardown(name, test_messages_set_up, test_messages_tear_down)

struct dln_text test_body(const struct test_messages *messages);

extern struct dln_scope_ask test_scopes[TEST_SCOPE_COUNT];

/* Lines: 0 head, 1 and 2 scopes (the first of test_scopes), 3 … 5 records, 6 end. */
struct dln_sync_request test_request_small(struct test_messages *messages);
/* Into the body; aborts the test when it fails. */
void test_request_encode(struct test_messages *messages, const struct dln_sync_request *request);
dunlin_status test_request_decode(struct test_messages *messages, struct dln_sync_request *out);

/* Lines: 0 head, 1 ack, 2 refusal, 3 page of user/alice, 4 … 13 its rows, 14 page of group/g, 15
 * its row, 16 … 19 scopes in the other states, 20 end. */
struct dln_sync_answer test_answer_full(struct test_messages *messages);
void test_answer_encode(struct test_messages *messages, const struct dln_sync_answer *answer);
dunlin_status test_answer_decode(struct test_messages *messages, struct dln_sync_answer *out);
bool test_scope_answers_equal(const struct dln_scope_answer *a, const struct dln_scope_answer *b);

#endif
