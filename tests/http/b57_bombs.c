/* B57: a small compressed answer must not fill the memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/http/unpack.h"
#include "tests/support/memory.h"
#include "tests/support/sight.h"
#include "tests/support/told.h"

enum { BOMB_BYTES = 64 * 1024 * 1024, CEILING = 8 * 1024 * 1024, SLACK = 64 * 1024 };

static void make_bomb(struct dln_buf *out) {
    char *zeros = calloc(1, BOMB_BYTES);
    assert_non_null(zeros);
    assert_int_equal(dln_pack(out, zeros, BOMB_BYTES, NULL), DUNLIN_OK);
    free(zeros);
}

static size_t taken;

static dunlin_status counts_up_to_ceiling(void *self, const void *data, size_t len) {
    (void)self;
    (void)data;
    taken += len;
    return taken > CEILING ? DUNLIN_TOO_LARGE : DUNLIN_OK;
}

static void b57_bomb_is_stopped(void **state) {
    (void)state;
    struct dln_buf bomb = DLN_BUF_INIT(CEILING);
    const dunlin_sink sink = {NULL, counts_up_to_ceiling};
    int64_t retry_after_ms = 0;
    make_bomb(&bomb);
    assert_true(bomb.len < 512 * 1024);
    told_answers(200, WEB_OURS "Content-Encoding: gzip\r\n", bomb.data, bomb.len);
    taken = 0;
    REFUSED("TOO_LARGE", told.remote->exchange(told.remote->self, "sync", "{}\n", 3, &sink,
                                               &retry_after_ms, NULL));
    print_message("%zu bytes gzip, stopped after %zu\n", bomb.len, taken);
    assert_true(taken > CEILING && taken <= CEILING + SLACK);
    told_answers(0, NULL, NULL, 0);
    dln_buf_free(&bomb);
}

static void b57_memory_stays(void **state) {
    (void)state;
    struct dln_buf bomb = DLN_BUF_INIT(CEILING);
    dunlin_sync_result result;
    make_bomb(&bomb);
    long before_kib = memory_peak_kib(); /* its greatest so far, the making of the bomb included */
    told_answers(200, WEB_OURS "Content-Encoding: gzip\r\n", bomb.data, bomb.len);
    REFUSED("TOO_LARGE", dunlin_sync(told.device->store, told.remote, &result, NULL));
    long grown_kib = memory_peak_kib() - before_kib;
    print_message("grew by %ld KiB in %llu requests\n", grown_kib,
                  (unsigned long long)result.exchanges);
    assert_true(grown_kib < memory_bound_kib(16 * 1024));
    assert_int_equal(device_pending(told.device), 1);
    told_heals();
    dln_buf_free(&bomb);
}

/* The page was too large for us: a smaller one is asked for at once, and fits. */
static void b57_smaller_page_is_asked_for(void **state) {
    (void)state;
    struct dln_buf bomb = DLN_BUF_INIT(CEILING);
    dunlin_sync_result result;
    make_bomb(&bomb);
    told_answers(200, WEB_OURS "Content-Encoding: gzip\r\n", bomb.data, bomb.len);
    told.times = 2;
    OK(dunlin_sync(told.device->store, told.remote, &result, NULL));
    assert_true(strstr(told.last_body[0], "\"page\":250") != NULL);
    assert_int_equal(result.pushed, 1);
    told_answers(0, NULL, NULL, 0);
    dln_buf_free(&bomb);
    sight_agree(&told.device, 1);
}

static void b57_gzip_in_gzip(void **state) {
    (void)state;
    struct dln_buf inner = DLN_BUF_INIT(CEILING), outer = DLN_BUF_INIT(CEILING);
    make_bomb(&inner);
    assert_int_equal(dln_pack(&outer, inner.data, inner.len, NULL), DUNLIN_OK);
    told_answers(200, WEB_OURS "Content-Encoding: gzip\r\n", outer.data, outer.len);
    told_comes_to("NOT_OUR_SERVER");
    told_answers(200, WEB_OURS "Content-Encoding: gzip, gzip\r\n", outer.data, outer.len);
    told_comes_to("NOT_OUR_SERVER");
    told_says(200, WEB_OURS "Content-Encoding: br\r\n", "x");
    told_comes_to("NOT_OUR_SERVER");
    dln_buf_free(&inner);
    dln_buf_free(&outer);
    told_heals();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, told_setup, told_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b57_bomb_is_stopped),
        TEST(b57_memory_stays),
        TEST(b57_smaller_page_is_asked_for),
        TEST(b57_gzip_in_gzip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
