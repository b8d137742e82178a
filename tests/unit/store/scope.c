#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store/internal.h"
#include "tests/support/bare.h"

static void put_group(struct bare *bare, const char *group, const char *owner, bool deleted) {
    struct dln_key key = bare_key(bare, DLN_GROUP, group, NULL);
    struct dln_row row = bare_row(bare, &key);
    row.seq = 1;
    row.record.fields[DLN_GROUP_OWNER] =
        (struct dln_field){9, dln_value_string(dln_text_of(owner))};
    row.record.fields[DLN_GROUP_DELETED] = (struct dln_field){9, dln_value_bool(deleted)};
    assert_int_equal(dln_row_put(bare->store, &row, NULL), DUNLIN_OK);
}

static void put_member(struct bare *bare, const char *group, const char *user, const char *role) {
    struct dln_key key = bare_key(bare, DLN_MEMBER, group, &user);
    struct dln_row row = bare_row(bare, &key);
    row.seq = 2;
    row.record.fields[DLN_MEMBER_PRESENT] = (struct dln_field){9, dln_value_bool(true)};
    row.record.fields[DLN_MEMBER_ROLE] = (struct dln_field){9, dln_value_string(dln_text_of(role))};
    assert_int_equal(dln_row_put(bare->store, &row, NULL), DUNLIN_OK);
}

static void put_mygroup(struct bare *bare, const char *group, bool present) {
    struct dln_key key = bare_key(bare, DLN_MYGROUP, NULL, &group);
    struct dln_row row = bare_row(bare, &key);
    row.record.fields[DLN_MYGROUP_PRESENT].value = dln_value_bool(present);
    row.record.fields[DLN_MYGROUP_ROLE].value = dln_value_null();
    assert_int_equal(dln_row_edit(bare->store, &row, 3, NULL), DUNLIN_OK);
}

static struct dln_scope_row get_scope(struct bare *bare, const char *name) {
    struct dln_scope_row row;
    assert_int_equal(dln_scope_get(bare->store, &bare->arena, dln_text_of(name), &row, NULL),
                     DUNLIN_OK);
    assert_true(dln_text_equal(row.scope, dln_text_of(name)));
    return row;
}

/* ---- what is known of a scope */

static void a_scope_is_kept_as_it_is_put(void **state) {
    struct bare *bare = *state;
    struct dln_scope_row row = get_scope(bare, "group/g%2F1");
    assert_int_equal(row.epoch.len, 0);
    assert_int_equal(row.cursor.seq, 0);
    assert_int_equal(row.complete_ms, 0);
    assert_false(row.wanted || row.writable || row.held || row.rebuilding);
    row = (struct dln_scope_row){.scope = DLN_TEXT("group/g%2F1"),
                                 .epoch = DLN_TEXT("e1"),
                                 .cursor = {INT64_MAX, UINT32_MAX},
                                 .rebuilding = true,
                                 .offering = true,
                                 .held = true,
                                 .rebuild_since_ms = -5,
                                 .complete_ms = 6,
                                 .head = 7};
    bare_begin(bare);
    assert_int_equal(dln_scope_put(bare->store, &row, NULL), DUNLIN_OK);
    row.head = 8;
    assert_int_equal(dln_scope_put(bare->store, &row, NULL), DUNLIN_OK);
    bare_commit(bare);
    bare_reopen(bare);
    row = get_scope(bare, "group/g%2F1");
    assert_true(dln_text_equal(row.epoch, DLN_TEXT("e1")));
    assert_true(row.cursor.seq == INT64_MAX && row.cursor.salt == UINT32_MAX);
    assert_true(row.rebuilding && row.offering && row.held);
    assert_int_equal(row.rebuild_since_ms, -5);
    assert_int_equal(row.complete_ms, 6);
    assert_int_equal(row.head, 8);
    bare_begin(bare);
    assert_int_equal(dln_scope_drop(bare->store, DLN_TEXT("group/g%2F1"), NULL), DUNLIN_OK);
    bare_commit(bare);
    assert_int_equal(get_scope(bare, "group/g%2F1").epoch.len, 0);
}

static void rights_follow_from_what_is_known(void **state) {
    struct bare *bare = *state;
    struct dln_scope_row row = get_scope(bare, "user/alice");
    assert_true(row.wanted && row.writable);
    bare_begin(bare);
    bare_put_follow(bare, "group", "g1", true);
    bare_put_follow(bare, "user", "g6", true); /* a user of that name */
    put_group(bare, "g1", "bob", false);
    put_member(bare, "g1", "alice", "member");
    put_group(bare, "g2", "alice", false);
    put_group(bare, "g3", "bob", false);
    put_member(bare, "g3", "alice", "admin");
    put_mygroup(bare, "g3", true);
    put_group(bare, "g6", "bob", false);
    bare_commit(bare);
    row = get_scope(bare, "group/g1");
    assert_true(row.wanted && !row.writable);
    row = get_scope(bare, "group/g2");
    assert_true(!row.wanted && row.writable);
    row = get_scope(bare, "group/g3");
    assert_true(row.wanted && row.writable);
    row = get_scope(bare, "group/g6");
    assert_true(!row.wanted && !row.writable);
}

static void scopes_are_those_wanted_and_those_with_edits(void **state) {
    struct bare *bare = *state;
    struct dln_buf names = DLN_BUF_INIT(400);
    bare_begin(bare);
    bare_put_follow(bare, "group", "b", true);
    bare_put_follow(bare, "group", "gone", true);
    bare_put_follow(bare, "group", "gone", false);
    put_mygroup(bare, "a/", true);
    put_mygroup(bare, "c", true);
    put_mygroup(bare, "c", false);
    struct dln_key key = bare_key(bare, DLN_GROUP, "mine", NULL);
    struct dln_row row = bare_row(bare, &key);
    row.record.fields[DLN_GROUP_DELETED].value = dln_value_bool(false);
    assert_int_equal(dln_row_edit(bare->store, &row, 8, NULL), DUNLIN_OK);
    put_group(bare, "known", "bob", false);
    bare_commit(bare);
    for (size_t limit = 1; limit < 6; limit++) {
        struct dln_text after = {NULL, 0};
        size_t count = limit;
        dln_buf_clear(&names);
        while (count == limit) {
            struct dln_scope_row *rows;
            assert_int_equal(
                dln_scopes(bare->store, &bare->arena, after, limit, &rows, &count, NULL),
                DUNLIN_OK);
            for (size_t i = 0; i < count; i++) {
                dln_buf_append(&names, rows[i].scope.data, rows[i].scope.len);
                dln_buf_append_text(&names, rows[i].wanted ? "+ " : "- ");
                after = rows[i].scope;
            }
        }
        assert_string_equal(names.data, "group/a%2F+ group/b+ group/mine- user/alice+ ");
    }
    dln_buf_free(&names);
}

/* ---- rows by key, and marks */

static size_t walk(struct bare *bare, const char *scope, bool unseen, size_t limit) {
    struct dln_buf after = DLN_BUF_INIT(4096);
    size_t total = 0;
    for (size_t count = 1; count > 0;) {
        struct dln_row *rows;
        struct dln_text from = {after.data, after.len};
        assert_int_equal(dln_scope_rows(bare->store, &bare->arena, dln_text_of(scope), from, unseen,
                                        limit, &rows, &count, NULL),
                         DUNLIN_OK);
        for (size_t i = 0; i < count; i++) {
            assert_true(rows[i].stored);
            assert_true(dln_text_equal(rows[i].record.key.scope, dln_text_of(scope)));
        }
        if (count > 0) {
            dln_buf_clear(&after);
            dln_key_text(&after, &rows[count - 1].record.key);
        }
        total += count;
    }
    dln_buf_free(&after);
    return total;
}

static void fill(struct bare *bare) {
    struct dln_extra extra = {DLN_TEXT("colour"), {5, dln_value_null()}};
    static const char *const scopes[] = {"user/alice", "group/g1"};
    bare_begin(bare);
    bare_put_list(bare, "l1", "one");
    for (int i = 0; i < 10; i++) {
        char id[] = "v0";
        id[1] = (char)('0' + i);
        bare_put_item(bare, i % 2 ? "l1" : "l2", id, "title");
        bare_put_follow(bare, "user", id, true);
        put_member(bare, "g1", id, "member");
        for (int j = 0; j < 2; j++) {
            struct dln_row row = {.record = {.extras = &extra, .extra_count = 1}, .seq = 4};
            row.record.key = (struct dln_key){.name = DLN_TEXT("hologram"),
                                              .scope = dln_text_of(scopes[j]),
                                              .part_count = i % 3,
                                              .parts = {DLN_TEXT("x"), dln_text_of(id)}};
            assert_int_equal(dln_row_put(bare->store, &row, NULL), DUNLIN_OK);
        }
    }
    put_group(bare, "g1", "bob", false);
    put_member(bare, "g2", "alice", "member");
    put_mygroup(bare, "g1", true);
    bare_commit(bare);
}

static void a_walk_gives_each_row_of_the_scope_once(void **state) {
    struct bare *bare = *state;
    fill(bare);
    for (size_t limit = 1; limit < 50; limit += 3) {
        /* 10 items, 10 follows, 1 list, 1 mygroup; of holograms (), (x), and three of (x, id) */
        assert_int_equal(walk(bare, "user/alice", false, limit), 22 + 5);
        assert_int_equal(walk(bare, "group/g1", false, limit), 11 + 5);
    }
    assert_int_equal(walk(bare, "group/g2", false, 7), 1);
    assert_int_equal(walk(bare, "group/unknown", false, 7), 0);
}

static void a_walk_of_what_is_unseen_leaves_the_marked_out(void **state) {
    struct bare *bare = *state;
    fill(bare);
    bare_begin(bare);
    for (int i = 0; i < 10; i += 2) {
        char id[] = "v0";
        id[1] = (char)('0' + i);
        struct dln_key key = bare_item(bare, "l2", id);
        assert_int_equal(dln_seen_add(bare->store, &key, NULL), DUNLIN_OK);
        assert_int_equal(dln_seen_add(bare->store, &key, NULL), DUNLIN_OK);
        const char *part = id;
        key = bare_key(bare, DLN_MEMBER, "g1", &part);
        assert_int_equal(dln_seen_add(bare->store, &key, NULL), DUNLIN_OK);
    }
    bare_commit(bare);
    for (size_t limit = 1; limit < 40; limit += 5) {
        assert_int_equal(walk(bare, "user/alice", true, limit), 27 - 5);
        assert_int_equal(walk(bare, "group/g1", true, limit), 16 - 5);
    }
    bare_begin(bare);
    assert_int_equal(dln_seen_clear(bare->store, DLN_TEXT("user/alice"), NULL), DUNLIN_OK);
    bare_commit(bare);
    assert_int_equal(walk(bare, "user/alice", true, 4), 27);
    assert_int_equal(walk(bare, "group/g1", true, 4), 11);
}

static void forgetting_seqs_is_the_scopes_own(void **state) {
    struct bare *bare = *state;
    static const char *const scopes[] = {"user/alice", "group/g1"};
    fill(bare);
    struct dln_key list = bare_list(bare, "l1");
    bare_begin(bare);
    bare_settle(bare, &list, 5);
    for (int i = 0; i < 2; i++) {
        const char *ben = "v1";
        struct dln_key member = bare_key(bare, DLN_MEMBER, "g1", &ben);
        assert_int_equal(dln_scope_forget_seqs(bare->store, dln_text_of(scopes[i]), NULL),
                         DUNLIN_OK);
        assert_int_equal(bare_row(bare, &list).seq, DLN_SEQ_FORGOTTEN);
        assert_int_equal(bare_row(bare, &member).seq, i == 0 ? 2 : DLN_SEQ_FORGOTTEN);
    }
    struct dln_key item = bare_item(bare, "l1", "v1");
    assert_int_equal(bare_row(bare, &item).seq, DLN_SEQ_NEVER);
    const char *alice = "alice";
    struct dln_key member = bare_key(bare, DLN_MEMBER, "g2", &alice);
    assert_int_equal(bare_row(bare, &member).seq, 2);
    bare_commit(bare);
}

static void names_that_are_no_scope_are_refused(void **state) {
    struct bare *bare = *state;
    struct dln_scope_row row, *rows;
    struct dln_row *found;
    size_t count;
    assert_int_equal(dln_scope_get(bare->store, &bare->arena, DLN_TEXT("user/bob"), &row, NULL),
                     DUNLIN_BAD_MESSAGE);
    assert_int_equal(
        dln_scopes(bare->store, &bare->arena, DLN_TEXT("nonsense"), 5, &rows, &count, NULL),
        DUNLIN_BAD_MESSAGE);
    assert_int_equal(dln_scope_rows(bare->store, &bare->arena, DLN_TEXT("user/alice"),
                                    DLN_TEXT("item/only"), false, 5, &found, &count, NULL),
                     DUNLIN_BAD_MESSAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bare_set_up, bare_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_scope_is_kept_as_it_is_put),
        TEST(rights_follow_from_what_is_known),
        TEST(scopes_are_those_wanted_and_those_with_edits),
        TEST(a_walk_gives_each_row_of_the_scope_once),
        TEST(a_walk_of_what_is_unseen_leaves_the_marked_out),
        TEST(forgetting_seqs_is_the_scopes_own),
        TEST(names_that_are_no_scope_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
