#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/world.h"

#define OK(call) assert_int_equal((call), DUNLIN_OK)

static struct world world;

/* Central takes one list of a user's; here are three, so that two are refused. */
static struct device *fill(void) {
    const dunlin_central_options options = {.version = DUNLIN_CENTRAL_OPTIONS_VERSION,
                                            .quota_lists = 1};
    world_open(&world, 5, &options);
    struct device *device = world_device(&world, "aoi", 0);
    OK(dunlin_list_create(device->store, NULL, "l1", "one", NULL));
    device_sync_ok(device);
    OK(dunlin_list_create(device->store, NULL, "l2", "two \"2\"", NULL));
    OK(dunlin_list_create(device->store, NULL, "l3", "three", NULL));
    device_sync_ok(device);
    assert_int_equal(device_rejected(device), 2);
    assert_int_equal(device_pending(device), 0);
    return device;
}

static bool has_list(struct device *device, const char *id, const char *name) {
    dunlin_iter *iter;
    const dunlin_list *row;
    OK(dunlin_list_get(device->store, &iter, id, NULL));
    OK(dunlin_lists_next(iter, &row, NULL));
    bool found = row && strcmp(row->name, name) == 0;
    dunlin_iter_free(iter);
    return found;
}

static dunlin_status keep_line(const char *line, size_t len, void *payload) {
    char *out = payload;
    assert_true(len < 2000);
    memcpy(out, line, len);
    out[len] = '\0';
    return DUNLIN_OK;
}

static dunlin_status refuse_line(const char *line, size_t len, void *payload) {
    (void)line;
    (void)len;
    (void)payload;
    return DUNLIN_DISK_FULL;
}

static void a_dead_letter_says_what_was_refused(void **state) {
    dunlin_iter *iter;
    const dunlin_rejection *row;
    char line[2000];
    (void)state;
    struct device *device = fill();
    OK(dunlin_rejected(device->store, &iter, NULL, NULL));
    OK(dunlin_rejected_next(iter, &row, NULL));
    assert_int_equal(row->id, 1);
    assert_int_equal(row->code, DUNLIN_QUOTA);
    assert_true(row->reason[0] != '\0');
    assert_string_equal(row->collection, "list");
    assert_string_equal(row->scope, "user/aoi");
    assert_int_equal(row->key_count, 1);
    assert_string_equal(row->key[0], "l2");
    assert_int_equal(row->at_ms, world.now_ms);
    assert_ptr_equal(
        strstr(row->fields, "{\"deleted\":false,\"name\":\"two \\\"2\\\"\",\"rank\":\""),
        row->fields);
    OK(dunlin_rejected_next(iter, &row, NULL));
    assert_int_equal(row->id, 2);
    OK(dunlin_rejected_next(iter, &row, NULL));
    assert_null(row);
    dunlin_iter_free(iter);
    OK(dunlin_rejected_export(device->store, 1, keep_line, line, NULL));
    assert_memory_equal(line, "{\"id\":1,\"code\":\"QUOTA\",\"reason\":\"", 32);
    assert_non_null(strstr(line,
                           "\",\"collection\":\"list\",\"scope\":\"user/aoi\",\"key\":[\"l2\"],"
                           "\"fields\":{\"deleted\":false,\"name\":\"two \\\"2\\\"\","));
    assert_string_equal(line + strlen(line) - 2, "}\n");
    world_close(&world);
}

static void the_listing_goes_both_ways_from_tokens(void **state) {
    dunlin_iter *iter;
    const dunlin_rejection *row;
    dunlin_range range = DUNLIN_RANGE_INIT;
    char token[64];
    (void)state;
    struct device *device = fill();
    range.backwards = 1;
    OK(dunlin_rejected(device->store, &iter, &range, NULL));
    OK(dunlin_rejected_next(iter, &row, NULL));
    assert_int_equal(row->id, 2);
    (void)snprintf(token, sizeof(token), "%s", dunlin_iter_token(iter));
    dunlin_iter_free(iter);
    range.before = token;
    OK(dunlin_rejected(device->store, &iter, &range, NULL));
    OK(dunlin_rejected_next(iter, &row, NULL));
    assert_int_equal(row->id, 1);
    dunlin_iter_free(iter);
    world_close(&world);
}

static void a_retry_makes_the_change_anew(void **state) {
    (void)state;
    struct device *device = fill();
    assert_false(has_list(device, "l2", "two \"2\""));
    OK(dunlin_rejected_retry(device->store, 1, NULL, NULL));
    assert_true(has_list(device, "l2", "two \"2\""));
    assert_int_equal(device_rejected(device), 1);
    assert_int_equal(device_pending(device), 1);
    device_sync_ok(device); /* there is still one list too many */
    assert_int_equal(device_rejected(device), 2);
    assert_false(has_list(device, "l2", "two \"2\""));
    OK(dunlin_list_delete(device->store, "l1", NULL));
    device_sync_ok(device);
    OK(dunlin_rejected_retry(device->store, 2, "{\"name\":\"drei\"}", NULL));
    device_sync_ok(device);
    assert_true(has_list(device, "l3", "drei"));
    assert_int_equal(device_rejected(device), 1);
    char *mine = device_dump(device);
    char *theirs = device_dump_remote(device);
    assert_string_equal(mine, theirs);
    assert_non_null(strstr(mine, "drei"));
    free(mine);
    free(theirs);
    world_close(&world);
}

static void a_retry_of_an_edit_needs_the_record(void **state) {
    (void)state;
    struct device *device = fill();
    struct device *other = world_device(&world, "aoi", 0);
    device_sync_ok(other);
    OK(dunlin_list_delete(other->store, "l1", NULL));
    device_sync_ok(other);
    world.now_ms += INT64_C(200) * 86400000;
    OK(dunlin_list_create(other->store, NULL, "l4", "four", NULL));
    device_sync_ok(other);
    dunlin_maintenance done;
    OK(dunlin_central_maintain(world.central, &done, NULL));
    OK(dunlin_list_rename(device->store, "l1", "late", NULL));
    device_sync_ok(device);
    assert_int_equal(device_rejected(device), 3);
    assert_int_equal(dunlin_rejected_retry(device->store, 3, NULL, NULL), DUNLIN_NOT_FOUND);
    assert_int_equal(device_rejected(device), 3); /* it stays */
    OK(dunlin_rejected_discard(device->store, 3, NULL));
    assert_int_equal(device_rejected(device), 2);
    world_close(&world);
}

static void a_callback_stops_the_export(void **state) {
    (void)state;
    struct device *device = fill();
    assert_int_equal(dunlin_rejected_export(device->store, 1, refuse_line, NULL, NULL),
                     DUNLIN_DISK_FULL);
    world_close(&world);
}

static void deciding_belongs_to_the_apps_transaction(void **state) {
    (void)state;
    struct device *device = fill();
    OK(dunlin_begin(device->store, NULL));
    OK(dunlin_rejected_retry(device->store, 1, NULL, NULL));
    assert_int_equal(dunlin_rejected_retry(device->store, 9, NULL, NULL), DUNLIN_NOT_FOUND);
    OK(dunlin_rejected_discard(device->store, 2, NULL));
    dunlin_rollback(device->store);
    assert_int_equal(device_rejected(device), 2);
    OK(dunlin_begin(device->store, NULL));
    OK(dunlin_rejected_retry(device->store, 1, NULL, NULL));
    OK(dunlin_commit(device->store, NULL));
    assert_int_equal(device_rejected(device), 1);
    assert_int_equal(device_pending(device), 1);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dead_letter_says_what_was_refused),
        cmocka_unit_test(the_listing_goes_both_ways_from_tokens),
        cmocka_unit_test(a_retry_makes_the_change_anew),
        cmocka_unit_test(a_retry_of_an_edit_needs_the_record),
        cmocka_unit_test(a_callback_stops_the_export),
        cmocka_unit_test(deciding_belongs_to_the_apps_transaction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
