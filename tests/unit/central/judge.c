/* What becomes of a record: repeats, merges, stamps ahead, unknown records and lists, limits. */
/* ctest: engines */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/shared_side.h"

#define AOI "user/aoi"
#define PUSH(key, more, ...)                                                                       \
    SHARED_PUSH(shared, "aoi", AOI, key, shared_stamp(shared, more), __VA_ARGS__)
#define VALUE(key, field) shared_value(shared, AOI, key, field)
#define AHEAD_MS (DLN_MAX_AHEAD_MS)

enum { MANY = 200 };

static int set_up(void **state) {
    static struct shared shared;
    shared_open(&shared, NULL);
    *state = &shared;
    return 0;
}

static int tear_down(void **state) {
    shared_close(*state);
    return 0;
}

static dln_stamp stored_stamp(struct shared *shared, const char *key, int field) {
    return shared_stored(shared, AOI, key)->record.fields[field].stamp;
}

static void doubled_request_changes_nothing(void **state) {
    struct shared *shared = *state;
    shared_begin(shared);
    (void)shared_record(shared, AOI, "list/l1");
    shared_set(shared, "deleted", shared_stamp(shared, 0), "false");
    (void)shared_record(shared, AOI, "item/l1/video/v1");
    shared_set(shared, "present", shared_stamp(shared, 0), "true");
    shared_set(shared, "hue", shared_stamp(shared, 0), "teal");
    shared_send(shared, "aoi");
    int64_t list = shared_ack(shared, 0);
    int64_t item = shared_ack(shared, 1);
    assert_true(list > 0 && item > 0);
    for (int i = 0; i < 3; i++) {
        shared_send(shared, "aoi");
        assert_int_equal(shared_ack(shared, 0), list);
        assert_int_equal(shared_ack(shared, 1), item);
        assert_int_equal(shared_last(shared, AOI), 2);
    }
}

static void older_fields_are_acknowledged_and_lose(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("list/l1", 10, "deleted", "false", "name", "new"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l1", 5, "name", "old"), DUNLIN_OK);
    assert_int_equal(shared_ack(shared, 0), 1);
    assert_string_equal(VALUE("list/l1", "name"), "new");
    assert_int_equal(shared_last(shared, AOI), 1);
}

static void fields_merge_one_by_one(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("list/l1", 0, "deleted", "false", "name", "a", "hue", "teal"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l1", 2, "rank", "a0V"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l1", 1, "name", "b", "size", "#3"), DUNLIN_OK);
    assert_string_equal(VALUE("list/l1", "name"), "b");
    assert_string_equal(VALUE("list/l1", "rank"), "a0V");
    assert_string_equal(VALUE("list/l1", "hue"), "teal");
    assert_string_equal(VALUE("list/l1", "deleted"), "false");
    assert_int_equal(shared_stored(shared, AOI, "list/l1")->record.extra_count, 2);
}

static void equal_stamps_keep_the_greater_value(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("list/l1", 0, "deleted", "false", "name", "m"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l1", 0, "name", "a"), DUNLIN_OK);
    assert_string_equal(VALUE("list/l1", "name"), "m");
    assert_int_equal(PUSH("list/l1", 0, "name", "z"), DUNLIN_OK);
    assert_string_equal(VALUE("list/l1", "name"), "z");
}

static void one_key_twice_in_a_push_is_one_version(void **state) {
    struct shared *shared = *state;
    shared_begin(shared);
    (void)shared_record(shared, AOI, "list/l1");
    shared_set(shared, "deleted", shared_stamp(shared, 0), "false");
    (void)shared_record(shared, AOI, "list/l1");
    shared_set(shared, "name", shared_stamp(shared, 1), "twice");
    shared_send(shared, "aoi");
    assert_int_equal(shared_ack(shared, 0), 1);
    assert_int_equal(shared_ack(shared, 1), 1);
    assert_int_equal(shared_last(shared, AOI), 1);
    assert_string_equal(VALUE("list/l1", "name"), "twice");
}

/* AHEAD */

static void stamps_up_to_five_minutes_ahead_are_taken(void **state) {
    struct shared *shared = *state;
    dln_stamp most = dln_stamp_of_ms(shared->now_ms + AHEAD_MS);
    assert_int_equal(SHARED_PUSH(shared, "aoi", AOI, "list/l1", most, "deleted", "false"),
                     DUNLIN_OK);
    assert_int_equal(SHARED_PUSH(shared, "aoi", AOI, "list/l2", most + 1, "deleted", "false"),
                     DUNLIN_AHEAD);
    assert_int_equal(shared_refused(shared, 0, "deleted")->take, dln_stamp_of_ms(shared->now_ms));
    assert_false(shared_refusal(shared, 0)->held);
}

static void stored_stamp_plus_one_is_always_taken(void **state) {
    struct shared *shared = *state;
    dln_stamp most = dln_stamp_of_ms(shared->now_ms + AHEAD_MS);
    assert_int_equal(SHARED_PUSH(shared, "aoi", AOI, "list/l1", most, "deleted", "false"),
                     DUNLIN_OK);
    assert_int_equal(SHARED_PUSH(shared, "aoi", AOI, "list/l1", most + 2, "deleted", "true"),
                     DUNLIN_AHEAD);
    assert_int_equal(shared_refused(shared, 0, "deleted")->take, most + 1);
    assert_true(shared_refusal(shared, 0)->held);
    assert_int_equal(shared_refused(shared, 0, "deleted")->now.stamp, most);
    assert_int_equal(SHARED_PUSH(shared, "aoi", AOI, "list/l1", most + 1, "deleted", "true"),
                     DUNLIN_OK);
}

static void record_with_a_stamp_ahead_waits_whole(void **state) {
    struct shared *shared = *state;
    shared_begin(shared);
    (void)shared_record(shared, AOI, "list/l1");
    shared_set(shared, "deleted", shared_stamp(shared, 0) + dln_stamp_of_ms(AHEAD_MS + 1), "false");
    shared_set(shared, "name", shared_stamp(shared, 0), "n");
    (void)shared_record(shared, AOI, "item/l1/video/v1"); /* waits for its list */
    shared_set(shared, "present", shared_stamp(shared, 0), "true");
    shared_send(shared, "aoi");
    assert_int_equal(shared_code(shared, 0), DUNLIN_AHEAD);
    assert_int_equal(shared_refusal(shared, 0)->field_count, 1);
    assert_int_equal(shared_ack(shared, 0), 0);
    assert_int_equal(shared_code(shared, 1), DUNLIN_NO_LIST);
    assert_int_equal(shared_last(shared, AOI), 0);
}

static void ahead_is_judged_before_everything_else(void **state) {
    struct shared *shared = *state;
    dln_stamp ahead = dln_stamp_of_ms(shared->now_ms + AHEAD_MS + 1);
    assert_int_equal(SHARED_PUSH(shared, "aoi", AOI, "item/no/video/v1", ahead, "present", "true"),
                     DUNLIN_AHEAD);
    assert_int_equal(SHARED_PUSH(shared, "aoi", AOI, "list/l1", ahead, "name", "edit"),
                     DUNLIN_AHEAD);
    assert_int_equal(SHARED_PUSH(shared, "aoi", "group/no", "member/aoi", ahead, "present", "true"),
                     DUNLIN_AHEAD);
    assert_int_equal(SHARED_PUSH(shared, "aoi", AOI, "hologram/h1", ahead, "hue", "red"),
                     DUNLIN_AHEAD);
}

/* GONE, NO_LIST */

static void edit_of_what_central_lacks_is_gone(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("list/l1", 0, "name", "edit"), DUNLIN_GONE);
    assert_false(shared_refusal(shared, 0)->held);
    assert_int_equal(shared_refusal(shared, 0)->field_count, 0);
    assert_int_equal(PUSH("item/no/video/v1", 0, "title", "edit"), DUNLIN_GONE);
    assert_int_equal(PUSH("mygroup/tea", 0, "role", "admin"), DUNLIN_GONE);
    assert_int_equal(shared_last(shared, AOI), 0);
    assert_int_equal(PUSH("list/l1", 0, "deleted", "true"), DUNLIN_OK); /* 'already gone' */
}

static void item_of_an_unknown_list(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("item/l1/video/v1", 0, "present", "true"), DUNLIN_NO_LIST);
    assert_false(shared_refusal(shared, 0)->held);
    assert_int_equal(PUSH("list/l1", 0, "deleted", "true"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/video/v1", 0, "present", "true"),
                     DUNLIN_OK); /* known, deleted */
}

static void lists_are_judged_before_their_items(void **state) {
    struct shared *shared = *state;
    shared_begin(shared);
    (void)shared_record(shared, AOI, "item/l1/video/v1");
    shared_set(shared, "present", shared_stamp(shared, 0), "true");
    (void)shared_record(shared, AOI, "list/l1");
    shared_set(shared, "deleted", shared_stamp(shared, 0), "false");
    shared_send(shared, "aoi");
    assert_int_equal(shared->answer.refusal_count, 0);
    assert_int_equal(shared_ack(shared, 1), 1);
    assert_int_equal(shared_ack(shared, 0), 2);
}

static void one_refusal_does_not_hold_up_another_record(void **state) {
    struct shared *shared = *state;
    shared_begin(shared);
    for (int i = 0; i < 5; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "list/l%d", i);
        (void)shared_record(shared, AOI, key);
        shared_set(shared, i == 2 ? "name" : "deleted", shared_stamp(shared, 0),
                   i == 2 ? "gone" : "false");
    }
    shared_send(shared, "aoi");
    assert_int_equal(shared->answer.ack_count, 4);
    assert_int_equal(shared_code(shared, 2), DUNLIN_GONE);
    assert_int_equal(shared_ack(shared, 4), 4);
}

/* Values and limits */

static void bad_values_are_refused_field_by_field(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("list/l1", 0, "deleted", "false", "name", "n", "rank", "not a rank!"),
                     DUNLIN_INVALID_VALUE);
    assert_int_equal(shared_refusal(shared, 0)->field_count, 1);
    assert_non_null(shared_refused(shared, 0, "rank"));
    assert_true(shared_refusal(shared, 0)->held);
    assert_int_equal(shared_ack(shared, 0), 1);
    assert_int_equal(shared_refusal(shared, 0)->seq, 1);
    assert_string_equal(VALUE("list/l1", "name"), "n");
}

static void bad_existence_takes_the_creation_along(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("list/l1", 0, "deleted", "maybe", "name", "n"), DUNLIN_INVALID_VALUE);
    assert_false(shared_refusal(shared, 0)->held);
    assert_int_equal(shared_ack(shared, 0), 0);
    assert_int_equal(shared_last(shared, AOI), 0);
}

static void json_is_checked(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("list/l1", 0, "deleted", "false"), DUNLIN_OK);
    assert_int_equal(PUSH("item/l1/video/v1", 0, "present", "true", "data", "{\"a\":"),
                     DUNLIN_INVALID_JSON);
    assert_int_equal(PUSH("item/l1/video/v2", 0, "present", "true", "data", "{\"a\":1}"),
                     DUNLIN_OK);
    assert_int_equal(PUSH("list/l1", 1, "shape", "{\"a\":"), DUNLIN_INVALID_JSON);
    assert_string_equal(VALUE("item/l1/video/v2", "data"), "{\"a\":1}");
}

static void lengths_are_checked(void **state) {
    struct shared *shared = *state;
    char *text = malloc(DLN_DATA_MAX + 2);
    assert_non_null(text);
    memset(text, 'x', DLN_DATA_MAX + 1);
    text[DLN_NAME_MAX + 1] = '\0';
    assert_int_equal(PUSH("list/l1", 0, "deleted", "false", "name", text), DUNLIN_TOO_LONG);
    text[DLN_NAME_MAX + 1] = 'x';
    text[DLN_DATA_MAX + 1] = '\0';
    assert_int_equal(PUSH("list/l1", 0, "hue", text), DUNLIN_TOO_LONG);
    text[DLN_DATA_MAX] = '\0';
    assert_int_equal(PUSH("list/l1", 0, "hue", text), DUNLIN_OK);
    free(text);
}

static void keys_are_checked(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("follow/thing/ben", 0, "present", "true"), DUNLIN_INVALID_VALUE);
    assert_int_equal(PUSH("follow/group/!", 0, "present", "true"), DUNLIN_INVALID_ID);
    assert_int_equal(PUSH("mygroup/!", 0, "present", "true"), DUNLIN_INVALID_ID);
    assert_int_equal(PUSH("list/", 0, "deleted", "false"), DUNLIN_INVALID_ID);
    assert_int_equal(PUSH("item/l1//v1", 0, "present", "true"), DUNLIN_INVALID_ID);
    assert_int_equal(PUSH("hologram/", 0, "present", "true"), DUNLIN_INVALID_ID);
    assert_int_equal(shared_last(shared, AOI), 0);
}

static void record_without_fields(void **state) {
    struct shared *shared = *state;
    shared_begin(shared);
    (void)shared_record(shared, AOI, "list/l1");
    shared_send(shared, "aoi");
    assert_int_equal(shared_code(shared, 0), DUNLIN_INVALID_VALUE);
}

static void too_many_unknown_fields(void **state) {
    struct shared *shared = *state;
    char name[8];
    assert_int_equal(PUSH("list/l1", 0, "deleted", "false"), DUNLIN_OK);
    for (int i = 0; i < DLN_EXTRA_MAX; i++) {
        (void)snprintf(name, sizeof(name), "x%02d", i);
        assert_int_equal(PUSH("list/l1", 1, name, "v"), DUNLIN_OK);
    }
    assert_int_equal(PUSH("list/l1", 1, "y", "v", "x00", "w"), DUNLIN_TOO_LARGE);
    assert_int_equal(shared_refusal(shared, 0)->field_count, 2);
    assert_string_equal(VALUE("list/l1", "x00"), "v");
    assert_int_equal(PUSH("list/l1", 2, "x00", "w"), DUNLIN_OK);
}

static void record_larger_than_a_page_can_be(void **state) {
    struct shared *shared = *state;
    char *text = malloc(DLN_DATA_MAX + 1);
    char name[8];
    dunlin_status status = DUNLIN_OK;
    int taken = 0;
    assert_non_null(text);
    memset(text, '\t', DLN_DATA_MAX);
    text[DLN_DATA_MAX] = '\0';
    assert_int_equal(PUSH("list/l1", 0, "deleted", "false"), DUNLIN_OK);
    for (; status == DUNLIN_OK && taken < DLN_EXTRA_MAX; taken++) {
        (void)snprintf(name, sizeof(name), "x%02d", taken);
        status = PUSH("list/l1", 1, name, text);
    }
    assert_int_equal(status, DUNLIN_TOO_LARGE);
    assert_true(taken * DLN_DATA_MAX >= DLN_RECORD_BYTES_MAX);
    /* What is stored can still be served. */
    shared_begin(shared);
    shared_ask(shared, AOI);
    shared_send(shared, "aoi");
    assert_int_equal(shared_scope(shared, AOI)->version_count, 1);
    struct dln_buf out = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    assert_int_equal(dln_answer_encode(&out, &shared->answer, NULL), DUNLIN_OK);
    dln_buf_free(&out);
    free(text);
}

static void unknown_collections_are_kept_whole(void **state) {
    struct shared *shared = *state;
    assert_int_equal(PUSH("marker/people", 0, "seen", "00:a"), DUNLIN_OK); /* has no existence */
    assert_int_equal(
        PUSH("hologram/a/b/c", 0, "present", "true", "hue", "teal", "n", "#9007199254740993"),
        DUNLIN_OK);
    assert_int_equal(PUSH("hologram/a/b/c", 1, "present", "false"), DUNLIN_OK);
    assert_string_equal(VALUE("hologram/a/b/c", "present"), "false");
    assert_string_equal(VALUE("hologram/a/b/c", "hue"), "teal");
    assert_int_equal(
        dln_extra_of(&shared_stored(shared, AOI, "hologram/a/b/c")->record, DLN_TEXT("n"))
            ->value.as.integer,
        INT64_C(9007199254740993));
    assert_int_equal(PUSH("hologram/h2", 0, "present", "yes"), DUNLIN_INVALID_VALUE);
}

static void hostile_ids_are_only_values(void **state) {
    struct shared *shared = *state;
    static const char *const keys[] = {
        "follow/group/tea.v2", "follow/user/$ben", "follow/user/a.b",  "list/__proto__",
        "list/a%2Fb%23c%25",   "follow/user/%01",  "list/見逃しビデオ"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        bool list = strncmp(keys[i], "list", 4) == 0;
        assert_int_equal(PUSH(keys[i], 0, list ? "deleted" : "present", list ? "false" : "true"),
                         DUNLIN_OK);
        assert_int_equal(shared_stored(shared, AOI, keys[i])->place.seq, i + 1);
    }
}

static void kept_is_refused_with_what_central_has(void **state) {
    struct shared *shared = *state;
    dln_stamp first = shared_stamp(shared, 0);
    assert_int_equal(PUSH("list/l1", 0, "deleted", "false", "rank", "a0V"), DUNLIN_OK);
    assert_int_equal(PUSH("list/l1", 1, "rank", "!", "name", "n"), DUNLIN_INVALID_VALUE);
    const struct dln_refused_field *field = shared_refused(shared, 0, "rank");
    assert_int_equal(field->field, DLN_LIST_RANK);
    assert_int_equal(field->now.stamp, first);
    assert_true(dln_text_equal(field->now.value.as.text, DLN_TEXT("a0V")));
    assert_int_equal(shared_refusal(shared, 0)->seq, 2);
    assert_int_equal(stored_stamp(shared, "list/l1", DLN_LIST_RANK), first);
}

static void unreadable_lines_are_refused_alone(void **state) {
    struct shared *shared = *state;
    struct dln_bad_line bad[2] = {{DUNLIN_OK, {NULL, 0}},
                                  {DUNLIN_INVALID_TEXT, DLN_TEXT("a lone surrogate")}};
    shared_begin(shared);
    (void)shared_record(shared, AOI, "list/l1");
    shared_set(shared, "deleted", shared_stamp(shared, 0), "false");
    memset(&shared->request.records[1], 0, sizeof(struct dln_record));
    shared->request.record_count = 2;
    shared->request.bad = bad;
    shared_send(shared, "aoi");
    assert_int_equal(shared_ack(shared, 0), 1);
    assert_int_equal(shared_code(shared, 1), DUNLIN_INVALID_TEXT);
}

static void many_large_refusals_fit_into_an_answer(void **state) {
    struct shared *shared = *state;
    char *text = malloc(DLN_DATA_MAX + 1);
    assert_non_null(text);
    memset(text, '"', DLN_DATA_MAX); /* doubles when it is written */
    text[DLN_DATA_MAX] = '\0';
    int refused = 0;
    int rounds = 0;
    shared_begin(shared);
    for (int i = 0; i < MANY; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "list/l%03d", i);
        (void)shared_record(shared, AOI, key);
        shared_set(shared, "deleted", shared_stamp(shared, 0), "false");
        shared_set(shared, "hue", shared_stamp(shared, 0), text);
        if ((i + 1) % 100 == 0) {
            shared->request.scopes[0].pull = false;
            shared_send(shared, "aoi");
            assert_int_equal(shared->answer.ack_count, 100);
            shared_begin(shared);
        }
    }
    for (int left = MANY; left > 0 && rounds < 100; rounds++) {
        struct dln_buf out = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
        shared_begin(shared);
        for (int i = MANY - left; i < MANY; i++) {
            char key[32];
            (void)snprintf(key, sizeof(key), "list/l%03d", i);
            (void)shared_record(shared, AOI, key);
            shared_set(shared, "hue", shared_stamp(shared, 1), "{bad");
        }
        shared->request.scopes[0].pull = false;
        shared_send(shared, "aoi");
        assert_int_equal(shared->answer.ack_count, 0);
        assert_true(shared->answer.refusal_count > 0);
        assert_int_equal(dln_answer_encode(&out, &shared->answer, NULL), DUNLIN_OK);
        left -= (int)shared->answer.refusal_count;
        refused += (int)shared->answer.refusal_count;
        dln_buf_free(&out);
    }
    assert_int_equal(refused, MANY);
    assert_true(rounds > 1);
    free(text);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(doubled_request_changes_nothing),
        TEST(older_fields_are_acknowledged_and_lose),
        TEST(fields_merge_one_by_one),
        TEST(equal_stamps_keep_the_greater_value),
        TEST(one_key_twice_in_a_push_is_one_version),
        TEST(stamps_up_to_five_minutes_ahead_are_taken),
        TEST(stored_stamp_plus_one_is_always_taken),
        TEST(record_with_a_stamp_ahead_waits_whole),
        TEST(ahead_is_judged_before_everything_else),
        TEST(edit_of_what_central_lacks_is_gone),
        TEST(item_of_an_unknown_list),
        TEST(lists_are_judged_before_their_items),
        TEST(one_refusal_does_not_hold_up_another_record),
        TEST(bad_values_are_refused_field_by_field),
        TEST(bad_existence_takes_the_creation_along),
        TEST(json_is_checked),
        TEST(lengths_are_checked),
        TEST(keys_are_checked),
        TEST(record_without_fields),
        TEST(too_many_unknown_fields),
        TEST(record_larger_than_a_page_can_be),
        TEST(unknown_collections_are_kept_whole),
        TEST(hostile_ids_are_only_values),
        TEST(kept_is_refused_with_what_central_has),
        TEST(unreadable_lines_are_refused_alone),
        TEST(many_large_refusals_fit_into_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
