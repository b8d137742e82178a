#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/notebook.h"

static void add(struct notebook *n, const char *list, const char *id, const char *title,
                const char *data) {
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    options.title = title;
    options.data = data;
    OK(dunlin_list_add(n->store, list, "v", id, &options, NULL));
}

static void fill(struct notebook *n) {
    OK(dunlin_list_create(n->store, NULL, "l2", "\xe8\xa6\x8b\xe9\x80\x83\xe3\x81\x97", NULL));
    OK(dunlin_list_create(n->store, NULL, "l1", "Caf\xc3\xa9 \"\xe3\x81\x8a\xe6\xb0\x97\"", NULL));
    add(n, "l2", "v1", "\xe6\x98\xa0\xe7\x94\xbb\xe3\x81\xae\xe5\xa4\x9c", NULL);
    add(n, "l2", "v2", "Night of Films", "{\"genre\": [\"Drama\", \"\\u5922\\n#2\"], \"x\": 77}");
    add(n, "l1", "w-9", NULL, NULL);
}

static void any_sequence_of_characters_is_found(void **state) {
    struct notebook *n = *state;
    fill(n);
    assert_string_equal(show_hits(n, "\xe6\x98\xa0\xe7\x94\xbb"), "l2/v/v1"); /* two characters */
    assert_string_equal(show_hits(n, "\xe5\xa4\x9c"), "l2/v/v1");             /* the last one */
    assert_string_equal(show_hits(n, "\xe8\xa6\x8b"), "l2");                  /* of a name */
    assert_string_equal(show_hits(n, "\xe3\x81\xae\xe5\xa4\x9c"), "l2/v/v1"); /* in the middle */
    assert_string_equal(show_hits(n, "\xe7\x94\xbb\xe6\x98\xa0"), "");        /* turned round */
    assert_string_equal(show_hits(n, "ilm"), "l2/v/v2");
    assert_string_equal(show_hits(n, "v"), "l2/v/v1 l2/v/v2");
    assert_string_equal(show_hits(n, "9"), "l1/v/w-9");
    assert_string_equal(show_hits(n, "w-"), "l1/v/w-9");
    assert_string_equal(show_hits(n, "\""), "l1");
    assert_string_equal(show_hits(n, "e"), "");
    assert_string_equal(show_hits(n, "night of filmsx"), "");
}

static void case_and_composition_do_not_matter(void **state) {
    struct notebook *n = *state;
    fill(n);
    assert_string_equal(show_hits(n, "CAFE\xcc\x81"), "l1");
    assert_string_equal(show_hits(n, "caf\xc3\x89"), "l1");
    assert_string_equal(show_hits(n, "NIGHT"), "l2/v/v2");
    add(n, "l1", "s",
        "Stra\xc3\x9f"
        "e",
        NULL);
    assert_string_equal(show_hits(n, "STRASSE"), "l1/v/s");
    add(n, "l1", "k", "\xef\xbd\xb6\xef\xbe\x9e", NULL); /* half-width: another text */
    assert_string_equal(show_hits(n, "\xe3\x82\xac"), "");
}

static void all_words_must_occur(void **state) {
    struct notebook *n = *state;
    fill(n);
    assert_string_equal(show_hits(n, "films  night"), "l2/v/v2");
    assert_string_equal(show_hits(n, " drama\xe3\x80\x80v2 "), "l2/v/v2");
    assert_string_equal(show_hits(n, "drama v1"), "");
    assert_string_equal(show_hits(n, ""), "");
    assert_string_equal(show_hits(n, " \t\xe3\x80\x80"), "");
}

static void texts_of_data_are_found(void **state) {
    struct notebook *n = *state;
    fill(n);
    assert_string_equal(show_hits(n, "drama"), "l2/v/v2");
    assert_string_equal(show_hits(n, "\xe5\xa4\xa2"), "l2/v/v2"); /* escaped in the JSON */
    assert_string_equal(show_hits(n, "#2"), "l2/v/v2");
    assert_string_equal(show_hits(n, "genre"), "");           /* a member's name */
    assert_string_equal(show_hits(n, "77"), "");              /* a number */
    assert_string_equal(show_hits(n, "ama\xe5\xa4\xa2"), ""); /* not across texts */
}

static void the_index_follows_every_edit(void **state) {
    struct notebook *n = *state;
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    dunlin_item_place place = DUNLIN_ITEM_PLACE_INIT;
    dunlin_check check;
    fill(n);
    notebook_sql(n, "UPDATE list SET seq = 1, pending = 0, tried = 1;"
                    "UPDATE item SET seq = 1, pending = 0, tried = 1");
    options.title = "Day";
    OK(dunlin_item_set(n->store, "l2", "v", "v2", &options, NULL));
    assert_string_equal(show_hits(n, "night"), "");
    assert_string_equal(show_hits(n, "day"), "l2/v/v2");
    place.to_list = "l1";
    OK(dunlin_list_move(n->store, "l2", "v", "v2", &place, NULL));
    assert_string_equal(show_hits(n, "day"), "l1/v/v2");
    OK(dunlin_list_rename(n->store, "l1", "Tea", NULL));
    assert_string_equal(show_hits(n, "caf"), "");
    assert_string_equal(show_hits(n, "tea"), "l1");
    OK(dunlin_list_delete(n->store, "l1", NULL));
    assert_string_equal(show_hits(n, "tea"), "");
    assert_string_equal(show_hits(n, "day"), "");
    OK(dunlin_store_verify(n->store, 0, &check, NULL));
    assert_int_equal(check.search_off, 0);
    OK(dunlin_list_restore(n->store, "l1", NULL));
    assert_string_equal(show_hits(n, "tea"), "l1");
    assert_string_equal(show_hits(n, "day"), "l1/v/v2");
    OK(dunlin_list_remove(n->store, "l1", "v", "v2", NULL));
    assert_string_equal(show_hits(n, "day"), "");
    assert_int_equal(notebook_number(n, "SELECT count(*) FROM search_pair WHERE search_pair "
                                        "MATCH '\"da\"'"),
                     0);
    OK(dunlin_begin(n->store, NULL));
    add(n, "l1", "gone", "Evening", NULL);
    assert_string_equal(show_hits(n, "evening"), "l1/v/gone");
    dunlin_rollback(n->store);
    assert_string_equal(show_hits(n, "evening"), "");
    OK(dunlin_store_verify(n->store, 0, &check, NULL));
    assert_int_equal(check.search_off, 0);
}

static void lists_come_first_then_ids(void **state) {
    struct notebook *n = *state;
    OK(dunlin_list_create(n->store, NULL, "l2", "tea", NULL));
    OK(dunlin_list_create(n->store, NULL, "l1", "tea", NULL));
    add(n, "l2", "b", "tea", NULL);
    add(n, "l1", "c", "tea", NULL);
    add(n, "l1", "a", "tea", NULL);
    OK(dunlin_list_add(n->store, "l1", "a", "tea", NULL, NULL));
    assert_string_equal(show_hits(n, "tea"), "l1 l2 l1/a/tea l1/v/a l1/v/c l2/v/b");
}

/* More candidates than are sorted for a page: the order must be the same, in both directions. */
static void many_hits_page_in_order(void **state) {
    struct notebook *n = *state;
    static const struct {
        const char *text;
        int step;
    } searches[] = {{"common", 1}, {"rare", 50}, {"common rare", 50}};
    char id[16];
    OK(dunlin_list_create(n->store, NULL, "l1", "x", NULL));
    OK(dunlin_begin(n->store, NULL));
    for (int i = 4999; i >= 0; i--) {
        (void)snprintf(id, sizeof(id), "%04d", i);
        add(n, "l1", id, i % 50 == 0 ? "common rare" : "common", NULL);
    }
    OK(dunlin_commit(n->store, NULL));
    for (size_t search = 0; search < 3; search++) {
        for (int backwards = 0; backwards < 2; backwards++) {
            dunlin_range range = DUNLIN_RANGE_INIT;
            const dunlin_hit *row;
            dunlin_iter *iter;
            range.backwards = backwards;
            OK(dunlin_search(n->store, &iter, searches[search].text, &range, NULL));
            for (int i = 0; i < 5000; i += searches[search].step) {
                OK(dunlin_search_next(iter, &row, NULL));
                assert_non_null(row);
                assert_int_equal(strtol(row->id, NULL, 10),
                                 backwards ? 5000 - searches[search].step - i : i);
            }
            OK(dunlin_search_next(iter, &row, NULL));
            assert_null(row);
            dunlin_iter_free(iter);
        }
    }
}

static void damage_is_found_and_repaired(void **state) {
    struct notebook *n = *state;
    static const char *const damages[] = {
        "DELETE FROM search_doc WHERE id = 'v1'",
        "UPDATE search_doc SET text = 'other' WHERE id = 'v1'",
        "INSERT INTO search_doc (item, list, type, id, text) VALUES (1, 'l9', 'v', 'x', 'y')",
        "INSERT INTO search_pair (search_pair) VALUES ('delete-all')"};
    fill(n);
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        dunlin_check check;
        notebook_sql(n, damages[i]);
        OK(dunlin_store_verify(n->store, 0, &check, NULL));
        assert_true(check.search_off > 0);
        OK(dunlin_store_verify(n->store, 1, &check, NULL));
        assert_true(check.search_off > 0);
        OK(dunlin_store_verify(n->store, 0, &check, NULL));
        assert_int_equal(check.search_off, 0);
        assert_string_equal(show_hits(n, "\xe6\x98\xa0\xe7\x94\xbb"), "l2/v/v1");
    }
}

static void the_longest_text_is_searched(void **state) {
    struct notebook *n = *state;
    char text[DUNLIN_NAME_MAX + 1];
    memset(text, 'x', DUNLIN_NAME_MAX);
    text[DUNLIN_NAME_MAX] = '\0';
    assert_string_equal(show_hits(n, text), "");
}

static void a_store_without_search_says_so(void **state) {
    struct notebook *n = *state;
    dunlin_iter *iter;
    OK(dunlin_list_create(n->store, NULL, "l1", "x", NULL));
    REFUSED("UNSUPPORTED", dunlin_search(n->store, &iter, "x", NULL, NULL));
    assert_null(iter);
    notebook_reopen(n);
    REFUSED("UNSUPPORTED", dunlin_search(n->store, &iter, "x", NULL, NULL));
    OK(dunlin_list_delete(n->store, "l1", NULL));
    assert_int_equal(
        notebook_number(n, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'search%'"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, notebook_setup, notebook_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(any_sequence_of_characters_is_found),
        TEST(case_and_composition_do_not_matter),
        TEST(all_words_must_occur),
        TEST(texts_of_data_are_found),
        TEST(the_index_follows_every_edit),
        TEST(lists_come_first_then_ids),
        TEST(many_hits_page_in_order),
        TEST(damage_is_found_and_repaired),
        TEST(the_longest_text_is_searched),
        cmocka_unit_test_setup_teardown(a_store_without_search_says_so,
                                        notebook_setup_without_search, notebook_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
