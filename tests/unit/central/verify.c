/* Digests of a scope: what is live, by whom they may be asked for, and walking down to one record.
 */
/* ctest: engines */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "central/verify.h"
#include "sync/verify.h"
#include "tests/support/shared_side.h"

#define AOI "user/aoi"
#define PUSH(key, ...) SHARED_PUSH(&shared, "aoi", AOI, key, shared_stamp(&shared, 0), __VA_ARGS__)

static struct shared shared;
static struct dln_verify_answer answer;

static int set_up(void **state) {
    (void)state;
    shared_open(&shared, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    shared_close(&shared);
    return 0;
}

static void ask_all(const char *user, struct dln_verify_ask *asks, size_t count) {
    struct dln_verify_request request = {.asks = asks, .ask_count = count};
    struct dln_buf body = DLN_BUF_INIT(1 << 20);
    struct dln_buf out = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    dunlin_error err;
    memset(request.nonce, 'b', DLN_NONCE_LEN);
    assert_int_equal(dln_verify_request_encode(&body, &request, NULL), DUNLIN_OK);
    dunlin_status status = dln_exchange_body(shared.central, dln_text_of(user), "verify",
                                             (struct dln_text){body.data, body.len}, &out, &err);
    if (status != DUNLIN_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(dln_verify_answer_decode(&shared.arena, &answer, request.nonce,
                                              (struct dln_text){out.data, out.len}, NULL),
                     DUNLIN_OK);
    dln_buf_free(&body);
    dln_buf_free(&out);
}

static const struct dln_verify_node *ask(const char *user, const char *scope, uint64_t prefix,
                                         int nibbles) {
    struct dln_verify_ask one = {dln_text_of(scope), prefix, nibbles};
    ask_all(user, &one, 1);
    assert_int_equal(answer.node_count, 1);
    return &answer.nodes[0];
}

static void only_live_records_count(void **state) {
    (void)state;
    assert_int_equal(PUSH("list/l1", "deleted", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l2", "deleted", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/video/v1", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l2/video/v1", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("follow/user/ben", "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("hologram/h1", "hue", "red"), DUNLIN_OK);
    const struct dln_verify_node *node = ask("aoi", AOI, 0, 0);
    assert_int_equal(node->state, DLN_VERIFY_LEAVES);
    assert_int_equal(node->seq, 6);
    assert_int_equal(node->leaf_count, 3);
    for (size_t i = 0; i < node->leaf_count; i++) {
        char key[64];
        (void)snprintf(key, sizeof(key), "%.*s", (int)node->leaves[i].key.len,
                       node->leaves[i].key.data);
        assert_int_equal(node->leaves[i].hash,
                         dln_record_hash(&shared_stored(&shared, AOI, key)->record));
    }
}

static void members_live_with_their_group(void **state) {
    (void)state;
    dln_stamp stamp = shared_stamp(&shared, 0);
    assert_int_equal(SHARED_PUSH(&shared, "aoi", "group/tea", "group", stamp, "deleted", "false",
                                 "owner", "aoi"),
                     DUNLIN_OK);
    assert_int_equal(
        SHARED_PUSH(&shared, "aoi", "group/tea", "member/ben", stamp, "present", "true"),
        DUNLIN_OK);
    assert_int_equal(ask("ben", "group/tea", 0, 0)->leaf_count, 2);
    assert_int_equal(
        SHARED_PUSH(&shared, "aoi", "group/tea", "group", stamp + 1, "deleted", "true"), DUNLIN_OK);
    assert_int_equal(ask("ben", "group/tea", 0, 0)->leaf_count, 0);
}

static void foreign_scopes_are_denied(void **state) {
    (void)state;
    struct dln_verify_ask asks[] = {{DLN_TEXT("user/ben"), 0, 0},
                                    {DLN_TEXT(AOI), 0, 0},
                                    {DLN_TEXT("inbox/aoi/people"), 0, 0},
                                    {DLN_TEXT(AOI), UINT64_C(0xa) << 60, 1}};
    ask_all("aoi", asks, 4);
    assert_int_equal(answer.node_count, 4);
    assert_int_equal(answer.nodes[0].state, DLN_VERIFY_DENIED);
    assert_int_equal(answer.nodes[1].state, DLN_VERIFY_LEAVES);
    assert_int_equal(answer.nodes[2].state, DLN_VERIFY_DENIED);
    assert_int_equal(answer.nodes[3].state, DLN_VERIFY_LEAVES);
}

static void walking_down_finds_every_record(void **state) {
    (void)state;
    size_t named = 0;
    size_t counted = 0;
    char key[40];
    shared_begin(&shared);
    for (int i = 0; i < 700; i++) {
        (void)snprintf(key, sizeof(key), "follow/user/u%d", i);
        (void)shared_record(&shared, AOI, key);
        shared_set(&shared, "present", shared_stamp(&shared, 0), "true");
    }
    shared_ask(&shared, AOI)->pull = false;
    shared_send(&shared, "aoi");
    struct dln_verify_node root = *ask("aoi", AOI, 0, 0);
    assert_int_equal(root.state, DLN_VERIFY_CHILDREN);
    for (uint64_t i = 0; i < 16; i++) {
        const struct dln_verify_node *node = ask("aoi", AOI, i << 60, 1);
        uint64_t digest = 0;
        assert_int_equal(node->state, DLN_VERIFY_LEAVES);
        assert_int_equal(node->leaf_count, root.children[i].count);
        for (size_t k = 0; k < node->leaf_count; k++) {
            assert_non_null(node->leaves[k].key.data);
            digest += node->leaves[k].hash;
        }
        assert_int_equal(digest, root.children[i].digest);
        named += node->leaf_count;
        counted += root.children[i].count;
    }
    assert_int_equal(named, 700);
    assert_int_equal(counted, 700);
}

static struct dln_central_engine inner;
static int64_t moves;

static dunlin_status moving_last(void *self, struct dln_text scope, struct dln_cursor *out,
                                 dunlin_error *err) {
    dunlin_status status = inner.last(self, scope, out, err);
    out->seq += moves-- > 0 ? moves : 0;
    return status;
}

static void scope_that_does_not_keep_still_is_left_out(void **state) {
    (void)state;
    struct dln_verify_ask one = {DLN_TEXT(AOI), 0, 0};
    inner = shared.central->engine;
    assert_int_equal(PUSH("list/l1", "deleted", "false"), DUNLIN_OK);
    shared.central->engine.last = moving_last;
    moves = 1000;
    ask_all("aoi", &one, 1);
    assert_int_equal(answer.node_count, 0);
    moves = 3;
    ask_all("aoi", &one, 1);
    assert_int_equal(answer.node_count, 1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(only_live_records_count),
        TEST(members_live_with_their_group),
        TEST(foreign_scopes_are_denied),
        TEST(walking_down_finds_every_record),
        TEST(scope_that_does_not_keep_still_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
