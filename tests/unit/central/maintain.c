/* Compaction, expiry of tombstones, the lease. */
/* ctest: engines */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "central/lease.h"
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

/* Compaction */

static void superseded_version_stays_for_the_grace(void **state) {
    (void)state;
    assert_int_equal(PUSH("list/l1", "deleted", "false"), DUNLIN_OK);
    shared_pass_days(&shared, 7); /* its own age does not matter, but its successor's */
    assert_int_equal(PUSH("list/l1", "name", "n"), DUNLIN_OK);
    shared_pass(&shared, SHARED_DAY_MS - 1);
    assert_int_equal(shared_maintain(&shared).superseded, 0);
    assert_true(shared_stands(&shared, AOI, 1));
    shared_pass(&shared, 1);
    assert_int_equal(shared_maintain(&shared).superseded, 1);
    assert_false(shared_stands(&shared, AOI, 1));
    assert_true(shared_stands(&shared, AOI, 2));
    assert_int_equal(shared_floor(&shared, AOI), 0);
    assert_string_equal(shared_value(&shared, AOI, "list/l1", "deleted"), "false");
    assert_int_equal(shared_maintain(&shared).superseded, 0);
}

static void chain_of_versions_leaves_the_newest(void **state) {
    (void)state;
    shared_needs_speed();
    char name[8];
    for (int i = 0; i < 700; i++) { /* more than a batch of the same key */
        (void)snprintf(name, sizeof(name), "n%03d", i);
        shared_pass(&shared, 1);
        assert_int_equal(PUSH("list/l1", "deleted", "false", "name", name), DUNLIN_OK);
    }
    shared_pass(&shared, 350);
    shared_pass_days(&shared, 1);
    shared_pass(&shared, -700);
    (void)shared_maintain(&shared);
    assert_true(shared_versions(&shared, AOI) > 300); /* half of them are younger */
    assert_true(shared_versions(&shared, AOI) < 400);
    shared_pass_days(&shared, 2);
    (void)shared_maintain(&shared);
    assert_int_equal(shared_versions(&shared, AOI), 1);
    assert_true(shared_stands(&shared, AOI, 700));
}

static void grace_can_be_longer_but_not_shorter(void **state) {
    (void)state;
    dunlin_central_options options = DUNLIN_CENTRAL_OPTIONS_INIT;
    dunlin_central *central = NULL;
    options.grace_ms = SHARED_DAY_MS - 1;
    assert_int_equal(dunlin_central_open(&central, "sqlite::memory:", &options, NULL),
                     DUNLIN_MISUSE);
    shared.options.grace_ms = 3 * SHARED_DAY_MS;
    shared_reopen(&shared);
    assert_int_equal(PUSH("list/l1", "deleted", "false"), DUNLIN_OK);
    shared_pass(&shared, 1);
    assert_int_equal(PUSH("list/l1", "name", "n"), DUNLIN_OK);
    shared_pass_days(&shared, 2);
    assert_int_equal(shared_maintain(&shared).superseded, 0);
    shared_pass_days(&shared, 1);
    assert_int_equal(shared_maintain(&shared).superseded, 1);
}

/* Tombstones */

static void tombstone_expires_at_the_horizon(void **state) {
    (void)state;
    assert_int_equal(PUSH("follow/user/ben", "present", "true"), DUNLIN_OK);
    shared_pass(&shared, 1);
    assert_int_equal(PUSH("follow/user/ben", "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("follow/user/dai", "present", "true"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    shared_pass(&shared, -1);
    assert_int_equal(shared_maintain(&shared).expired, 0);
    assert_int_equal(shared_floor(&shared, AOI), 0);
    shared_pass(&shared, 1);
    assert_int_equal(shared_maintain(&shared).expired, 1);
    assert_int_equal(shared_floor(&shared, AOI), 2);
    assert_int_equal(shared_stored(&shared, AOI, "follow/user/ben")->place.seq, 0);
    assert_int_equal(shared_versions(&shared, AOI), 1);
}

static void newest_entry_of_a_scope_never_goes(void **state) {
    (void)state;
    assert_int_equal(PUSH("follow/user/ben", "present", "true"), DUNLIN_OK);
    shared_pass(&shared, 1);
    assert_int_equal(PUSH("follow/user/ben", "present", "false"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS + 1);
    assert_int_equal(shared_maintain(&shared).expired, 0);
    assert_true(shared_stands(&shared, AOI, 2));
    assert_int_equal(shared_floor(&shared, AOI), 0);
    assert_int_equal(PUSH("follow/user/dai", "present", "true"), DUNLIN_OK);
    assert_int_equal(shared_maintain(&shared).expired, 1);
    assert_int_equal(shared_last(&shared, AOI), 3);
}

static void group_tombstones_never_expire(void **state) {
    (void)state;
    dln_stamp stamp = shared_stamp(&shared, 0);
    assert_int_equal(SHARED_PUSH(&shared, "aoi", "group/tea", "group", stamp, "deleted", "false",
                                 "owner", "aoi"),
                     DUNLIN_OK);
    assert_int_equal(
        SHARED_PUSH(&shared, "aoi", "group/tea", "member/ben", stamp, "present", "false"),
        DUNLIN_OK);
    assert_int_equal(
        SHARED_PUSH(&shared, "aoi", "group/tea", "group", stamp + 1, "deleted", "true"), DUNLIN_OK);
    assert_int_equal(
        SHARED_PUSH(&shared, "aoi", "group/tea", "member/dai", stamp, "present", "false"),
        DUNLIN_OK);
    shared_pass_days(&shared, 10 * 365);
    assert_int_equal(shared_maintain(&shared).expired, 1); /* ben's; dai's is the newest entry */
    assert_string_equal(shared_value(&shared, "group/tea", "group", "deleted"), "true");
    assert_int_equal(SHARED_PUSH(&shared, "emi", "group/tea", "group", shared_stamp(&shared, 0),
                                 "deleted", "false", "owner", "emi"),
                     DUNLIN_NOT_ALLOWED);
}

static void unknown_collections_have_tombstones_too(void **state) {
    (void)state;
    assert_int_equal(PUSH("hologram/h1", "present", "false", "hue", "red"), DUNLIN_OK);
    assert_int_equal(PUSH("hologram/h2", "deleted", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("hologram/h3", "hue", "red"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l1", "deleted", "false"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    assert_int_equal(shared_maintain(&shared).expired, 2);
    assert_string_equal(shared_value(&shared, AOI, "hologram/h3", "hue"), "red");
}

static void revived_record_stays(void **state) {
    (void)state;
    assert_int_equal(PUSH("follow/user/ben", "present", "false"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    assert_int_equal(PUSH("follow/user/ben", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l1", "deleted", "false"), DUNLIN_OK);
    dunlin_maintenance done = shared_maintain(&shared);
    assert_int_equal(done.expired, 0);
    assert_string_equal(shared_value(&shared, AOI, "follow/user/ben", "present"), "true");
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

static void expiry_goes_in_its_order_wherever_it_is_cut(void **state) {
    (void)state;
    dunlin_maintenance done;
    assert_int_equal(PUSH("follow/user/ben", "present", "true"), DUNLIN_OK);
    shared_pass(&shared, 1);
    assert_int_equal(PUSH("follow/user/ben", "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("follow/user/dai", "present", "true"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    shared.central->engine.drop = cut_drop;
    shared.central->engine.raise_floor = cut_floor;
    for (int allowed = 0; allowed <= 3; allowed++) {
        order[0] = '\0';
        writes_left = allowed;
        dunlin_status status = dunlin_central_maintain(shared.central, &done, NULL);
        if (status == DUNLIN_OK) {
            break;
        }
        assert_int_equal(status, DUNLIN_IO);
        /* An older version never stands alone, a tombstone never goes above the floor. */
        assert_true(!shared_stands(&shared, AOI, 1) || shared_stands(&shared, AOI, 2));
        assert_true(shared_stands(&shared, AOI, 2) || shared_floor(&shared, AOI) == 2);
        assert_string_not_equal(shared_value(&shared, AOI, "follow/user/ben", "present"), "true");
        shared_pass(&shared, 2 * 60 * 1000); /* the lease of the round that died runs out */
    }
    assert_false(shared_stands(&shared, AOI, 1));
    assert_false(shared_stands(&shared, AOI, 2));
    order[0] = '\0';
}

static void expiry_order_in_one_round(void **state) {
    (void)state;
    assert_int_equal(PUSH("follow/user/ben", "present", "true"), DUNLIN_OK);
    shared_pass(&shared, 1);
    assert_int_equal(PUSH("follow/user/ben", "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("follow/user/dai", "present", "true"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    shared.central->engine.drop = cut_drop;
    shared.central->engine.raise_floor = cut_floor;
    order[0] = '\0';
    writes_left = 100;
    (void)shared_maintain(&shared);
    assert_string_equal(order, "1f2"); /* leftovers, floor, tombstone */
}

/* An old version that compaction left because the clock had jumped goes before its tombstone does.
 */
static void leftovers_go_whatever_their_clock_said(void **state) {
    (void)state;
    shared_pass_days(&shared, 400); /* a clock that is ahead for a while */
    assert_int_equal(PUSH("follow/user/ben", "present", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("follow/user/ben", "name", "x"), DUNLIN_OK);
    shared_pass_days(&shared, -400);
    assert_int_equal(SHARED_PUSH(&shared, "aoi", AOI, "follow/user/ben",
                                 shared_stored(&shared, AOI, "follow/user/ben")
                                         ->record.fields[DLN_FOLLOW_PRESENT]
                                         .stamp +
                                     1,
                                 "present", "false"),
                     DUNLIN_OK);
    assert_int_equal(PUSH("follow/user/dai", "present", "true"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    dunlin_maintenance done = shared_maintain(&shared);
    assert_int_equal(done.superseded, 2);
    assert_int_equal(done.expired, 1);
    assert_int_equal(shared_stored(&shared, AOI, "follow/user/ben")->place.seq, 0);
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

static void many_leftovers_take_more_than_one_round(void **state) {
    (void)state;
    push_many_versions("follow/user/ben");
    assert_int_equal(PUSH("follow/user/ben", "present", "false"), DUNLIN_OK);
    assert_int_equal(shared_last(&shared, AOI), 600); /* an older stamp */
    assert_int_equal(SHARED_PUSH(&shared, "aoi", AOI, "follow/user/ben", shared_stamp(&shared, 601),
                                 "present", "false"),
                     DUNLIN_OK);
    assert_int_equal(PUSH("follow/user/dai", "present", "true"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    assert_int_equal(shared_maintain(&shared).expired, 0);
    assert_true(shared_versions(&shared, AOI) > 2);
    assert_int_equal(shared_maintain(&shared).expired, 1);
    assert_int_equal(shared_versions(&shared, AOI), 1);
}

static void many_tombstones_expire_in_batches(void **state) {
    (void)state;
    char key[40];
    for (int request = 0; request < 2; request++) {
        shared_begin(&shared);
        for (int i = 0; i < 1000; i++) {
            (void)snprintf(key, sizeof(key), "follow/user/u%d-%d", request, i);
            (void)shared_record(&shared, AOI, key);
            shared_set(&shared, "present", shared_stamp(&shared, 0), "false");
        }
        shared_ask(&shared, AOI)->pull = false;
        shared_send(&shared, "aoi");
        assert_int_equal(shared.answer.ack_count, 1000);
    }
    assert_int_equal(PUSH("list/l1", "deleted", "false"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    assert_int_equal(shared_maintain(&shared).expired, 2000);
    assert_int_equal(shared_floor(&shared, AOI), 2000);
    assert_int_equal(shared_versions(&shared, AOI), 1);
}

/* The lease */

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

static void a_round_beside_another_does_nothing(void **state) {
    (void)state;
    struct dln_lease_hold hold;
    make_old_list();
    shared_pass_days(&shared, HORIZON_DAYS);
    assert_int_equal(dln_lease_take(shared.central, &hold, DLN_TEXT("maintain"), 60 * 1000, NULL),
                     DUNLIN_OK);
    assert_true(hold.number > 0);
    assert_int_equal(shared_maintain(&shared).purged, 0);
    assert_int_equal(dln_lease_release(shared.central, &hold, NULL), DUNLIN_OK);
    assert_int_equal(shared_maintain(&shared).purged, 3);
}

static void lease_is_lost_when_it_runs_out(void **state) {
    (void)state;
    struct dln_lease_hold first;
    struct dln_lease_hold second;
    assert_int_equal(dln_lease_take(shared.central, &first, DLN_TEXT("x"), 1000, NULL), DUNLIN_OK);
    assert_int_equal(first.number, 1);
    assert_int_equal(dln_lease_take(shared.central, &second, DLN_TEXT("x"), 1000, NULL), DUNLIN_OK);
    assert_int_equal(second.number, 0);
    shared_pass(&shared, 600);
    assert_int_equal(dln_lease_renew(shared.central, &first, NULL), DUNLIN_OK);
    shared_pass(&shared, 600);
    assert_int_equal(dln_lease_take(shared.central, &second, DLN_TEXT("x"), 1000, NULL), DUNLIN_OK);
    assert_int_equal(second.number, 0); /* prolonged */
    shared_pass(&shared, 600);
    assert_int_equal(dln_lease_take(shared.central, &second, DLN_TEXT("x"), 1000, NULL), DUNLIN_OK);
    assert_int_equal(second.number, 2);
    assert_int_equal(dln_lease_renew(shared.central, &first, NULL), DUNLIN_OK);
    assert_int_equal(first.number, 0);
    assert_int_equal(dln_lease_renew(shared.central, &second, NULL), DUNLIN_OK);
    assert_int_equal(second.number, 2);
}

/* What the first look at the lease shows: one that was removed since. */
static int stale_looks;

static dunlin_status stale_lease(void *self, struct dln_arena *arena, struct dln_text name,
                                 struct dln_lease *out, dunlin_error *err) {
    if (stale_looks-- > 0) {
        *out = (struct dln_lease){0};
        return DUNLIN_OK;
    }
    return inner.lease(self, arena, name, out, err);
}

static void slow_taker_does_not_hold_a_number_that_was_removed(void **state) {
    (void)state;
    struct dln_lease_hold hold;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(dln_lease_take(shared.central, &hold, DLN_TEXT("x"), 1000, NULL),
                         DUNLIN_OK);
        assert_int_equal(hold.number, i + 1);
        shared_pass(&shared, i < 2 ? 2000 : 0);
    }
    shared.central->engine.lease = stale_lease;
    stale_looks = 1;
    assert_int_equal(dln_lease_take(shared.central, &hold, DLN_TEXT("x"), 1000, NULL), DUNLIN_OK);
    assert_int_equal(hold.number, 0);
}

static dunlin_status floor_that_takes_long(void *self, struct dln_text scope,
                                           struct dln_cursor *out, dunlin_error *err) {
    shared_pass(&shared, 2 * 60 * 1000);
    return inner.last(self, scope, out, err);
}

static void floor_is_not_raised_without_the_lease(void **state) {
    (void)state;
    make_old_list();
    assert_int_equal(PUSH("follow/user/ben", "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l0", "name", "n"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    shared.central->engine.last = floor_that_takes_long;
    dunlin_maintenance done = shared_maintain(&shared);
    assert_int_equal(done.expired + done.purged, 0);
    assert_int_equal(shared_floor(&shared, AOI), 0);
    assert_true(shared_stands(&shared, AOI, 7) && shared_stands(&shared, AOI, 9));
}

static void no_tombstone_goes_without_the_lease(void **state) {
    (void)state;
    assert_int_equal(PUSH("follow/user/ben", "present", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("follow/user/dai", "present", "true"), DUNLIN_OK);
    shared_pass_days(&shared, HORIZON_DAYS);
    shared.central->engine.last = floor_that_takes_long;
    assert_int_equal(shared_maintain(&shared).expired, 0);
    assert_int_equal(shared_floor(&shared, AOI), 0);
    assert_true(shared_stands(&shared, AOI, 1));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(superseded_version_stays_for_the_grace),
        TEST(chain_of_versions_leaves_the_newest),
        TEST(grace_can_be_longer_but_not_shorter),
        TEST(tombstone_expires_at_the_horizon),
        TEST(newest_entry_of_a_scope_never_goes),
        TEST(group_tombstones_never_expire),
        TEST(unknown_collections_have_tombstones_too),
        TEST(revived_record_stays),
        TEST(expiry_goes_in_its_order_wherever_it_is_cut),
        TEST(expiry_order_in_one_round),
        TEST(leftovers_go_whatever_their_clock_said),
        TEST(many_leftovers_take_more_than_one_round),
        TEST(many_tombstones_expire_in_batches),
        TEST(a_round_beside_another_does_nothing),
        TEST(lease_is_lost_when_it_runs_out),
        TEST(slow_taker_does_not_hold_a_number_that_was_removed),
        TEST(floor_is_not_raised_without_the_lease),
        TEST(no_tombstone_goes_without_the_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
