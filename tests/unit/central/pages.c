/* Pages, their ceilings, and what saves looking: SAME and heads. */
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
#define LIST(key) SHARED_PUSH(shared, "aoi", AOI, key, shared_stamp(shared, 0), "deleted", "false")

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

/* One exchange that only reads; the ask may be changed by the caller before. */
static const struct dln_scope_answer *pull(struct shared *shared) {
    shared_send(shared, "aoi");
    return shared_scope(shared, AOI);
}

static void pages_go_on_behind_the_cursor(void **state) {
    struct shared *shared = *state;
    struct dln_cursor cursor = {0, 0};
    int64_t expected = 1;
    shared_fill(shared, 25);
    shared_pass(shared, DLN_TOUCHED_SETTLED_MS + 1);
    for (int page = 0; page < 3; page++) {
        shared_begin(shared);
        shared->request.page_records = 10;
        shared_ask(shared, AOI)->cursor = cursor;
        const struct dln_scope_answer *answer = pull(shared);
        assert_int_equal(answer->state, DLN_SCOPE_PAGE);
        assert_int_equal(answer->version_count, page < 2 ? 10 : 5);
        for (size_t i = 0; i < answer->version_count; i++) {
            assert_int_equal(answer->versions[i].seq, expected++);
        }
        assert_int_equal(answer->more, page < 2);
        assert_int_equal(answer->head, page < 2 ? 0 : 25);
        cursor = answer->cursor;
    }
    assert_int_equal(expected, 26);
    assert_int_equal(cursor.salt, shared_cursor(shared, AOI, 25).salt);
}

static void of_a_keys_versions_only_the_last_is_sent(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 2);
    for (int i = 1; i <= 5; i++) {
        assert_int_equal(
            SHARED_PUSH(shared, "aoi", AOI, "list/l000", shared_stamp(shared, i), "name", "n"),
            DUNLIN_OK);
    }
    shared_begin(shared);
    shared_ask(shared, AOI);
    const struct dln_scope_answer *answer = pull(shared);
    assert_int_equal(answer->version_count, 2);
    assert_int_equal(answer->cursor.seq, 7);
    for (size_t i = 0; i < 2; i++) {
        assert_true(answer->versions[i].seq == 2 || answer->versions[i].seq == 7);
    }
}

static void budget_is_shared_by_all_scopes(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 6);
    assert_int_equal(SHARED_PUSH(shared, "aoi", "group/tea", "group", shared_stamp(shared, 0),
                                 "deleted", "false", "owner", "aoi"),
                     DUNLIN_OK);
    shared_begin(shared);
    shared->request.page_records = 6;
    shared_ask(shared, AOI);
    shared_ask(shared, "group/tea");
    shared_ask(shared, "group/none");
    shared_send(shared, "aoi");
    assert_int_equal(shared_scope(shared, AOI)->version_count, 6);
    assert_null(shared_scope(shared, "group/tea")); /* did not fit: ask again */
    assert_int_equal(shared_scope(shared, "group/none")->version_count, 0);
}

static void bytes_of_an_answer_are_bounded(void **state) {
    struct shared *shared = *state;
    static char text[DLN_DATA_MAX + 1];
    memset(text, 0x01, DLN_DATA_MAX); /* takes six bytes each when it is written */
    size_t seen = 0;
    struct dln_cursor cursor = {0, 0};
    int pages = 0;
    for (int i = 0; i < 60; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "hologram/h%02d", i);
        assert_int_equal(SHARED_PUSH(shared, "aoi", AOI, key, shared_stamp(shared, 0), "present",
                                     "true", "hue", text),
                         DUNLIN_OK);
    }
    assert_int_equal(SHARED_PUSH(shared, "aoi", "group/tea", "group", shared_stamp(shared, 0),
                                 "deleted", "false", "owner", "aoi", "hue", text),
                     DUNLIN_OK);
    for (bool more = true; more; pages++) {
        struct dln_buf out = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
        shared_begin(shared);
        shared_ask(shared, AOI)->cursor = cursor;
        (void)shared_ask(shared, "group/tea");
        const struct dln_scope_answer *answer = pull(shared);
        assert_true(answer->version_count > 0);
        /* The other scope comes once the first one leaves room. */
        assert_int_equal(shared_scope(shared, "group/tea") == NULL, answer->more);
        assert_int_equal(shared->answer.scope_count, answer->more ? 1 : 2);
        assert_int_equal(dln_answer_encode(&out, &shared->answer, NULL), DUNLIN_OK);
        assert_true(out.len < DLN_PAGE_BYTES_MAX + 2048);
        seen += answer->version_count;
        cursor = answer->cursor;
        more = answer->more;
        dln_buf_free(&out);
    }
    assert_int_equal(seen, 60);
    assert_true(pages >= 3);
}

/* SAME and heads */

static void remembered_head_saves_the_look(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 3);
    shared_begin(shared);
    struct dln_scope_ask *ask = shared_ask(shared, AOI);
    ask->head = 3;
    ask->cursor = shared_cursor(shared, AOI, 3);
    assert_int_equal(pull(shared)->state, DLN_SCOPE_SAME);
    shared_fill(shared, 3); /* changes nothing */
    assert_int_equal(LIST("list/new"), DUNLIN_OK);
    shared_begin(shared);
    ask = shared_ask(shared, AOI);
    ask->head = 3;
    ask->cursor = shared_cursor(shared, AOI, 3);
    const struct dln_scope_answer *answer = pull(shared);
    assert_int_equal(answer->state, DLN_SCOPE_PAGE);
    assert_int_equal(answer->version_count, 1);
    assert_int_equal(answer->head, 4);
}

static void own_push_is_news(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 3);
    shared_begin(shared);
    (void)shared_record(shared, AOI, "list/new");
    shared_set(shared, "deleted", shared_stamp(shared, 0), "false");
    struct dln_scope_ask *ask = shared_ask(shared, AOI);
    ask->head = 3;
    ask->cursor = shared_cursor(shared, AOI, 3);
    const struct dln_scope_answer *answer = pull(shared);
    assert_int_equal(answer->state, DLN_SCOPE_PAGE);
    assert_int_equal(answer->versions[0].seq, 4);
}

static void head_that_nobody_reached_is_not_remembered_yet(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 3);
    struct dln_hint hint = {9, shared->now_ms}; /* a writer that raised it and died */
    assert_int_equal(shared->central->engine.raise_hint(shared->central->engine.self,
                                                        dln_text_of(AOI), &hint, NULL),
                     DUNLIN_OK);
    shared_begin(shared);
    shared_ask(shared, AOI);
    assert_int_equal(pull(shared)->head, 0);
    shared_pass(shared, DLN_TOUCHED_SETTLED_MS + 1);
    assert_int_equal(pull(shared)->head, 9);
    shared_ask(shared, AOI)->head = 9;
    assert_int_equal(pull(shared)->state, DLN_SCOPE_SAME);
}

static void same_is_not_said_in_another_epoch(void **state) {
    struct shared *shared = *state;
    shared_fill(shared, 3);
    shared_begin(shared);
    shared_ask(shared, AOI)->head = 3;
    assert_int_equal(dunlin_central_restored(shared->central, 0, NULL), DUNLIN_OK);
    assert_int_equal(pull(shared)->state, DLN_SCOPE_RESET);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(pages_go_on_behind_the_cursor),
        TEST(of_a_keys_versions_only_the_last_is_sent),
        TEST(budget_is_shared_by_all_scopes),
        TEST(bytes_of_an_answer_are_bounded),
        TEST(remembered_head_saves_the_look),
        TEST(own_push_is_news),
        TEST(head_that_nobody_reached_is_not_remembered_yet),
        TEST(same_is_not_said_in_another_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
