#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdalign.h>
#include <string.h>

#include "base/arena.h"

static void assert_zeroed(const unsigned char *piece, size_t size) {
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(piece[i], 0);
    }
}

/* Pieces of all sizes are aligned, zeroed and apart, on the first and on every later use. */
static void pieces_are_aligned_zeroed_and_apart(void **state) {
    (void)state;
    struct dln_arena arena = DLN_ARENA_INIT(1 << 22);
    unsigned char *pieces[1500];
    for (int use = 0; use < 3; use++) {
        for (size_t i = 0; i < 1500; i++) {
            pieces[i] = dln_arena_alloc(&arena, i);
            assert_non_null(pieces[i]);
            assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
            assert_zeroed(pieces[i], i);
            memset(pieces[i], (int)(i % 255 + 1), i);
        }
        for (size_t i = 0; i < 1500; i++) {
            for (size_t j = 0; j < i; j++) {
                assert_int_equal(pieces[i][j], i % 255 + 1);
            }
        }
        dln_arena_clear(&arena);
        assert_int_equal(arena.used_bytes, 0);
    }
    dln_arena_free(&arena);
}

static void a_piece_larger_than_a_block_is_served(void **state) {
    (void)state;
    struct dln_arena arena = DLN_ARENA_INIT(1 << 24);
    unsigned char *small = dln_arena_alloc(&arena, 1);
    unsigned char *large = dln_arena_alloc(&arena, 5 << 20);
    assert_non_null(small);
    assert_non_null(large);
    large[(5 << 20) - 1] = 1;
    assert_non_null(dln_arena_alloc(&arena, 1));
    dln_arena_free(&arena);
}

static void the_ceiling_holds_and_clearing_gives_room(void **state) {
    (void)state;
    struct dln_arena arena = DLN_ARENA_INIT(1024);
    assert_null(dln_arena_alloc(&arena, 1025));
    assert_non_null(dln_arena_alloc(&arena, 1024));
    assert_int_equal(arena.used_bytes, 1024);
    assert_null(dln_arena_alloc(&arena, 1));
    assert_null(dln_arena_alloc(&arena, 0));
    dln_arena_clear(&arena);
    assert_non_null(dln_arena_alloc(&arena, 1024));
    dln_arena_free(&arena);
    assert_int_equal(arena.used_bytes, 0);
    assert_non_null(dln_arena_alloc(&arena, 1024)); /* usable after free */
    dln_arena_free(&arena);
}

static void sizes_that_would_overflow_fail(void **state) {
    (void)state;
    struct dln_arena arena = DLN_ARENA_INIT(SIZE_MAX);
    assert_null(dln_arena_alloc(&arena, SIZE_MAX));
    assert_null(dln_arena_alloc(&arena, SIZE_MAX - alignof(max_align_t)));
    assert_null(dln_arena_text(&arena, (struct dln_text){"", SIZE_MAX}).data);
    assert_int_equal(arena.used_bytes, 0);
    dln_arena_free(&arena);
}

static void texts_are_copied_and_ended_by_a_zero(void **state) {
    (void)state;
    struct dln_arena arena = DLN_ARENA_INIT(64);
    char original[] = "abc";
    struct dln_text copy = dln_arena_text(&arena, (struct dln_text){original, 2});
    original[0] = 'X';
    assert_int_equal(copy.len, 2);
    assert_string_equal(copy.data, "ab");
    struct dln_text empty = dln_arena_text(&arena, (struct dln_text){NULL, 0});
    assert_int_equal(empty.len, 0);
    assert_string_equal(empty.data, "");
    char long_text[100] = {0};
    assert_null(dln_arena_text(&arena, (struct dln_text){long_text, sizeof(long_text)}).data);
    dln_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_zeroed_and_apart),
        cmocka_unit_test(a_piece_larger_than_a_block_is_served),
        cmocka_unit_test(the_ceiling_holds_and_clearing_gives_room),
        cmocka_unit_test(sizes_that_would_overflow_fail),
        cmocka_unit_test(texts_are_copied_and_ended_by_a_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
