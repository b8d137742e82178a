/* B47: numbers above 2^53 are not rounded, and the host's decimal comma changes nothing. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "tests/support/locale.h"
#include "tests/support/notebook.h"
#include "tests/support/sight.h"
#include "tests/support/tap.h"
#include "tests/support/versions.h"

static const int64_t two_to_53 = INT64_C(9007199254740992);

/* ---- seqs */

struct script {
    struct scripted scripted;
    int64_t asked; /* the last request's cursor */
    uint32_t salt;
};

static dunlin_status answer_as_told(void *payload, struct dln_arena *arena,
                                    const struct dln_sync_request *request,
                                    struct dln_sync_answer *answer, dunlin_error *err) {
    struct script *script = payload;
    (void)err;
    scripted_nothing_new(arena, request, answer);
    scripted_ack_all(arena, request, answer, two_to_53 + 10);
    script->asked = request->scopes[0].cursor.seq;
    script->salt = request->scopes[0].cursor.salt;
    if (script->asked == 0) {
        const struct dln_version versions[] = {
            version_follow(arena, two_to_53, "ben", 1, true),
            version_follow(arena, two_to_53 + 1, "chika", 2, true),
        };
        version_page(arena, &answer->scopes[0], versions, 2, two_to_53 + 1, false);
    }
    return DUNLIN_OK;
}

static void b47_seqs_above_two_to_53(void **state) {
    struct notebook *notebook = *state;
    struct script script = {0};
    struct tap tap;
    dunlin_sync_result result;
    scripted_init(&script.scripted, answer_as_told, &script, notebook->now_ms);
    tap_init(&tap, &script.scripted.remote, NULL);
    OK(dunlin_sync(notebook->store, &tap.remote, &result, NULL));
    assert_int_equal(result.pulled, 2);
    assert_string_equal(show_subscriptions(notebook, NULL), "ben=! chika=!");
    assert_int_equal(notebook_number(notebook, "SELECT seq FROM follow ORDER BY seq LIMIT 1"),
                     two_to_53);
    assert_int_equal(notebook_number(notebook, "SELECT max(seq) FROM follow"), two_to_53 + 1);
    notebook_reopen(notebook);
    OK(dunlin_sync(notebook->store, &tap.remote, &result, NULL));
    assert_int_equal(script.asked, two_to_53 + 1);
    assert_int_equal(script.salt, (uint32_t)(two_to_53 + 1) * 7 + 1);
    assert_true(tap_sent(&tap, "\"9007199254740993\""));
    assert_int_equal(result.pulled, 0);
    tap_free(&tap);
    scripted_free(&script.scripted);
}

/* ---- values, in a host with a decimal comma where this machine can make one */

static struct dln_field field(const struct world *world, struct dln_value value) {
    return (struct dln_field){dln_stamp_of_ms(world->now_ms), value};
}

static void push_numbers(struct world *world, struct device *device) {
    struct dln_extra extras[] = {
        {DLN_TEXT("least"), field(world, dln_value_integer(INT64_MIN))},
        {DLN_TEXT("position"), field(world, dln_value_real(1.5))},
        {DLN_TEXT("precise"), field(world, dln_value_real(0.1))},
    };
    struct dln_record list = {.key = {.collection = dln_collection_by_id(DLN_LIST),
                                      .name = DLN_TEXT("list"),
                                      .scope = DLN_TEXT("user/aoi"),
                                      .part_count = 1,
                                      .parts = {DLN_TEXT("l1")}},
                              .extras = extras,
                              .extra_count = 3};
    sight_push(device, &list);
}

static void assert_numbers(const char *line) {
    assert_int_equal(sight_count(line, "{\"i\":\"-9223372036854775808\"}"), 1);
    assert_int_equal(sight_count(line, "{\"r\":1.5}"), 1);
    assert_int_equal(sight_count(line, "{\"r\":0.1}"), 1);
}

static void numbers_go_there_and_back(void) {
    static const int64_t least = INT64_MIN;
    struct world world;
    struct tap tap;
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    world_open(&world, 47, NULL);
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    OK(dunlin_list_create(d1->store, NULL, "l1", "list", NULL));
    options.data = "{\"a\":1,\"b\":2}";
    options.created_at = &least;
    OK(dunlin_list_add(d1->store, "l1", "video", "v1", &options, NULL));
    options.data = "[1.5,2]";
    OK(dunlin_list_add(d1->store, "l1", "video", "v2", &options, NULL));
    options.data = "{\"a\":1,5}";
    REFUSED("INVALID_JSON", dunlin_list_add(d1->store, "l1", "video", "v3", &options, NULL));
    device_sync_ok(d1);
    world.now_ms += 1000;
    push_numbers(&world, d1);
    device_sync_ok(d2);
    assert_numbers(sight_line(d2, "\"list\"", "\"l1\"]"));
    assert_numbers(sight_central_line(d2, "\"list\"", "\"l1\"]"));
    assert_int_equal(sight_count(sight_line(d2, "\"v1\"", ""), "{\\\"a\\\":1,\\\"b\\\":2}"), 1);
    assert_int_equal(sight_count(sight_line(d2, "\"v2\"", ""), "[1.5,2]"), 1);
    assert_int_equal(sight_count(sight_line(d2, "\"v1\"", ""), "{\"i\":\"-9223372036854775808\"}"),
                     1);
    /* Deleted and restored, a list goes up whole. */
    OK(dunlin_list_delete(d2->store, "l1", NULL));
    device_sync_ok(d2);
    OK(dunlin_list_restore(d2->store, "l1", NULL));
    tap_init(&tap, &d2->remote, NULL);
    OK(dunlin_sync(d2->store, &tap.remote, NULL, NULL));
    assert_true(tap_sent(&tap, "{\"r\":1.5}"));
    assert_true(tap_sent(&tap, "{\"r\":0.1}"));
    device_sync_ok(d1);
    assert_numbers(sight_central_line(d1, "\"list\"", "\"l1\"]"));
    sight_agree((struct device *[]){d1, d2}, 2);
    OK(dunlin_central_restored(world.central, 0, NULL)); /* they offer what they hold */
    device_sync_ok(d1);
    device_sync_ok(d2);
    assert_numbers(sight_central_line(d1, "\"list\"", "\"l1\"]"));
    sight_agree((struct device *[]){d1, d2}, 2);
    tap_free(&tap);
    world_close(&world);
}

static void b47_numbers_go_there_and_back(void **state) {
    (void)state;
    numbers_go_there_and_back();
}

static void b47_with_a_decimal_comma(void **state) {
    struct notebook *notebook = *state;
    char text[16];
    if (!test_locale_set(notebook->dir, "<U002C>")) {
        print_message("skipped: this machine cannot make a locale\n");
        skip();
    }
    (void)snprintf(text, sizeof(text), "%.1f", 1.5);
    assert_string_equal(text, "1,5");
    numbers_go_there_and_back();
    (void)snprintf(text, sizeof(text), "%.1f", 1.5);
    assert_string_equal(text, "1,5"); /* the host's locale is as it was */
    assert_non_null(setlocale(LC_NUMERIC, "C"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, notebook_setup, notebook_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b47_seqs_above_two_to_53),
        TEST(b47_numbers_go_there_and_back),
        TEST(b47_with_a_decimal_comma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
