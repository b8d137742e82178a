#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store/internal.h"
#include "tests/support/device.h"

static void put_group(struct device *device, const char *group, const char *owner, bool deleted) {
    struct dln_key key = device_key(device, DLN_GROUP, group, NULL);
    struct dln_row row = device_row(device, &key);
    row.seq = 1;
    row.record.fields[DLN_GROUP_OWNER] =
        (struct dln_field){9, dln_value_string(dln_text_of(owner))};
    row.record.fields[DLN_GROUP_DELETED] = (struct dln_field){9, dln_value_bool(deleted)};
    assert_int_equal(dln_row_put(device->store, &row, NULL), DUNLIN_OK);
}

static void put_member(struct device *device, const char *group, const char *user,
                       const char *role) {
    struct dln_key key = device_key(device, DLN_MEMBER, group, &user);
    struct dln_row row = device_row(device, &key);
    row.seq = 2;
    row.record.fields[DLN_MEMBER_PRESENT] = (struct dln_field){9, dln_value_bool(true)};
    row.record.fields[DLN_MEMBER_ROLE] = (struct dln_field){9, dln_value_string(dln_text_of(role))};
    assert_int_equal(dln_row_put(device->store, &row, NULL), DUNLIN_OK);
}

static void put_mygroup(struct device *device, const char *group, bool present) {
    struct dln_key key = device_key(device, DLN_MYGROUP, NULL, &group);
    struct dln_row row = device_row(device, &key);
    row.record.fields[DLN_MYGROUP_PRESENT].value = dln_value_bool(present);
    row.record.fields[DLN_MYGROUP_ROLE].value = dln_value_null();
    assert_int_equal(dln_row_edit(device->store, &row, 3, NULL), DUNLIN_OK);
}

static struct dln_scope_row get_scope(struct device *device, const char *name) {
    struct dln_scope_row row;
    assert_int_equal(dln_scope_get(device->store, &device->arena, dln_text_of(name), &row, NULL),
                     DUNLIN_OK);
    assert_true(dln_text_equal(row.scope, dln_text_of(name)));
    return row;
}

/* ---- what is known of a scope */

static void a_scope_is_kept_as_it_is_put(void **state) {
    struct device *device = *state;
    struct dln_scope_row row = get_scope(device, "group/g%2F1");
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
    device_begin(device);
    assert_int_equal(dln_scope_put(device->store, &row, NULL), DUNLIN_OK);
    row.head = 8;
    assert_int_equal(dln_scope_put(device->store, &row, NULL), DUNLIN_OK);
    device_commit(device);
    device_reopen(device);
    row = get_scope(device, "group/g%2F1");
    assert_true(dln_text_equal(row.epoch, DLN_TEXT("e1")));
    assert_true(row.cursor.seq == INT64_MAX && row.cursor.salt == UINT32_MAX);
    assert_true(row.rebuilding && row.offering && row.held);
    assert_int_equal(row.rebuild_since_ms, -5);
    assert_int_equal(row.complete_ms, 6);
    assert_int_equal(row.head, 8);
    device_begin(device);
    assert_int_equal(dln_scope_drop(device->store, DLN_TEXT("group/g%2F1"), NULL), DUNLIN_OK);
    device_commit(device);
    assert_int_equal(get_scope(device, "group/g%2F1").epoch.len, 0);
}

static void rights_follow_from_what_is_known(void **state) {
    struct device *device = *state;
    struct dln_scope_row row = get_scope(device, "user/alice");
    assert_true(row.wanted && row.writable);
    device_begin(device);
    device_put_follow(device, "group", "g1", true);
    device_put_follow(device, "user", "g6", true); /* a user of that name */
    put_group(device, "g1", "bob", false);
    put_member(device, "g1", "alice", "member");
    put_group(device, "g2", "alice", false);
    put_group(device, "g3", "bob", false);
    put_member(device, "g3", "alice", "admin");
    put_mygroup(device, "g3", true);
    put_group(device, "g6", "bob", false);
    device_commit(device);
    row = get_scope(device, "group/g1");
    assert_true(row.wanted && !row.writable);
    row = get_scope(device, "group/g2");
    assert_true(!row.wanted && row.writable);
    row = get_scope(device, "group/g3");
    assert_true(row.wanted && row.writable);
    row = get_scope(device, "group/g6");
    assert_true(!row.wanted && !row.writable);
}

static void scopes_are_those_wanted_and_those_with_edits(void **state) {
    struct device *device = *state;
    char names[400] = "";
    device_begin(device);
    device_put_follow(device, "group", "b", true);
    device_put_follow(device, "group", "gone", true);
    device_put_follow(device, "group", "gone", false);
    put_mygroup(device, "a/", true);
    put_mygroup(device, "c", true);
    put_mygroup(device, "c", false);
    struct dln_key key = device_key(device, DLN_GROUP, "mine", NULL);
    struct dln_row row = device_row(device, &key);
    row.record.fields[DLN_GROUP_DELETED].value = dln_value_bool(false);
    assert_int_equal(dln_row_edit(device->store, &row, 8, NULL), DUNLIN_OK);
    put_group(device, "known", "bob", false);
    device_commit(device);
    for (size_t limit = 1; limit < 6; limit++) {
        struct dln_text after = {NULL, 0};
        size_t count = limit;
        names[0] = '\0';
        while (count == limit) {
            struct dln_scope_row *rows;
            assert_int_equal(
                dln_scopes(device->store, &device->arena, after, limit, &rows, &count, NULL),
                DUNLIN_OK);
            for (size_t i = 0; i < count; i++) {
                (void)strncat(names, rows[i].scope.data, 50);
                (void)strcat(names, rows[i].wanted ? "+ " : "- ");
                after = rows[i].scope;
            }
        }
        assert_string_equal(names, "group/a%2F+ group/b+ group/mine- user/alice+ ");
    }
}

/* ---- rows by key, and marks */

static size_t walk(struct device *device, const char *scope, bool unseen, size_t limit) {
    struct dln_buf after = DLN_BUF_INIT(4096);
    size_t total = 0;
    for (size_t count = 1; count > 0;) {
        struct dln_row *rows;
        struct dln_text from = {after.data, after.len};
        assert_int_equal(dln_scope_rows(device->store, &device->arena, dln_text_of(scope), from,
                                        unseen, limit, &rows, &count, NULL),
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

static void fill(struct device *device) {
    struct dln_extra extra = {DLN_TEXT("colour"), {5, dln_value_null()}};
    static const char *const scopes[] = {"user/alice", "group/g1"};
    device_begin(device);
    device_put_list(device, "l1", "one");
    for (int i = 0; i < 10; i++) {
        char id[] = "v0";
        id[1] = (char)('0' + i);
        device_put_item(device, i % 2 ? "l1" : "l2", id, "title");
        device_put_follow(device, "user", id, true);
        put_member(device, "g1", id, "member");
        for (int j = 0; j < 2; j++) {
            struct dln_row row = {.record = {.extras = &extra, .extra_count = 1}, .seq = 4};
            row.record.key = (struct dln_key){.name = DLN_TEXT("hologram"),
                                              .scope = dln_text_of(scopes[j]),
                                              .part_count = i % 3,
                                              .parts = {DLN_TEXT("x"), dln_text_of(id)}};
            assert_int_equal(dln_row_put(device->store, &row, NULL), DUNLIN_OK);
        }
    }
    put_group(device, "g1", "bob", false);
    put_member(device, "g2", "alice", "member");
    put_mygroup(device, "g1", true);
    device_commit(device);
}

static void a_walk_gives_each_row_of_the_scope_once(void **state) {
    struct device *device = *state;
    fill(device);
    for (size_t limit = 1; limit < 50; limit += 3) {
        /* 10 items, 10 follows, 1 list, 1 mygroup; of holograms (), (x), and three of (x, id) */
        assert_int_equal(walk(device, "user/alice", false, limit), 22 + 5);
        assert_int_equal(walk(device, "group/g1", false, limit), 11 + 5);
    }
    assert_int_equal(walk(device, "group/g2", false, 7), 1);
    assert_int_equal(walk(device, "group/unknown", false, 7), 0);
}

static void a_walk_of_what_is_unseen_leaves_the_marked_out(void **state) {
    struct device *device = *state;
    fill(device);
    device_begin(device);
    for (int i = 0; i < 10; i += 2) {
        char id[] = "v0";
        id[1] = (char)('0' + i);
        struct dln_key key = device_item(device, "l2", id);
        assert_int_equal(dln_seen_add(device->store, &key, NULL), DUNLIN_OK);
        assert_int_equal(dln_seen_add(device->store, &key, NULL), DUNLIN_OK);
        const char *part = id;
        key = device_key(device, DLN_MEMBER, "g1", &part);
        assert_int_equal(dln_seen_add(device->store, &key, NULL), DUNLIN_OK);
    }
    device_commit(device);
    for (size_t limit = 1; limit < 40; limit += 5) {
        assert_int_equal(walk(device, "user/alice", true, limit), 27 - 5);
        assert_int_equal(walk(device, "group/g1", true, limit), 16 - 5);
    }
    device_begin(device);
    assert_int_equal(dln_seen_clear(device->store, DLN_TEXT("user/alice"), NULL), DUNLIN_OK);
    device_commit(device);
    assert_int_equal(walk(device, "user/alice", true, 4), 27);
    assert_int_equal(walk(device, "group/g1", true, 4), 11);
}

static void forgetting_seqs_is_the_scopes_own(void **state) {
    struct device *device = *state;
    static const char *const scopes[] = {"user/alice", "group/g1"};
    fill(device);
    struct dln_key list = device_list(device, "l1");
    device_begin(device);
    device_settle(device, &list, 5);
    for (int i = 0; i < 2; i++) {
        const char *ben = "v1";
        struct dln_key member = device_key(device, DLN_MEMBER, "g1", &ben);
        assert_int_equal(dln_scope_forget_seqs(device->store, dln_text_of(scopes[i]), NULL),
                         DUNLIN_OK);
        assert_int_equal(device_row(device, &list).seq, DLN_SEQ_FORGOTTEN);
        assert_int_equal(device_row(device, &member).seq, i == 0 ? 2 : DLN_SEQ_FORGOTTEN);
    }
    struct dln_key item = device_item(device, "l1", "v1");
    assert_int_equal(device_row(device, &item).seq, DLN_SEQ_NEVER);
    const char *alice = "alice";
    struct dln_key member = device_key(device, DLN_MEMBER, "g2", &alice);
    assert_int_equal(device_row(device, &member).seq, 2);
    device_commit(device);
}

static void names_that_are_no_scope_are_refused(void **state) {
    struct device *device = *state;
    struct dln_scope_row row, *rows;
    struct dln_row *found;
    size_t count;
    assert_int_equal(dln_scope_get(device->store, &device->arena, DLN_TEXT("user/bob"), &row, NULL),
                     DUNLIN_BAD_MESSAGE);
    assert_int_equal(
        dln_scopes(device->store, &device->arena, DLN_TEXT("nonsense"), 5, &rows, &count, NULL),
        DUNLIN_BAD_MESSAGE);
    assert_int_equal(dln_scope_rows(device->store, &device->arena, DLN_TEXT("user/alice"),
                                    DLN_TEXT("item/only"), false, 5, &found, &count, NULL),
                     DUNLIN_BAD_MESSAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, device_set_up, device_tear_down)

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
