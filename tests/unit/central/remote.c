/* The public functions: what they refuse, and an exchange in bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/shared_side.h"

static struct shared shared;

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

static dunlin_status take(void *self, const void *data, size_t len) {
    struct dln_buf *buf = self;
    dln_buf_append(buf, data, len);
    return buf->status;
}

static dunlin_status send_bytes(dunlin_remote *remote, const char *kind, struct dln_text body,
                                struct dln_buf *out, dunlin_error *err) {
    dunlin_sink sink = {out, take};
    int64_t retry_after_ms = 0;
    dln_buf_clear(out);
    dunlin_status status =
        remote->exchange(remote->self, kind, body.data, body.len, &sink, &retry_after_ms, err);
    assert_int_equal(retry_after_ms, 0);
    return status;
}

static void an_exchange_in_bytes(void **state) {
    (void)state;
    dunlin_remote *remote = NULL;
    struct dln_buf request = DLN_BUF_INIT(1 << 20);
    struct dln_buf body = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    struct dln_sync_answer answer;
    dunlin_error err;
    (void)shared_record(&shared, "user/aoi", "list/l1");
    shared_set(&shared, "deleted", shared_stamp(&shared, 0), "false");
    shared_set(&shared, "name", shared_stamp(&shared, 0), "見逃しビデオ");
    (void)shared_record(&shared, "user/aoi", "item/l1/video/v1");
    shared_set(&shared, "title", shared_stamp(&shared, 0), "edit");
    assert_int_equal(dln_request_encode(&request, &shared.request, NULL), DUNLIN_OK);
    assert_int_equal(dunlin_central_remote(shared.central, &remote, "aoi", NULL), DUNLIN_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            send_bytes(remote, "sync", (struct dln_text){request.data, request.len}, &body, &err),
            DUNLIN_OK);
        assert_int_equal(dln_answer_decode(&shared.arena, &answer, shared.request.nonce,
                                           (struct dln_text){body.data, body.len}, &err),
                         DUNLIN_OK);
        assert_int_equal(answer.ack_count, 1);
        assert_int_equal(answer.acks[0].seq, 1);
        assert_int_equal(answer.refusal_count, 1);
        assert_int_equal(answer.refusals[0].code, DUNLIN_GONE);
        assert_int_equal(answer.scope_count, 1);
        assert_int_equal(answer.scopes[0].version_count, 1);
        assert_int_equal(answer.now_ms, shared.now_ms);
    }
    remote->close(remote);
    dln_buf_free(&request);
    dln_buf_free(&body);
}

static void bad_bodies(void **state) {
    (void)state;
    dunlin_remote *remote = NULL;
    struct dln_buf body = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    dunlin_error err;
    assert_int_equal(dunlin_central_remote(shared.central, &remote, "aoi", NULL), DUNLIN_OK);
    assert_int_equal(send_bytes(remote, "sync", DLN_TEXT("{}"), &body, &err), DUNLIN_BAD_MESSAGE);
    assert_int_equal(send_bytes(remote, "sync", DLN_TEXT(""), &body, &err), DUNLIN_BAD_MESSAGE);
    assert_int_equal(send_bytes(remote, "verify", DLN_TEXT("[]\n"), &body, &err),
                     DUNLIN_BAD_MESSAGE);
    assert_int_equal(send_bytes(remote, "feed", DLN_TEXT("{}"), &body, &err), DUNLIN_UNSUPPORTED);
    assert_int_equal(body.len, 0);
    assert_int_equal(remote->exchange(remote->self, NULL, "", 0, NULL, NULL, &err), DUNLIN_MISUSE);
    static char huge[DLN_BODY_BYTES_MAX + 1];
    assert_int_equal(send_bytes(remote, "sync", (struct dln_text){huge, sizeof(huge)}, &body, &err),
                     DUNLIN_TOO_LARGE);
    assert_int_equal(shared_last(&shared, "user/aoi"), 0);
    remote->close(remote);
    dln_buf_free(&body);
}

static dunlin_status refuse(void *self, const void *data, size_t len) {
    (void)self, (void)data, (void)len;
    return DUNLIN_TOO_LARGE;
}

static void a_receivers_ceiling_comes_back(void **state) {
    (void)state;
    dunlin_remote *remote = NULL;
    dunlin_sink sink = {NULL, refuse};
    struct dln_buf request = DLN_BUF_INIT(1 << 20);
    int64_t retry_after_ms = 0;
    shared_ask(&shared, "user/aoi");
    assert_int_equal(dln_request_encode(&request, &shared.request, NULL), DUNLIN_OK);
    assert_int_equal(dunlin_central_remote(shared.central, &remote, "aoi", NULL), DUNLIN_OK);
    assert_int_equal(remote->exchange(remote->self, "sync", request.data, request.len, &sink,
                                      &retry_after_ms, NULL),
                     DUNLIN_TOO_LARGE);
    remote->close(remote);
    dln_buf_free(&request);
}

static void embedded_remote_opens_and_closes_central(void **state) {
    (void)state;
    dunlin_remote *remote = NULL;
    struct dln_buf request = DLN_BUF_INIT(1 << 20);
    struct dln_buf body = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    (void)shared_record(&shared, "user/aoi", "list/l1");
    shared_set(&shared, "deleted", shared_stamp(&shared, 0), "false");
    assert_int_equal(dln_request_encode(&request, &shared.request, NULL), DUNLIN_OK);
    assert_int_equal(dunlin_embedded_remote(&remote, shared.url, "aoi", &shared.options, NULL),
                     DUNLIN_OK);
    assert_int_equal(
        send_bytes(remote, "sync", (struct dln_text){request.data, request.len}, &body, NULL),
        DUNLIN_OK);
    remote->close(remote);
    assert_int_equal(shared_last(&shared, "user/aoi"), 1); /* the other handle sees it */
    dln_buf_free(&request);
    dln_buf_free(&body);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_exchange_in_bytes),
        TEST(bad_bodies),
        TEST(a_receivers_ceiling_comes_back),
        TEST(embedded_remote_opens_and_closes_central),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
