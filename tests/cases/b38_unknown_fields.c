/* B38: a device keeps what it does not know: fields of a newer version, items of unknown types, and
 * collections that it has never heard of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/sight.h"

static struct world world;

static int set_up(void **state) {
    (void)state;
    world_open(&world, 38, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

static struct dln_field field(struct dln_value value) {
    return (struct dln_field){dln_stamp_of_ms(world.now_ms), value};
}

static struct dln_field text(const char *bytes) {
    return field(dln_value_string(dln_text_of(bytes)));
}

static struct dln_record record(enum dln_collection_id id, const char *const *parts) {
    struct dln_record out = {.key = {.collection = dln_collection_by_id(id)}};
    out.key.name = dln_text_of(out.key.collection->name);
    out.key.scope = DLN_TEXT("user/aoi");
    for (; *parts != NULL; parts++) {
        out.key.parts[out.key.part_count++] = dln_text_of(*parts);
    }
    return out;
}

/* A newer client of aoi's paints l1, adds hologram/h1 to it, and has a collection of its own. */
static void newer_client_writes(struct device *device) {
    struct dln_extra colour = {DLN_TEXT("colour"), text("teal")};
    struct dln_record list = record(DLN_LIST, (const char *[]){"l1", NULL});
    list.extras = &colour;
    list.extra_count = 1;
    sight_push(device, &list);

    struct dln_extra more[] = {
        {DLN_TEXT("depth"), field(dln_value_real(1.5))},
        {DLN_TEXT("layers"), field(dln_value_integer(INT64_MIN))},
        {DLN_TEXT("mesh"), field(dln_value_json(DLN_TEXT("{\"a\": 1,\"b\":[2]}")))},
    };
    struct dln_record item = record(DLN_ITEM, (const char *[]){"l1", "hologram", "h1", NULL});
    item.fields[DLN_ITEM_PRESENT] = field(dln_value_bool(true));
    item.fields[DLN_ITEM_CREATED_AT] = field(dln_value_integer(world.now_ms));
    item.fields[DLN_ITEM_RANK] = text("azV");
    item.fields[DLN_ITEM_TITLE] = text("a hologram");
    item.extras = more;
    item.extra_count = 3;
    sight_push(device, &item);

    struct dln_extra shade = {DLN_TEXT("shade"), text("dark")};
    struct dln_record other = {.key = {.name = DLN_TEXT("theme"),
                                       .scope = DLN_TEXT("user/aoi"),
                                       .part_count = 1,
                                       .parts = {DLN_TEXT("t1")}},
                               .extras = &shade,
                               .extra_count = 1};
    sight_push(device, &other);
}

static struct device *old_device(void) {
    struct device *d1 = world_device(&world, "aoi", 0);
    OK(dunlin_list_create(d1->store, NULL, "l1", "old", NULL));
    OK(dunlin_list_create(d1->store, NULL, "l2", "other", NULL));
    OK(dunlin_list_add(d1->store, "l1", "video", "v1", NULL, NULL));
    OK(dunlin_list_add(d1->store, "l1", "video", "v2", NULL, NULL));
    device_sync_ok(d1);
    world.now_ms += 1000;
    newer_client_writes(d1);
    world.now_ms += 1000;
    return d1;
}

static void assert_has_all(const char *line, const char *const *parts) {
    for (; *parts != NULL; parts++) {
        if (sight_count(line, *parts) != 1) {
            fail_msg("%s is not in %s", *parts, line);
        }
    }
}

static const char *const hologram[] = {"\"depth\":[",  "{\"r\":1.5}",
                                       "\"layers\":[", "{\"i\":\"-9223372036854775808\"}",
                                       "\"mesh\":[",   "{\"j\":\"{\\\"a\\\": 1,\\\"b\\\":[2]}\"}",
                                       "a hologram",   NULL};

static void b38_rename_and_move_keep_unknown_fields(void **state) {
    (void)state;
    struct device *d1 = old_device();
    dunlin_item_place first = DUNLIN_ITEM_PLACE_INIT;
    dunlin_sync_result result;
    first.place = DUNLIN_PLACE_FIRST;
    OK(device_sync(d1, &result));
    assert_int_equal(result.pulled, 3);
    assert_int_equal(result.quarantined, 0);
    assert_string_equal(sight_lists(d1), "l1:old:3 l2:other:0"); /* h1 is counted … */
    assert_string_equal(sight_items(d1, "l1"), "video/v1 video/v2 hologram/h1"); /* … and listed */
    OK(dunlin_list_rename(d1->store, "l1", "new", NULL));
    OK(dunlin_list_move(d1->store, "l1", "video", "v2", &first, NULL));
    OK(dunlin_list_move(d1->store, "l1", "hologram", "h1", &first, NULL));
    OK(device_sync(d1, &result));
    assert_int_equal(result.pushed, 3);
    assert_int_equal(result.rejected, 0);
    assert_string_equal(sight_items(d1, "l1"), "hologram/h1 video/v2 video/v1");
    assert_has_all(sight_central_line(d1, "\"list\"", "\"l1\"]"),
                   (const char *[]){"\"new\"", "\"colour\":[", "\"teal\"", NULL});
    assert_has_all(sight_central_line(d1, "\"hologram\"", "h1"), hologram);
    assert_has_all(sight_central_line(d1, "\"theme\"", "t1"),
                   (const char *[]){"\"shade\":[", "\"dark\"", NULL});
    sight_agree(&d1, 1);
    OK(device_sync(d1, &result)); /* the cursor has passed */
    assert_int_equal(result.pulled, 0);
}

static void b38_moved_to_another_list_it_takes_them_along(void **state) {
    (void)state;
    struct device *d1 = old_device();
    dunlin_item_place other = DUNLIN_ITEM_PLACE_INIT;
    other.to_list = "l2";
    device_sync_ok(d1);
    OK(dunlin_list_move(d1->store, "l1", "hologram", "h1", &other, NULL));
    device_sync_ok(d1);
    assert_string_equal(sight_items(d1, "l2"), "hologram/h1");
    assert_has_all(sight_central_line(d1, "\"hologram\"", "h1"), hologram);
    assert_string_not_equal(sight_central_line(d1, "\"l2\",\"hologram\"", "h1"), "");
    assert_int_equal(device_rejected(d1), 0);
    sight_agree(&d1, 1);
}

/* The list goes and comes back with all that its items had. */
static void b38_deleted_and_restored_with_unknown_fields(void **state) {
    (void)state;
    struct device *d1 = old_device();
    device_sync_ok(d1);
    OK(dunlin_list_delete(d1->store, "l1", NULL));
    device_sync_ok(d1);
    OK(dunlin_list_restore(d1->store, "l1", NULL));
    device_sync_ok(d1);
    assert_string_equal(sight_items(d1, "l1"), "video/v1 video/v2 hologram/h1");
    assert_has_all(sight_central_line(d1, "\"hologram\"", "h1"), hologram);
    assert_has_all(sight_central_line(d1, "\"list\"", "\"l1\"]"),
                   (const char *[]){"\"old\"", "\"colour\":[", "\"teal\"", NULL});
    sight_agree(&d1, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b38_rename_and_move_keep_unknown_fields),
        TEST(b38_moved_to_another_list_it_takes_them_along),
        TEST(b38_deleted_and_restored_with_unknown_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
