#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/handle.h"
#include "tests/support/notebook.h"

enum { ITEMS = 350 };

static void fill(struct notebook *n, int count) {
    char id[16];
    OK(dunlin_begin(n->store, NULL));
    OK(dunlin_list_create(n->store, NULL, "l1", "One", NULL));
    for (int i = 0; i < count; i++) {
        (void)snprintf(id, sizeof(id), "i%04d", i);
        OK(dunlin_list_add(n->store, "l1", "v", id, NULL, NULL));
    }
    OK(dunlin_commit(n->store, NULL));
}

/* Reads one item and checks its number; -1: the end. */
static void expect(dunlin_iter *iter, int number) {
    const dunlin_item *row;
    OK(dunlin_items_next(iter, &row, NULL));
    if (number < 0) {
        assert_null(row);
    } else {
        assert_non_null(row);
        assert_int_equal(strtol(row->id + 1, NULL, 10), number);
    }
}

static void pages_join_without_a_seam(void **state) {
    struct notebook *n = *state;
    dunlin_range range = DUNLIN_RANGE_INIT;
    dunlin_iter *iter;
    fill(n, ITEMS);
    OK(dunlin_items(n->store, &iter, "l1", NULL, NULL));
    assert_null(dunlin_iter_token(iter));
    for (int i = 0; i < ITEMS; i++) {
        expect(iter, i);
    }
    expect(iter, -1);
    expect(iter, -1);
    assert_non_null(dunlin_iter_token(iter));
    dunlin_iter_free(iter);
    range.backwards = 1;
    OK(dunlin_items(n->store, &iter, "l1", &range, NULL));
    for (int i = ITEMS - 1; i >= 0; i--) {
        expect(iter, i);
    }
    expect(iter, -1);
    dunlin_iter_free(iter);
}

static void tokens_go_on_in_both_directions(void **state) {
    struct notebook *n = *state;
    dunlin_range range = DUNLIN_RANGE_INIT;
    dunlin_iter *iter;
    char token[2049];
    fill(n, ITEMS);
    range.limit = 120;
    OK(dunlin_items(n->store, &iter, "l1", &range, NULL));
    for (int i = 0; i < 120; i++) {
        expect(iter, i);
    }
    expect(iter, -1);
    (void)snprintf(token, sizeof(token), "%s", dunlin_iter_token(iter));
    assert_int_equal(strcspn(token, " \t\r\n"), strlen(token));
    dunlin_iter_free(iter);
    notebook_reopen(n);
    OK(dunlin_list_remove(n->store, "l1", "v", "i0119", NULL)); /* the token's own row */
    range.after = token;
    OK(dunlin_items(n->store, &iter, "l1", &range, NULL));
    expect(iter, 120);
    dunlin_iter_free(iter);
    range.after = NULL;
    range.before = token;
    OK(dunlin_items(n->store, &iter, "l1", &range, NULL));
    for (int i = 118; i >= 0; i--) {
        expect(iter, i);
    }
    expect(iter, -1);
    dunlin_iter_free(iter);
}

static void rows_that_come_and_go_move_no_others(void **state) {
    struct notebook *n = *state;
    dunlin_item_place first = {DUNLIN_ITEM_PLACE_VERSION, NULL, DUNLIN_PLACE_FIRST, NULL, NULL};
    dunlin_iter *iter;
    char id[16];
    fill(n, ITEMS);
    OK(dunlin_items(n->store, &iter, "l1", NULL, NULL));
    for (int i = 0; i < ITEMS; i++) {
        expect(iter, i);
        if (i % 10 == 3) { /* the row itself and an earlier one go, a new one comes before all */
            (void)snprintf(id, sizeof(id), "i%04d", i);
            OK(dunlin_list_remove(n->store, "l1", "v", id, NULL));
            (void)snprintf(id, sizeof(id), "n%04d", i);
            OK(dunlin_list_add(n->store, "l1", "v", id, NULL, NULL));
            OK(dunlin_list_move(n->store, "l1", "v", id, &first, NULL));
        }
    }
    expect(iter, -1);
    dunlin_iter_free(iter);
}

static void an_iterator_keeps_nobody_from_writing(void **state) {
    struct notebook *n = *state;
    dunlin_iter *iter;
    fill(n, ITEMS);
    OK(dunlin_items(n->store, &iter, "l1", NULL, NULL));
    expect(iter, 0);
    assert_true(dln_store_is_idle(n->store->store));
    notebook_sql(n, "BEGIN EXCLUSIVE; DELETE FROM item WHERE id >= 'i0100'; COMMIT;"
                    "PRAGMA wal_checkpoint(TRUNCATE)");
    for (int i = 1; i < 100; i++) {
        expect(iter, i);
    }
    expect(iter, -1);
    dunlin_iter_free(iter);
}

static void the_longest_keys_have_tokens(void **state) {
    struct notebook *n = *state;
    dunlin_range range = DUNLIN_RANGE_INIT;
    const dunlin_hit *row;
    dunlin_iter *iter;
    char list[257], type[257], id[257], token[2049];
    memset(list, 'l', 256);
    memset(type, '/', 256);
    memset(id, '%', 256);
    list[256] = type[256] = id[256] = '\0';
    OK(dunlin_list_create(n->store, NULL, list, "x", NULL));
    OK(dunlin_list_add(n->store, list, type, id, NULL, NULL));
    OK(dunlin_search(n->store, &iter, "%%%%", NULL, NULL));
    OK(dunlin_search_next(iter, &row, NULL));
    assert_string_equal(row->type, type);
    (void)snprintf(token, sizeof(token), "%s", dunlin_iter_token(iter));
    assert_true(strlen(token) <= 2048);
    dunlin_iter_free(iter);
    range.after = token;
    OK(dunlin_search(n->store, &iter, "%%%%", &range, NULL));
    OK(dunlin_search_next(iter, &row, NULL));
    assert_null(row);
    dunlin_iter_free(iter);
}

/* Listings whose rows have no order of their own in the file: sorted while few, walked when many.
 */
static void listings_by_id_page_well(void **state) {
    struct notebook *n = *state;
    static const int sizes[] = {150, 2600};
    char id[16];
    OK(dunlin_group_create(n->store, "tea", NULL, DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "tea", NULL));
    for (int size = 0; size < 2; size++) {
        OK(dunlin_begin(n->store, NULL));
        for (int i = size == 0 ? 0 : sizes[0]; i < sizes[size]; i++) {
            /* made in another order than that of the ids */
            (void)snprintf(id, sizeof(id), "u%04d", i * 7 % sizes[size]);
            OK(dunlin_follow(n->store, DUNLIN_USER, id, NULL));
            OK(dunlin_group_add(n->store, "tea", id, DUNLIN_ROLE_MEMBER, NULL));
        }
        OK(dunlin_commit(n->store, NULL));
        int64_t count = notebook_number(n, "SELECT count(*) FROM member");
        for (int backwards = 0; backwards < 2; backwards++) {
            dunlin_range range = DUNLIN_RANGE_INIT;
            const dunlin_member *member;
            const dunlin_followed *followed;
            const dunlin_subscription *subscription;
            dunlin_iter *members, *following, *subscriptions;
            char last[16] = "";
            range.backwards = backwards;
            OK(dunlin_members(n->store, &members, "tea", &range, NULL));
            OK(dunlin_following(n->store, &following, &range, NULL));
            OK(dunlin_subscriptions(n->store, &subscriptions, &range, NULL));
            if (backwards) {
                OK(dunlin_following_next(following, &followed, NULL));
                assert_int_equal(followed->kind, DUNLIN_GROUP);
            }
            for (int64_t i = 0; i < count; i++) {
                OK(dunlin_members_next(members, &member, NULL));
                OK(dunlin_following_next(following, &followed, NULL));
                OK(dunlin_subscriptions_next(subscriptions, &subscription, NULL));
                assert_true(i == 0 || (strcmp(member->user, last) > 0) == !backwards);
                assert_string_equal(member->user, followed->id);
                assert_string_equal(member->user, subscription->user);
                assert_int_equal(subscription->origin_count, 2);
                assert_string_equal(subscription->origins[0], "!");
                assert_string_equal(subscription->origins[1], "tea");
                (void)snprintf(last, sizeof(last), "%s", member->user);
            }
            OK(dunlin_members_next(members, &member, NULL));
            assert_null(member);
            OK(dunlin_subscriptions_next(subscriptions, &subscription, NULL));
            assert_null(subscription);
            OK(dunlin_following_next(following, &followed, NULL));
            assert_true(backwards ? !followed : followed->kind == DUNLIN_GROUP);
            dunlin_iter_free(members);
            dunlin_iter_free(following);
            dunlin_iter_free(subscriptions);
        }
    }
}

static void a_page_that_grows_large_ends_early(void **state) {
    struct notebook *n = *state;
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    dunlin_iter *iter;
    char *data = malloc(16385);
    char id[16];
    assert_non_null(data);
    memset(data, 'x', 16384);
    data[0] = data[16383] = '"';
    data[16384] = '\0';
    options.data = data;
    fill(n, 0);
    OK(dunlin_begin(n->store, NULL));
    for (int i = 0; i < 200; i++) {
        (void)snprintf(id, sizeof(id), "i%04d", i);
        OK(dunlin_list_add(n->store, "l1", "v", id, &options, NULL));
    }
    OK(dunlin_commit(n->store, NULL));
    OK(dunlin_items(n->store, &iter, "l1", NULL, NULL));
    expect(iter, 0);
    OK(dunlin_list_remove(n->store, "l1", "v", "i0090", NULL)); /* not read yet: over a megabyte */
    for (int i = 1; i < 200; i++) {
        if (i != 90) {
            expect(iter, i);
        }
    }
    expect(iter, -1);
    dunlin_iter_free(iter);
    free(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, notebook_setup, notebook_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(pages_join_without_a_seam),
        TEST(tokens_go_on_in_both_directions),
        TEST(rows_that_come_and_go_move_no_others),
        TEST(an_iterator_keeps_nobody_from_writing),
        TEST(the_longest_keys_have_tokens),
        TEST(listings_by_id_page_well),
        TEST(a_page_that_grows_large_ends_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
