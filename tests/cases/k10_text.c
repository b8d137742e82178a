/* K10: text on the way through C, SQLite and JSON. B43, B45, B46; B47, numbers, is next door. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/sight.h"
#include "tests/support/tap.h"

static struct world world;

static int set_up(void **state) {
    (void)state;
    world_open(&world, 43, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

static void sync_twice(struct device *d1, struct device *d2) {
    for (int i = 0; i < 2; i++) {
        device_sync_ok(d1);
        device_sync_ok(d2);
    }
}

/* ---- B43 */

#define MISSED "\xe8\xa6\x8b\xe9\x80\x83\xe3\x81\x97"
#define COMPOSED MISSED "\xe3\x83\x93\xe3\x83\x87\xe3\x82\xaa"
#define DECOMPOSED MISSED "\xe3\x83\x92\xe3\x82\x99\xe3\x83\x86\xe3\x82\x99\xe3\x82\xaa"
#define GA "\xe3\x82\xac"                  /* full width, composed */
#define HALF_GA "\xef\xbd\xb6\xef\xbe\x9e" /* half width, ka and the mark */
#define CAFE "caf\xc3\xa9"
#define CAFE_DECOMPOSED "cafe\xcc\x81"

static const char *named(struct device *device, const char *name) {
    dunlin_iter *iter = NULL;
    OK(dunlin_lists_named(device->store, &iter, name, NULL));
    return show_list_rows(iter);
}

static void b43_either_form_finds_either_list(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    struct device *both[] = {d1, d2};
    assert_int_equal(strlen(COMPOSED), 18);
    assert_int_equal(strlen(DECOMPOSED), 24);
    OK(dunlin_list_create(d1->store, NULL, "l1", COMPOSED, NULL));
    device_sync_ok(d1);
    device_sync_ok(d2);
    OK(dunlin_list_create(d2->store, NULL, "l2", DECOMPOSED, NULL));
    sync_twice(d2, d1);
    for (int i = 0; i < 2; i++) {
        static const char expected[] = "l1:" COMPOSED ":0 l2:" DECOMPOSED ":0"; /* as typed */
        assert_string_equal(named(both[i], COMPOSED), expected);
        assert_string_equal(named(both[i], DECOMPOSED), expected);
        assert_string_equal(sight_lists(both[i]), expected);
    }
    sight_agree(both, 2);
}

static void b43_widths_stay_different(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    OK(dunlin_list_create(d1->store, NULL, "l1", GA, NULL));
    assert_string_equal(named(d1, HALF_GA), "");
    OK(dunlin_list_create(d1->store, NULL, "l2", HALF_GA, NULL));
    assert_string_equal(named(d1, HALF_GA), "l2:" HALF_GA ":0");
    assert_string_equal(named(d1, GA), "l1:" GA ":0");
    assert_string_equal(named(d1, "\xe3\x82\xab\xe3\x82\x99"), "l1:" GA ":0");
}

static void b43_ids_are_bytes(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    OK(dunlin_follow(d1->store, DUNLIN_USER, CAFE, NULL));
    OK(dunlin_follow(d2->store, DUNLIN_USER, CAFE_DECOMPOSED, NULL));
    OK(dunlin_list_create(d1->store, NULL, CAFE, "one", NULL));
    OK(dunlin_list_create(d1->store, NULL, CAFE_DECOMPOSED, "other", NULL));
    OK(dunlin_list_add(d1->store, CAFE, CAFE, CAFE, NULL, NULL));
    OK(dunlin_list_add(d1->store, CAFE, CAFE, CAFE_DECOMPOSED, NULL, NULL));
    sync_twice(d1, d2);
    assert_string_equal(sight_subscriptions(d1), CAFE_DECOMPOSED "=! " CAFE "=!");
    assert_string_equal(sight_lists(d2), CAFE ":one:2 " CAFE_DECOMPOSED ":other:0");
    OK(dunlin_unfollow(d2->store, DUNLIN_USER, CAFE, NULL));
    sync_twice(d2, d1);
    assert_string_equal(sight_subscriptions(d1), CAFE_DECOMPOSED "=!");
    sight_agree((struct device *[]){d1, d2}, 2);
}

/* ---- B45 */

/* man, joiner, woman, joiner, girl, joiner, boy: 25 bytes */
#define FAMILY                                                                                     \
    "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7\xe2\x80\x8d"         \
    "\xf0\x9f\x91\xa6"

static void b45_never_shortened(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    char name[DUNLIN_NAME_MAX + 64] = "";
    assert_int_equal(strlen(FAMILY FAMILY FAMILY), 75);
    OK(dunlin_list_create(d1->store, NULL, "l1", FAMILY FAMILY FAMILY, NULL));
    /* The limit falls inside a code point. */
    for (size_t len = 0; len + 25 <= DUNLIN_NAME_MAX + 25; len += 25) {
        memcpy(name + len, FAMILY, 26);
    }
    assert_true(strlen(name) > DUNLIN_NAME_MAX);
    REFUSED("TOO_LONG", dunlin_list_create(d1->store, NULL, "l2", name, NULL));
    REFUSED("TOO_LONG", dunlin_list_rename(d1->store, "l1", name, NULL));
    assert_int_equal(device_pending(d1), 1);
    device_sync_ok(d1);
    device_sync_ok(d2);
    assert_string_equal(sight_lists(d2), "l1:" FAMILY FAMILY FAMILY ":0");
    name[DUNLIN_NAME_MAX - DUNLIN_NAME_MAX % 25] = '\0';
    OK(dunlin_list_rename(d2->store, "l1", name, NULL));
    sync_twice(d2, d1);
    assert_int_equal(sight_count(sight_lists(d1), FAMILY), DUNLIN_NAME_MAX / 25);
    sight_agree((struct device *[]){d1, d2}, 2);
}

static void b45_broken_text_is_refused_here(void **state) {
    static const char *const broken[] = {"\xf0\x9f\x91", "\xc0\x80", "\xed\xa0\x80",
                                         "a\xf0\x9f\x91z", "\xff"};
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    OK(dunlin_list_create(d1->store, NULL, "l1", "list", NULL));
    OK(dunlin_list_add(d1->store, "l1", "video", "v1", NULL, NULL));
    device_sync_ok(d1);
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        dunlin_item_options title = DUNLIN_ITEM_OPTIONS_INIT;
        dunlin_item_options data = DUNLIN_ITEM_OPTIONS_INIT;
        char json[16];
        (void)snprintf(json, sizeof(json), "\"%s\"", broken[i]);
        title.title = broken[i];
        data.data = json;
        dunlin_store *store = d1->store;
        REFUSED("INVALID_TEXT", dunlin_list_create(store, NULL, "l2", broken[i], NULL));
        REFUSED("INVALID_TEXT", dunlin_list_rename(store, "l1", broken[i], NULL));
        REFUSED("INVALID_TEXT", dunlin_list_add(store, "l1", "video", "v2", &title, NULL));
        REFUSED("INVALID_TEXT", dunlin_list_add(store, "l1", "video", "v2", &data, NULL));
        REFUSED("INVALID_TEXT", dunlin_item_set(store, "l1", "video", "v1", &title, NULL));
        REFUSED("INVALID_TEXT", dunlin_list_add(store, "l1", "video", broken[i], NULL, NULL));
        REFUSED("INVALID_TEXT", dunlin_follow(store, DUNLIN_USER, broken[i], NULL));
        REFUSED("INVALID_TEXT",
                dunlin_group_create(store, broken[i], NULL, DUNLIN_JOIN_OPEN, NULL));
    }
    assert_int_equal(device_pending(d1), 0);
    assert_string_equal(sight_items(d1, "l1"), "video/v1");
}

static void b45_lone_surrogate_is_quarantined(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    dunlin_sync_result result;
    struct tap tap;
    tap_init(&tap, &d2->remote, NULL);
    tap.replace = "half of it";
    tap.with = "\\ud83d";
    OK(dunlin_list_create(d1->store, NULL, "l1", FAMILY, NULL));
    OK(dunlin_list_create(d1->store, NULL, "l2", "half of it", NULL));
    OK(dunlin_list_create(d1->store, NULL, "l3", "third", NULL));
    device_sync_ok(d1);
    OK(dunlin_sync(d2->store, &tap.remote, &result, NULL));
    assert_int_equal(result.quarantined, 1);
    assert_int_equal(result.pulled, 2);
    assert_string_equal(sight_lists(d2), "l1:" FAMILY ":0 l3:third:0");
    OK(dunlin_sync(d2->store, &tap.remote, &result, NULL)); /* the cursor has passed */
    assert_int_equal(result.quarantined, 0);
    assert_int_equal(result.pulled, 0);
    tap_free(&tap);
}

/* ---- B46 */

static const char *const items[] = {"a", "a.b", "$set", "__proto__"};

static void assert_items(struct device *device, const char *expected, const char *data_of_a) {
    const dunlin_item *row = NULL;
    dunlin_iter *iter = NULL;
    assert_string_equal(sight_items(device, "$list.x"), expected);
    OK(dunlin_item_get(device->store, &iter, "$list.x", "$type", "a", NULL));
    OK(dunlin_items_next(iter, &row, NULL));
    assert_non_null(row);
    assert_string_equal(row->data, data_of_a);
    dunlin_iter_free(iter);
}

static void b46_items_with_dots_and_dollars(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    OK(dunlin_list_create(d1->store, NULL, "$list.x", "$name.of.it", NULL));
    options.data = "{\"$set\":{\"a.b\":1},\"__proto__\":2}";
    for (int i = 0; i < 4; i++) {
        OK(dunlin_list_add(d1->store, "$list.x", "$type", items[i], &options, NULL));
    }
    REFUSED("INVALID_ID", dunlin_list_add(d1->store, "$list.x", "$type", "", NULL, NULL));
    REFUSED("INVALID_ID", dunlin_list_add(d1->store, "$list.x", "", "a", NULL, NULL));
    REFUSED("INVALID_ID", dunlin_list_create(d1->store, NULL, "", "name", NULL));
    assert_int_equal(device_pending(d1), 5);
    sync_twice(d1, d2);
    assert_items(d2, "$type/a $type/a.b $type/$set $type/__proto__", options.data);
    dunlin_item_options other = DUNLIN_ITEM_OPTIONS_INIT;
    other.data = "\"other\"";
    OK(dunlin_item_set(d2->store, "$list.x", "$type", "a.b", &other, NULL));
    OK(dunlin_item_set(d2->store, "$list.x", "$type", "$set", &other, NULL));
    sync_twice(d2, d1);
    assert_items(d1, "$type/a $type/a.b $type/$set $type/__proto__", options.data);
    assert_int_equal(sight_count(sight_central_line(d1, "\"item\"", "\"a.b\"]"), "other"), 1);
    OK(dunlin_list_remove(d1->store, "$list.x", "$type", "a.b", NULL));
    OK(dunlin_list_remove(d1->store, "$list.x", "$type", "__proto__", NULL));
    sync_twice(d1, d2);
    assert_items(d2, "$type/a $type/$set", options.data);
    assert_string_equal(sight_lists(d2), "$list.x:$name.of.it:2");
    sight_agree((struct device *[]){d1, d2}, 2);
}

static void b46_groups_and_users_with_dots_and_dollars(void **state) {
    (void)state;
    struct device *owner = world_device(&world, "star.$x", 0);
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    OK(dunlin_group_create(owner->store, "tea.v2", "$tea", DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_group_add(owner->store, "tea.v2", "$ben", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_group_add(owner->store, "tea.v2", "a.b", DUNLIN_ROLE_ADMIN, NULL));
    REFUSED("INVALID_ID", dunlin_group_add(owner->store, "tea.v2", "", DUNLIN_ROLE_MEMBER, NULL));
    REFUSED("INVALID_ID", dunlin_group_create(owner->store, "", NULL, DUNLIN_JOIN_OPEN, NULL));
    device_sync_ok(owner);
    OK(dunlin_follow(d1->store, DUNLIN_GROUP, "tea.v2", NULL));
    OK(dunlin_follow(d1->store, DUNLIN_USER, "$ben", NULL));
    OK(dunlin_follow(d1->store, DUNLIN_USER, "a", NULL));
    REFUSED("INVALID_ID", dunlin_follow(d1->store, DUNLIN_USER, "", NULL));
    sync_twice(d1, d2);
    assert_string_equal(sight_subscriptions(d2), "$ben=!,tea.v2 a=! a.b=tea.v2");
    assert_int_equal(sight_central_number(&world, "SELECT count(*) FROM changes"
                                                  " WHERE key = 'member/a.b'"),
                     1);
    assert_int_equal(sight_central_number(&world, "SELECT count(*) FROM scopes"
                                                  " WHERE name = 'group/tea'"),
                     0);
    OK(dunlin_group_remove(owner->store, "tea.v2", "a.b", NULL));
    device_sync_ok(owner);
    OK(dunlin_unfollow(d2->store, DUNLIN_USER, "$ben", NULL));
    sync_twice(d2, d1);
    assert_string_equal(sight_subscriptions(d1), "$ben=tea.v2 a=!");
    sight_agree((struct device *[]){d1, d2}, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b43_either_form_finds_either_list),
        TEST(b43_widths_stay_different),
        TEST(b43_ids_are_bytes),
        TEST(b45_never_shortened),
        TEST(b45_broken_text_is_refused_here),
        TEST(b45_lone_surrogate_is_quarantined),
        TEST(b46_items_with_dots_and_dollars),
        TEST(b46_groups_and_users_with_dots_and_dollars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
