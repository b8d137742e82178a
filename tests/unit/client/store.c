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

static int64_t constant_ms(void *self) {
    (void)self;
    return 5;
}

static void wrong_arguments_of_open_are_named(void **state) {
    struct folder *folder = *state;
    const char *path = temp_file(folder->dir, "new.db");
    char long_id[258];
    memset(long_id, 'x', 257);
    long_id[257] = '\0';
    dunlin_ports half = {NULL, constant_ms, NULL};
    dunlin_open_options version = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_open_options durability = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_open_options timeout = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_open_options ports = DUNLIN_OPEN_OPTIONS_INIT;
    version.version = 2;
    durability.durability = (dunlin_durability)7;
    timeout.busy_timeout_ms = -1;
    ports.ports = &half;
    const struct {
        const char *path;
        const char *owner;
        const dunlin_open_options *options;
        dunlin_status status;
    } wrong[] = {{NULL, "aoi", NULL, DUNLIN_MISUSE},
                 {"", "aoi", NULL, DUNLIN_MISUSE},
                 {path, "", NULL, DUNLIN_INVALID_ID},
                 {path, "\xc3(", NULL, DUNLIN_INVALID_TEXT},
                 {path, long_id, NULL, DUNLIN_TOO_LONG},
                 {path, "aoi", &version, DUNLIN_MISUSE},
                 {path, "aoi", &durability, DUNLIN_MISUSE},
                 {path, "aoi", &timeout, DUNLIN_MISUSE},
                 {path, "aoi", &ports, DUNLIN_MISUSE},
                 {path, NULL, NULL, DUNLIN_NOT_FOUND},
                 {folder->dir, "aoi", NULL, DUNLIN_NOT_A_STORE}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        dunlin_error err = {0};
        dunlin_store *store = folder->store;
        dunlin_status status =
            dunlin_store_open(&store, wrong[i].path, wrong[i].owner, wrong[i].options, &err);
        assert_string_equal(dunlin_status_name(status), dunlin_status_name(wrong[i].status));
        assert_int_equal(err.code, status);
        assert_true(err.message[0] != '\0');
        assert_null(store);
        assert_null(fopen(path, "rb"));
    }
    assert_int_equal(dunlin_store_open(NULL, path, "aoi", NULL, NULL), DUNLIN_MISUSE);
}

static dunlin_status ignore(const char *line, size_t len, void *payload) {
    (void)line;
    (void)len;
    (void)payload;
    return DUNLIN_OK;
}

static void a_missing_store_or_place_is_misuse(void **state) {
    struct folder *folder = *state;
    dunlin_store_status status;
    dunlin_check check;
    char id[DUNLIN_NEW_ID_SIZE];
    dunlin_store *store = folder->store;
    const dunlin_status statuses[] = {
        dunlin_begin(NULL, NULL),
        dunlin_commit(NULL, NULL),
        dunlin_commit(store, NULL),
        dunlin_store_get_status(NULL, &status, NULL),
        dunlin_store_get_status(store, NULL, NULL),
        dunlin_store_backup(NULL, "x", NULL),
        dunlin_store_backup(store, NULL, NULL),
        dunlin_store_backup(store, "", NULL),
        dunlin_store_wipe(NULL, DUNLIN_WIPE_FORCE, NULL),
        dunlin_store_wipe(store, (dunlin_wipe_mode)5, NULL),
        dunlin_store_verify(NULL, 0, &check, NULL),
        dunlin_store_verify(store, 0, NULL, NULL),
        dunlin_dump(NULL, ignore, NULL, NULL),
        dunlin_dump(store, NULL, NULL, NULL),
        dunlin_new_id(NULL, id, NULL),
        dunlin_new_id(store, NULL, NULL),
        dunlin_sync(NULL, NULL, NULL, NULL),
        dunlin_sync(store, NULL, NULL, NULL),
        dunlin_dump_remote(store, NULL, ignore, NULL, NULL),
    };
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        assert_int_equal(statuses[i], DUNLIN_MISUSE);
    }
    assert_null(dunlin_store_owner(NULL));
    assert_null(dunlin_store_device(NULL));
    dunlin_store_close(NULL);
    dunlin_rollback(NULL);
    dunlin_rollback(store); /* nothing is open: nothing happens */
    dunlin_remote_close(NULL);
}

static void inside_a_transaction_much_is_misuse(void **state) {
    struct folder *folder = *state;
    dunlin_store *store = folder->store;
    dunlin_check check;
    dunlin_store_status status;
    dunlin_remote remote = {0};
    OK(dunlin_begin(store, NULL));
    OK(dunlin_follow(store, DUNLIN_USER, "ben", NULL));
    const dunlin_status statuses[] = {
        dunlin_begin(store, NULL),
        dunlin_store_backup(store, temp_file(folder->dir, "b.db"), NULL),
        dunlin_store_wipe(store, DUNLIN_WIPE_FORCE, NULL),
        dunlin_store_verify(store, 0, &check, NULL),
        dunlin_sync(store, &remote, NULL, NULL),
        dunlin_dump_remote(store, &remote, ignore, NULL, NULL),
    };
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        assert_int_equal(statuses[i], DUNLIN_MISUSE);
    }
    OK(dunlin_store_get_status(store, &status, NULL)); /* reading sees the edits */
    assert_int_equal(status.following, 1);
    assert_int_equal(status.subscriptions, 1);
    assert_int_equal(status.pending, 1);
    OK(dunlin_commit(store, NULL));
    assert_int_equal(dunlin_commit(store, NULL), DUNLIN_MISUSE);
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
        TEST(wrong_arguments_of_open_are_named),
        TEST(a_missing_store_or_place_is_misuse),
        TEST(inside_a_transaction_much_is_misuse),
        TEST(a_rollback_and_a_close_take_edits_back),
        TEST(ids_are_ordered_by_time_and_never_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
