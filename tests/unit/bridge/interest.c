/* The table of who cares for what, against a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/interest.h"

enum { WATCHERS = 8, SCOPES = 40, ROUNDS = 2000 };

static struct dln_interest interest;
static char names[SCOPES][16];

static struct dln_text scope(size_t number) {
    (void)snprintf(names[number], sizeof(names[number]), "group/%zu", number);
    return dln_text_of(names[number]);
}

struct visits {
    struct dln_watcher *first;
    int count[WATCHERS];
};

static void note(void *self, struct dln_watcher *watcher) {
    struct visits *visits = self;
    visits->count[watcher - visits->first]++;
}

static void sets_and_clears(void **state) {
    struct dln_watcher watchers[WATCHERS] = {{NULL}};
    bool cares[WATCHERS][SCOPES] = {{false}};
    uint32_t random = 1;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct dln_text wanted[SCOPES];
        size_t count = 0;
        random = random * 1664525 + 1013904223;
        size_t who = random >> 16 & (WATCHERS - 1);
        for (size_t i = 0; i < SCOPES; i++) {
            random = random * 1664525 + 1013904223;
            cares[who][i] = (random >> 20 & 3) == 0;
            if (cares[who][i]) {
                wanted[count++] = scope(i);
            }
        }
        dln_interest_set(&interest, &watchers[who], wanted, count);
        size_t asked = random >> 8 & 31;
        struct visits visits = {watchers, {0}};
        dln_interest_visit(&interest, scope(asked), note, &visits);
        for (size_t i = 0; i < WATCHERS; i++) {
            assert_int_equal(visits.count[i], cares[i][asked]);
            assert_int_equal(dln_interest_has(&interest, &watchers[i], scope(asked)),
                             cares[i][asked]);
        }
    }
    for (size_t i = 0; i < WATCHERS; i++) {
        dln_interest_clear(&interest, &watchers[i]);
        dln_interest_clear(&interest, &watchers[i]);
    }
    assert_int_equal(interest.count, 0);
}

static void twice_is_once(void **state) {
    struct dln_watcher watcher = {NULL};
    struct dln_text wanted[] = {scope(1), scope(2), scope(1)};
    struct visits visits = {&watcher, {0}};
    (void)state;
    dln_interest_set(&interest, &watcher, wanted, 3);
    assert_int_equal(interest.count, 2);
    dln_interest_visit(&interest, scope(1), note, &visits);
    assert_int_equal(visits.count[0], 1);
    assert_false(dln_interest_has(&interest, &watcher, DLN_TEXT("group/10")));
    assert_false(dln_interest_has(&interest, &watcher, DLN_TEXT("group/")));
    dln_interest_clear(&interest, &watcher);
}

static void one_has_a_ceiling(void **state) {
    static char many[DLN_INTEREST_MAX + 10][16];
    static struct dln_text wanted[DLN_INTEREST_MAX + 10];
    struct dln_watcher watcher = {NULL};
    (void)state;
    for (size_t i = 0; i < DLN_INTEREST_MAX + 10; i++) {
        (void)snprintf(many[i], sizeof(many[i]), "group/%zu", i);
        wanted[i] = dln_text_of(many[i]);
    }
    dln_interest_set(&interest, &watcher, wanted, DLN_INTEREST_MAX + 10);
    assert_int_equal(interest.count, DLN_INTEREST_MAX);
    assert_true(dln_interest_has(&interest, &watcher, wanted[0])); /* the first ones stay */
    assert_false(dln_interest_has(&interest, &watcher, wanted[DLN_INTEREST_MAX]));
    dln_interest_clear(&interest, &watcher);
    assert_int_equal(interest.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sets_and_clears),
                                       cmocka_unit_test(twice_is_once),
                                       cmocka_unit_test(one_has_a_ceiling)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
