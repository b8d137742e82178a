#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dunlin/dunlin.h>

#include "tests/support/temp.h"

#define OK(call) assert_int_equal((call), DUNLIN_OK)

struct folder {
    char *dir;
    dunlin_store *store;
};

static int set_up(void **state) {
    static struct folder folder;
    folder.dir = temp_new();
    OK(dunlin_store_open(&folder.store, temp_file(folder.dir, "a.db"), "aoi", NULL, NULL));
    *state = &folder;
    return 0;
}

static int tear_down(void **state) {
    struct folder *folder = *state;
    dunlin_store_close(folder->store);
    temp_remove(folder->dir);
    return 0;
}

static void reading_inside_a_transaction_sees_its_edits(void **state) {
    struct folder *folder = *state;
    dunlin_store *store = folder->store;
    dunlin_store_status status;
    OK(dunlin_begin(store, NULL));
    OK(dunlin_follow(store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_store_get_status(store, &status, NULL));
    assert_int_equal(status.following, 1);
    assert_int_equal(status.subscriptions, 1);
    assert_int_equal(status.pending, 1);
    OK(dunlin_commit(store, NULL));
    OK(dunlin_store_get_status(store, &status, NULL));
    assert_int_equal(status.pending, 1);
}

static void a_rollback_and_a_close_take_edits_back(void **state) {
    struct folder *folder = *state;
    dunlin_store_status status;
    OK(dunlin_begin(folder->store, NULL));
    OK(dunlin_follow(folder->store, DUNLIN_USER, "ben", NULL));
    dunlin_rollback(folder->store);
    OK(dunlin_begin(folder->store, NULL));
    OK(dunlin_follow(folder->store, DUNLIN_USER, "chika", NULL));
    dunlin_store_close(folder->store);
    OK(dunlin_store_open(&folder->store, temp_file(folder->dir, "a.db"), NULL, NULL, NULL));
    OK(dunlin_store_get_status(folder->store, &status, NULL));
    assert_int_equal(status.pending, 0);
    assert_int_equal(status.subscriptions, 0);
}

static void ids_are_ordered_by_time_and_never_the_same(void **state) {
    struct folder *folder = *state;
    char last[DUNLIN_NEW_ID_SIZE] = "";
    char id[DUNLIN_NEW_ID_SIZE];
    for (int i = 0; i < 1000; i++) {
        OK(dunlin_new_id(folder->store, id, NULL));
        assert_int_equal(strlen(id), 24);
        assert_int_equal(strspn(id, "0123456789abcdef"), 24);
        assert_true(strcmp(id, last) != 0);
        assert_true(memcmp(id, last, 12) >= 0);
        memcpy(last, id, sizeof(last));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(reading_inside_a_transaction_sees_its_edits),
        TEST(a_rollback_and_a_close_take_edits_back),
        TEST(ids_are_ordered_by_time_and_never_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
