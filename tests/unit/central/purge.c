/* Purging deleted lists, wherever a round is cut off. */
/* ctest: engines */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/shared_side.h"

#define AOI "user/aoi"
#define PUSH(key, ...) SHARED_PUSH(&shared, "aoi", AOI, key, shared_stamp(&shared, 0), __VA_ARGS__)
#define HORIZON_DAYS 90

static struct shared shared;
static struct dln_central_engine inner;

static int set_up(void **state) {
    (void)state;
    shared_open(&shared, NULL);
    inner = shared.central->engine;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    shared_close(&shared);
    return 0;
}

/* The order of the writes, with the round cut off behind each of them. */

static int writes_left;
static char order[64];

static dunlin_status allow_write(char what, dunlin_error *err) {
    size_t len = strlen(order);
    if (writes_left-- <= 0) {
        return dln_fail(err, DUNLIN_IO, DUNLIN_DOMAIN_CENTRAL, "cut off");
    }
    assert_true(len + 1 < sizeof(order));
    order[len] = what;
    order[len + 1] = '\0';
    return DUNLIN_OK;
}

static dunlin_status cut_drop(void *self, struct dln_text scope, const int64_t *seqs, size_t count,
                              dunlin_error *err) {
    dunlin_status status = allow_write((char)('0' + (int)seqs[0]), err);
    return status ? status : inner.drop(self, scope, seqs, count, err);
}

static dunlin_status cut_floor(void *self, struct dln_text scope, int64_t floor,
                               dunlin_error *err) {
    dunlin_status status = allow_write('f', err);
    return status ? status : inner.raise_floor(self, scope, floor, err);
}

/* More versions than a round remembers, all of a clock that was ahead. */
static void push_many_versions(const char *key) {
    dln_stamp stamp = shared_stamp(&shared, 0);
    shared_needs_speed();
    shared_pass_days(&shared, 400);
    for (int i = 1; i <= 600; i++) {
        assert_int_equal(
            SHARED_PUSH(&shared, "aoi", AOI, key, stamp + (dln_stamp)i, "present", "true"),
            DUNLIN_OK);
    }
    shared_pass_days(&shared, -400);
}

static void purge_takes_all_leftovers(void **state) {
    (void)state;
    assert_int_equal(PUSH("list/l1", "deleted", "false"), DUNLIN_OK);
    push_many_versions("item/l1/video/v1");
    assert_int_equal(SHARED_PUSH(&shared, "aoi", AOI, "item/l1/video/v1",
                                 shared_stamp(&shared, 601), "present", "true"),
                     DUNLIN_OK);
    assert_int_equal(PUSH("list/l1", "deleted", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l0", "deleted", "false"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    assert_int_equal(shared_maintain(&shared).purged, 2);
    assert_int_equal(shared_versions(&shared, AOI), 1);
}

static void make_old_list(void) {
    assert_int_equal(PUSH("list/l1", "deleted", "false"), DUNLIN_OK);          /* 1 */
    assert_int_equal(PUSH("item/l1/video/v1", "present", "true"), DUNLIN_OK);  /* 2 */
    assert_int_equal(PUSH("item/l1/video/v2", "present", "true"), DUNLIN_OK);  /* 3 */
    assert_int_equal(PUSH("list/l12", "deleted", "false"), DUNLIN_OK);         /* 4 */
    assert_int_equal(PUSH("item/l12/video/v1", "present", "true"), DUNLIN_OK); /* 5 */
    shared_pass(&shared, 1);
    assert_int_equal(PUSH("item/l1/video/v2", "title", "t"), DUNLIN_OK); /* 6 */
    assert_int_equal(PUSH("list/l1", "deleted", "true"), DUNLIN_OK);     /* 7 */
    assert_int_equal(PUSH("list/l0", "deleted", "false"), DUNLIN_OK);    /* 8 */
}

static void list_is_purged_with_its_items(void **state) {
    (void)state;
    make_old_list();
    shared_pass_days(&shared, HORIZON_DAYS);
    dunlin_maintenance done = shared_maintain(&shared);
    assert_int_equal(done.purged, 3);
    assert_int_equal(done.expired, 0);
    assert_int_equal(done.superseded, 2);
    assert_int_equal(shared_floor(&shared, AOI), 7);
    assert_int_equal(shared_versions(&shared, AOI), 3); /* l12, its item, l0 */
    assert_true(shared_stands(&shared, AOI, 4) && shared_stands(&shared, AOI, 5) &&
                shared_stands(&shared, AOI, 8));
}

static void list_waits_for_its_youngest_item(void **state) {
    (void)state;
    make_old_list();
    shared_pass_days(&shared, HORIZON_DAYS - 1);
    assert_int_equal(PUSH("item/l1/video/v1", "title", "late"), DUNLIN_OK); /* 9 */
    assert_int_equal(PUSH("list/l0", "name", "n"), DUNLIN_OK);              /* 10 */
    shared_pass_days(&shared, 2);
    assert_int_equal(shared_maintain(&shared).purged, 0);
    assert_true(shared_stands(&shared, AOI, 7) && shared_stands(&shared, AOI, 9));
    shared_pass_days(&shared, HORIZON_DAYS - 1);
    assert_int_equal(shared_maintain(&shared).purged, 3);
    assert_int_equal(shared_floor(&shared, AOI), 9);
}

static void list_waits_while_it_is_the_newest_entry(void **state) {
    (void)state;
    assert_int_equal(PUSH("list/l1", "deleted", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/video/v1", "present", "true"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    assert_int_equal(shared_maintain(&shared).purged, 0);
    assert_int_equal(PUSH("list/l0", "deleted", "false"), DUNLIN_OK);
    assert_int_equal(shared_maintain(&shared).purged, 2);
}

static void item_tombstones_of_a_live_list_expire_alone(void **state) {
    (void)state;
    assert_int_equal(PUSH("list/l1", "deleted", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/video/v1", "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/video/v2", "present", "true"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    dunlin_maintenance done = shared_maintain(&shared);
    assert_int_equal(done.expired, 1);
    assert_int_equal(done.purged, 0);
    assert_true(shared_stands(&shared, AOI, 1) && shared_stands(&shared, AOI, 3));
}

static void purge_goes_in_its_order_wherever_it_is_cut(void **state) {
    (void)state;
    dunlin_maintenance done;
    dunlin_status status = DUNLIN_IO;
    int cuts = 0;
    make_old_list();
    shared_pass_days(&shared, HORIZON_DAYS);
    shared.central->engine.drop = cut_drop;
    shared.central->engine.raise_floor = cut_floor;
    for (int allowed = 0; status != DUNLIN_OK && allowed < 20; allowed++, cuts++) {
        order[0] = '\0';
        writes_left = allowed;
        status = dunlin_central_maintain(shared.central, &done, NULL);
        assert_true(shared_stands(&shared, AOI, 7) ||
                    (!shared_stands(&shared, AOI, 2) && !shared_stands(&shared, AOI, 3) &&
                     !shared_stands(&shared, AOI, 6))); /* no orphans */
        assert_true((shared_stands(&shared, AOI, 2) && shared_stands(&shared, AOI, 6)) ||
                    shared_floor(&shared, AOI) == 7);
        shared_pass(&shared, 2 * 60 * 1000);
    }
    assert_int_equal(status, DUNLIN_OK);
    assert_true(cuts > 2);
    assert_int_equal(shared_versions(&shared, AOI), 3);
}

static void restored_list_is_not_purged(void **state) {
    (void)state;
    make_old_list();
    shared_pass_days(&shared, HORIZON_DAYS);
    assert_int_equal(PUSH("list/l1", "deleted", "false"), DUNLIN_OK);
    assert_int_equal(shared_maintain(&shared).purged, 0);
    assert_string_equal(shared_value(&shared, AOI, "item/l1/video/v2", "title"), "t");
}

/* Somebody restores the list, and its items whole, just when the floor rises. */
static dunlin_status floor_and_restore(void *self, struct dln_text scope, int64_t floor,
                                       dunlin_error *err) {
    struct dln_arena kept = shared.central->attempt;
    shared.central->attempt = DLN_ARENA_INIT(1 << 20);
    shared.central->engine.raise_floor = inner.raise_floor;
    assert_int_equal(PUSH("list/l1", "deleted", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/video/v1", "present", "true", "title", "again"), DUNLIN_OK);
    dln_arena_free(&shared.central->attempt);
    shared.central->attempt = kept;
    return inner.raise_floor(self, scope, floor, err);
}

static void what_is_restored_meanwhile_stays(void **state) {
    (void)state;
    make_old_list();
    shared_pass_days(&shared, HORIZON_DAYS);
    shared.central->engine.raise_floor = floor_and_restore;
    (void)shared_maintain(&shared);
    assert_string_equal(shared_value(&shared, AOI, "list/l1", "deleted"), "false");
    assert_string_equal(shared_value(&shared, AOI, "item/l1/video/v1", "title"), "again");
    assert_int_equal(shared_stored(&shared, AOI, "item/l1/video/v2")->place.seq, 0);
}

static void encoded_ids_belong_to_their_own_list(void **state) {
    (void)state;
    assert_int_equal(PUSH("list/a", "deleted", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("list/a%2Fb", "deleted", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("item/a%2Fb/video/v1", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/a/b/v1", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l0", "deleted", "false"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    assert_int_equal(shared_maintain(&shared).purged, 2);
    assert_true(shared_stands(&shared, AOI, 3));
    assert_false(shared_stands(&shared, AOI, 4));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(purge_takes_all_leftovers),
        TEST(list_is_purged_with_its_items),
        TEST(list_waits_for_its_youngest_item),
        TEST(list_waits_while_it_is_the_newest_entry),
        TEST(item_tombstones_of_a_live_list_expire_alone),
        TEST(purge_goes_in_its_order_wherever_it_is_cut),
        TEST(restored_list_is_not_purged),
        TEST(what_is_restored_meanwhile_stays),
        TEST(encoded_ids_belong_to_their_own_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
