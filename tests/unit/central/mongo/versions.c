/* Versions in `changes`: what is stored comes back, keys that were written very often, batches of
 * many megabytes, and many writers at one scope. */
/* ctest: labels=mongo */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sync/digest.h"
#include "tests/support/mongo.h"
#include "tests/support/shared_side.h"

#define AOI "user/aoi"

static struct shared shared;

static int set_up(void **state) {
    (void)state;
    (void)setenv("DUNLIN_TEST_ENGINE", "mongo", 1);
    shared_open(&shared, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    shared_close(&shared);
    return 0;
}

static struct dln_record record_of(const char *key) {
    struct dln_record record = {0};
    assert_true(
        dln_key_parse(&shared.arena, &record.key, dln_arena_text(&shared.arena, dln_text_of(key))));
    record.key.scope = DLN_TEXT(AOI);
    return record;
}

static size_t insert(int64_t last_seq, const struct dln_entry *entries, size_t count) {
    struct dln_central_engine *engine = &shared.central->engine;
    dunlin_error err = {0};
    size_t inserted = 0;
    if (engine->insert(engine->self, DLN_TEXT(AOI), last_seq, entries, count, INT64_MAX, &inserted,
                       &err) != DUNLIN_OK) {
        fail_msg("%s", err.message);
    }
    return inserted;
}

static void assert_comes_back(int64_t seq, const char *key, const struct dln_record *record) {
    struct dln_entry entry = {UINT32_MAX, dln_text_of(key), record};
    assert_int_equal(insert(seq - 1, &entry, 1), 1);
    const struct dln_stored *stored = shared_stored(&shared, AOI, key);
    assert_int_equal(stored->place.seq, seq);
    assert_int_equal(stored->place.salt, UINT32_MAX);
    assert_int_equal(stored->at_ms, shared.now_ms);
    assert_int_equal(dln_record_hash(&stored->record), dln_record_hash(record));
}

static void every_value_comes_back(void **state) {
    (void)state;
    const struct dln_value values[] = {
        dln_value_null(),
        dln_value_bool(true),
        dln_value_bool(false),
        dln_value_integer(INT64_MIN),
        dln_value_integer(INT64_C(9007199254740993)),
        dln_value_real(-0.1),
        dln_value_string(DLN_TEXT("")),
        dln_value_string(DLN_TEXT("\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9")),
        dln_value_json(DLN_TEXT("{\"$set\": {\"a.b\": 1.0}}")),
    };
    static const char *const names[] = {"$set", "",     "__proto__", "a",           "a.b",
                                        "hue",  "json", "value",     "\xe5\x80\xa4"};
    enum { COUNT = sizeof(values) / sizeof(*values) };
    struct dln_record record = record_of("item/l1/%25%2F%23/$where");
    record.fields[DLN_ITEM_PRESENT] = (struct dln_field){UINT64_MAX, dln_value_bool(true)};
    record.fields[DLN_ITEM_TITLE] = (struct dln_field){1, dln_value_null()};
    record.fields[DLN_ITEM_CREATED_AT] = (struct dln_field){2, dln_value_integer(-1)};
    record.fields[DLN_ITEM_DATA] = (struct dln_field){3, dln_value_json(DLN_TEXT("[1, 2.0]"))};
    struct dln_extra extras[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        static const size_t by_bytes[COUNT] = {1, 0, 2, 3, 4, 5, 6, 7, 8}; /* "" sorts first */
        extras[i] = (struct dln_extra){dln_text_of(names[by_bytes[i]]), {i + 1, values[i]}};
    }
    record.extras = extras;
    record.extra_count = COUNT;
    assert_comes_back(1, "item/l1/%25%2F%23/$where", &record);
    struct dln_record unknown = record_of("$cmd/a.b/c");
    unknown.extras = extras;
    unknown.extra_count = COUNT;
    assert_comes_back(2, "$cmd/a.b/c", &unknown);
}

static void push_version(const char *key, int64_t seq) {
    struct dln_record record = record_of(key);
    record.fields[DLN_FOLLOW_PRESENT] = (struct dln_field){(dln_stamp)seq, dln_value_bool(seq % 2)};
    struct dln_entry entry = {1, dln_text_of(key), &record};
    assert_int_equal(insert(seq - 1, &entry, 1), 1);
}

/* More versions than one find brings stand before the other keys' ones. */
static void key_that_was_written_very_often(void **state) {
    (void)state;
    enum { OFTEN = 100 };
    const struct dln_text keys[] = {DLN_TEXT("follow/user/zoe"), DLN_TEXT("follow/user/ben"),
                                    DLN_TEXT("follow/user/nobody"), DLN_TEXT("follow/user/aki")};
    struct dln_stored out[4];
    int64_t seq = 0;
    push_version("follow/user/zoe", ++seq);
    for (int i = 0; i < OFTEN; i++) {
        push_version("follow/user/ben", ++seq);
    }
    push_version("follow/user/aki", ++seq);
    struct dln_central_engine *engine = &shared.central->engine;
    mongo_listen();
    assert_int_equal(
        engine->current(engine->self, &shared.arena, DLN_TEXT(AOI), keys, 4, out, NULL), DUNLIN_OK);
    assert_int_equal(out[0].place.seq, 1);
    assert_int_equal(out[1].place.seq, OFTEN + 1);
    assert_int_equal(out[2].place.seq, 0);
    assert_int_equal(out[3].place.seq, OFTEN + 2);
    assert_true(mongo_heard() > 1 && mongo_heard() <= 3);
    mongo_listen();
    assert_int_equal(
        engine->current(engine->self, &shared.arena, DLN_TEXT(AOI), &keys[1], 1, out, NULL),
        DUNLIN_OK);
    assert_int_equal(out[0].place.seq, OFTEN + 1);
    assert_int_equal(mongo_heard(), 1);
}

/* Over what one command, and one answer, may hold. */
static void many_megabytes_go_in_order(void **state) {
    (void)state;
    enum { RECORDS = 80, BYTES = 240 * 1024, PAGE_BYTES = 2 * 1024 * 1024 };
    struct dln_entry entries[RECORDS];
    struct dln_extra extras[RECORDS];
    struct dln_record records[RECORDS];
    char *bytes = malloc(BYTES);
    assert_non_null(bytes);
    memset(bytes, 'x', BYTES);
    for (int i = 0; i < RECORDS; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "other/r%02d", i);
        records[i] = record_of(key);
        extras[i] = (struct dln_extra){DLN_TEXT("present"),
                                       {1, dln_value_string((struct dln_text){bytes, BYTES})}};
        records[i].extras = &extras[i];
        records[i].extra_count = 1;
        entries[i] = (struct dln_entry){
            (uint32_t)i, dln_arena_text(&shared.arena, dln_text_of(key)), &records[i]};
    }
    mongo_listen();
    assert_int_equal(insert(0, entries, RECORDS), RECORDS);
    assert_int_equal(mongo_heard(), 2);
    assert_int_equal(shared_last(&shared, AOI), RECORDS);
    assert_int_equal(insert(RECORDS - 60, entries, RECORDS), 0); /* the first slot is taken */
    struct dln_central_engine *engine = &shared.central->engine;
    struct dln_stored *page = NULL;
    size_t count = 0;
    size_t seen = 0;
    for (bool more = true; more; seen += count) {
        assert_int_equal(engine->after(engine->self, &shared.arena, DLN_TEXT(AOI), (int64_t)seen,
                                       1000, PAGE_BYTES, &page, &count, &more, NULL),
                         DUNLIN_OK);
        assert_true(count > 0 && count <= 8);
        assert_int_equal(page[0].place.seq, seen + 1);
        dln_arena_clear(&shared.arena);
    }
    assert_int_equal(seen, RECORDS);
    free(bytes);
}

/* ---- many writers */

enum { WRITERS = 6, PUSHES = 15 };

static void *write_alone(void *payload) {
    struct shared *writer = payload;
    char key[64];
    for (int i = 0; i < PUSHES; i++) {
        shared_begin(writer);
        shared_ask(writer, AOI)->pull = false;
        (void)snprintf(key, sizeof(key), "follow/user/w%p-%d", payload, i);
        (void)shared_record(writer, AOI, key);
        shared_set(writer, "present", shared_stamp(writer, 0), "true");
        shared_send(writer, "aoi");
        assert_true(shared_ack(writer, 0) > 0);
    }
    return NULL;
}

static void writers_leave_no_gap(void **state) {
    (void)state;
    static struct shared writers[WRITERS];
    pthread_t threads[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = shared; /* clocks and options, and the database */
        writers[i].central = NULL;
        writers[i].arena = DLN_ARENA_INIT(8 * 1024 * 1024);
        writers[i].random.state = (uint64_t)i + 100;
        writers[i].ports.self = &writers[i];
        writers[i].options.ports = &writers[i].ports;
        shared_reopen(&writers[i]);
    }
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, write_alone, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        dunlin_central_close(writers[i].central);
        dln_arena_free(&writers[i].arena);
    }
    assert_int_equal(shared_last(&shared, AOI), WRITERS * PUSHES);
    assert_int_equal(shared_versions(&shared, AOI), WRITERS * PUSHES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_value_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(key_that_was_written_very_often, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_megabytes_go_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(writers_leave_no_gap, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
