#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>
#include <cmocka.h>

#include "tests/support/world.h"

#define OK(call) assert_int_equal((call), DUNLIN_OK)

static struct world world;

static int64_t number(struct device *device, const char *sql) {
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open(device->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return value;
}

static void a_sync_says_what_it_did(void **state) {
    dunlin_sync_result result;
    (void)state;
    world_open(&world, 3, NULL);
    struct device *device = world_device(&world, "aoi", 0);
    struct device *other = world_device(&world, "aoi", 0);
    OK(dunlin_list_create(device->store, NULL, "l1", "one", NULL));
    OK(dunlin_list_add(device->store, "l1", "video", "v1", NULL, NULL));
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    OK(device_sync(device, &result));
    assert_int_equal(result.pushed, 3);
    assert_int_equal(result.rejected + result.quarantined, 0);
    assert_int_equal(result.retry_at_ms, 0);
    assert_int_equal(result.exchanges, device->exchanges);
    assert_true(result.bytes_sent > 300 && result.bytes_received > 100);
    OK(device_sync(other, &result));
    assert_int_equal(result.pushed, 0);
    assert_int_equal(result.pulled, 3);
    dunlin_store_status status;
    OK(dunlin_store_get_status(other->store, &status, NULL));
    assert_int_equal(status.last_sync_ms, world.now_ms);
    assert_int_equal(status.items, 1);
    world_close(&world);
}

static void a_failure_says_when_to_try_again(void **state) {
    dunlin_sync_result result;
    dunlin_error err;
    (void)state;
    world_open(&world, 3, NULL);
    struct device *device = world_device(&world, "aoi", 0);
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    device->faults = FAULT_OFFLINE;
    assert_int_equal(dunlin_sync(device->store, &device->remote, &result, &err), DUNLIN_OFFLINE);
    assert_int_equal(err.code, DUNLIN_OFFLINE);
    assert_true(result.retry_at_ms > world.now_ms);
    assert_int_equal(result.pushed, 0);
    device->faults = FAULT_LOST_ANSWER;
    assert_int_equal(dunlin_sync(device->store, &device->remote, NULL, NULL), DUNLIN_CONN_CLOSED);
    assert_int_equal(device_pending(device), 1);
    device_sync_ok(device);
    assert_int_equal(device_pending(device), 0);
    world_close(&world);
}

static void old_tombstones_go_once_a_day(void **state) {
    const int64_t day_ms = 86400000;
    (void)state;
    world_open(&world, 3, NULL);
    struct device *device = world_device(&world, "aoi", 0);
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_follow(device->store, DUNLIN_USER, "chika", NULL));
    device_sync_ok(device);
    OK(dunlin_unfollow(device->store, DUNLIN_USER, "ben", NULL));
    device_sync_ok(device);
    assert_int_equal(number(device, "SELECT count(*) FROM follow"), 2);
    world.now_ms += 89 * day_ms;
    device_sync_ok(device);
    assert_int_equal(number(device, "SELECT count(*) FROM follow"), 2);
    world.now_ms += 2 * day_ms - 3600000;
    device_sync_ok(device);
    assert_int_equal(number(device, "SELECT count(*) FROM follow"), 1);
    OK(dunlin_unfollow(device->store, DUNLIN_USER, "chika", NULL));
    device_sync_ok(device);
    world.now_ms += 3600000;
    device_sync_ok(device);
    assert_int_equal(number(device, "SELECT count(*) FROM follow"), 1);
    world_close(&world);
}

/* A remote whose way takes no more than so many bytes. */
struct narrow {
    dunlin_remote remote;
    dunlin_remote *way;
    size_t limit;
    size_t first; /* bytes of the first request since the test set it to 0 */
};

static dunlin_status narrow_exchange(void *self, const char *kind, const void *request, size_t len,
                                     const dunlin_sink *answer, int64_t *retry_after_ms,
                                     dunlin_error *err) {
    struct narrow *narrow = self;
    narrow->first = narrow->first ? narrow->first : len;
    if (len > narrow->limit) {
        return DUNLIN_TOO_LARGE;
    }
    return narrow->way->exchange(narrow->way->self, kind, request, len, answer, retry_after_ms,
                                 err);
}

static void a_learned_size_is_kept(void **state) {
    (void)state;
    world_open(&world, 3, NULL);
    struct device *device = world_device(&world, "aoi", 0);
    struct narrow narrow = {.remote = {.self = &narrow, .exchange = narrow_exchange},
                            .way = device->way,
                            .limit = 20000};
    char id[16];
    OK(dunlin_begin(device->store, NULL));
    for (int i = 0; i < 600; i++) {
        (void)snprintf(id, sizeof(id), "user%d", i);
        OK(dunlin_follow(device->store, DUNLIN_USER, id, NULL));
    }
    OK(dunlin_commit(device->store, NULL));
    OK(dunlin_sync(device->store, &narrow.remote, NULL, NULL));
    assert_int_equal(device_pending(device), 0);
    assert_true(narrow.first > narrow.limit);
    OK(dunlin_begin(device->store, NULL));
    for (int i = 0; i < 600; i++) {
        (void)snprintf(id, sizeof(id), "user%d", i);
        OK(dunlin_unfollow(device->store, DUNLIN_USER, id, NULL));
    }
    OK(dunlin_commit(device->store, NULL));
    device_reopen(device);
    narrow.first = 0;
    OK(dunlin_sync(device->store, &narrow.remote, NULL, NULL));
    assert_true(narrow.first <= narrow.limit);
    world_close(&world);
}

static dunlin_status endless_exchange(void *self, const char *kind, const void *request, size_t len,
                                      const dunlin_sink *answer, int64_t *retry_after_ms,
                                      dunlin_error *err) {
    static const char bytes[65536] = {'x'};
    uint64_t *written = self;
    dunlin_status status = DUNLIN_OK;
    (void)kind;
    (void)request;
    (void)len;
    (void)retry_after_ms;
    (void)err;
    while (status == DUNLIN_OK && *written < UINT64_C(100) << 20) {
        status = answer->write(answer->self, bytes, sizeof(bytes));
        *written += sizeof(bytes);
    }
    return status;
}

static void an_endless_answer_is_cut_off(void **state) {
    uint64_t written = 0;
    (void)state;
    world_open(&world, 3, NULL);
    struct device *device = world_device(&world, "aoi", 0);
    const dunlin_remote fixed = {.self = &written, .exchange = endless_exchange};
    dunlin_remote remote = fixed;
    assert_true(dunlin_sync(device->store, &remote, NULL, NULL) != DUNLIN_OK);
    assert_true(written > 0 && written <= UINT64_C(90) << 20);
    world_close(&world);
}

/* ---- dumps */

static dunlin_status count_line(const char *line, size_t len, void *payload) {
    int *left = payload;
    assert_int_equal(line[0], '{');
    assert_int_equal(line[len - 1], '\n');
    return --*left == 0 ? DUNLIN_INTERRUPTED : DUNLIN_OK;
}

static void dumps_of_both_sides_are_equal(void **state) {
    (void)state;
    world_open(&world, 3, NULL);
    struct device *device = world_device(&world, "a#o/i", 0);
    static const char *const groups[] = {"z", "#", "$", "a/b", "a b", "A"};
    for (size_t i = 0; i < 6; i++) {
        OK(dunlin_group_create(device->store, groups[i], groups[i], DUNLIN_JOIN_OPEN, NULL));
        OK(dunlin_group_add(device->store, groups[i], "b%n", DUNLIN_ROLE_MEMBER, NULL));
        OK(dunlin_follow(device->store, DUNLIN_GROUP, groups[i], NULL));
        OK(dunlin_list_create(device->store, NULL, groups[i], groups[i], NULL));
        OK(dunlin_list_add(device->store, groups[i], groups[5 - i], groups[i], NULL, NULL));
    }
    OK(dunlin_group_delete(device->store, "A", NULL));
    OK(dunlin_list_delete(device->store, "z", NULL));
    device_sync_ok(device);
    device_sync_ok(device);
    char *mine = device_dump(device);
    char *theirs = device_dump_remote(device);
    assert_string_equal(mine, theirs);
    size_t lines = 0;
    for (const char *at = mine; (at = strchr(at, '\n')) != NULL; at++) {
        lines++;
    }
    /* 5 lists and items, 6 follows, mygroup of all but the deleted one; 5 groups with a member */
    assert_int_equal(lines, 5 + 5 + 6 + 5 + 5 + 5);
    free(mine);
    free(theirs);
    for (int stop = 1; stop < 5; stop++) {
        int left = stop;
        assert_int_equal(dunlin_dump(device->store, count_line, &left, NULL), DUNLIN_INTERRUPTED);
        left = stop;
        assert_int_equal(
            dunlin_dump_remote(device->store, &device->remote, count_line, &left, NULL),
            DUNLIN_INTERRUPTED);
        assert_int_equal(left, 0);
    }
    device->faults = FAULT_OFFLINE;
    int left = 0;
    assert_int_equal(dunlin_dump_remote(device->store, &device->remote, count_line, &left, NULL),
                     DUNLIN_OFFLINE);
    assert_int_equal(left, 0);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sync_says_what_it_did),
        cmocka_unit_test(a_failure_says_when_to_try_again),
        cmocka_unit_test(old_tombstones_go_once_a_day),
        cmocka_unit_test(a_learned_size_is_kept),
        cmocka_unit_test(an_endless_answer_is_cut_off),
        cmocka_unit_test(dumps_of_both_sides_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
