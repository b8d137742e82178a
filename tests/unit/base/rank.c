#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rank.h"
#include "tests/support/random.h"

static struct dln_text text_of(const struct dln_rank *rank) {
    return (struct dln_text){rank->data, rank->len};
}

static const struct dln_text none = {NULL, 0};

static void assert_valid(const struct dln_rank *rank) {
    assert_true(dln_rank_is_valid(text_of(rank)));
    assert_int_equal(rank->data[rank->len], '\0');
}

static void well_formed_is_what_something_fits_before(void **state) {
    (void)state;
    static const char *const right[] = {"a0",
                                        "az",
                                        "a01",
                                        "Zz",
                                        "Z0",
                                        "Y00",
                                        "b00",
                                        "bzz0z",
                                        "a0000000001",
                                        "A00000000000000000000000000V",
                                        "A00000000000000000000000001",
                                        "zzzzzzzzzzzzzzzzzzzzzzzzzzz"};
    static const char *const wrong[] = {"",
                                        "a",
                                        "00",
                                        "9z",
                                        "a00",
                                        "a0V0",
                                        "b0",
                                        "Y0",
                                        "a-",
                                        "a0/",
                                        " a0",
                                        "a0:",
                                        "a0[",
                                        "a0`",
                                        "a0{",
                                        "\xc3\xa9",
                                        "A00000000000000000000000000",
                                        "A0000000000000000000000000",
                                        "A000000000000000000000000000"};
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        if (!dln_rank_is_valid(dln_text_of(right[i]))) {
            fail_msg("%s is a rank", right[i]);
        }
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (dln_rank_is_valid(dln_text_of(wrong[i]))) {
            fail_msg("%s is no rank", wrong[i]);
        }
    }
    char longest[DLN_RANK_MAX + 1];
    memset(longest, 'a', sizeof(longest));
    assert_true(dln_rank_is_valid((struct dln_text){longest, DLN_RANK_MAX}));
    assert_false(dln_rank_is_valid((struct dln_text){longest, DLN_RANK_MAX + 1}));
    assert_false(dln_rank_is_valid(none));
    assert_false(dln_rank_is_valid(DLN_TEXT("a0\0")));
}

static void bad_bounds_give_nothing(void **state) {
    (void)state;
    struct dln_rank rank;
    assert_false(dln_rank_between(&rank, DLN_TEXT("a1"), DLN_TEXT("a1"), 0));
    assert_false(dln_rank_between(&rank, DLN_TEXT("a2"), DLN_TEXT("a1"), 0));
    assert_false(dln_rank_between(&rank, DLN_TEXT("a1V"), DLN_TEXT("a1"), 0));
    assert_false(dln_rank_between(&rank, DLN_TEXT("!"), none, 0));
    assert_false(dln_rank_between(&rank, none, DLN_TEXT("a10"), 0));
    assert_false(dln_rank_between(&rank, DLN_TEXT(""), DLN_TEXT("a1"), 0));
    assert_false(dln_rank_spread(&rank, DLN_TEXT("a2"), DLN_TEXT("a1"), 0, 1));
    assert_false(dln_rank_spread(&rank, none, DLN_TEXT("x"), 0, 1));
}

/* A million in one direction, from the first on. */
static void million(struct test_random *random, int forward) {
    struct dln_rank last = {.len = 0};
    size_t longest = 0;
    for (int i = 0; i < 1000000; i++) {
        struct dln_text bound = i == 0 ? none : text_of(&last);
        struct dln_rank next;
        assert_true(dln_rank_between(&next, forward ? bound : none, forward ? none : bound,
                                     test_random_next(random)));
        if (i > 0 && (dln_text_compare(bound, text_of(&next)) < 0) != forward) {
            fail_msg("%s and %s", last.data, next.data);
        }
        longest = next.len > longest ? next.len : longest;
        last = next;
    }
    assert_valid(&last);
    assert_true(longest <= 9);
}

static void a_million_appended_or_prepended_stay_short(void **state) {
    (void)state;
    struct test_random random = {1};
    million(&random, 1);
    million(&random, 0);
}

/* All 2^64 random numbers are allowed; the extremes are the likeliest to go wrong. */
static void check_between(struct dln_text left, struct dln_text right) {
    static const uint64_t randoms[] = {0, 1, 61, 62, 238327, 238328, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof(randoms) / sizeof(randoms[0]); i++) {
        struct dln_rank rank;
        assert_true(dln_rank_between(&rank, left, right, randoms[i]));
        assert_valid(&rank);
        if ((left.data != NULL && dln_text_compare(left, text_of(&rank)) >= 0) ||
            (right.data != NULL && dln_text_compare(text_of(&rank), right) >= 0)) {
            fail_msg("%s is not between %s and %s", rank.data, left.data, right.data);
        }
    }
}

/* Heads, carries, and the two ends of all ranks. */
static void every_pair_of_awkward_ranks_has_room(void **state) {
    (void)state;
    static const char *const ranks[] = {"A000000000000000000000000000000001",
                                        "A00000000000000000000000001",
                                        "Azzzzzzzzzzzzzzzzzzzzzzzzzz",
                                        "B0000000000000000000000000",
                                        "P00000000000",
                                        "Pzzzzzzzzzzz",
                                        "Q0000000000",
                                        "Qzzzzzzzzzz",
                                        "Y00",
                                        "Yzz",
                                        "Yzzzzz",
                                        "Z0",
                                        "Z01",
                                        "Zz",
                                        "Zzz",
                                        "a0",
                                        "a00001",
                                        "a001",
                                        "a0z",
                                        "a0zzzzz",
                                        "a1",
                                        "a1V",
                                        "az",
                                        "azzzzz",
                                        "b00",
                                        "b001",
                                        "bzz",
                                        "c000",
                                        "j0000000000",
                                        "jzzzzzzzzzz",
                                        "k00000000000",
                                        "kzzzzzzzzzzz",
                                        "y0000000000000000000000000",
                                        "z00000000000000000000000000",
                                        "zzzzzzzzzzzzzzzzzzzzzzzzzzz",
                                        "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"};
    const size_t count = sizeof(ranks) / sizeof(ranks[0]);
    check_between(none, none);
    for (size_t i = 0; i < count; i++) {
        check_between(dln_text_of(ranks[i]), none);
        check_between(none, dln_text_of(ranks[i]));
        for (size_t j = i + 1; j < count; j++) {
            assert_true(strcmp(ranks[i], ranks[j]) < 0);
            check_between(dln_text_of(ranks[i]), dln_text_of(ranks[j]));
        }
    }
}

static void appending_takes_the_next_integer(void **state) {
    (void)state;
    static const char *const integers[] = {"Xzzz", "Y00", "Y01", NULL,  "Yzz", "Z0",  NULL,
                                           "Zz",   "a0",  "a1",  NULL,  "az",  "b00", NULL,
                                           "b0z",  "b10", NULL,  "bzz", "c000"};
    for (size_t i = 1; i < sizeof(integers) / sizeof(integers[0]); i++) {
        if (integers[i] == NULL || integers[i - 1] == NULL) {
            continue;
        }
        struct dln_rank next;
        struct dln_rank previous;
        size_t next_len = strlen(integers[i]);
        size_t previous_len = strlen(integers[i - 1]);
        assert_true(dln_rank_between(&next, dln_text_of(integers[i - 1]), none, 0));
        assert_int_equal(next.len, next_len + 3);
        assert_memory_equal(next.data, integers[i], next_len);
        assert_true(dln_rank_between(&previous, none, dln_text_of(integers[i]), 0));
        assert_int_equal(previous.len, previous_len + 3);
        assert_memory_equal(previous.data, integers[i - 1], previous_len);
    }
}

/* Always the same place, after the last one inserted or before it, until the gap is full; then
 * spread, as a caller would. */
static void same_place(int after_last) {
    struct test_random random = {(uint64_t)after_last + 11};
    struct dln_rank left;
    struct dln_rank right;
    assert_true(dln_rank_between(&left, none, none, 1));
    assert_true(dln_rank_between(&right, text_of(&left), none, 2));
    const struct dln_rank first = left;
    const struct dln_rank last = right;
    int inserted = 0;
    int spreads = 0;
    int since_spread = 0;
    while (inserted < 100000) {
        struct dln_rank rank;
        if (dln_rank_between(&rank, text_of(&left), text_of(&right), test_random_next(&random))) {
            assert_valid(&rank);
            assert_true(dln_text_compare(text_of(&left), text_of(&rank)) < 0);
            assert_true(dln_text_compare(text_of(&rank), text_of(&right)) < 0);
            *(after_last ? &left : &right) = rank;
            inserted++;
            since_spread++;
            continue;
        }
        assert_true(since_spread >= 100); /* a gap takes many before it is keyed anew */
        since_spread = 0;
        spreads++;
        size_t count = (size_t)inserted;
        size_t neighbour = after_last ? count - 1 : 0; /* the one where the inserting goes on */
        assert_true(dln_rank_spread(&rank, text_of(&first), text_of(&last), neighbour, count));
        left = after_last ? rank : first;
        right = after_last ? last : rank;
    }
    assert_true(spreads > 0);
}

static void inserting_at_one_place_fills_the_gap_and_spreading_helps(void **state) {
    (void)state;
    same_place(1);
    same_place(0);
}

enum { INSERTIONS = 100000 };

/* Inserted at random places: the list, kept by links in the order that was meant, is in rank order.
 */
static void inserting_at_random_places_keeps_the_order(void **state) {
    (void)state;
    struct test_random random = {5};
    struct dln_rank *ranks = calloc(INSERTIONS, sizeof(*ranks));
    int *next = calloc(INSERTIONS, sizeof(*next));
    assert_true(ranks != NULL && next != NULL);
    assert_true(dln_rank_between(&ranks[0], none, none, test_random_next(&random)));
    next[0] = -1;
    int head = 0;
    size_t longest = 0;
    for (int i = 1; i < INSERTIONS; i++) {
        int after = (int)test_random_below(&random, (uint64_t)i + 1) - 1; /* -1: before the head */
        int before = after < 0 ? head : next[after];
        assert_true(dln_rank_between(&ranks[i], after < 0 ? none : text_of(&ranks[after]),
                                     before < 0 ? none : text_of(&ranks[before]),
                                     test_random_next(&random)));
        assert_valid(&ranks[i]);
        longest = ranks[i].len > longest ? ranks[i].len : longest;
        next[i] = before;
        *(after < 0 ? &head : &next[after]) = i;
    }
    int seen = 1;
    for (int i = head; next[i] >= 0; i = next[i], seen++) {
        assert_true(dln_text_compare(text_of(&ranks[i]), text_of(&ranks[next[i]])) < 0);
    }
    assert_int_equal(seen, INSERTIONS);
    assert_true(longest <= 24);
    free(ranks);
    free(next);
}

static int rank_order(const void *a, const void *b) {
    return dln_text_compare(text_of(a), text_of(b));
}

/* Two devices that insert at one place while offline: of 2,000 ranks hardly two are the same. */
static void jitter_keeps_devices_apart(void **state) {
    (void)state;
    const struct dln_text bounds[][2] = {{none, none},
                                         {DLN_TEXT("a5"), none},
                                         {none, DLN_TEXT("a5")},
                                         {DLN_TEXT("a5"), DLN_TEXT("a6")}};
    for (size_t place = 0; place < 4; place++) {
        static struct dln_rank ranks[2000];
        struct test_random random = {place};
        for (size_t i = 0; i < 2000; i++) {
            assert_true(dln_rank_between(&ranks[i], bounds[place][0], bounds[place][1],
                                         test_random_next(&random)));
        }
        qsort(ranks, 2000, sizeof(ranks[0]), rank_order);
        int same = 0;
        for (size_t i = 1; i < 2000; i++) {
            same += rank_order(&ranks[i - 1], &ranks[i]) == 0;
        }
        assert_true(same < 50); /* 2,000 of at least 119,000: about 17 pairs */
    }
}

static void check_spread(struct dln_text left, struct dln_text right, size_t count,
                         size_t max_len) {
    struct dln_rank previous = {.len = 0};
    for (size_t i = 0; i < count; i++) {
        struct dln_rank rank;
        struct dln_text before = i > 0 ? text_of(&previous) : left;
        assert_true(dln_rank_spread(&rank, left, right, i, count));
        assert_valid(&rank);
        if ((before.data != NULL && dln_text_compare(before, text_of(&rank)) >= 0) ||
            (right.data != NULL && dln_text_compare(text_of(&rank), right) >= 0)) {
            fail_msg("rank %zu of %zu, %s, is out of order", i, count, rank.data);
        }
        if (rank.len > max_len) {
            fail_msg("rank %zu of %zu, %s, is longer than %zu", i, count, rank.data, max_len);
        }
        previous = rank;
    }
}

static void spreading_rises_strictly_inside_the_gap(void **state) {
    (void)state;
    static const size_t counts[] = {1, 2, 3, 60, 61, 62, 63, 3843, 3844, 10000};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        size_t count = counts[i];
        check_spread(none, none, count, 4);
        check_spread(DLN_TEXT("a5x"), none, count, 4);
        check_spread(none, DLN_TEXT("a5x"), count, 4);
        check_spread(DLN_TEXT("Zy"), none, count, 4);
        check_spread(none, DLN_TEXT("a1"), count, 4);
        check_spread(DLN_TEXT("a5"), DLN_TEXT("a6"), count, 5);
        check_spread(DLN_TEXT("a5"), DLN_TEXT("a5001"), count, 8);
        check_spread(DLN_TEXT("Zz"), DLN_TEXT("a0"), count, 5);
        check_spread(DLN_TEXT("Y00"), DLN_TEXT("c000"), count, 4);
        check_spread(DLN_TEXT("kzzzzzzzzzzz"), none, count, 64);
        check_spread(none, DLN_TEXT("P000000000001"), count, 64);
        check_spread(DLN_TEXT("zzzzzzzzzzzzzzzzzzzzzzzzzzz"), none, count, 64);
    }
}

/* The last integers that can be counted: those before the limit and those behind it, in one order.
 */
static void spreading_over_the_limit_of_counted_integers(void **state) {
    (void)state;
    check_spread(DLN_TEXT("jzzzzzzzzzw"), none, 10, 64);
    check_spread(none, DLN_TEXT("Q0000000003"), 10, 64);
}

static void spreading_is_even(void **state) {
    (void)state;
    static const char *const expected[] = {"aC", "aO", "ab", "an"}; /* a0, 12, 24, 37, 49 of 62 */
    for (size_t i = 0; i < 4; i++) {
        struct dln_rank rank;
        assert_true(dln_rank_spread(&rank, DLN_TEXT("a0"), DLN_TEXT("b00"), i, 4));
        assert_string_equal(rank.data, expected[i]);
    }
}

static void a_full_gap_is_told(void **state) {
    (void)state;
    char left[DLN_RANK_MAX + 1] = "a5";
    char right[DLN_RANK_MAX + 1];
    memset(left + 2, '0', DLN_RANK_MAX - 2);
    memcpy(right, left, sizeof(left));
    left[DLN_RANK_MAX - 1] = '1';
    right[DLN_RANK_MAX - 1] = '4';
    left[DLN_RANK_MAX] = right[DLN_RANK_MAX] = '\0';
    check_between(dln_text_of(left), dln_text_of(right));
    check_spread(dln_text_of(left), dln_text_of(right), 2, DLN_RANK_MAX);
    struct dln_rank rank;
    assert_false(dln_rank_spread(&rank, dln_text_of(left), dln_text_of(right), 0, 3));
    right[DLN_RANK_MAX - 1] = '2';
    assert_false(dln_rank_between(&rank, dln_text_of(left), dln_text_of(right), 0));
    assert_false(dln_rank_spread(&rank, dln_text_of(left), dln_text_of(right), 0, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_is_what_something_fits_before),
        cmocka_unit_test(bad_bounds_give_nothing),
        cmocka_unit_test(a_million_appended_or_prepended_stay_short),
        cmocka_unit_test(every_pair_of_awkward_ranks_has_room),
        cmocka_unit_test(appending_takes_the_next_integer),
        cmocka_unit_test(inserting_at_one_place_fills_the_gap_and_spreading_helps),
        cmocka_unit_test(inserting_at_random_places_keeps_the_order),
        cmocka_unit_test(jitter_keeps_devices_apart),
        cmocka_unit_test(spreading_rises_strictly_inside_the_gap),
        cmocka_unit_test(spreading_over_the_limit_of_counted_integers),
        cmocka_unit_test(spreading_is_even),
        cmocka_unit_test(a_full_gap_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
