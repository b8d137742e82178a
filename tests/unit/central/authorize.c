/* Who may change what: one test a rule. aoi owns tea, dai is its admin, ben a member, emi nothing.
 */
/* ctest: engines */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/shared_side.h"

#define PUSH(user, scope, key, more, ...)                                                          \
    SHARED_PUSH(shared, user, scope, key, shared_stamp(shared, more), __VA_ARGS__)
#define VALUE(key, field) shared_value(shared, "group/tea", key, field)

static void make_group(struct shared *shared, const char *join) {
    assert_int_equal(PUSH("aoi", "group/tea", "group", 0, "deleted", "false", "owner", "aoi",
                          "name", "Tea", "join", join),
                     DUNLIN_OK);
    assert_int_equal(PUSH("aoi", "group/tea", "member/dai", 0, "present", "true", "role", "admin"),
                     DUNLIN_OK);
    assert_int_equal(PUSH("aoi", "group/tea", "member/ben", 0, "present", "true", "role", "member"),
                     DUNLIN_OK);
}

static int set_up(void **state) {
    static struct shared shared;
    shared_open(&shared, NULL);
    make_group(&shared, "open");
    *state = &shared;
    return 0;
}

static int set_up_closed(void **state) {
    static struct shared shared;
    shared_open(&shared, NULL);
    make_group(&shared, "closed");
    *state = &shared;
    return 0;
}

static int tear_down(void **state) {
    shared_close(*state);
    return 0;
}

/* user/ */

static void user_scope_is_written_by_its_user_only(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("ben", "user/aoi", "list/l1", 0, "deleted", "false"), DUNLIN_NOT_ALLOWED);
    assert_int_equal(shared_last(shared, "user/aoi"), 0);
    assert_int_equal(PUSH("aoi", "user/aoi", "list/l1", 0, "deleted", "false"), DUNLIN_OK);
}

static void user_scope_is_read_by_its_user_only(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("aoi", "user/aoi", "list/l1", 0, "deleted", "false"), DUNLIN_OK);
    shared_begin(shared);
    shared_ask(shared, "user/aoi");
    shared_send(shared, "ben");
    assert_int_equal(shared_scope(shared, "user/aoi")->state, DLN_SCOPE_DENIED);
    assert_int_equal(shared_scope(shared, "user/aoi")->version_count, 0);
}

static void remembered_head_of_a_foreign_scope_says_nothing(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("aoi", "user/aoi", "list/l1", 0, "deleted", "false"), DUNLIN_OK);
    shared_begin(shared);
    shared_ask(shared, "user/aoi")->head = 1;
    shared_send(shared, "ben");
    assert_int_equal(shared_scope(shared, "user/aoi")->state, DLN_SCOPE_DENIED);
}

static void nobody_follows_himself(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("aoi", "user/aoi", "follow/user/aoi", 0, "present", "true"), DUNLIN_SELF);
    assert_int_equal(PUSH("aoi", "user/aoi", "follow/group/aoi", 0, "present", "true"), DUNLIN_OK);
}

static void unknown_collections_only_in_ones_own_scope(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("aoi", "user/aoi", "hologram/h1", 0, "present", "true", "depth", "#3"),
                     DUNLIN_OK);
    assert_int_equal(PUSH("aoi", "group/tea", "hologram/h1", 0, "present", "true"),
                     DUNLIN_NOT_ALLOWED);
}

static void unknown_scopes_are_closed(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("aoi", "actor/aoi", "profile", 0, "name", "Aoi"), DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("aoi", "group/!", "hologram/h1", 0, "present", "true"),
                     DUNLIN_NOT_ALLOWED);
    shared_begin(shared);
    shared_ask(shared, "inbox/aoi/people");
    shared_send(shared, "aoi");
    assert_int_equal(shared_scope(shared, "inbox/aoi/people")->state, DLN_SCOPE_DENIED);
}

static void collections_stay_in_their_kind_of_scope(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("aoi", "group/tea", "list/l1", 0, "deleted", "false"),
                     DUNLIN_INVALID_VALUE);
    assert_int_equal(PUSH("aoi", "user/aoi", "member/ben", 0, "present", "true"),
                     DUNLIN_INVALID_VALUE);
}

/* group */

static void group_is_created_by_its_owner(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("ben", "group/run", "group", 0, "deleted", "false", "owner", "aoi"),
                     DUNLIN_NOT_ALLOWED);
    assert_false(shared_refusal(shared, 0)->held);
    assert_int_equal(PUSH("ben", "group/run", "group", 0, "deleted", "false", "name", "Run"),
                     DUNLIN_NOT_ALLOWED);
    assert_int_equal(shared_last(shared, "group/run"), 0);
    assert_int_equal(PUSH("ben", "group/run", "group", 0, "deleted", "false", "owner", "ben"),
                     DUNLIN_OK);
}

static void creator_is_no_member(void **state) {
    struct shared *shared = *state;
    assert_int_equal(shared_stored(shared, "group/tea", "member/aoi")->place.seq, 0);
}

static void owner_never_changes(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("aoi", "group/tea", "group", 1, "owner", "ben", "name", "Cha"),
                     DUNLIN_NOT_ALLOWED);
    assert_non_null(shared_refused(shared, 0, "owner"));
    assert_null(shared_refused(shared, 0, "name"));
    assert_true(shared_ack(shared, 0) > 0);
    assert_string_equal(VALUE("group", "owner"), "aoi");
    assert_string_equal(VALUE("group", "name"), "Cha"); /* the rest goes on */
    assert_int_equal(PUSH("dai", "group/tea", "group", 1, "owner", "dai"), DUNLIN_NOT_ALLOWED);
}

static void owner_may_name_himself_again(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("aoi", "group/tea", "group", 1, "deleted", "false", "owner", "aoi"),
                     DUNLIN_OK);
    assert_int_equal(PUSH("dai", "group/tea", "group", 2, "owner", "aoi"), DUNLIN_NOT_ALLOWED);
}

static void creation_of_a_foreign_group_is_refused(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("emi", "group/tea", "group", 1, "deleted", "false", "owner", "emi",
                          "name", "Mine", "join", "open"),
                     DUNLIN_NOT_ALLOWED);
    const struct dln_refusal *refusal = shared_refusal(shared, 0);
    assert_true(refusal->held);
    assert_int_equal(refusal->field_count, 4);
    assert_int_equal(shared_ack(shared, 0), 0);
    assert_true(
        dln_text_equal(shared_refused(shared, 0, "owner")->now.value.as.text, DLN_TEXT("aoi")));
    assert_int_equal(refusal->seq, shared_stored(shared, "group/tea", "group")->place.seq);
    assert_string_equal(VALUE("group", "name"), "Tea");
}

static void admins_edit_name_and_join(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("dai", "group/tea", "group", 1, "name", "Cha", "join", "closed"),
                     DUNLIN_OK);
    assert_int_equal(PUSH("ben", "group/tea", "group", 2, "name", "Ben's"), DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("emi", "group/tea", "group", 2, "join", "open"), DUNLIN_NOT_ALLOWED);
    assert_string_equal(VALUE("group", "name"), "Cha");
}

static void only_the_owner_deletes(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("dai", "group/tea", "group", 1, "deleted", "true"), DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("ben", "group/tea", "group", 1, "deleted", "true"), DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("aoi", "group/tea", "group", 1, "deleted", "true"), DUNLIN_OK);
}

static void deleted_never_goes_back(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("aoi", "group/tea", "group", 1, "deleted", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("aoi", "group/tea", "group", 2, "deleted", "false", "owner", "aoi"),
                     DUNLIN_NOT_ALLOWED);
    assert_non_null(shared_refused(shared, 0, "deleted"));
    assert_null(shared_refused(shared, 0, "owner"));
    assert_string_equal(VALUE("group", "deleted"), "true");
    assert_int_equal(PUSH("emi", "group/tea", "group", 3, "deleted", "false", "owner", "emi"),
                     DUNLIN_NOT_ALLOWED);
    assert_string_equal(VALUE("group", "owner"), "aoi");
    assert_int_equal(PUSH("aoi", "group/tea", "group", 4, "name", "Was tea"), DUNLIN_OK);
}

static void deleted_group_has_no_members(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("aoi", "group/tea", "group", 1, "deleted", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("aoi", "group/tea", "member/emi", 2, "present", "true"),
                     DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("emi", "group/tea", "member/emi", 2, "present", "true"),
                     DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("dai", "group/tea", "group", 2, "name", "Cha"), DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("dai", "group/tea", "member/ben", 2, "present", "false"),
                     DUNLIN_NOT_ALLOWED);
    /* What is moot may be tidied by those whom it names. */
    assert_int_equal(PUSH("ben", "group/tea", "member/ben", 2, "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("aoi", "group/tea", "member/dai", 2, "present", "false"), DUNLIN_OK);
}

/* member */

static void member_of_an_unknown_group(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("aoi", "group/run", "member/aoi", 0, "present", "true"), DUNLIN_NO_GROUP);
    assert_false(shared_refusal(shared, 0)->held);
    assert_int_equal(shared_last(shared, "group/run"), 0);
}

static void anybody_joins_an_open_group(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("emi", "group/tea", "member/emi", 1, "present", "true", "role", "member"),
                     DUNLIN_OK);
    assert_string_equal(VALUE("member/emi", "present"), "true");
}

static void absent_join_is_open(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("aoi", "group/run", "group", 0, "deleted", "false", "owner", "aoi"),
                     DUNLIN_OK);
    assert_int_equal(PUSH("emi", "group/run", "member/emi", 0, "present", "true"), DUNLIN_OK);
}

static void nobody_joins_a_closed_group(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("emi", "group/tea", "member/emi", 1, "present", "true", "role", "member"),
                     DUNLIN_NOT_ALLOWED);
    assert_false(shared_refusal(shared, 0)->held);
    assert_int_equal(PUSH("aoi", "group/tea", "member/aoi", 1, "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("emi", "group/tea", "member/emi", 1, "present", "false"),
                     DUNLIN_NOT_ALLOWED);
}

static void nobody_but_owner_and_admins_adds_others(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("ben", "group/tea", "member/emi", 1, "present", "true"),
                     DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("chika", "group/tea", "member/emi", 1, "present", "true"),
                     DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("dai", "group/tea", "member/emi", 1, "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("aoi", "group/tea", "member/star", 1, "present", "true", "role", "admin"),
                     DUNLIN_OK);
}

static void nobody_but_owner_and_admins_removes_others(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("ben", "group/tea", "member/dai", 1, "present", "false"),
                     DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("emi", "group/tea", "member/ben", 1, "present", "false"),
                     DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("dai", "group/tea", "member/ben", 1, "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("aoi", "group/tea", "member/dai", 1, "present", "false"), DUNLIN_OK);
}

static void any_member_may_leave(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("ben", "group/tea", "member/ben", 1, "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("dai", "group/tea", "member/dai", 1, "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("ben", "group/tea", "member/ben", 2, "present", "false"), DUNLIN_OK);
}

static void only_the_owner_changes_roles(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("ben", "group/tea", "member/ben", 1, "role", "admin"),
                     DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("dai", "group/tea", "member/ben", 1, "role", "admin"),
                     DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("dai", "group/tea", "member/dai", 1, "role", "member"),
                     DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("aoi", "group/tea", "member/ben", 1, "role", "admin"), DUNLIN_OK);
}

static void role_does_not_slip_in_with_being_present_again(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("dai", "group/tea", "member/ben", 1, "present", "true", "role", "admin"),
                     DUNLIN_NOT_ALLOWED);
    assert_non_null(shared_refused(shared, 0, "role"));
    assert_null(shared_refused(shared, 0, "present"));
    assert_int_equal(PUSH("dai", "group/tea", "member/ben", 2, "present", "true", "role", "member"),
                     DUNLIN_OK); /* two devices added him at once */
    assert_int_equal(PUSH("aoi", "group/tea", "member/star", 2, "present", "true", "role", "admin"),
                     DUNLIN_OK);
    assert_int_equal(
        PUSH("dai", "group/tea", "member/star", 3, "present", "true", "role", "member"),
        DUNLIN_NOT_ALLOWED); /* demoted by the back door */
    assert_string_equal(VALUE("member/star", "role"), "admin");
}

static void joining_ends_with_role_member(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("emi", "group/tea", "member/emi", 1, "present", "true", "role", "admin"),
                     DUNLIN_NOT_ALLOWED);
    assert_int_equal(shared_stored(shared, "group/tea", "member/emi")->place.seq, 0);
    /* dai was an admin; what stood there does not come back with him. */
    assert_int_equal(PUSH("dai", "group/tea", "member/dai", 1, "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("dai", "group/tea", "member/dai", 2, "present", "true"),
                     DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("dai", "group/tea", "member/dai", 3, "present", "true", "role", "member"),
                     DUNLIN_OK);
    assert_string_equal(VALUE("member/dai", "role"), "member");
}

static void added_by_an_admin_ends_with_role_member(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("dai", "group/tea", "member/emi", 1, "present", "true", "role", "admin",
                          "colour", "teal"),
                     DUNLIN_NOT_ALLOWED);
    assert_false(shared_refusal(shared, 0)->held);
    assert_int_equal(shared_refusal(shared, 0)->field_count, 0);
    assert_int_equal(shared_ack(shared, 0), 0);
    assert_int_equal(PUSH("dai", "group/tea", "member/emi", 1, "present", "true", "role", "admin"),
                     DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("dai", "group/tea", "member/emi", 1, "present", "true", "role", "member"),
                     DUNLIN_OK);
}

static void who_left_is_no_admin(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("dai", "group/tea", "member/dai", 1, "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("dai", "group/tea", "group", 2, "name", "Cha"), DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("dai", "group/tea", "member/ben", 2, "present", "false"),
                     DUNLIN_NOT_ALLOWED);
}

static void unknown_fields_need_owner_or_admin(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("ben", "group/tea", "group", 1, "colour", "teal"), DUNLIN_NOT_ALLOWED);
    assert_int_equal(PUSH("emi", "group/tea", "member/emi", 1, "present", "true", "colour", "teal"),
                     DUNLIN_NOT_ALLOWED);
    assert_non_null(shared_refused(shared, 0, "colour"));
    assert_string_equal(VALUE("member/emi", "present"), "true");
    assert_string_equal(VALUE("member/emi", "colour"), "");
    assert_int_equal(PUSH("dai", "group/tea", "group", 1, "colour", "teal"), DUNLIN_OK);
    assert_int_equal(PUSH("aoi", "group/tea", "member/ben", 1, "colour", "red"), DUNLIN_OK);
    assert_string_equal(VALUE("group", "colour"), "teal");
}

/* several at once */

static void group_first_own_member_last(void **state) {
    struct shared *shared = *state;
    dln_stamp stamp = shared_stamp(shared, 5);
    shared_begin(shared);
    /* dai leaves, and does before what only an admin may do; in the worst order. */
    (void)shared_record(shared, "group/tea", "member/dai");
    shared_set(shared, "present", stamp, "false");
    (void)shared_record(shared, "group/tea", "member/emi");
    shared_set(shared, "present", stamp, "true");
    (void)shared_record(shared, "group/tea", "group");
    shared_set(shared, "name", stamp, "Cha");
    shared_ask(shared, "group/tea");
    shared_send(shared, "dai");
    assert_int_equal(shared->answer.refusal_count, 0);
    assert_int_equal(shared->answer.ack_count, 3);
    assert_true(shared_ack(shared, 2) < shared_ack(shared, 1));
    assert_true(shared_ack(shared, 1) < shared_ack(shared, 0));
}

static void group_and_members_in_one_push(void **state) {
    struct shared *shared = *state;
    dln_stamp stamp = shared_stamp(shared, 5);
    shared_begin(shared);
    (void)shared_record(shared, "group/run", "member/aoi");
    shared_set(shared, "present", stamp, "true");
    (void)shared_record(shared, "group/run", "member/ben");
    shared_set(shared, "present", stamp, "true");
    (void)shared_record(shared, "group/run", "group");
    shared_set(shared, "deleted", stamp, "false");
    shared_set(shared, "owner", stamp, "aoi");
    shared_set(shared, "join", stamp, "closed");
    shared_send(shared, "aoi");
    assert_int_equal(shared->answer.ack_count, 3);
    assert_int_equal(shared_last(shared, "group/run"), 3);
}

static void what_changes_nothing_is_not_judged(void **state) {
    struct shared *shared = *state;
    int64_t last = shared_last(shared, "group/tea");
    /* ben holds these as central does; another device of his sends them again. */
    assert_int_equal(PUSH("ben", "group/tea", "group", 0, "name", "Tea"), DUNLIN_OK);
    assert_int_equal(PUSH("ben", "group/tea", "group", -1, "name", "Older"), DUNLIN_OK);
    assert_int_equal(shared_last(shared, "group/tea"), last);
}

/* reading */

static enum dln_scope_state read_group(struct shared *shared, const char *user) {
    shared_begin(shared);
    shared_ask(shared, "group/tea");
    shared_send(shared, user);
    return shared_scope(shared, "group/tea")->state;
}

static void open_group_is_read_by_all(void **state) {
    struct shared *shared = *state;
    assert_int_equal(read_group(shared, "emi"), DLN_SCOPE_PAGE);
    assert_int_equal(shared_scope(shared, "group/tea")->version_count, 3);
}

static void closed_group_is_read_by_owner_and_members(void **state) {
    struct shared *shared = *state;
    assert_int_equal(read_group(shared, "aoi"), DLN_SCOPE_PAGE);
    assert_int_equal(read_group(shared, "ben"), DLN_SCOPE_PAGE);
    assert_int_equal(read_group(shared, "emi"), DLN_SCOPE_DENIED);
    assert_int_equal(PUSH("aoi", "group/tea", "member/ben", 1, "present", "false"), DUNLIN_OK);
    assert_int_equal(read_group(shared, "ben"), DLN_SCOPE_DENIED);
}

/* Neither a refusal nor an acknowledgement tells what stands in a group that one may not read. */
static void pushing_into_a_closed_group_tells_nothing(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("emi", "group/tea", "group", 1, "name", "Cha", "owner", "emi"),
                     DUNLIN_NOT_ALLOWED);
    assert_false(shared_refusal(shared, 0)->held);
    assert_int_equal(shared_refusal(shared, 0)->field_count, 0);
    assert_int_equal(PUSH("emi", "group/tea", "member/ben", -1000000, "role", "admin"),
                     DUNLIN_NOT_ALLOWED); /* an older stamp: nothing would change */
    assert_false(shared_refusal(shared, 0)->held);
    assert_int_equal(shared_ack(shared, 0), 0);
    assert_int_equal(PUSH("aoi", "group/tea", "member/ben", 1, "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("ben", "group/tea", "member/ben", 2, "present", "false"), DUNLIN_OK);
}

static void group_without_a_record_is_an_empty_page(void **state) {
    struct shared *shared = *state;
    shared_begin(shared);
    shared_ask(shared, "group/run");
    shared_send(shared, "emi");
    assert_int_equal(shared_scope(shared, "group/run")->state, DLN_SCOPE_PAGE);
    assert_int_equal(shared_scope(shared, "group/run")->version_count, 0);
}

static void deletion_is_read_by_who_could_read_before(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("aoi", "group/tea", "group", 1, "deleted", "true"), DUNLIN_OK);
    assert_int_equal(read_group(shared, "aoi"), DLN_SCOPE_PAGE);
    assert_int_equal(read_group(shared, "ben"), DLN_SCOPE_PAGE);
    assert_int_equal(read_group(shared, "emi"), DLN_SCOPE_DENIED);
}

#define OPEN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define CLOSED(test) cmocka_unit_test_setup_teardown(test, set_up_closed, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        OPEN(user_scope_is_written_by_its_user_only),
        OPEN(user_scope_is_read_by_its_user_only),
        OPEN(remembered_head_of_a_foreign_scope_says_nothing),
        OPEN(nobody_follows_himself),
        OPEN(unknown_collections_only_in_ones_own_scope),
        OPEN(unknown_scopes_are_closed),
        OPEN(collections_stay_in_their_kind_of_scope),
        OPEN(group_is_created_by_its_owner),
        OPEN(creator_is_no_member),
        OPEN(owner_never_changes),
        OPEN(owner_may_name_himself_again),
        OPEN(creation_of_a_foreign_group_is_refused),
        OPEN(admins_edit_name_and_join),
        OPEN(only_the_owner_deletes),
        OPEN(deleted_never_goes_back),
        OPEN(deleted_group_has_no_members),
        OPEN(member_of_an_unknown_group),
        OPEN(anybody_joins_an_open_group),
        OPEN(absent_join_is_open),
        CLOSED(nobody_joins_a_closed_group),
        OPEN(nobody_but_owner_and_admins_adds_others),
        OPEN(nobody_but_owner_and_admins_removes_others),
        CLOSED(any_member_may_leave),
        OPEN(only_the_owner_changes_roles),
        OPEN(role_does_not_slip_in_with_being_present_again),
        OPEN(joining_ends_with_role_member),
        CLOSED(added_by_an_admin_ends_with_role_member),
        OPEN(who_left_is_no_admin),
        OPEN(unknown_fields_need_owner_or_admin),
        OPEN(group_first_own_member_last),
        OPEN(group_and_members_in_one_push),
        OPEN(what_changes_nothing_is_not_judged),
        OPEN(open_group_is_read_by_all),
        CLOSED(closed_group_is_read_by_owner_and_members),
        CLOSED(pushing_into_a_closed_group_tells_nothing),
        OPEN(group_without_a_record_is_an_empty_page),
        CLOSED(deletion_is_read_by_who_could_read_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
