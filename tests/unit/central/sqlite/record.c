/* A record as two blobs: what another version of the library wrote is sorted out when it is read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "central/sqlite/record.h"
#include "sync/digest.h"

static struct dln_arena arena;
static struct dln_buf fields;
static struct dln_buf extras;

static int set_up(void **state) {
    (void)state;
    arena = DLN_ARENA_INIT(1 << 20);
    fields = DLN_BUF_INIT(1 << 20);
    extras = DLN_BUF_INIT(1 << 20);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    dln_arena_free(&arena);
    dln_buf_free(&fields);
    dln_buf_free(&extras);
    return 0;
}

static dunlin_status load(struct dln_record *out, const char *key) {
    return dln_record_load(&arena, out, DLN_TEXT("user/aoi"), dln_text_of(key),
                           (struct dln_text){fields.data, fields.len},
                           (struct dln_text){extras.data, extras.len}, NULL);
}

static struct dln_extra extra(const char *name, dln_stamp stamp) {
    return (struct dln_extra){dln_text_of(name), {stamp, dln_value_string(DLN_TEXT("見逃し"))}};
}

static void what_is_stored_comes_back(void **state) {
    (void)state;
    struct dln_extra unknown[] = {extra("hue", 7), extra("zeal", 8)};
    struct dln_record record = {.extras = unknown, .extra_count = 2};
    struct dln_record loaded;
    assert_true(dln_key_parse(&arena, &record.key, DLN_TEXT("item/l1/video/a%2Fb")));
    record.key.scope = DLN_TEXT("user/aoi");
    record.fields[DLN_ITEM_PRESENT] = (struct dln_field){1, dln_value_bool(true)};
    record.fields[DLN_ITEM_CREATED_AT] = (struct dln_field){2, dln_value_integer(INT64_MIN)};
    record.fields[DLN_ITEM_TITLE] = (struct dln_field){3, dln_value_null()};
    record.fields[DLN_ITEM_DATA] = (struct dln_field){4, dln_value_json(DLN_TEXT("{\"a\": 1.0}"))};
    assert_int_equal(dln_record_store(&fields, &extras, &record, NULL), DUNLIN_OK);
    assert_int_equal(load(&loaded, "item/l1/video/a%2Fb"), DUNLIN_OK);
    assert_int_equal(dln_record_hash(&loaded), dln_record_hash(&record));
    assert_int_equal(loaded.extra_count, 2);
}

/* A field that is known today may have been written as an unknown one, and the other way round. */
static void fields_find_their_place_today(void **state) {
    (void)state;
    struct dln_extra then_known[] = {extra("colour", 1), extra("title", 2)};
    struct dln_extra then_unknown[] = {extra("autumn", 3), extra("data", 4), extra("zeal", 5)};
    struct dln_record loaded;
    dln_extras_encode(&fields, &(struct dln_record){.extras = then_known, .extra_count = 2});
    dln_extras_encode(&extras, &(struct dln_record){.extras = then_unknown, .extra_count = 3});
    assert_int_equal(load(&loaded, "item/l1/video/v1"), DUNLIN_OK);
    assert_int_equal(loaded.fields[DLN_ITEM_TITLE].stamp, 2);
    assert_int_equal(loaded.fields[DLN_ITEM_DATA].stamp, 4);
    assert_int_equal(loaded.extra_count, 3);
    assert_int_equal(loaded.extras[0].field.stamp, 3);
    assert_int_equal(loaded.extras[1].field.stamp, 1);
    assert_int_equal(loaded.extras[2].field.stamp, 5);
}

static void damaged_bytes_are_corrupt(void **state) {
    (void)state;
    struct dln_extra unknown[] = {extra("hue", 7)};
    struct dln_record record = {.extras = unknown, .extra_count = 1};
    struct dln_record loaded;
    dln_extras_encode(&extras, &record);
    extras.len--;
    assert_int_equal(load(&loaded, "item/l1/video/v1"), DUNLIN_CORRUPT);
    extras.len++;
    assert_int_equal(load(&loaded, "item/l1"), DUNLIN_CORRUPT); /* no such key */
    assert_int_equal(load(&loaded, "item/l1/video/v1"), DUNLIN_OK);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_is_stored_comes_back),
        TEST(fields_find_their_place_today),
        TEST(damaged_bytes_are_corrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
