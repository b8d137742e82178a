#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sync/merge.h"
#include "tests/support/records.h"

enum { ROUNDS = 3000 };

struct fixture {
    struct dln_arena arena;
    struct test_random random;
    struct dln_record a, b, c;
};

/* Three versions of one record; stamps and values from small ranges, so that ties happen. */
static void draw(struct fixture *fixture) {
    struct dln_record base;
    dln_arena_clear(&fixture->arena);
    test_record_random(&fixture->arena, &fixture->random, &base, DLN_TEXT("user/a"),
                       DLN_TEXT("group/g"));
    test_record_vary(&fixture->arena, &fixture->random, &fixture->a, &base);
    test_record_vary(&fixture->arena, &fixture->random, &fixture->b, &base);
    test_record_vary(&fixture->arena, &fixture->random, &fixture->c, &base);
}

static struct dln_record merged(struct fixture *fixture, const struct dln_record *a,
                                const struct dln_record *b) {
    struct dln_record into = *a;
    bool changed = false;
    assert_true(dln_merge(&fixture->arena, &into, b, &changed));
    assert_int_equal(changed, !test_records_equal(&into, a));
    return into;
}

static void merging_is_commutative(void **state) {
    struct fixture *fixture = *state;
    for (int i = 0; i < ROUNDS; i++) {
        draw(fixture);
        struct dln_record ab = merged(fixture, &fixture->a, &fixture->b);
        struct dln_record ba = merged(fixture, &fixture->b, &fixture->a);
        assert_true(test_records_equal(&ab, &ba));
    }
}

static void merging_is_associative(void **state) {
    struct fixture *fixture = *state;
    for (int i = 0; i < ROUNDS; i++) {
        draw(fixture);
        struct dln_record ab = merged(fixture, &fixture->a, &fixture->b);
        struct dln_record bc = merged(fixture, &fixture->b, &fixture->c);
        struct dln_record ab_c = merged(fixture, &ab, &fixture->c);
        struct dln_record a_bc = merged(fixture, &fixture->a, &bc);
        assert_true(test_records_equal(&ab_c, &a_bc));
    }
}

static void merging_is_idempotent(void **state) {
    struct fixture *fixture = *state;
    for (int i = 0; i < ROUNDS; i++) {
        draw(fixture);
        struct dln_record ab = merged(fixture, &fixture->a, &fixture->b);
        struct dln_record again = ab;
        bool changed = true;
        assert_true(dln_merge(&fixture->arena, &again, &fixture->b, &changed));
        assert_false(changed);
        assert_true(test_records_equal(&ab, &again));
        assert_ptr_equal(ab.extras, again.extras); /* no change takes no memory */
    }
}

/* Records may share their arrays: what was there stays as it was. */
static void merging_leaves_shared_extras_alone(void **state) {
    struct fixture *fixture = *state;
    for (int i = 0; i < ROUNDS; i++) {
        draw(fixture);
        struct dln_record before;
        assert_true(dln_record_copy(&fixture->arena, &before, &fixture->a));
        struct dln_record into = merged(fixture, &fixture->a, &fixture->b);
        (void)into;
        assert_true(test_records_equal(&before, &fixture->a));
    }
}

static void the_newer_stamp_wins_then_the_greater_value(void **state) {
    (void)state;
    struct dln_field none = {0, dln_value_bool(true)};
    struct dln_field older = {4, dln_value_string(DLN_TEXT("z"))};
    struct dln_field newer = {5, dln_value_null()};
    struct dln_field greater = {5, dln_value_bool(false)};
    struct dln_field greatest = {DLN_STAMP_MAX, dln_value_null()};
    assert_false(dln_field_wins(&none, &older));
    assert_false(dln_field_wins(&none, &none));
    assert_true(dln_field_wins(&older, &none));
    assert_true(dln_field_wins(&newer, &older));
    assert_false(dln_field_wins(&older, &newer));
    assert_true(dln_field_wins(&greater, &newer));
    assert_false(dln_field_wins(&newer, &greater));
    assert_false(dln_field_wins(&newer, &newer));
    assert_true(dln_field_wins(&greatest, &greater));
}

static struct dln_extra *make_extras(struct fixture *fixture, char first, size_t count) {
    struct dln_extra *extras = dln_arena_alloc(&fixture->arena, count * sizeof(*extras));
    assert_non_null(extras);
    for (size_t i = 0; i < count; i++) {
        char name[2] = {first, (char)('A' + i)};
        extras[i].name = dln_arena_text(&fixture->arena, (struct dln_text){name, 2});
        extras[i].field = (struct dln_field){1, dln_value_null()};
    }
    return extras;
}

static void a_merge_that_does_not_fit_changes_nothing(void **state) {
    struct fixture *fixture = *state;
    struct dln_record into = {.key = {.name = DLN_TEXT("x")}};
    struct dln_record from = into;
    bool changed;
    into.extras = make_extras(fixture, 'a', 20);
    into.extra_count = 20;
    from.extras = make_extras(fixture, 'b', 13);
    from.extra_count = 12;
    from.fields[0].stamp = 9;
    struct dln_record fits = into;
    assert_true(dln_merge(&fixture->arena, &fits, &from, &changed));
    assert_true(changed);
    assert_int_equal(fits.extra_count, DLN_EXTRA_MAX);

    struct dln_record before = into;
    from.extra_count = 13;
    assert_false(dln_merge(&fixture->arena, &into, &from, &changed));
    assert_true(test_records_equal(&before, &into));

    struct dln_arena full = DLN_ARENA_INIT(8);
    from.extra_count = 12;
    assert_false(dln_merge(&full, &into, &from, &changed));
    assert_true(test_records_equal(&before, &into));
    dln_arena_free(&full);
}

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    if (fixture == NULL) {
        return -1;
    }
    fixture->arena = DLN_ARENA_INIT(1 << 24);
    fixture->random.state = 1;
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    dln_arena_free(&fixture->arena);
    free(fixture);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(merging_is_commutative, set_up, tear_down),
        cmocka_unit_test_setup_teardown(merging_is_associative, set_up, tear_down),
        cmocka_unit_test_setup_teardown(merging_is_idempotent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(merging_leaves_shared_extras_alone, set_up, tear_down),
        cmocka_unit_test(the_newer_stamp_wins_then_the_greater_value),
        cmocka_unit_test_setup_teardown(a_merge_that_does_not_fit_changes_nothing, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
