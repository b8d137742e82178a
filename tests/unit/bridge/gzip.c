/* Packing, unpacking, and what must not be unpacked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/gzip.h"

enum { ROOM = 1024 * 1024 };

static void packed(struct dln_buf *out, const char *data, size_t len) {
    *out = DLN_BUF_INIT(ROOM);
    assert_int_equal(dln_gzip_pack(out, (struct dln_text){data, len}, NULL), DUNLIN_OK);
}

static dunlin_status unpack(struct dln_buf *out, const char *data, size_t len) {
    return dln_gzip_unpack(out, (struct dln_text){data, len}, NULL);
}

static void there_and_back(void **state) {
    static const size_t sizes[] = {0, 1, 100, 32 * 1024, 32 * 1024 + 1, ROOM};
    char *data = malloc(ROOM);
    (void)state;
    assert_non_null(data);
    for (size_t i = 0; i < ROOM; i++) {
        data[i] = (char)(i * i >> 7);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct dln_buf small, plain = DLN_BUF_INIT(ROOM);
        packed(&small, data, sizes[i]);
        assert_int_equal(unpack(&plain, small.data, small.len), DUNLIN_OK);
        assert_int_equal(plain.len, sizes[i]);
        assert_memory_equal(plain.len ? plain.data : "", data, sizes[i]);
        dln_buf_free(&small);
        dln_buf_free(&plain);
    }
    free(data);
}

static void ceilings(void **state) {
    char *zeros = calloc(1, ROOM);
    struct dln_buf small, plain = DLN_BUF_INIT(ROOM - 1), none = DLN_BUF_INIT(10);
    dunlin_error err;
    (void)state;
    assert_non_null(zeros);
    packed(&small, zeros, ROOM);
    assert_true(small.len < 8192);
    assert_int_equal(dln_gzip_unpack(&plain, (struct dln_text){small.data, small.len}, &err),
                     DUNLIN_TOO_LARGE);
    assert_true(plain.len < ROOM);
    assert_int_equal(err.code, DUNLIN_TOO_LARGE);
    assert_int_equal(dln_gzip_pack(&none, (struct dln_text){zeros, ROOM}, NULL), DUNLIN_TOO_LARGE);
    dln_buf_free(&small);
    dln_buf_free(&plain);
    dln_buf_free(&none);
    free(zeros);
}

/* Every cut, every changed byte of the parts that are checked, and whatever stands behind. */
static void damaged(void **state) {
    const char text[] = "a text that is packed, packed, packed";
    struct dln_buf small, plain = DLN_BUF_INIT(ROOM);
    (void)state;
    packed(&small, text, sizeof(text));
    for (size_t len = 0; len < small.len; len++) {
        dln_buf_clear(&plain);
        assert_int_equal(unpack(&plain, small.data, len), DUNLIN_BAD_MESSAGE);
    }
    for (size_t at = small.len - 8; at < small.len; at++) {
        small.data[at] ^= 1;
        dln_buf_clear(&plain);
        assert_int_equal(unpack(&plain, small.data, small.len), DUNLIN_BAD_MESSAGE);
        small.data[at] ^= 1;
    }
    dln_buf_append(&small, "x", 1);
    dln_buf_clear(&plain);
    assert_int_equal(unpack(&plain, small.data, small.len), DUNLIN_BAD_MESSAGE);
    dln_buf_free(&small);
    dln_buf_free(&plain);
}

static void accepted(void **state) {
    static const struct {
        const char *header;
        bool is;
    } rows[] = {{NULL, false},
                {"", false},
                {"gzip", true},
                {"GZIP", true},
                {"x-gzip", true},
                {"deflate, gzip", true},
                {"gzip;q=0.5", true},
                {"gzip;q=0", false},
                {"gzip; q=0.000", false},
                {"gzip;q=0.001", true},
                {"gzip;q=0, br", false},
                {"br;q=0, gzip", true},
                {"gzipped", false},
                {"identity", false},
                {",, gzip ,", true},
                {"gzip;q", true}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(dln_gzip_is_accepted(rows[i].header), rows[i].is);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(there_and_back), cmocka_unit_test(ceilings),
                                       cmocka_unit_test(damaged), cmocka_unit_test(accepted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
