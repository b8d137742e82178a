#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/internal.h"
#include "tests/support/bare.h"
#include "tests/support/records.h"

/* What a walk gave: copies, in its order. */
struct seen {
    struct bare *bare;
    struct dln_record records[4000];
    size_t count;
    size_t stop_at;
};

static dunlin_status visit(void *self, const struct dln_row *row, dunlin_error *err) {
    struct seen *seen = self;
    if (seen->count == seen->stop_at) {
        return dln_fail(err, DUNLIN_INTERRUPTED, DUNLIN_DOMAIN_API, "stopped");
    }
    assert_true(seen->count < 4000);
    assert_true(dln_record_copy(&seen->bare->arena, &seen->records[seen->count++], &row->record));
    return DUNLIN_OK;
}

static struct seen *walk(struct bare *bare, const char *scope) {
    static struct seen seen;
    seen.bare = bare;
    seen.count = 0;
    seen.stop_at = 4000;
    assert_int_equal(scope ? dln_scope_live(bare->store, dln_text_of(scope), visit, &seen, NULL)
                           : dln_live(bare->store, visit, &seen, NULL),
                     DUNLIN_OK);
    return &seen;
}

static bool has(const struct seen *seen, const struct dln_key *key) {
    for (size_t i = 0; i < seen->count; i++) {
        if (dln_key_equal(&seen->records[i].key, key)) {
            return true;
        }
    }
    return false;
}

static void put_random(struct bare *bare, int count) {
    static const char *const groups[] = {"group/!",     "group/%23", "group/%2F", "group/a",
                                         "group/a%2Fb", "group/a0",  "group/B"};
    bare_begin(bare);
    for (int i = 0; i < count; i++) {
        struct dln_row row = {.seq = 1};
        test_record_random(&bare->arena, &bare->random, &row.record, DLN_TEXT("user/alice"),
                           dln_text_of(groups[1 + test_random_below(&bare->random, 6)]));
        row.stored = bare_row(bare, &row.record.key).stored;
        assert_int_equal(dln_row_put(bare->store, &row, NULL), DUNLIN_OK);
    }
    static const char *const followed[] = {"#", "/", "a", "a/b", "a0"};
    for (int i = 0; i < 5; i++) {
        bare_put_follow(bare, "group", followed[i], true);
    }
    bare_commit(bare);
}

static void records_come_in_the_order_of_dumps(void **state) {
    struct bare *bare = *state;
    put_random(bare, 3000);
    const struct seen *seen = walk(bare, NULL);
    assert_true(seen->count > 100);
    for (size_t i = 1; i < seen->count; i++) {
        assert_true(dln_key_compare(&seen->records[i - 1].key, &seen->records[i].key) < 0);
    }
}

static void exactly_the_live_ones_come(void **state) {
    struct bare *bare = *state;
    put_random(bare, 1500);
    const struct seen *seen = walk(bare, NULL);
    size_t live_count = 0;
    struct dln_scope_row *scopes;
    size_t scope_count;
    assert_int_equal(dln_scopes(bare->store, &bare->arena, (struct dln_text){NULL, 0}, 3000,
                                &scopes, &scope_count, NULL),
                     DUNLIN_OK);
    for (size_t i = 0; i < scope_count; i++) {
        struct dln_row *rows;
        size_t count;
        assert_true(scopes[i].wanted);
        assert_int_equal(dln_scope_rows(bare->store, &bare->arena, scopes[i].scope,
                                        (struct dln_text){NULL, 0}, false, 5000, &rows, &count,
                                        NULL),
                         DUNLIN_OK);
        for (size_t j = 0; j < count; j++) {
            bool live;
            assert_int_equal(dln_row_is_live(bare->store, &rows[j], &live, NULL), DUNLIN_OK);
            assert_int_equal(live, has(seen, &rows[j].record.key));
            live_count += live;
        }
    }
    assert_int_equal(live_count, seen->count);
}

static void an_item_lives_with_its_list(void **state) {
    struct bare *bare = *state;
    struct dln_key item = bare_item(bare, "l1", "v1");
    struct dln_key list = bare_list(bare, "l1");
    bool live;
    bare_begin(bare);
    bare_put_item(bare, "l1", "v1", "title");
    bare_commit(bare);
    assert_false(has(walk(bare, "user/alice"), &item));
    bare_begin(bare);
    bare_put_list(bare, "l1", "one");
    bare_commit(bare);
    assert_true(has(walk(bare, "user/alice"), &item));
    struct dln_row row = bare_row(bare, &item);
    assert_int_equal(dln_row_is_live(bare->store, &row, &live, NULL), DUNLIN_OK);
    assert_true(live);
    bare_begin(bare);
    row = bare_row(bare, &list);
    row.tried = true;
    assert_int_equal(dln_row_mark(bare->store, &row, NULL), DUNLIN_OK);
    row = bare_row(bare, &list);
    row.record.fields[DLN_LIST_DELETED].value = dln_value_bool(true);
    assert_int_equal(dln_row_edit(bare->store, &row, 1u << DLN_LIST_DELETED, NULL), DUNLIN_OK);
    bare_commit(bare);
    assert_int_equal(walk(bare, "user/alice")->count, 0);
    row = bare_row(bare, &item);
    assert_int_equal(dln_row_is_live(bare->store, &row, &live, NULL), DUNLIN_OK);
    assert_false(live);
}

static void scopes_that_are_not_synced_stay_out(void **state) {
    struct bare *bare = *state;
    put_random(bare, 500);
    const struct seen *seen = walk(bare, NULL);
    size_t in_groups = 0;
    for (size_t i = 0; i < seen->count; i++) {
        assert_false(dln_text_equal(seen->records[i].key.scope, DLN_TEXT("group/B")));
        in_groups += seen->records[i].key.scope.data[0] == 'g';
    }
    assert_true(in_groups > 0);
    assert_int_equal(walk(bare, "group/nobody")->count, 0);
}

static void a_visit_that_fails_ends_the_walk(void **state) {
    struct bare *bare = *state;
    struct seen *seen;
    dunlin_error err;
    put_random(bare, 300);
    seen = walk(bare, NULL);
    for (size_t stop = 0; stop < 20; stop++) {
        seen->count = 0;
        seen->stop_at = stop;
        assert_int_equal(dln_live(bare->store, visit, seen, &err), DUNLIN_INTERRUPTED);
        assert_int_equal(seen->count, stop);
        assert_true(dln_store_is_idle(bare->store));
    }
    bare_begin(bare); /* and no read transaction is left */
    bare_commit(bare);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bare_set_up, bare_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(records_come_in_the_order_of_dumps), TEST(exactly_the_live_ones_come),
        TEST(an_item_lives_with_its_list),        TEST(scopes_that_are_not_synced_stay_out),
        TEST(a_visit_that_fails_ends_the_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
