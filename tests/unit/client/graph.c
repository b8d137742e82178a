#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/notebook.h"

static void following_once_is_enough(void **state) {
    struct notebook *n = *state;
    OK(dunlin_follow(n->store, DUNLIN_USER, "ben", NULL));
    int64_t stamp = notebook_number(n, "SELECT stamp FROM follow");
    OK(dunlin_follow(n->store, DUNLIN_USER, "ben", NULL));
    assert_int_equal(notebook_number(n, "SELECT stamp FROM follow"), stamp);
    assert_string_equal(show_following(n, NULL), "user:ben");
    assert_string_equal(show_subscriptions(n, NULL), "ben=!");
    OK(dunlin_unfollow(n->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_unfollow(n->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_unfollow(n->store, DUNLIN_GROUP, "tea", NULL));
    assert_string_equal(show_following(n, NULL), "");
    assert_string_equal(show_subscriptions(n, NULL), "");
    assert_int_equal(notebook_number(n, "SELECT count(*) FROM follow"), 0); /* it never left */
}

static void following_lists_users_then_groups_by_id(void **state) {
    struct notebook *n = *state;
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "ant", NULL));
    OK(dunlin_follow(n->store, DUNLIN_USER, "zoe", NULL));
    OK(dunlin_follow(n->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "!a", NULL));
    assert_string_equal(show_following(n, NULL), "user:ben user:zoe group:!a group:ant");
    dunlin_range back = DUNLIN_RANGE_INIT;
    back.backwards = 1;
    assert_string_equal(show_following(n, &back), "group:ant group:!a user:zoe user:ben");
}

static void nobody_sees_himself(void **state) {
    struct notebook *n = *state;
    REFUSED("SELF", dunlin_follow(n->store, DUNLIN_USER, "aoi", NULL));
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "aoi", NULL)); /* a group of that name */
    OK(dunlin_group_create(n->store, "tea", NULL, DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_group_add(n->store, "tea", "aoi", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_group_add(n->store, "tea", "ben", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "tea", NULL));
    assert_string_equal(show_subscriptions(n, NULL), "ben=tea");
    assert_string_equal(show_reasons(n, "aoi"), "!:6 aoi:6p tea:6p");
}

static void origins_come_and_go(void **state) {
    struct notebook *n = *state;
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "tea", NULL));
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "run", NULL));
    OK(dunlin_follow(n->store, DUNLIN_USER, "chika", NULL));
    assert_string_equal(show_subscriptions(n, NULL), "chika=!");
    OK(dunlin_group_create(n->store, "tea", "Tea", DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_group_add(n->store, "tea", "chika", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_group_add(n->store, "tea", "ben", DUNLIN_ROLE_ADMIN, NULL));
    OK(dunlin_group_create(n->store, "run", "Run", DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_group_add(n->store, "run", "chika", DUNLIN_ROLE_MEMBER, NULL));
    assert_string_equal(show_subscriptions(n, NULL), "ben=tea chika=!,run,tea");
    OK(dunlin_unfollow(n->store, DUNLIN_USER, "chika", NULL));
    assert_string_equal(show_subscriptions(n, NULL), "ben=tea chika=run,tea");
    OK(dunlin_group_remove(n->store, "run", "chika", NULL));
    assert_string_equal(show_subscriptions(n, NULL), "ben=tea chika=tea");
    OK(dunlin_unfollow(n->store, DUNLIN_GROUP, "tea", NULL));
    assert_string_equal(show_subscriptions(n, NULL), "");
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "tea", NULL));
    assert_string_equal(show_subscriptions(n, NULL), "ben=tea chika=tea");
    OK(dunlin_group_delete(n->store, "tea", NULL));
    assert_string_equal(show_subscriptions(n, NULL), "");
}

static void closing_a_group_keeps_its_owner_in(void **state) {
    struct notebook *n = *state;
    dunlin_join closed = DUNLIN_JOIN_CLOSED;
    OK(dunlin_group_create(n->store, "tea", NULL, DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_group_add(n->store, "tea", "ben", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "tea", NULL));
    OK(dunlin_group_set(n->store, "tea", NULL, &closed, NULL));
    assert_string_equal(show_subscriptions(n, NULL), "ben=tea");
    notebook_sql(n, "UPDATE grp SET owner = 'zoe', joining = NULL");
    OK(dunlin_store_verify(n->store, 1, &(dunlin_check){0}, NULL));
    assert_string_equal(show_subscriptions(n, NULL), "ben=tea");
    notebook_sql(n, "UPDATE grp SET joining = 'closed'");
    OK(dunlin_store_verify(n->store, 1, &(dunlin_check){0}, NULL));
    assert_string_equal(show_subscriptions(n, NULL), "");
    assert_string_equal(show_reasons(n, "ben"), "!:1 tea:5p");
    REFUSED("NOT_ALLOWED", dunlin_group_add(n->store, "tea", "aoi", DUNLIN_ROLE_MEMBER, NULL));
    REFUSED("NOT_ALLOWED", dunlin_group_add(n->store, "tea", "emi", DUNLIN_ROLE_MEMBER, NULL));
    REFUSED("NOT_ALLOWED", dunlin_group_remove(n->store, "tea", "ben", NULL));
    REFUSED("NOT_ALLOWED", dunlin_group_set(n->store, "tea", "x", NULL, NULL));
    REFUSED("NOT_ALLOWED", dunlin_group_delete(n->store, "tea", NULL));
}

static void joining_an_unknown_group_is_central_s_matter(void **state) {
    struct notebook *n = *state;
    OK(dunlin_group_add(n->store, "tea", "aoi", DUNLIN_ROLE_ADMIN, NULL));
    assert_int_equal(notebook_number(n, "SELECT count(*) FROM member WHERE role = 'member'"), 1);
    assert_int_equal(
        notebook_number(n, "SELECT count(*) FROM mygroup WHERE present AND role = 'member'"), 1);
    REFUSED("NOT_FOUND", dunlin_group_add(n->store, "tea", "ben", DUNLIN_ROLE_MEMBER, NULL));
    REFUSED("NOT_FOUND", dunlin_group_remove(n->store, "run", "aoi", NULL));
    OK(dunlin_group_remove(n->store, "tea", "aoi", NULL));
    assert_int_equal(notebook_number(n, "SELECT count(*) FROM member"), 0);
    assert_int_equal(notebook_number(n, "SELECT count(*) FROM mygroup"), 0);
}

static void groups_are_told(void **state) {
    struct notebook *n = *state;
    dunlin_group_info *info;
    OK(dunlin_group_create(n->store, "tea", "Tea", DUNLIN_JOIN_CLOSED, NULL));
    REFUSED("EXISTS", dunlin_group_create(n->store, "tea", "Tea", DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_group_add(n->store, "tea", "zoe", DUNLIN_ROLE_ADMIN, NULL));
    OK(dunlin_group_add(n->store, "tea", "aoi", DUNLIN_ROLE_ADMIN, NULL));
    OK(dunlin_group_add(n->store, "tea", "ben", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_group_add(n->store, "tea", "ben", DUNLIN_ROLE_ADMIN, NULL));
    OK(dunlin_group_add(n->store, "tea", "zoe", DUNLIN_ROLE_MEMBER, NULL));
    assert_string_equal(show_members(n, "tea"), "aoi:admin ben:admin zoe");
    OK(dunlin_group_get(n->store, &info, "tea", NULL));
    assert_string_equal(info->id, "tea");
    assert_string_equal(info->name, "Tea");
    assert_string_equal(info->owner, "aoi");
    assert_int_equal(info->join, DUNLIN_JOIN_CLOSED);
    assert_int_equal(info->members, 3);
    assert_false(info->followed);
    assert_true(info->member);
    assert_int_equal(info->role, DUNLIN_ROLE_ADMIN);
    dunlin_group_free(info);
    dunlin_group_free(NULL);
    OK(dunlin_group_remove(n->store, "tea", "ben", NULL));
    OK(dunlin_group_remove(n->store, "tea", "ben", NULL));
    OK(dunlin_group_delete(n->store, "tea", NULL));
    REFUSED("NOT_FOUND", dunlin_group_get(n->store, &info, "tea", NULL));
    assert_null(info);
    assert_int_equal(notebook_number(n, "SELECT (SELECT count(*) FROM member) + (SELECT count(*) "
                                        "FROM grp) + (SELECT count(*) FROM mygroup)"),
                     0); /* nothing of it ever left */
}

static void deleted_groups_stay_deleted(void **state) {
    struct notebook *n = *state;
    OK(dunlin_group_create(n->store, "tea", "Tea", DUNLIN_JOIN_OPEN, NULL));
    notebook_sql(n, "UPDATE grp SET seq = 1, pending = 0, tried = 1");
    OK(dunlin_group_delete(n->store, "tea", NULL));
    REFUSED("EXISTS", dunlin_group_create(n->store, "tea", "Tea", DUNLIN_JOIN_OPEN, NULL));
    REFUSED("NOT_FOUND", dunlin_group_delete(n->store, "tea", NULL));
    REFUSED("NOT_FOUND", dunlin_group_set(n->store, "tea", "x", NULL, NULL));
    REFUSED("NOT_FOUND", dunlin_group_add(n->store, "tea", "aoi", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "tea", NULL));
    assert_string_equal(show_reasons(n, "ben"), "!:1 tea:4p");
}

static void a_second_life_starts_anew(void **state) {
    struct notebook *n = *state;
    OK(dunlin_group_create(n->store, "tea", "Tea", DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_group_add(n->store, "tea", "ben", DUNLIN_ROLE_ADMIN, NULL));
    notebook_sql(n, "UPDATE member SET seq = 1, pending = 0, tried = 1");
    OK(dunlin_group_remove(n->store, "tea", "ben", NULL));
    assert_int_equal(notebook_number(n, "SELECT pending FROM member"), 1);
    OK(dunlin_group_add(n->store, "tea", "ben", DUNLIN_ROLE_MEMBER, NULL));
    assert_string_equal(show_members(n, "tea"), "ben");
    assert_int_equal(notebook_number(n, "SELECT pending FROM member"), 3);
    assert_int_equal(notebook_number(n, "SELECT stamps IS NULL FROM member"), 1);
}

static void reasons_are_told(void **state) {
    struct notebook *n = *state;
    OK(dunlin_group_create(n->store, "tea", NULL, DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_group_add(n->store, "tea", "ben", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_group_create(n->store, "run", NULL, DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "run", NULL));
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "far", NULL));
    assert_string_equal(show_reasons(n, "ben"), "!:1 far:3p run:2p tea:1p");
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "tea", NULL));
    OK(dunlin_follow(n->store, DUNLIN_USER, "ben", NULL));
    notebook_sql(n, "UPDATE follow SET pending = 0, seq = 1; UPDATE grp SET pending = 0, seq = 1;"
                    "UPDATE member SET pending = 0, seq = 1;"
                    "INSERT INTO rejected (code, at_ms, scope, key, fields, extra) VALUES"
                    "(-203, 1, 'group/run', 'member/ben', x'', x''),"
                    "(-203, 1, 'user/aoi', 'follow/user/ben', x'', x'')");
    assert_string_equal(show_reasons(n, "ben"), "!:0r far:3 run:2r tea:0");
    assert_string_equal(show_reasons(n, "nobody"), "!:1 far:3 run:2 tea:2");
}

static void ids_are_bytes(void **state) {
    struct notebook *n = *state;
    OK(dunlin_follow(n->store, DUNLIN_USER, "\xc3\xa9", NULL));
    OK(dunlin_follow(n->store, DUNLIN_USER, "e\xcc\x81", NULL));
    OK(dunlin_follow(n->store, DUNLIN_USER, "$ben", NULL));
    OK(dunlin_follow(n->store, DUNLIN_USER, "a.b", NULL));
    OK(dunlin_follow(n->store, DUNLIN_USER, "a", NULL));
    assert_string_equal(show_subscriptions(n, NULL), "$ben=! a=! a.b=! e\xcc\x81=! \xc3\xa9=!");
    OK(dunlin_unfollow(n->store, DUNLIN_USER, "a.b", NULL));
    assert_string_equal(show_subscriptions(n, NULL), "$ben=! a=! e\xcc\x81=! \xc3\xa9=!");
}

static void refused_edits_leave_the_transaction(void **state) {
    struct notebook *n = *state;
    OK(dunlin_begin(n->store, NULL));
    OK(dunlin_follow(n->store, DUNLIN_USER, "ben", NULL));
    REFUSED("SELF", dunlin_follow(n->store, DUNLIN_USER, "aoi", NULL));
    REFUSED("NOT_FOUND", dunlin_group_delete(n->store, "tea", NULL));
    assert_string_equal(show_subscriptions(n, NULL), "ben=!");
    OK(dunlin_commit(n->store, NULL));
    OK(dunlin_begin(n->store, NULL));
    OK(dunlin_follow(n->store, DUNLIN_USER, "emi", NULL));
    dunlin_rollback(n->store);
    assert_string_equal(show_subscriptions(n, NULL), "ben=!");
}

static void one_subscription_can_be_asked_for(void **state) {
    struct notebook *n = *state;
    const dunlin_subscription *row;
    dunlin_iter *iter;
    OK(dunlin_follow(n->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_subscription_of(n->store, &iter, "ben", NULL));
    OK(dunlin_subscriptions_next(iter, &row, NULL));
    assert_string_equal(row->user, "ben");
    assert_int_equal(row->origin_count, 1);
    OK(dunlin_subscriptions_next(iter, &row, NULL));
    assert_null(row);
    dunlin_iter_free(iter);
    OK(dunlin_subscription_of(n->store, &iter, "emi", NULL));
    OK(dunlin_subscriptions_next(iter, &row, NULL));
    assert_null(row);
    dunlin_iter_free(iter);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, notebook_setup, notebook_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(following_once_is_enough),
        TEST(following_lists_users_then_groups_by_id),
        TEST(nobody_sees_himself),
        TEST(origins_come_and_go),
        TEST(closing_a_group_keeps_its_owner_in),
        TEST(joining_an_unknown_group_is_central_s_matter),
        TEST(groups_are_told),
        TEST(deleted_groups_stay_deleted),
        TEST(a_second_life_starts_anew),
        TEST(reasons_are_told),
        TEST(ids_are_bytes),
        TEST(refused_edits_leave_the_transaction),
        TEST(one_subscription_can_be_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
