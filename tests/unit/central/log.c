/* The append loop: lost races, stalled writers, the order of the reads and writes. */
/* ctest: engines */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "central/log.h"
#include "tests/support/shared_side.h"

#define AOI "user/aoi"

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

static void push_list(const char *key, const char *name) {
    shared_begin(&shared);
    (void)shared_record(&shared, AOI, key);
    shared_set(&shared, "deleted", shared_stamp(&shared, 0), "false");
    shared_set(&shared, "name", shared_stamp(&shared, 0), name);
    shared_ask(&shared, AOI)->pull = false;
    shared_send(&shared, "aoi");
}

/* Somebody else appends between the reads and the insert. */

static int rivals;
static int inserts;

static void rival_appends(void) {
    char key[32];
    struct dln_record record = {.key = {.collection = dln_collection_by_id(DLN_LIST)}};
    record.key.name = DLN_TEXT("list");
    record.fields[DLN_LIST_DELETED] = (struct dln_field){1, dln_value_bool(false)};
    (void)snprintf(key, sizeof(key), "list/rival%d", rivals);
    struct dln_entry entry = {7, dln_text_of(key), &record};
    struct dln_cursor last;
    size_t inserted;
    assert_int_equal(inner.last(inner.self, DLN_TEXT(AOI), &last, NULL), DUNLIN_OK);
    assert_int_equal(
        inner.insert(inner.self, DLN_TEXT(AOI), last.seq, &entry, 1, INT64_MAX, &inserted, NULL),
        DUNLIN_OK);
    assert_int_equal(inserted, 1);
    rivals--;
}

static dunlin_status floor_and_rival(void *self, struct dln_text scope, int64_t *out,
                                     dunlin_error *err) {
    if (rivals > 0) {
        rival_appends();
    }
    return inner.floor(self, scope, out, err);
}

static dunlin_status counting_insert(void *self, struct dln_text scope, int64_t last,
                                     const struct dln_entry *entries, size_t count,
                                     int64_t deadline_ms, size_t *inserted, dunlin_error *err) {
    inserts++;
    return inner.insert(self, scope, last, entries, count, deadline_ms, inserted, err);
}

static void lost_race_starts_over(void **state) {
    (void)state;
    shared.central->engine.floor = floor_and_rival;
    shared.central->engine.insert = counting_insert;
    rivals = 2;
    inserts = 0;
    push_list("list/l1", "n");
    assert_int_equal(shared_ack(&shared, 0), 3);
    assert_int_equal(inserts, 3);
    assert_int_equal(shared_last(&shared, AOI), 3);
}

/* A key that a rival changed in between is merged with what he wrote, not over it. */
static dunlin_status floor_and_same_key(void *self, struct dln_text scope, int64_t *out,
                                        dunlin_error *err) {
    if (rivals > 0) {
        struct shared other = shared; /* the same file, another request */
        rivals = 0;
        other.arena = DLN_ARENA_INIT(1 << 20);
        other.central->engine.floor = inner.floor;
        struct dln_arena kept = other.central->arena;
        other.central->arena = DLN_ARENA_INIT(1 << 20);
        struct dln_arena attempt = other.central->attempt;
        other.central->attempt = DLN_ARENA_INIT(1 << 20);
        assert_int_equal(SHARED_PUSH(&other, "aoi", AOI, "list/l1", shared_stamp(&other, 1),
                                     "deleted", "false", "rank", "a0V"),
                         DUNLIN_OK);
        dln_arena_free(&other.central->arena);
        dln_arena_free(&other.central->attempt);
        other.central->arena = kept;
        other.central->attempt = attempt;
        dln_arena_free(&other.arena);
    }
    return inner.floor(self, scope, out, err);
}

static void what_a_rival_wrote_is_merged(void **state) {
    (void)state;
    shared.central->engine.floor = floor_and_same_key;
    rivals = 1;
    push_list("list/l1", "n");
    assert_int_equal(shared_ack(&shared, 0), 2);
    assert_string_equal(shared_value(&shared, AOI, "list/l1", "rank"), "a0V");
    assert_string_equal(shared_value(&shared, AOI, "list/l1", "name"), "n");
}

static dunlin_status losing_insert(void *self, struct dln_text scope, int64_t last,
                                   const struct dln_entry *entries, size_t count,
                                   int64_t deadline_ms, size_t *inserted, dunlin_error *err) {
    (void)self, (void)scope, (void)last, (void)entries, (void)count, (void)deadline_ms, (void)err;
    inserts++;
    *inserted = 0;
    return DUNLIN_OK;
}

static void endless_rivals_end_in_a_retryable_status(void **state) {
    (void)state;
    shared.central->engine.insert = losing_insert;
    inserts = 0;
    shared_begin(&shared);
    (void)shared_record(&shared, AOI, "list/l1");
    shared_set(&shared, "deleted", shared_stamp(&shared, 0), "false");
    dunlin_status status = shared_try(&shared, "aoi");
    assert_true(dunlin_status_is_retryable(status));
    assert_true(inserts > 10 && inserts < 1000);
    shared.central->engine = inner;
    shared_send(&shared, "aoi"); /* no transaction was left open */
    assert_int_equal(shared_ack(&shared, 0), 1);
}

/* Stalls */

static int64_t stall_ms;

static dunlin_status floor_and_stall(void *self, struct dln_text scope, int64_t *out,
                                     dunlin_error *err) {
    dunlin_status status = inner.floor(self, scope, out, err);
    shared_pass(&shared, stall_ms);
    stall_ms = 0;
    return status;
}

static void stalled_writer_starts_over(void **state) {
    (void)state;
    shared.central->engine.floor = floor_and_stall;
    shared.central->engine.insert = counting_insert;
    inserts = 0;
    stall_ms = DLN_WRITER_MAX_AGE_MS + 1;
    push_list("list/l1", "n");
    assert_int_equal(inserts, 2);
    assert_int_equal(shared_ack(&shared, 0), 1);
    inserts = 0;
    stall_ms = DLN_WRITER_MAX_AGE_MS;
    push_list("list/l2", "n");
    assert_int_equal(inserts, 1);
}

static dunlin_status salt_and_stall(void *self, struct dln_text scope, int64_t seq, bool *stands,
                                    uint32_t *salt, dunlin_error *err) {
    dunlin_status status = inner.salt(self, scope, seq, stands, salt, err);
    shared_pass(&shared, DLN_WRITER_MAX_AGE_MS + 1);
    return status;
}

/* The last seq that was read to look at the cursor is as old as that look. */
static void stall_before_the_first_attempt_counts(void **state) {
    (void)state;
    push_list("list/l1", "n");
    push_list("list/l2", "n");
    shared_begin(&shared);
    (void)shared_record(&shared, AOI, "list/l3");
    shared_set(&shared, "deleted", shared_stamp(&shared, 0), "false");
    shared_ask(&shared, AOI)->cursor = shared_cursor(&shared, AOI, 1);
    shared_ask(&shared, AOI)->pull = false;
    shared.central->engine.salt = salt_and_stall;
    shared.central->engine.insert = counting_insert;
    inserts = 0;
    shared_send(&shared, "aoi");
    assert_int_equal(inserts, 2);
    assert_int_equal(shared_ack(&shared, 0), 3);
}

/* The slot that a stalled writer means to fill was filled, superseded, and freed meanwhile. */
static dunlin_status floor_and_long_sleep(void *self, struct dln_text scope, int64_t *out,
                                          dunlin_error *err) {
    dunlin_status status = inner.floor(self, scope, out, err);
    if (rivals > 0) {
        dunlin_maintenance done;
        struct dln_arena kept = shared.central->attempt;
        rivals = 1;
        rival_appends();
        rivals = 1;
        rival_appends(); /* supersedes it */
        shared_pass(&shared, 2 * SHARED_DAY_MS);
        shared.central->attempt = DLN_ARENA_INIT(1 << 20);
        shared.central->engine.floor = inner.floor;
        assert_int_equal(dunlin_central_maintain(shared.central, &done, NULL), DUNLIN_OK);
        assert_int_equal(done.superseded, 1);
        dln_arena_free(&shared.central->attempt);
        shared.central->attempt = kept;
    }
    return status;
}

static void freed_slot_is_not_filled_below_a_cursor(void **state) {
    (void)state;
    push_list("list/l0", "n");
    shared.central->engine.floor = floor_and_long_sleep;
    rivals = 1;
    push_list("list/l1", "n"); /* read last = 1; slot 2 is free again, 3 is the newest */
    assert_int_equal(shared_ack(&shared, 0), 4);
    assert_int_equal(shared_versions(&shared, AOI), 3);
}

static void wall_clock_does_not_matter_to_a_writer(void **state) {
    (void)state;
    shared.now_ms += 30 * SHARED_DAY_MS;
    push_list("list/l1", "n");
    shared.now_ms -= 60 * SHARED_DAY_MS;
    shared.central->engine.insert = counting_insert;
    inserts = 0;
    push_list("list/l2", "n");
    assert_int_equal(inserts, 1);
}

/* Order */

static char order[64];

static void note(char what) {
    size_t len = strlen(order);
    assert_true(len + 1 < sizeof(order));
    order[len] = what;
    order[len + 1] = '\0';
}

static dunlin_status noting_last(void *self, struct dln_text scope, struct dln_cursor *out,
                                 dunlin_error *err) {
    note('l');
    return inner.last(self, scope, out, err);
}

static dunlin_status noting_current(void *self, struct dln_arena *arena, struct dln_text scope,
                                    const struct dln_text *keys, size_t count,
                                    struct dln_stored *out, dunlin_error *err) {
    note('v');
    return inner.current(self, arena, scope, keys, count, out, err);
}

static dunlin_status noting_floor(void *self, struct dln_text scope, int64_t *out,
                                  dunlin_error *err) {
    note('f');
    return inner.floor(self, scope, out, err);
}

static dunlin_status noting_note_base(void *self, int64_t epoch, struct dln_text scope, int64_t seq,
                                      dunlin_error *err) {
    note('b');
    return inner.note_base(self, epoch, scope, seq, err);
}

static dunlin_status noting_raise_hint(void *self, struct dln_text scope,
                                       const struct dln_hint *hint, dunlin_error *err) {
    note(hint->head > 0 ? 'h' : 't');
    return inner.raise_hint(self, scope, hint, err);
}

static dunlin_status noting_insert(void *self, struct dln_text scope, int64_t last,
                                   const struct dln_entry *entries, size_t count,
                                   int64_t deadline_ms, size_t *inserted, dunlin_error *err) {
    note('i');
    return inner.insert(self, scope, last, entries, count, deadline_ms, inserted, err);
}

static void reads_and_writes_come_in_their_order(void **state) {
    (void)state;
    struct dln_central_engine *engine = &shared.central->engine;
    engine->last = noting_last;
    engine->current = noting_current;
    engine->floor = noting_floor;
    engine->note_base = noting_note_base;
    engine->raise_hint = noting_raise_hint;
    engine->insert = noting_insert;
    order[0] = '\0';
    push_list("list/l1", "n");
    assert_string_equal(order, "lvfbhit");
    order[0] = '\0';
    push_list("list/l2", "n");
    assert_string_equal(order, "lvfhit"); /* the base is noted once an epoch */
    order[0] = '\0';
    shared_send(&shared, "aoi"); /* again: nothing is written */
    assert_string_equal(order, "lvf");
}

static dunlin_status failing_insert(void *self, struct dln_text scope, int64_t last,
                                    const struct dln_entry *entries, size_t count,
                                    int64_t deadline_ms, size_t *inserted, dunlin_error *err) {
    assert_int_equal(inner.insert(self, scope, last, entries, count, deadline_ms, inserted, err),
                     DUNLIN_OK);
    return dln_fail(err, DUNLIN_IO, DUNLIN_DOMAIN_CENTRAL, "the answer was lost");
}

static void failed_insert_leaves_nothing_open(void **state) {
    (void)state;
    shared.central->engine.insert = failing_insert;
    shared_begin(&shared);
    (void)shared_record(&shared, AOI, "list/l1");
    shared_set(&shared, "deleted", shared_stamp(&shared, 0), "false");
    assert_int_equal(shared_try(&shared, "aoi"), DUNLIN_IO);
    shared.central->engine = inner;
    shared_send(&shared, "aoi");
    assert_int_equal(shared_ack(&shared, 0), 1);
}

/* The engine itself */

static void insert_stops_at_the_first_taken_slot(void **state) {
    (void)state;
    push_list("list/l1", "n");
    push_list("list/l2", "n");
    push_list("list/l3", "n");
    struct dln_record record = shared_stored(&shared, AOI, "list/l1")->record;
    struct dln_entry entries[3] = {{1, DLN_TEXT("list/a"), &record},
                                   {2, DLN_TEXT("list/b"), &record},
                                   {3, DLN_TEXT("list/c"), &record}};
    size_t inserted = 9;
    assert_int_equal(inner.drop(inner.self, DLN_TEXT(AOI), (const int64_t[]){2}, 1, NULL),
                     DUNLIN_OK);
    assert_int_equal(
        inner.insert(inner.self, DLN_TEXT(AOI), 0, entries, 3, INT64_MAX, &inserted, NULL),
        DUNLIN_OK);
    assert_int_equal(inserted, 0);
    assert_int_equal(
        inner.insert(inner.self, DLN_TEXT(AOI), 1, entries, 3, INT64_MAX, &inserted, NULL),
        DUNLIN_OK);
    assert_int_equal(inserted, 1); /* slot 2 was free, 3 is not */
    assert_int_equal(
        inner.insert(inner.self, DLN_TEXT(AOI), 3, entries, 3, INT64_MAX, &inserted, NULL),
        DUNLIN_OK);
    assert_int_equal(inserted, 3);
    assert_int_equal(shared_last(&shared, AOI), 6);
    assert_int_equal(inner.insert(inner.self, DLN_TEXT(AOI), 6, entries, 3, shared.steady_ms - 1,
                                  &inserted, NULL),
                     DUNLIN_OK);
    assert_int_equal(inserted, 0); /* too late */
}

static void touched_scopes_come_latest_first(void **state) {
    (void)state;
    struct dln_touched *touched = NULL;
    size_t count = 9;
    int64_t start_ms = shared.now_ms;
    push_list("list/l1", "n");
    shared_pass(&shared, 1000);
    (void)SHARED_PUSH(&shared, "ben", "user/ben", "list/l1", shared_stamp(&shared, 0), "deleted",
                      "false");
    assert_int_equal(inner.touched(inner.self, &shared.arena, start_ms, 9, &touched, &count, NULL),
                     DUNLIN_OK);
    assert_int_equal(count, 2);
    assert_true(dln_text_equal(touched[0].scope, DLN_TEXT("user/ben")));
    assert_true(dln_text_equal(touched[1].scope, DLN_TEXT(AOI)));
    assert_int_equal(touched[0].hint.head, 1);
    assert_int_equal(touched[0].hint.touched_ms, start_ms + 1000);
    assert_int_equal(inner.touched(inner.self, &shared.arena, start_ms, 1, &touched, &count, NULL),
                     DUNLIN_OK);
    assert_int_equal(count, 1);
    assert_int_equal(
        inner.touched(inner.self, &shared.arena, start_ms + 1001, 9, &touched, &count, NULL),
        DUNLIN_OK);
    assert_int_equal(count, 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(lost_race_starts_over),
        TEST(what_a_rival_wrote_is_merged),
        TEST(endless_rivals_end_in_a_retryable_status),
        TEST(stalled_writer_starts_over),
        TEST(stall_before_the_first_attempt_counts),
        TEST(freed_slot_is_not_filled_below_a_cursor),
        TEST(wall_clock_does_not_matter_to_a_writer),
        TEST(reads_and_writes_come_in_their_order),
        TEST(failed_insert_leaves_nothing_open),
        TEST(insert_stops_at_the_first_taken_slot),
        TEST(touched_scopes_come_latest_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
