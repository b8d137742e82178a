#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/internal.h"
#include "tests/support/bare.h"
#include "tests/support/records.h"

static void add(struct bare *bare, const struct dln_record *record, dunlin_status code,
                const char *reason) {
    const struct dln_reject reject = {code, dln_text_of(reason), record};
    bare_begin(bare);
    assert_int_equal(dln_reject_add(bare->store, &reject, NULL), DUNLIN_OK);
    bare_commit(bare);
}

static void any_record_comes_back_as_it_was_refused(void **state) {
    struct bare *bare = *state;
    for (int64_t id = 1; id < 300; id++) {
        struct dln_record record;
        struct dln_dead_letter letter;
        test_record_random(&bare->arena, &bare->random, &record, DLN_TEXT("user/alice"),
                           DLN_TEXT("group/climbers"));
        bare->now_ms += 10;
        add(bare, &record, DUNLIN_NOT_ALLOWED, "Only the owner changes roles.");
        assert_int_equal(dln_reject_get(bare->store, &bare->arena, id, &letter, NULL), DUNLIN_OK);
        assert_int_equal(letter.id, id);
        assert_int_equal(letter.code, DUNLIN_NOT_ALLOWED);
        assert_int_equal(letter.at_ms, bare->now_ms);
        assert_true(dln_text_equal(letter.reason, DLN_TEXT("Only the owner changes roles.")));
        assert_true(test_records_equal(&letter.record, &record));
        dln_arena_clear(&bare->arena);
    }
}

static void pages_go_both_ways(void **state) {
    struct bare *bare = *state;
    struct dln_record record = {.key = bare_follow(bare, "user", "ben")};
    struct dln_dead_letter *letters;
    size_t count;
    record.fields[0] = (struct dln_field){5, dln_value_bool(true)};
    for (int i = 0; i < 7; i++) {
        add(bare, &record, DUNLIN_QUOTA, NULL);
    }
    assert_int_equal(
        dln_reject_page(bare->store, &bare->arena, 0, false, 3, &letters, &count, NULL), DUNLIN_OK);
    assert_true(count == 3 && letters[0].id == 1 && letters[2].id == 3);
    assert_int_equal(
        dln_reject_page(bare->store, &bare->arena, 5, false, 3, &letters, &count, NULL), DUNLIN_OK);
    assert_true(count == 2 && letters[0].id == 6 && letters[1].id == 7);
    assert_int_equal(dln_reject_page(bare->store, &bare->arena, 0, true, 3, &letters, &count, NULL),
                     DUNLIN_OK);
    assert_true(count == 3 && letters[0].id == 7 && letters[2].id == 5);
    assert_int_equal(dln_reject_page(bare->store, &bare->arena, 2, true, 3, &letters, &count, NULL),
                     DUNLIN_OK);
    assert_true(count == 1 && letters[0].id == 1);
}

static void a_number_is_never_given_again(void **state) {
    struct bare *bare = *state;
    struct dln_record record = {.key = bare_follow(bare, "user", "ben")};
    struct dln_dead_letter letter;
    dunlin_error err;
    bool has;
    record.fields[0] = (struct dln_field){5, dln_value_bool(true)};
    add(bare, &record, DUNLIN_GONE, "");
    add(bare, &record, DUNLIN_GONE, "");
    assert_int_equal(dln_reject_has(bare->store, &record.key, &has, NULL), DUNLIN_OK);
    assert_true(has);
    bare_begin(bare);
    assert_int_equal(dln_reject_remove(bare->store, 2, NULL), DUNLIN_OK);
    assert_int_equal(dln_reject_remove(bare->store, 1, NULL), DUNLIN_OK);
    assert_int_equal(dln_reject_remove(bare->store, 2, &err), DUNLIN_NOT_FOUND);
    assert_int_equal(err.domain, DUNLIN_DOMAIN_API);
    bare_commit(bare);
    assert_int_equal(dln_reject_has(bare->store, &record.key, &has, NULL), DUNLIN_OK);
    assert_false(has);
    add(bare, &record, DUNLIN_GONE, "");
    assert_int_equal(dln_reject_get(bare->store, &bare->arena, 2, &letter, NULL), DUNLIN_NOT_FOUND);
    assert_int_equal(dln_reject_get(bare->store, &bare->arena, 3, &letter, NULL), DUNLIN_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bare_set_up, bare_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(any_record_comes_back_as_it_was_refused),
        TEST(pages_go_both_ways),
        TEST(a_number_is_never_given_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
