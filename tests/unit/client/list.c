#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/notebook.h"

static void make_list(struct notebook *n, const char *list) {
    OK(dunlin_list_create(n->store, NULL, list, list, NULL));
}

static void add(struct notebook *n, const char *list, const char *id) {
    OK(dunlin_list_add(n->store, list, "v", id, NULL, NULL));
}

static const char *items(struct notebook *n, const char *list) {
    return show_items(n, list, NULL);
}

/* Everything counts as acknowledged. */
static void settle(struct notebook *n) {
    notebook_sql(n, "UPDATE list SET seq = 1, pending = 0, tried = 1;"
                    "UPDATE item SET seq = 1, pending = 0, tried = 1");
}

static void lists_are_made_named_and_ordered(void **state) {
    struct notebook *n = *state;
    char id[DUNLIN_NEW_ID_SIZE];
    make_list(n, "l1");
    make_list(n, "l2");
    make_list(n, "l3");
    REFUSED("EXISTS", dunlin_list_create(n->store, NULL, "l1", "again", NULL));
    assert_string_equal(show_lists(n, NULL), "l1:l1:0 l2:l2:0 l3:l3:0");
    OK(dunlin_list_rank(n->store, "l3", DUNLIN_PLACE_FIRST, NULL, NULL));
    OK(dunlin_list_rank(n->store, "l1", DUNLIN_PLACE_LAST, NULL, NULL));
    assert_string_equal(show_lists(n, NULL), "l3:l3:0 l2:l2:0 l1:l1:0");
    OK(dunlin_list_rank(n->store, "l1", DUNLIN_PLACE_BEFORE, "l2", NULL));
    OK(dunlin_list_rename(n->store, "l2", "two", NULL));
    assert_string_equal(show_lists(n, NULL), "l3:l3:0 l1:l1:0 l2:two:0");
    OK(dunlin_list_create(n->store, id, NULL, "made", NULL));
    assert_int_equal(strlen(id), 24);
    OK(dunlin_list_delete(n->store, id, NULL));
    REFUSED("NOT_FOUND", dunlin_list_rename(n->store, id, "x", NULL));
    REFUSED("NOT_FOUND", dunlin_list_rank(n->store, "l1", DUNLIN_PLACE_BEFORE, id, NULL));
    REFUSED("NOT_FOUND", dunlin_list_delete(n->store, "none", NULL));
}

static void staying_is_no_edit(void **state) {
    struct notebook *n = *state;
    make_list(n, "l1");
    make_list(n, "l2");
    add(n, "l1", "a");
    add(n, "l1", "b");
    settle(n);
    dunlin_item_place place = DUNLIN_ITEM_PLACE_INIT;
    OK(dunlin_list_rank(n->store, "l1", DUNLIN_PLACE_FIRST, NULL, NULL));
    OK(dunlin_list_rank(n->store, "l2", DUNLIN_PLACE_LAST, NULL, NULL));
    OK(dunlin_list_rank(n->store, "l1", DUNLIN_PLACE_BEFORE, "l2", NULL));
    OK(dunlin_list_rank(n->store, "l1", DUNLIN_PLACE_BEFORE, "l1", NULL));
    OK(dunlin_list_rename(n->store, "l1", "l1", NULL));
    OK(dunlin_list_move(n->store, "l1", "v", "b", &place, NULL));
    place.place = DUNLIN_PLACE_BEFORE;
    place.before_type = "v";
    place.before_id = "b";
    OK(dunlin_list_move(n->store, "l1", "v", "a", &place, NULL));
    OK(dunlin_list_move(n->store, "l1", "v", "b", &place, NULL));
    add(n, "l1", "a");
    assert_int_equal(notebook_number(n, "SELECT (SELECT sum(pending) FROM list) + (SELECT "
                                        "sum(pending) FROM item)"),
                     0);
}

static void items_are_added_once(void **state) {
    struct notebook *n = *state;
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    const dunlin_item *row;
    dunlin_iter *iter;
    int64_t created_at = -5;
    make_list(n, "l1");
    options.title = "First";
    options.data = " {\"a\": 1.50} ";
    options.created_at = &created_at;
    OK(dunlin_list_add(n->store, "l1", "v", "a", &options, NULL));
    add(n, "l1", "b");
    add(n, "l1", "a");
    assert_string_equal(items(n, "l1"), "v/a v/b");
    assert_string_equal(show_lists(n, NULL), "l1:l1:2");
    OK(dunlin_item_get(n->store, &iter, "l1", "v", "a", NULL));
    OK(dunlin_items_next(iter, &row, NULL));
    assert_string_equal(row->title, "First");
    assert_string_equal(row->data, " {\"a\": 1.50} ");
    assert_int_equal(row->created_at, -5);
    dunlin_iter_free(iter);
    settle(n);
    OK(dunlin_list_remove(n->store, "l1", "v", "a", NULL));
    REFUSED("NOT_FOUND", dunlin_list_remove(n->store, "l1", "v", "a", NULL));
    REFUSED("NOT_FOUND", dunlin_item_set(n->store, "l1", "v", "a", &options, NULL));
    assert_string_equal(show_lists(n, NULL), "l1:l1:1");
    add(n, "l1", "a");
    assert_string_equal(items(n, "l1"), "v/b v/a");
    OK(dunlin_item_get(n->store, &iter, "l1", "v", "a", NULL));
    OK(dunlin_items_next(iter, &row, NULL));
    assert_null(row->title);
    assert_null(row->data);
    assert_true(row->created_at > INT64_C(1767225600000));
    dunlin_iter_free(iter);
    assert_int_equal(notebook_number(n, "SELECT pending FROM item WHERE id = 'a'"), 63);
}

static void items_move(void **state) {
    struct notebook *n = *state;
    dunlin_item_place place = DUNLIN_ITEM_PLACE_INIT;
    make_list(n, "l1");
    make_list(n, "l2");
    add(n, "l1", "a");
    add(n, "l1", "b");
    add(n, "l1", "c");
    OK(dunlin_list_move(n->store, "l1", "v", "a", &place, NULL));
    assert_string_equal(items(n, "l1"), "v/b v/c v/a");
    place.place = DUNLIN_PLACE_FIRST;
    OK(dunlin_list_move(n->store, "l1", "v", "c", &place, NULL));
    assert_string_equal(items(n, "l1"), "v/c v/b v/a");
    place = (dunlin_item_place){DUNLIN_ITEM_PLACE_VERSION, NULL, DUNLIN_PLACE_BEFORE, "v", "b"};
    OK(dunlin_list_move(n->store, "l1", "v", "a", &place, NULL));
    assert_string_equal(items(n, "l1"), "v/c v/a v/b");
    place.before_id = "z";
    REFUSED("NOT_FOUND", dunlin_list_move(n->store, "l1", "v", "a", &place, NULL));
    place = (dunlin_item_place)DUNLIN_ITEM_PLACE_INIT;
    place.to_list = "l3";
    REFUSED("NOT_FOUND", dunlin_list_move(n->store, "l1", "v", "a", &place, NULL));
    assert_string_equal(items(n, "l1"), "v/c v/a v/b");
}

static void moving_to_another_list_keeps_what_it_is(void **state) {
    struct notebook *n = *state;
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    dunlin_item_place place = DUNLIN_ITEM_PLACE_INIT;
    const dunlin_item *row;
    dunlin_iter *iter;
    int64_t created_at = 12;
    make_list(n, "l1");
    make_list(n, "l2");
    options.title = "A";
    options.data = "[1]";
    options.created_at = &created_at;
    OK(dunlin_list_add(n->store, "l1", "v", "a", &options, NULL));
    add(n, "l2", "b");
    settle(n);
    notebook_sql(n, "UPDATE item SET attachments = '{\"x\":1}' WHERE id = 'a'");
    place.to_list = "l2";
    place.place = DUNLIN_PLACE_FIRST;
    OK(dunlin_list_move(n->store, "l1", "v", "a", &place, NULL));
    assert_string_equal(show_lists(n, NULL), "l1:l1:0 l2:l2:2");
    assert_string_equal(items(n, "l1"), "");
    assert_string_equal(items(n, "l2"), "v/a v/b");
    OK(dunlin_item_get(n->store, &iter, "l2", "v", "a", NULL));
    OK(dunlin_items_next(iter, &row, NULL));
    assert_string_equal(row->title, "A");
    assert_string_equal(row->data, "[1]");
    assert_int_equal(row->created_at, 12);
    dunlin_iter_free(iter);
    assert_int_equal(notebook_number(n, "SELECT count(*) FROM item WHERE attachments = "
                                        "'{\"x\":1}' AND present AND pending = 63"),
                     1);
    OK(dunlin_list_add(n->store, "l1", "v", "b", NULL, NULL)); /* one that is there already */
    OK(dunlin_list_move(n->store, "l1", "v", "b", &place, NULL));
    assert_string_equal(items(n, "l2"), "v/b v/a");
    assert_string_equal(show_lists(n, NULL), "l1:l1:0 l2:l2:2");
}

static void deleted_lists_come_back_whole(void **state) {
    struct notebook *n = *state;
    dunlin_iter *iter;
    make_list(n, "l1");
    add(n, "l1", "a");
    add(n, "l1", "b");
    settle(n);
    OK(dunlin_list_remove(n->store, "l1", "v", "b", NULL));
    OK(dunlin_list_delete(n->store, "l1", NULL));
    OK(dunlin_list_delete(n->store, "l1", NULL));
    assert_string_equal(show_lists(n, NULL), "");
    REFUSED("NOT_FOUND", dunlin_items(n->store, &iter, "l1", NULL, NULL));
    assert_null(iter);
    REFUSED("NOT_FOUND", dunlin_list_add(n->store, "l1", "v", "c", NULL, NULL));
    OK(dunlin_lists_with(n->store, &iter, "v", "a", NULL));
    assert_string_equal(show_list_rows(iter), "");
    assert_int_equal(notebook_number(n, "SELECT pending FROM item WHERE id = 'a'"), 0);
    REFUSED("EXISTS", dunlin_list_create(n->store, NULL, "l1", "x", NULL));
    OK(dunlin_list_restore(n->store, "l1", NULL));
    OK(dunlin_list_restore(n->store, "l1", NULL));
    assert_string_equal(show_lists(n, NULL), "l1:l1:1");
    assert_string_equal(items(n, "l1"), "v/a");
    assert_int_equal(notebook_number(n, "SELECT pending FROM list"), 7);
    assert_int_equal(notebook_number(n, "SELECT pending FROM item WHERE id = 'a'"), 63);
    assert_int_equal(notebook_number(n, "SELECT pending FROM item WHERE id = 'b'"), 1);
    REFUSED("NOT_FOUND", dunlin_list_restore(n->store, "none", NULL));
}

static void a_list_that_never_left_leaves_nothing(void **state) {
    struct notebook *n = *state;
    char id[16];
    make_list(n, "l1");
    for (int i = 0; i < 250; i++) {
        (void)snprintf(id, sizeof(id), "i%d", i);
        add(n, "l1", id);
    }
    OK(dunlin_list_delete(n->store, "l1", NULL));
    assert_int_equal(notebook_number(n, "SELECT (SELECT count(*) FROM list) + (SELECT count(*) "
                                        "FROM item)"),
                     0);
}

static void lists_are_found_by_name_and_by_item(void **state) {
    struct notebook *n = *state;
    dunlin_iter *iter;
    static const char composed[] = "\xe8\xa6\x8b\xe9\x80\x83\xe3\x81\x97\xe3\x83\x93\xe3\x83\x87"
                                   "\xe3\x82\xaa";
    static const char decomposed[] = "\xe8\xa6\x8b\xe9\x80\x83\xe3\x81\x97\xe3\x83\x92\xe3\x82\x99"
                                     "\xe3\x83\x86\xe3\x82\x99\xe3\x82\xaa";
    OK(dunlin_list_create(n->store, NULL, "l1", composed, NULL));
    OK(dunlin_list_create(n->store, NULL, "l2", decomposed, NULL));
    OK(dunlin_list_create(n->store, NULL, "l3", "\xef\xbd\xb6\xef\xbe\x9e", NULL));
    OK(dunlin_list_create(n->store, NULL, "l4", "", NULL));
    OK(dunlin_list_rank(n->store, "l2", DUNLIN_PLACE_FIRST, NULL, NULL));
    const char *names[] = {composed, decomposed};
    for (int i = 0; i < 2; i++) {
        char expected[128];
        OK(dunlin_lists_named(n->store, &iter, names[i], NULL));
        (void)snprintf(expected, sizeof(expected), "l2:%s:0 l1:%s:0", decomposed, composed);
        assert_string_equal(show_list_rows(iter), expected);
    }
    OK(dunlin_lists_named(n->store, &iter, "\xe3\x82\xac", NULL));
    assert_string_equal(show_list_rows(iter), "");
    OK(dunlin_lists_named(n->store, &iter, "", NULL));
    assert_string_equal(show_list_rows(iter), "l4::0");
    add(n, "l3", "a");
    add(n, "l4", "a");
    OK(dunlin_list_rank(n->store, "l4", DUNLIN_PLACE_FIRST, NULL, NULL));
    OK(dunlin_lists_with(n->store, &iter, "v", "a", NULL));
    assert_string_equal(show_list_rows(iter), "l4::1 l3:\xef\xbd\xb6\xef\xbe\x9e:1");
    OK(dunlin_list_get(n->store, &iter, "l4", NULL));
    assert_string_equal(show_list_rows(iter), "l4::1");
    OK(dunlin_list_get(n->store, &iter, "none", NULL));
    assert_string_equal(show_list_rows(iter), "");
}

static void inserting_at_one_place_never_ends(void **state) {
    struct notebook *n = *state;
    dunlin_item_place place = {DUNLIN_ITEM_PLACE_VERSION, NULL, DUNLIN_PLACE_BEFORE, "v", "z"};
    char id[16];
    make_list(n, "l1");
    add(n, "l1", "a");
    add(n, "l1", "z");
    OK(dunlin_begin(n->store, NULL));
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(id, sizeof(id), "i%04d", i);
        add(n, "l1", id);
        OK(dunlin_list_move(n->store, "l1", "v", id, &place, NULL));
    }
    OK(dunlin_commit(n->store, NULL));
    assert_true(notebook_number(n, "SELECT max(length(rank)) FROM item") <= 64);
    const char *text = items(n, "l1");
    assert_memory_equal(text, "v/a v/i0000 v/i0001", 19);
    assert_string_equal(text + strlen(text) - 12, " v/i2999 v/z");
}

static void equal_ranks_are_parted(void **state) {
    struct notebook *n = *state;
    dunlin_item_place place = {DUNLIN_ITEM_PLACE_VERSION, NULL, DUNLIN_PLACE_BEFORE, "v", "c"};
    make_list(n, "l1");
    add(n, "l1", "d");
    add(n, "l1", "c");
    add(n, "l1", "b");
    add(n, "l1", "a");
    notebook_sql(n, "UPDATE item SET rank = 'a1'");
    assert_string_equal(items(n, "l1"), "v/a v/b v/c v/d");
    OK(dunlin_list_move(n->store, "l1", "v", "a", &place, NULL));
    assert_string_equal(items(n, "l1"), "v/b v/a v/c v/d");
    notebook_sql(n, "UPDATE item SET rank = ''");
    assert_string_equal(items(n, "l1"), "v/a v/b v/c v/d");
    OK(dunlin_list_move(n->store, "l1", "v", "d", &place, NULL));
    assert_string_equal(items(n, "l1"), "v/a v/b v/d v/c");
}

/* What came without ranks stands first, and a rank must be found among it. */
static void items_without_ranks_get_some(void **state) {
    struct notebook *n = *state;
    dunlin_item_place place = {DUNLIN_ITEM_PLACE_VERSION, NULL, DUNLIN_PLACE_BEFORE, "v", "b"};
    make_list(n, "l1");
    for (const char *id = "abcdefghijklmnopqrst"; *id; id++) {
        add(n, "l1", (char[]){*id, '\0'});
    }
    settle(n);
    notebook_sql(n, "UPDATE item SET rank = '' WHERE id < 's'");
    OK(dunlin_list_move(n->store, "l1", "v", "t", &place, NULL));
    assert_string_equal(items(n, "l1"), "v/a v/t v/b v/c v/d v/e v/f v/g v/h v/i v/j v/k v/l v/m "
                                        "v/n v/o v/p v/q v/r v/s");
    place.before_id = "a";
    OK(dunlin_list_move(n->store, "l1", "v", "s", &place, NULL));
    assert_memory_equal(items(n, "l1"), "v/s v/a v/t", 11);
}

static void only_the_gap_is_keyed_anew(void **state) {
    struct notebook *n = *state;
    char id[16];
    make_list(n, "l1");
    for (int i = 0; i < 200; i++) {
        (void)snprintf(id, sizeof(id), "i%03d", i);
        add(n, "l1", id);
    }
    notebook_sql(n, "UPDATE item SET rank = (SELECT rank FROM item WHERE id = 'i100') WHERE id = "
                    "'i101'");
    settle(n);
    dunlin_item_place place = {DUNLIN_ITEM_PLACE_VERSION, NULL, DUNLIN_PLACE_BEFORE, "v", "i101"};
    OK(dunlin_list_move(n->store, "l1", "v", "i000", &place, NULL));
    int64_t edited = notebook_number(n, "SELECT count(*) FROM item WHERE pending <> 0");
    assert_true(edited > 1 && edited <= 9);
    const char *text = items(n, "l1");
    assert_non_null(strstr(text, "v/i099 v/i100 v/i000 v/i101 v/i102"));
}

/* Ranks, then ids, then types by bytes: never the order in which this file met them. */
static void order_does_not_depend_on_arrival(void **state) {
    struct notebook *n = *state;
    make_list(n, "b");
    make_list(n, "a");
    notebook_sql(n, "UPDATE list SET rank = 'a1'");
    assert_string_equal(show_lists(n, NULL), "a:a:0 b:b:0");
    OK(dunlin_list_add(n->store, "a", "w", "x", NULL, NULL));
    OK(dunlin_list_add(n->store, "a", "v", "x", NULL, NULL));
    OK(dunlin_list_add(n->store, "a", "v", "b", NULL, NULL));
    notebook_sql(n, "UPDATE item SET rank = 'a1'");
    assert_string_equal(items(n, "a"), "v/b v/x w/x");
    dunlin_range back = DUNLIN_RANGE_INIT;
    back.backwards = 1;
    assert_string_equal(show_items(n, "a", &back), "w/x v/x v/b");
}

static void the_longest_name_is_taken(void **state) {
    struct notebook *n = *state;
    char name[DUNLIN_NAME_MAX + 1];
    memset(name, 'x', DUNLIN_NAME_MAX);
    name[DUNLIN_NAME_MAX] = '\0';
    OK(dunlin_list_create(n->store, NULL, "l1", name, NULL));
    assert_int_equal(strlen(show_lists(n, NULL)), 3 + DUNLIN_NAME_MAX + 2); /* l1:name:0 */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, notebook_setup, notebook_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(lists_are_made_named_and_ordered),
        TEST(staying_is_no_edit),
        TEST(items_are_added_once),
        TEST(items_move),
        TEST(moving_to_another_list_keeps_what_it_is),
        TEST(deleted_lists_come_back_whole),
        TEST(a_list_that_never_left_leaves_nothing),
        TEST(lists_are_found_by_name_and_by_item),
        TEST(inserting_at_one_place_never_ends),
        TEST(equal_ranks_are_parted),
        TEST(items_without_ranks_get_some),
        TEST(only_the_gap_is_keyed_anew),
        TEST(order_does_not_depend_on_arrival),
        TEST(the_longest_name_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
