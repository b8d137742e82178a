/* gzip in pieces of any size: whole, cut, damaged, followed by something, twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/http/unpack.h"
#include "tests/support/notebook.h"

enum { ROOM = 4 * 1024 * 1024, TEXT_BYTES = 200 * 1000 };

static dunlin_status keep(void *self, const void *data, size_t len) {
    struct dln_buf *buf = self;
    dln_buf_append(buf, data, len);
    return dln_buf_status(buf, NULL);
}

/* Feeds it in pieces of that size. */
static dunlin_status unpack(struct dln_buf *out, const char *data, size_t len, size_t piece,
                            bool *whole) {
    struct dln_unpack *unpack = NULL;
    dunlin_status status = dln_unpack_new(&unpack, NULL);
    for (size_t at = 0; status == DUNLIN_OK && at < len; at += piece) {
        status = dln_unpack_feed(unpack, data + at, piece < len - at ? piece : len - at, keep, out,
                                 NULL);
    }
    *whole = dln_unpack_is_whole(unpack);
    dln_unpack_free(unpack);
    return status;
}

static char *text;
static struct dln_buf packed;

static int set_up(void **state) {
    struct test_random random = {57};
    (void)state;
    text = malloc(TEXT_BYTES);
    packed = DLN_BUF_INIT(ROOM);
    for (size_t i = 0; i < TEXT_BYTES; i++) {
        text[i] = "0123456789abcdef{\":,"[test_random_below(&random, 20)];
    }
    OK(dln_pack(&packed, text, TEXT_BYTES, NULL));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(text);
    dln_buf_free(&packed);
    return 0;
}

static void whole_in_any_pieces(void **state) {
    (void)state;
    static const size_t pieces[] = {1, 7, 1000, 16384, ROOM};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct dln_buf out = DLN_BUF_INIT(ROOM);
        bool whole = false;
        OK(unpack(&out, packed.data, packed.len, pieces[i], &whole));
        assert_true(whole);
        assert_int_equal(out.len, TEXT_BYTES);
        assert_memory_equal(out.data, text, TEXT_BYTES);
        dln_buf_free(&out);
    }
}

static void small_ones(void **state) {
    (void)state;
    for (size_t len = 0; len < 4; len++) {
        struct dln_buf one = DLN_BUF_INIT(ROOM), out = DLN_BUF_INIT(ROOM);
        bool whole = false;
        OK(dln_pack(&one, "abcd", len, NULL));
        OK(unpack(&out, one.data, one.len, 1, &whole));
        assert_true(whole);
        assert_int_equal(out.len, len);
        dln_buf_free(&one);
        dln_buf_free(&out);
    }
}

static void cut_anywhere(void **state) {
    (void)state;
    for (size_t len = 0; len < packed.len; len += len < 64 || len + 64 > packed.len ? 1 : 997) {
        struct dln_buf out = DLN_BUF_INIT(ROOM);
        bool whole = true;
        OK(unpack(&out, packed.data, len, ROOM, &whole));
        assert_false(whole);
        dln_buf_free(&out);
    }
}

static void damaged(void **state) {
    (void)state;
    static const size_t places[] = {0, 1, 2}; /* and the checksum, the length at the end */
    for (size_t i = 0; i < 5; i++) {
        struct dln_buf out = DLN_BUF_INIT(ROOM);
        bool whole = false;
        size_t at = i < 3 ? places[i] : packed.len - (i == 3 ? 1 : 5);
        packed.data[at] = (char)(packed.data[at] ^ 0x55);
        REFUSED("NOT_OUR_SERVER", unpack(&out, packed.data, packed.len, 1000, &whole));
        assert_false(whole);
        packed.data[at] = (char)(packed.data[at] ^ 0x55);
        dln_buf_free(&out);
    }
}

static void followed_by_something(void **state) {
    (void)state;
    struct dln_buf out = DLN_BUF_INIT(ROOM), twice = DLN_BUF_INIT(ROOM);
    bool whole = false;
    dln_buf_append(&twice, packed.data, packed.len);
    dln_buf_append(&twice, packed.data, packed.len);
    REFUSED("NOT_OUR_SERVER", unpack(&out, twice.data, twice.len, ROOM, &whole));
    dln_buf_clear(&out);
    REFUSED("NOT_OUR_SERVER", unpack(&out, twice.data, packed.len + 1, 1, &whole));
    dln_buf_free(&out);
    dln_buf_free(&twice);
}

/* Bytes that would be gzip's, one at a time: the first of them is nothing to be refused yet. */
static void gzip_in_gzip(void **state) {
    (void)state;
    struct dln_buf out = DLN_BUF_INIT(ROOM), outer = DLN_BUF_INIT(ROOM);
    bool whole = false;
    OK(dln_pack(&outer, packed.data, packed.len, NULL));
    REFUSED("NOT_OUR_SERVER", unpack(&out, outer.data, outer.len, 1, &whole));
    assert_true(out.len < 2);
    dln_buf_free(&out);
    dln_buf_free(&outer);
}

static void stops_when_told(void **state) {
    (void)state;
    struct dln_buf out = DLN_BUF_INIT(100 * 1000);
    bool whole = false;
    REFUSED("TOO_LARGE", unpack(&out, packed.data, packed.len, ROOM, &whole));
    assert_false(whole);
    dln_buf_free(&out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(whole_in_any_pieces),   TEST(small_ones),   TEST(cut_anywhere),    TEST(damaged),
        TEST(followed_by_something), TEST(gzip_in_gzip), TEST(stops_when_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
