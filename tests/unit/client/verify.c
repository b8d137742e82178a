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

enum { LINES_SIZE = 65536 };

struct lines {
    char text[LINES_SIZE];
    size_t len;
    int count;
    int stop_at; /* 0: never */
};

static dunlin_status take_line(const char *line, size_t len, void *payload) {
    struct lines *lines = payload;
    assert_true(lines->len + len < LINES_SIZE);
    assert_int_equal(line[len - 1], '\n');
    memcpy(lines->text + lines->len, line, len);
    lines->len += len;
    lines->text[lines->len] = '\0';
    return ++lines->count == lines->stop_at ? DUNLIN_INTERRUPTED : DUNLIN_OK;
}

static void damage(struct device *device, const char *sql) {
    sqlite3 *db;
    device_close(device);
    assert_int_equal(sqlite3_open(device->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    device_open(device);
}

static dunlin_divergence verify(struct device *device, int repair, struct lines *lines) {
    dunlin_divergence out;
    dunlin_error err = {0};
    memset(lines, 0, sizeof(*lines));
    dunlin_status status =
        dunlin_verify_remote(device->store, &device->remote, repair, &out, take_line, lines, &err);
    if (status != DUNLIN_OK) {
        fail_msg("%s: %s", dunlin_status_name(status), err.message);
    }
    return out;
}

/* A list of many items, a group, follows: more than one node of the tree names. */
static struct device *fill(struct world *world) {
    char id[16];
    world_open(world, 5, NULL);
    struct device *device = world_device(world, "aoi", 0);
    OK(dunlin_begin(device->store, NULL));
    OK(dunlin_list_create(device->store, NULL, "l1", "list", NULL));
    for (int i = 0; i < 400; i++) {
        (void)snprintf(id, sizeof(id), "v%d", i);
        OK(dunlin_list_add(device->store, "l1", "video", id, NULL, NULL));
    }
    OK(dunlin_group_create(device->store, "g/1", NULL, DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_group_add(device->store, "g/1", "ben", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_commit(device->store, NULL));
    device_sync_ok(device);
    return device;
}

static struct world world;

static void equal_sides_differ_in_nothing(void **state) {
    struct lines lines;
    (void)state;
    struct device *device = fill(&world);
    dunlin_divergence out = verify(device, 0, &lines);
    assert_int_equal(out.scopes, 2);
    assert_int_equal(out.differ, 0);
    assert_int_equal(lines.count, 0);
    world_close(&world);
}

static void every_kind_of_difference_is_named_and_repaired(void **state) {
    struct lines lines;
    (void)state;
    struct device *device = fill(&world);
    char *before = device_dump(device);
    damage(device, "UPDATE item SET title = 'another' WHERE id IN ('v7', 'v300');"
                   "DELETE FROM item WHERE id = 'v8';"
                   "INSERT INTO item (id, type, list, present, rank, stamp, seq, pending, offered,"
                   " tried) SELECT 'v9999', type, list, 1, rank, stamp, 1, 0, 0, 0 FROM item"
                   " WHERE id = 'v9';"
                   "UPDATE member SET role = 'admin';");
    dunlin_divergence out = verify(device, 0, &lines);
    assert_int_equal(out.scopes, 2);
    assert_int_equal(out.differ, 5);
    assert_int_equal(out.repaired, 0);
    assert_int_equal(lines.count, 5);
    static const char *const expected[] = {
        "{\"scope\":\"user/aoi\",\"collection\":\"item\",\"key\":[\"l1\",\"video\",\"v7\"],"
        "\"side\":\"both\"}\n",
        "\"v300\"],\"side\":\"both\"}\n",
        "\"v8\"],\"side\":\"central\"}\n",
        "\"v9999\"],\"side\":\"device\"}\n",
        "{\"scope\":\"group/g%2F1\",\"collection\":\"member\",\"key\":[\"ben\"],\"side\":\"both\"}"
        "\n",
    };
    for (size_t i = 0; i < 5; i++) {
        assert_non_null(strstr(lines.text, expected[i]));
    }
    out = verify(device, 1, &lines);
    assert_int_equal(out.differ, 5);
    assert_int_equal(out.repaired, 5);
    assert_int_equal(lines.count, 5);
    out = verify(device, 0, &lines);
    assert_int_equal(out.differ, 0);
    char *after = device_dump(device);
    assert_string_equal(before, after);
    dunlin_check check;
    OK(dunlin_store_verify(device->store, 0, &check, NULL));
    assert_int_equal(check.counts_off + check.subscriptions_off + check.search_off, 0);
    free(before);
    free(after);
    world_close(&world);
}

static void what_waits_in_the_outbox_does_not_differ(void **state) {
    struct lines lines;
    const dunlin_item_options title = {DUNLIN_ITEM_OPTIONS_VERSION, "new", NULL, NULL};
    (void)state;
    struct device *device = fill(&world);
    OK(dunlin_item_set(device->store, "l1", "video", "v1", &title, NULL));
    OK(dunlin_list_remove(device->store, "l1", "video", "v2", NULL));
    OK(dunlin_list_add(device->store, "l1", "video", "new", NULL, NULL));
    OK(dunlin_unfollow(device->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_group_remove(device->store, "g/1", "ben", NULL));
    dunlin_divergence out = verify(device, 1, &lines);
    assert_int_equal(out.differ, 0);
    assert_int_equal(device_pending(device), 5);
    OK(dunlin_list_delete(device->store, "l1", NULL)); /* its items wait with it */
    out = verify(device, 1, &lines);
    assert_int_equal(out.differ, 0);
    device_sync_ok(device);
    out = verify(device, 0, &lines);
    assert_int_equal(out.differ, 0);
    world_close(&world);
}

static void what_another_device_wrote_meanwhile_is_pulled_first(void **state) {
    struct lines lines;
    (void)state;
    struct device *device = fill(&world);
    struct device *other = world_device(&world, "aoi", 0);
    device_sync_ok(other);
    OK(dunlin_list_rename(other->store, "l1", "renamed", NULL));
    device_sync_ok(other);
    dunlin_divergence out = verify(device, 0, &lines);
    assert_int_equal(out.differ, 0);
    assert_int_equal(out.scopes, 2);
    world_close(&world);
}

static void the_remotes_failures_and_the_callbacks_come_back(void **state) {
    struct lines lines = {0};
    dunlin_divergence out;
    (void)state;
    struct device *device = fill(&world);
    damage(device, "UPDATE item SET title = 'another' WHERE id < 'v2';");
    device->faults = FAULT_OFFLINE;
    assert_int_equal(
        dunlin_verify_remote(device->store, &device->remote, 0, &out, NULL, NULL, NULL),
        DUNLIN_OFFLINE);
    lines.stop_at = 2;
    assert_int_equal(
        dunlin_verify_remote(device->store, &device->remote, 1, &out, take_line, &lines, NULL),
        DUNLIN_INTERRUPTED);
    assert_int_equal(lines.count, 2);
    OK(dunlin_verify_remote(device->store, &device->remote, 0, &out, NULL, NULL, NULL));
    assert_true(out.differ > 100); /* nothing was repaired */
    OK(dunlin_verify_remote(device->store, &device->remote, 1, &out, NULL, NULL, NULL));
    assert_int_equal(out.repaired, out.differ);
    OK(dunlin_verify_remote(device->store, &device->remote, 0, &out, NULL, NULL, NULL));
    assert_int_equal(out.differ, 0);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_sides_differ_in_nothing),
        cmocka_unit_test(every_kind_of_difference_is_named_and_repaired),
        cmocka_unit_test(what_waits_in_the_outbox_does_not_differ),
        cmocka_unit_test(what_another_device_wrote_meanwhile_is_pulled_first),
        cmocka_unit_test(the_remotes_failures_and_the_callbacks_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
