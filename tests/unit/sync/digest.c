#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sync/digest.h"
#include "tests/support/random.h"

/* An item with several types of values and two unknown fields. */
static struct dln_record make_record(struct dln_extra *extras) {
    struct dln_record record = {
        .key = {.collection = dln_collection_by_id(DLN_ITEM),
                .name = DLN_TEXT("item"),
                .scope = DLN_TEXT("user/alice"),
                .part_count = 3,
                .parts = {DLN_TEXT("l1"), DLN_TEXT("$set"), DLN_TEXT("a.b/\n")}},
        .extras = extras,
        .extra_count = 2};
    extras[0] = (struct dln_extra){DLN_TEXT("colour"), {9, dln_value_real(1.5)}};
    extras[1] = (struct dln_extra){DLN_TEXT("zz"), {1, dln_value_null()}};
    record.fields[DLN_ITEM_PRESENT] = (struct dln_field){5, dln_value_bool(true)};
    record.fields[DLN_ITEM_CREATED_AT] = (struct dln_field){6, dln_value_integer(-1)};
    record.fields[DLN_ITEM_TITLE] =
        (struct dln_field){DLN_STAMP_MAX, dln_value_string(DLN_TEXT("\xe3\x83\x93"))};
    record.fields[DLN_ITEM_DATA] = (struct dln_field){7, dln_value_json(DLN_TEXT("{\"a\":1.50}"))};
    return record;
}

/* These numbers come from another implementation (Python's hashlib): other devices of all versions
 * must find the same. */
static void hashes_are_fixed(void **state) {
    (void)state;
    struct dln_extra extras[2];
    struct dln_record record = make_record(extras);
    assert_true(dln_record_hash(&record) == UINT64_C(0x93ceb59e902aa4cd));
    record.extra_count = 0;
    assert_true(dln_record_hash(&record) == UINT64_C(0x4e36a31d43b2769c));
    record.fields[DLN_ITEM_RANK].value = dln_value_bool(true); /* without a stamp it is not there */
    assert_true(dln_record_hash(&record) == UINT64_C(0x4e36a31d43b2769c));
    assert_true(dln_key_hash(&record.key) == UINT64_C(0xb419f3d00a42e251));
    struct dln_key group = {.collection = dln_collection_by_id(DLN_GROUP),
                            .name = DLN_TEXT("group"),
                            .scope = DLN_TEXT("group/g")};
    assert_true(dln_key_hash(&group) == UINT64_C(0xad936fcbed631fa6));
}

static void everything_of_a_record_is_hashed(void **state) {
    (void)state;
    struct dln_extra extras[2];
    struct dln_record record = make_record(extras);
    uint64_t whole = dln_record_hash(&record);
    struct dln_record other = record;
    other.key.scope = DLN_TEXT("user/alicf");
    assert_true(dln_record_hash(&other) != whole);
    other = record;
    other.key.parts[2] = DLN_TEXT("a.b/\r");
    assert_true(dln_record_hash(&other) != whole);
    other = record;
    other.fields[DLN_ITEM_DATA].stamp++;
    assert_true(dln_record_hash(&other) != whole);
    other = record;
    other.fields[DLN_ITEM_PRESENT].value = dln_value_bool(false);
    assert_true(dln_record_hash(&other) != whole);
    other = record;
    other.fields[DLN_ITEM_DATA].stamp = 0;
    assert_true(dln_record_hash(&other) != whole);
    extras[0].name = DLN_TEXT("color");
    assert_true(dln_record_hash(&record) != whole);
}

/* A value as long as an app may make it. */
static void the_longest_value_is_hashed(void **state) {
    (void)state;
    struct dln_extra extras[2];
    struct dln_record record = make_record(extras);
    char *text = malloc(DLN_DATA_MAX);
    assert_non_null(text);
    memset(text, 'x', DLN_DATA_MAX);
    extras[0].field.value = dln_value_string((struct dln_text){text, DLN_DATA_MAX});
    uint64_t hash = dln_record_hash(&record);
    assert_true(hash != 0);
    text[DLN_DATA_MAX - 1] = 'y';
    assert_true(dln_record_hash(&record) != hash);
    free(text);
}

static void the_dump_line_is_fixed(void **state) {
    (void)state;
    struct dln_extra extras[2];
    struct dln_record record = make_record(extras);
    struct dln_buf buf = DLN_BUF_INIT(10000);
    dln_record_dump_line(&buf, &record);
    assert_string_equal(buf.data,
                        "{\"scope\":\"user/alice\",\"collection\":\"item\","
                        "\"key\":[\"l1\",\"$set\",\"a.b/\\n\"],\"fields\":{"
                        "\"colour\":[\"9\",{\"r\":1.5}],\"created_at\":[\"6\",{\"i\":\"-1\"}],"
                        "\"data\":[\"7\",{\"j\":\"{\\\"a\\\":1.50}\"}],\"present\":[\"5\",true],"
                        "\"title\":[\"9223372036854775807\",\"\xe3\x83\x93\"],"
                        "\"zz\":[\"1\",null]}}\n");
    dln_buf_free(&buf);
}

static int compare_leaves(const void *a, const void *b) {
    uint64_t left = ((const struct dln_leaf *)a)->place;
    uint64_t right = ((const struct dln_leaf *)b)->place;
    return (left > right) - (left < right);
}

static uint64_t sum_below(const struct dln_leaf *leaves, size_t count, uint64_t prefix,
                          int nibbles) {
    uint64_t mask = nibbles == 0 ? 0 : ~UINT64_C(0) << (64 - 4 * nibbles);
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (leaves[i].place & mask) == prefix ? leaves[i].hash : 0;
    }
    return sum;
}

static void a_digest_is_the_sum_below_its_prefix(void **state) {
    (void)state;
    enum { COUNT = 500 };
    struct dln_leaf leaves[COUNT];
    struct test_random random = {5};
    for (size_t i = 0; i < COUNT; i++) {
        leaves[i].place = test_random_next(&random);
        leaves[i].hash = test_random_next(&random);
    }
    leaves[0].place = 0;
    leaves[1].place = UINT64_MAX;
    leaves[2].place = UINT64_MAX;
    leaves[3].place = leaves[4].place;
    qsort(leaves, COUNT, sizeof(leaves[0]), compare_leaves);
    for (size_t count = 0; count <= COUNT; count += 125) {
        for (int i = 0; i < 2000; i++) {
            int nibbles = (int)test_random_below(&random, 17);
            uint64_t mask = nibbles == 0 ? 0 : ~UINT64_C(0) << (64 - 4 * nibbles);
            uint64_t prefix = leaves[test_random_below(&random, COUNT)].place & mask;
            assert_true(dln_leaves_digest(leaves, count, prefix, nibbles) ==
                        sum_below(leaves, count, prefix, nibbles));
        }
    }
    size_t first, end;
    dln_leaves_range(leaves, COUNT, 0, 0, &first, &end);
    assert_true(first == 0 && end == COUNT);
    dln_leaves_range(NULL, 0, 0, 0, &first, &end);
    assert_true(first == 0 && end == 0);
    dln_leaves_range(leaves, COUNT, UINT64_MAX, 16, &first, &end);
    assert_true(first == COUNT - 2 && end == COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_fixed),
        cmocka_unit_test(everything_of_a_record_is_hashed),
        cmocka_unit_test(the_longest_value_is_hashed),
        cmocka_unit_test(the_dump_line_is_fixed),
        cmocka_unit_test(a_digest_is_the_sum_below_its_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
