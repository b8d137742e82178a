/* ctest: labels=long,no-sanitizer timeout=900 serial
 *
 * B39: 340,000 people subscribe to one star, a group has 340,000 members, a list 200,000 items. One
 * more of each, and a rename, succeed and write as much as they do in an empty world: a record
 * each, under 1 KB, and a few pages of the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "central/central.h"
#include "central/sqlite/database.h"
#include "tests/support/sight.h"
#include "tests/support/tap.h"

enum {
    PEOPLE = 340000,
    ITEMS = 200000,
    BATCH = 10000,
    RECORD_BYTES_MAX = 1024,
    REQUEST_BYTES_MAX = 4096,
    LIST_BYTES_MORE_MAX = 64,
    PAGES_MORE_MAX = 12 /* of the file, than in a small world: its trees are a little deeper */
};

static struct world world;

/* With the processor's seconds so far, which others on the machine do not change. */
static void say(const char *what) {
    print_message("%4lds  %s\n", (long)(clock() / CLOCKS_PER_SEC), what);
}

static int set_up(void **state) {
    (void)state;
    world_open(&world, 39, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

/* ---- what one edit costs */

struct cost {
    int64_t records; /* new versions in central's log */
    int64_t record_bytes;
    int pages; /* of central's file */
    size_t request_bytes;
    size_t answer_bytes;
};

static sqlite3 *central_file(void) {
    return ((struct dln_database *)world.central->engine.self)->db;
}

static int pages_written(void) {
    int pages = 0;
    int peak = 0;
    assert_int_equal(
        sqlite3_db_status(central_file(), SQLITE_DBSTATUS_CACHE_WRITE, &pages, &peak, 1),
        SQLITE_OK);
    return pages;
}

/* Syncs the device, which has one edit to send. */
static struct cost sync_one(struct device *device) {
    struct cost cost = {0};
    struct tap tap;
    dunlin_sync_result result;
    char sql[128];
    int64_t before = sight_central_number(&world, "SELECT count(*) FROM changes");
    world.now_ms += 1000; /* the time of insertion tells what is new */
    int64_t since_ms = world.now_ms;
    tap_init(&tap, &device->remote, NULL);
    (void)pages_written();
    OK(dunlin_sync(device->store, &tap.remote, &result, NULL));
    cost.pages = pages_written();
    assert_int_equal(result.pushed, 1);
    assert_int_equal(result.exchanges, 1);
    assert_int_equal(result.rejected, 0);
    cost.records = sight_central_number(&world, "SELECT count(*) FROM changes") - before;
    (void)snprintf(sql, sizeof(sql),
                   "SELECT max(length(key) + length(fields) + length(extras)) FROM changes"
                   " WHERE at >= %lld",
                   (long long)since_ms);
    cost.record_bytes = sight_central_number(&world, sql);
    cost.request_bytes = tap.bytes_last;
    cost.answer_bytes = result.bytes_received;
    tap_free(&tap);
    return cost;
}

static void assert_small(const char *what, const struct cost *cost, const struct cost *small) {
    print_message("       %s: %lld record of %lld bytes, %d pages (%d in a small world), request "
                  "%zu bytes, answer %zu bytes\n",
                  what, (long long)cost->records, (long long)cost->record_bytes, cost->pages,
                  small->pages, cost->request_bytes, cost->answer_bytes);
    assert_int_equal(cost->records, 1);
    assert_in_range(cost->record_bytes, 1, RECORD_BYTES_MAX);
    assert_true(cost->request_bytes < REQUEST_BYTES_MAX);
    assert_true(cost->answer_bytes < REQUEST_BYTES_MAX);
    assert_true(cost->pages <= small->pages + PAGES_MORE_MAX);
}

/* ---- central is filled below its rules, which is faster than as so many devices */

static void insert(const char *scope, int64_t last, enum dln_collection_id id,
                   const char *const *parts) {
    struct dln_central_engine *engine = &world.central->engine;
    struct dln_arena arena = DLN_ARENA_INIT(1 << 16);
    struct dln_record record = {.key = {.collection = dln_collection_by_id(id)}};
    const struct dln_hint hint = {last + 1, world.now_ms};
    size_t inserted = 0;
    record.key.name = dln_text_of(record.key.collection->name);
    record.key.scope = dln_text_of(scope);
    for (; *parts != NULL; parts++) {
        record.key.parts[record.key.part_count++] = dln_text_of(*parts);
    }
    record.fields[record.key.collection->existence] =
        (struct dln_field){dln_stamp_of_ms(world.now_ms), dln_value_bool(true)};
    const struct dln_entry entry = {(uint32_t)last + 1, dln_central_key_text(&arena, &record.key),
                                    &record};
    OK(engine->raise_hint(engine->self, record.key.scope, &hint, NULL));
    OK(engine->insert(engine->self, record.key.scope, last, &entry, 1, INT64_MAX, &inserted, NULL));
    assert_int_equal(inserted, 1);
    dln_arena_free(&arena);
}

static void begin_or_end(int i) {
    struct dln_central_engine *engine = &world.central->engine;
    if (i % BATCH == 0) {
        if (i > 0) {
            OK(engine->end(engine->self, true, NULL));
        }
        OK(engine->begin(engine->self, NULL));
    }
}

static void end(void) {
    OK(world.central->engine.end(world.central->engine.self, true, NULL));
}

/* ---- the star's followers */

static struct cost follow_star(const char *owner) {
    struct device *device = world_device(&world, owner, 0);
    OK(dunlin_follow(device->store, DUNLIN_USER, "star", NULL));
    struct cost cost = sync_one(device);
    assert_string_equal(sight_subscriptions(device), "star=!");
    return cost;
}

static void b39_followers_of_one_star(void **state) {
    (void)state;
    struct device *star = world_device(&world, "star", 0);
    dunlin_sync_result result;
    device_sync_ok(star);
    struct cost small = follow_star("first");
    for (int i = 0; i < PEOPLE; i++) {
        char scope[32];
        begin_or_end(i);
        (void)snprintf(scope, sizeof(scope), "user/owner%06d", i);
        insert(scope, 0, DLN_FOLLOW, (const char *[]){"user", "star", NULL});
    }
    end();
    say("340,000 people follow the star");
    struct cost one_more = follow_star("newest");
    assert_small("one more follower", &one_more, &small);
    assert_int_equal(
        sight_central_number(&world, "SELECT count(*) FROM changes WHERE key = 'follow/user/star'"),
        PEOPLE + 2);
    assert_int_equal(sight_central_number(&world, "SELECT max(length(fields)) FROM changes") <
                         RECORD_BYTES_MAX,
                     1);
    OK(device_sync(star, &result)); /* nothing of it is the star's */
    assert_int_equal(result.pulled, 0);
    assert_true(result.bytes_received < REQUEST_BYTES_MAX);
    assert_int_equal(sight_versions(&world, "user/star", NULL), 0);
}

/* ---- a group's members */

static void b39_members_of_one_group(void **state) {
    (void)state;
    struct device *owner = world_device(&world, "star", 0);
    dunlin_store_status status = {0};
    OK(dunlin_group_create(owner->store, "fans", NULL, DUNLIN_JOIN_OPEN, NULL));
    device_sync_ok(owner);
    OK(dunlin_group_add(owner->store, "fans", "first", DUNLIN_ROLE_MEMBER, NULL));
    struct cost small = sync_one(owner);
    for (int i = 0; i < PEOPLE; i++) {
        char user[32];
        begin_or_end(i);
        (void)snprintf(user, sizeof(user), "user%06d", i);
        insert("group/fans", i + 2, DLN_MEMBER, (const char *[]){user, NULL});
    }
    end();
    say("340,000 members are in the group");
    OK(dunlin_follow(owner->store, DUNLIN_GROUP, "fans", NULL));
    device_sync_ok(owner);
    OK(dunlin_store_get_status(owner->store, &status, NULL));
    assert_int_equal(status.subscriptions, PEOPLE + 1);
    say("340,001 subscriptions are on a device");
    OK(dunlin_group_add(owner->store, "fans", "newest", DUNLIN_ROLE_MEMBER, NULL));
    struct cost one_more = sync_one(owner);
    assert_small("one more member", &one_more, &small);
    OK(dunlin_store_get_status(owner->store, &status, NULL));
    assert_int_equal(status.subscriptions, PEOPLE + 2);
}

/* ---- a list's items */

static void add_item(struct device *device, int number) {
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    char id[32];
    (void)snprintf(id, sizeof(id), "video%06d", number);
    options.title = "a title of some thirty bytes";
    OK(dunlin_list_add(device->store, "l1", "video", id, &options, NULL));
}

static void b39_items_of_one_list(void **state) {
    (void)state;
    struct device *d1 = world_device(&world, "aoi", 0);
    dunlin_store_status status = {0};
    OK(dunlin_list_create(d1->store, NULL, "l1", "list", NULL));
    device_sync_ok(d1);
    add_item(d1, ITEMS);
    struct cost small = sync_one(d1);
    OK(dunlin_list_rename(d1->store, "l1", "renamed", NULL));
    struct cost small_rename = sync_one(d1);
    for (int i = 0; i < ITEMS; i += BATCH) {
        OK(dunlin_begin(d1->store, NULL));
        for (int k = i; k < i + BATCH; k++) {
            add_item(d1, k);
        }
        OK(dunlin_commit(d1->store, NULL));
    }
    say("200,000 items are in the list");
    device_sync_ok(d1);
    say("and at central");
    add_item(d1, ITEMS + 1);
    struct cost one_more = sync_one(d1);
    assert_small("one more item", &one_more, &small);
    OK(dunlin_list_rename(d1->store, "l1", "all of it", NULL));
    struct cost rename = sync_one(d1);
    assert_small("the list's rename", &rename, &small_rename);
    assert_true(rename.record_bytes < small_rename.record_bytes + LIST_BYTES_MORE_MAX);
    OK(dunlin_store_get_status(d1->store, &status, NULL));
    assert_int_equal(status.items, ITEMS + 2);
    assert_int_equal(status.pending, 0);
    assert_string_equal(sight_lists(d1), "l1:all of it:200002");
    assert_int_equal(
        sight_central_number(
            &world, "SELECT max(length(key) + length(fields) + length(extras)) FROM changes") <
            RECORD_BYTES_MAX,
        1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b39_followers_of_one_star),
        TEST(b39_members_of_one_group),
        TEST(b39_items_of_one_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
