#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sync/verify.h"
#include "tests/support/messages.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

enum { KEY_MAX = 32 };

static struct dln_verify_ask asks[] = {{{"user/alice", 10}, 0, 0},
                                       {{"user/alice", 10}, UINT64_C(0xa3) << 56, 2},
                                       {{"group/g", 7}, UINT64_MAX, 16}};

static void encode_request(struct test_messages *messages) {
    struct dln_verify_request request = {TEST_NONCE, asks, 3};
    dln_buf_clear(&messages->body);
    assert_int_equal(dln_verify_request_encode(&messages->body, &request, NULL), DUNLIN_OK);
}

static dunlin_status decode_request(struct test_messages *messages,
                                    struct dln_verify_request *out) {
    dln_arena_clear(&messages->read);
    return dln_verify_request_decode(&messages->read, out, test_body(messages), NULL);
}

static void a_request_comes_back_as_it_was(void **state) {
    struct test_messages *messages = *state;
    struct dln_verify_request read;
    encode_request(messages);
    assert_string_equal(messages->body.data,
                        "{\"dunlin\":1,\"kind\":\"verify\",\"nonce\":\"" TEST_NONCE "\"}\n"
                        "{\"scope\":\"user/alice\",\"prefix\":\"\"}\n"
                        "{\"scope\":\"user/alice\",\"prefix\":\"a3\"}\n"
                        "{\"scope\":\"group/g\",\"prefix\":\"ffffffffffffffff\"}\n"
                        "{\"end\":3}\n");
    assert_int_equal(dln_message_kind_of(test_body(messages)), DLN_MESSAGE_VERIFY);
    assert_int_equal(decode_request(messages, &read), DUNLIN_OK);
    assert_string_equal(read.nonce, TEST_NONCE);
    assert_int_equal(read.ask_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(dln_text_equal(read.asks[i].scope, asks[i].scope));
        assert_true(read.asks[i].prefix == asks[i].prefix);
        assert_int_equal(read.asks[i].nibbles, asks[i].nibbles);
    }
}

static void what_is_not_a_request_is_refused(void **state) {
    static const char *const lines[] = {
        "",
        "[]",
        "{}",
        "{\"scope\":\"user/alice\"}",
        "{\"prefix\":\"\"}",
        "{\"scope\":\"\",\"prefix\":\"\"}",
        "{\"scope\":\"user/alice\",\"prefix\":7}",
        "{\"scope\":\"user/alice\",\"prefix\":\"A3\"}",
        "{\"scope\":\"user/alice\",\"prefix\":\"g\"}",
        "{\"scope\":\"user/alice\",\"prefix\":\"00000000000000000\"}",
    };
    struct test_messages *messages = *state;
    struct dln_verify_request read;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        encode_request(messages);
        test_body_exchange(&messages->body, 2, lines[i]);
        if (decode_request(messages, &read) != DUNLIN_BAD_MESSAGE) {
            fail_msg("%s is not refused", lines[i]);
        }
        assert_string_equal(read.nonce, TEST_NONCE);
    }
    encode_request(messages);
    for (size_t len = 0; len < messages->body.len; len++) {
        struct dln_text cut = {messages->body.data, len};
        assert_int_equal(dln_verify_request_decode(&messages->read, &read, cut, NULL),
                         DUNLIN_BAD_MESSAGE);
    }
    dln_buf_clear(&messages->body);
    dln_buf_append_text(&messages->body,
                        "{\"dunlin\":1,\"kind\":\"verify\",\"nonce\":\"" TEST_NONCE "\"}\n");
    for (int i = 0; i <= DLN_VERIFY_ASKS_MAX; i++) {
        dln_buf_append_text(&messages->body, "{\"scope\":\"user/alice\",\"prefix\":\"\"}\n");
    }
    dln_buf_printf(&messages->body, "{\"end\":%d}\n", DLN_VERIFY_ASKS_MAX + 1);
    assert_int_equal(decode_request(messages, &read), DUNLIN_TOO_LARGE);
}

static struct dln_verify_leaf named[] = {{{"item/l1/video/\xf0\x9f\x91\xa9", 18}, 1},
                                         {{"follow/user/\"", 13}, UINT64_MAX}};

static struct dln_verify_answer make_answer(struct dln_verify_node *nodes) {
    memset(nodes, 0, 4 * sizeof(*nodes));
    nodes[0] = (struct dln_verify_node){.ask = 0, .state = DLN_VERIFY_CHILDREN, .seq = 812};
    for (size_t i = 0; i < 16; i++) {
        nodes[0].children[i] = (struct dln_verify_child){i << 60 | 0xabc, i * 1000};
    }
    nodes[1] = (struct dln_verify_node){
        .ask = 2, .state = DLN_VERIFY_LEAVES, .seq = 7, .leaves = named, .leaf_count = 2};
    nodes[2] = (struct dln_verify_node){.ask = 3, .state = DLN_VERIFY_LEAVES, .seq = INT64_MAX};
    nodes[3] = (struct dln_verify_node){.ask = 255, .state = DLN_VERIFY_DENIED};
    return (struct dln_verify_answer){.nonce = TEST_NONCE,
                                      .epoch = DLN_TEXT("e-1"),
                                      .now_ms = 17,
                                      .nodes = nodes,
                                      .node_count = 4};
}

static void encode_answer(struct test_messages *messages) {
    struct dln_verify_node nodes[4];
    struct dln_verify_answer answer = make_answer(nodes);
    dln_buf_clear(&messages->body);
    assert_int_equal(dln_verify_answer_encode(&messages->body, &answer, NULL), DUNLIN_OK);
}

static dunlin_status decode_answer(struct test_messages *messages, struct dln_verify_answer *out) {
    dunlin_error err = {0};
    dln_arena_clear(&messages->read);
    dunlin_status status =
        dln_verify_answer_decode(&messages->read, out, TEST_NONCE, test_body(messages), &err);
    assert_int_equal(err.code, status);
    return status;
}

static void an_answer_comes_back_as_it_was(void **state) {
    struct test_messages *messages = *state;
    struct dln_verify_node nodes[4];
    struct dln_verify_answer answer = make_answer(nodes), read;
    encode_answer(messages);
    assert_int_equal(decode_answer(messages, &read), DUNLIN_OK);
    assert_true(dln_text_equal(read.epoch, answer.epoch));
    assert_true(read.now_ms == 17);
    assert_int_equal(read.node_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(read.nodes[i].ask, nodes[i].ask);
        assert_int_equal(read.nodes[i].state, nodes[i].state);
        assert_true(read.nodes[i].seq == nodes[i].seq);
        assert_memory_equal(read.nodes[i].children, nodes[i].children, sizeof(nodes[i].children));
        assert_int_equal(read.nodes[i].leaf_count, nodes[i].leaf_count);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_true(dln_text_equal(read.nodes[1].leaves[i].key, named[i].key));
        assert_true(read.nodes[1].leaves[i].hash == named[i].hash);
    }
}

static void what_is_not_an_answer_is_refused(void **state) {
    static const char *const lines[] = {
        "",
        "[]",
        "null",
        "{\"ask\":1,\"seq\":\"7\"}",
        "{\"ask\":1,\"seq\":7,\"leaves\":[]}",
        "{\"ask\":256,\"seq\":\"7\",\"leaves\":[]}",
        "{\"ask\":-1,\"seq\":\"7\",\"leaves\":[]}",
        "{\"ask\":0,\"seq\":\"7\",\"leaves\":[]}",
        "{\"ask\":3,\"seq\":\"7\",\"leaves\":[]}",
        "{\"ask\":1,\"denied\":1}",
        "{\"ask\":1,\"seq\":\"7\",\"leaves\":{}}",
        "{\"ask\":1,\"seq\":\"7\",\"leaves\":[[\"a\"]]}",
        "{\"ask\":1,\"seq\":\"7\",\"leaves\":[[\"\",\"0123456789abcdef\"]]}",
        "{\"ask\":1,\"seq\":\"7\",\"leaves\":[[\"a\",\"0123456789abcde\"]]}",
        "{\"ask\":1,\"seq\":\"7\",\"leaves\":[[\"a\",\"0123456789abcdeg\"]]}",
        "{\"ask\":1,\"seq\":\"7\",\"digests\":[],\"counts\":[]}",
    };
    struct test_messages *messages = *state;
    struct dln_verify_answer read;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        encode_answer(messages);
        test_body_exchange(&messages->body, 2, lines[i]);
        if (decode_answer(messages, &read) != DUNLIN_NOT_OUR_SERVER) {
            fail_msg("%s is not refused", lines[i]);
        }
    }
    encode_answer(messages);
    test_body_exchange(&messages->body, 2, "{\"later\":1}");
    assert_int_equal(decode_answer(messages, &read), DUNLIN_OK);
    assert_int_equal(read.node_count, 3);
    test_body_exchange(&messages->body, 0,
                       "{\"dunlin\":1,\"kind\":\"verify\",\"nonce\":\"" TEST_OTHER_NONCE
                       "\",\"epoch\":\"e-1\",\"now\":\"17\"}");
    assert_int_equal(decode_answer(messages, &read), DUNLIN_STALE_REPLY);
    dunlin_error why = {DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_CENTRAL, "closed"};
    dln_buf_clear(&messages->body);
    assert_int_equal(dln_failure_encode(&messages->body, TEST_NONCE, &why, 1500, NULL), DUNLIN_OK);
    assert_int_equal(decode_answer(messages, &read), DUNLIN_UNAVAILABLE);
    assert_true(read.retry_after_ms == 1500);
}

static void cuts_and_flipped_bits_do_no_harm(void **state) {
    struct test_messages *messages = *state;
    struct dln_verify_answer read;
    encode_answer(messages);
    for (size_t len = 0; len < messages->body.len; len++) {
        char *cut = malloc(len > 0 ? len : 1);
        assert_non_null(cut);
        memcpy(cut, messages->body.data, len);
        assert_int_equal(dln_verify_answer_decode(&messages->read, &read, TEST_NONCE,
                                                  (struct dln_text){cut, len}, NULL),
                         DUNLIN_NOT_OUR_SERVER);
        free(cut);
    }
    for (size_t bit = 0; bit < 8 * messages->body.len; bit++) {
        char mask = (char)(1 << bit % 8);
        messages->body.data[bit / 8] ^= mask;
        if (decode_answer(messages, &read) == DUNLIN_OK) {
            assert_true(read.node_count == 4 || read.node_count == 3);
        }
        messages->body.data[bit / 8] ^= mask;
    }
}

/* One side of a comparison: records with made-up keys, sorted by place. */
struct side {
    struct dln_leaf leaves[3000];
    char keys[3000][KEY_MAX];
    size_t count;
};

static int compare_leaves(const void *a, const void *b) {
    uint64_t left = ((const struct dln_leaf *)a)->place;
    uint64_t right = ((const struct dln_leaf *)b)->place;
    return (left > right) - (left < right);
}

static void side_sort(struct side *side) {
    qsort(side->leaves, side->count, sizeof(side->leaves[0]), compare_leaves);
    for (size_t i = 0; i < side->count; i++) {
        (void)snprintf(side->keys[i], KEY_MAX, "item/%016llx",
                       (unsigned long long)side->leaves[i].place);
    }
}

/* What central does for one ask; the answer travels. */
static void answer_ask(struct test_messages *messages, const struct side *side,
                       const struct dln_verify_ask *ask, struct dln_verify_answer *read) {
    struct dln_verify_node node = {.ask = 0, .seq = 1};
    struct dln_verify_leaf leaves[DLN_VERIFY_NAMED_MAX];
    size_t first, end;
    dln_leaves_range(side->leaves, side->count, ask->prefix, ask->nibbles, &first, &end);
    if (dln_verify_fill(&node, ask, side->leaves + first, end - first)) {
        node.leaves = leaves;
        node.leaf_count = end - first;
        for (size_t i = first; i < end; i++) {
            leaves[i - first] =
                (struct dln_verify_leaf){dln_text_of(side->keys[i]), side->leaves[i].hash};
        }
    }
    struct dln_verify_answer answer = {
        .nonce = TEST_NONCE, .epoch = DLN_TEXT("e"), .nodes = &node, .node_count = 1};
    dln_buf_clear(&messages->body);
    assert_int_equal(dln_verify_answer_encode(&messages->body, &answer, NULL), DUNLIN_OK);
    assert_int_equal(decode_answer(messages, read), DUNLIN_OK);
}

/* What a device does: counts the keys that differ below a prefix, and the asks that it took. */
static size_t walk(struct test_messages *messages, const struct side *device,
                   const struct side *central, struct dln_verify_ask ask, size_t *ask_count) {
    struct dln_verify_answer answer;
    size_t first, end, differ = 0;
    answer_ask(messages, central, &ask, &answer);
    struct dln_verify_node node = answer.nodes[0];
    ++*ask_count;
    if (node.state == DLN_VERIFY_LEAVES) {
        dln_leaves_range(device->leaves, device->count, ask.prefix, ask.nibbles, &first, &end);
        size_t same = 0;
        for (size_t at = first; at < end; at++) {
            for (size_t i = 0; i < node.leaf_count; i++) {
                same += dln_text_equal(node.leaves[i].key, dln_text_of(device->keys[at])) &&
                        node.leaves[i].hash == device->leaves[at].hash;
            }
        }
        /* The key of a changed record stands on both sides. */
        size_t here = end - first - same, there = node.leaf_count - same;
        return here > there ? here : there;
    }
    for (uint64_t i = 0; i < 16; i++) {
        struct dln_verify_ask child = {ask.scope, ask.prefix | i << (60 - 4 * ask.nibbles),
                                       ask.nibbles + 1};
        if (dln_leaves_digest(device->leaves, device->count, child.prefix, child.nibbles) !=
            node.children[i].digest) {
            differ += walk(messages, device, central, child, ask_count);
        }
    }
    return differ;
}

static void a_walk_finds_what_differs_and_little_else(void **state) {
    struct test_messages *messages = *state;
    struct side *device = calloc(1, sizeof(*device));
    struct side *central = calloc(1, sizeof(*central));
    assert_non_null(device);
    assert_non_null(central);
    struct test_random random = {9};
    for (size_t i = 0; i < 2990; i++) {
        device->leaves[i].place = test_random_next(&random);
        device->leaves[i].hash = test_random_next(&random);
    }
    device->count = 2990;
    *central = *device;
    side_sort(device);
    side_sort(central);
    size_t ask_count = 0;
    assert_int_equal(walk(messages, device, central, asks[0], &ask_count), 0);
    assert_int_equal(ask_count, 1);

    central->leaves[100].hash++;                                     /* changed */
    central->leaves[2000] = central->leaves[--central->count];       /* missing there */
    central->leaves[central->count++] = (struct dln_leaf){12345, 1}; /* missing here */
    side_sort(central);
    ask_count = 0;
    assert_int_equal(walk(messages, device, central, asks[0], &ask_count), 3);
    assert_in_range(ask_count, 4, 7); /* the root, at most three children, three grandchildren */
    free(device);
    free(central);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_WITH_MESSAGES(a_request_comes_back_as_it_was),
        TEST_WITH_MESSAGES(what_is_not_a_request_is_refused),
        TEST_WITH_MESSAGES(an_answer_comes_back_as_it_was),
        TEST_WITH_MESSAGES(what_is_not_an_answer_is_refused),
        TEST_WITH_MESSAGES(cuts_and_flipped_bits_do_no_harm),
        TEST_WITH_MESSAGES(a_walk_finds_what_differs_and_little_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
