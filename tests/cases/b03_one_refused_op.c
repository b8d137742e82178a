/* B03: a refused edit stops nothing behind it and does not vanish; nothing but a success takes an
 * edit out of the outbox. The remote is scripted: five edits on five rows, trouble with the second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "tests/support/notebook.h"
#include "tests/support/sight.h"
#include "tests/support/versions.h"

enum { ORDER_BYTES = 256 };

struct script {
    struct scripted scripted;
    dunlin_status exchange;  /* what every exchange comes to */
    dunlin_status refusal;   /* of u2, OK: none */
    const char *field;       /* of list l1: refused when it is sent, NULL: none */
    char order[ORDER_BYTES]; /* targets of the last request's records */
};

static void note_order(struct script *script, const struct dln_sync_request *request) {
    script->order[0] = '\0';
    for (size_t i = 0; i < request->record_count; i++) {
        const struct dln_key *key = &request->records[i].key;
        const struct dln_text *last = &key->parts[key->part_count - 1];
        size_t len = strlen(script->order);
        (void)snprintf(script->order + len, ORDER_BYTES - len, "%s%.*s", i == 0 ? "" : " ",
                       (int)last->len, last->data);
    }
}

/* Refuses the field, or the whole row when there is no field, and takes the rest. */
static void refuse(struct dln_arena *arena, struct dln_sync_answer *answer, size_t index,
                   dunlin_status code, const char *field) {
    answer->refusals = dln_arena_alloc(arena, sizeof(*answer->refusals));
    assert_non_null(answer->refusals);
    answer->refusal_count = 1;
    answer->refusals[0] =
        (struct dln_refusal){.index = index, .code = code, .reason = DLN_TEXT("not here")};
    if (field == NULL) {
        memmove(&answer->acks[index], &answer->acks[index + 1],
                (answer->ack_count - index - 1) * sizeof(*answer->acks));
        answer->ack_count--;
        return;
    }
    struct dln_refusal *refusal = &answer->refusals[0];
    refusal->held = true;
    refusal->seq = 9;
    refusal->field_count = 1;
    refusal->fields = dln_arena_alloc(arena, sizeof(*refusal->fields));
    assert_non_null(refusal->fields);
    refusal->fields[0] = (struct dln_refused_field){
        .field = -1,
        .name = dln_text_of(field),
        .now = {version_stamp(1), dln_value_string(DLN_TEXT("central's"))}};
}

static dunlin_status answer_as_told(void *payload, struct dln_arena *arena,
                                    const struct dln_sync_request *request,
                                    struct dln_sync_answer *answer, dunlin_error *err) {
    struct script *script = payload;
    note_order(script, request);
    if (script->exchange != DUNLIN_OK) {
        return dln_fail(err, script->exchange, DUNLIN_DOMAIN_REMOTE, "as the test says");
    }
    scripted_nothing_new(arena, request, answer);
    scripted_ack_all(arena, request, answer, 10);
    for (size_t i = 0; i < request->record_count; i++) {
        const struct dln_key *key = &request->records[i].key;
        if (script->refusal != DUNLIN_OK && key->collection->id == DLN_FOLLOW &&
            dln_text_equal(key->parts[1], DLN_TEXT("u2"))) {
            refuse(arena, answer, i, script->refusal, NULL);
        } else if (script->field != NULL && key->collection->id == DLN_LIST) {
            refuse(arena, answer, i, DUNLIN_NOT_ALLOWED, script->field);
        }
    }
    return DUNLIN_OK;
}

static void start(struct script *script, struct notebook *notebook) {
    memset(script, 0, sizeof(*script));
    scripted_init(&script->scripted, answer_as_told, script, notebook->now_ms);
}

static void five_edits(struct notebook *notebook) {
    for (int i = 1; i <= 5; i++) {
        char user[24];
        (void)snprintf(user, sizeof(user), "u%d", i);
        OK(dunlin_follow(notebook->store, DUNLIN_USER, user, NULL));
    }
}

static dunlin_store_status status_of(struct notebook *notebook) {
    dunlin_store_status status = {0};
    OK(dunlin_store_get_status(notebook->store, &status, NULL));
    return status;
}

/* The outbox's targets in the order in which they will be sent. */
static const char *outbox(struct notebook *notebook) {
    static char text[ORDER_BYTES];
    const dunlin_pending *row = NULL;
    dunlin_iter *iter = NULL;
    text[0] = '\0';
    OK(dunlin_outbox(notebook->store, &iter, NULL, NULL));
    for (;;) {
        OK(dunlin_outbox_next(iter, &row, NULL));
        if (row == NULL) {
            break;
        }
        size_t len = strlen(text);
        (void)snprintf(text + len, ORDER_BYTES - len, "%s%s", len == 0 ? "" : " ",
                       row->key[row->key_count - 1]);
    }
    dunlin_iter_free(iter);
    return text;
}

static void refused_one_lets_the_others_pass(void **state, dunlin_status code) {
    struct notebook *notebook = *state;
    struct script script;
    dunlin_sync_result result;
    const dunlin_rejection *letter = NULL;
    dunlin_iter *iter = NULL;
    start(&script, notebook);
    script.refusal = code;
    five_edits(notebook);
    OK(dunlin_sync(notebook->store, &script.scripted.remote, &result, NULL));
    assert_int_equal(result.pushed, 4);
    assert_int_equal(result.rejected, 1);
    assert_int_equal(status_of(notebook).pending, 0);
    assert_int_equal(status_of(notebook).rejected, 1);
    OK(dunlin_rejected(notebook->store, &iter, NULL, NULL));
    OK(dunlin_rejected_next(iter, &letter, NULL));
    assert_int_equal(letter->code, code);
    assert_string_equal(letter->reason, "not here");
    assert_string_equal(letter->collection, "follow");
    assert_string_equal(letter->key[1], "u2");
    assert_string_equal(letter->fields, "{\"present\":true}");
    dunlin_iter_free(iter);
    assert_string_equal(show_following(notebook, NULL), "user:u1 user:u3 user:u4 user:u5");
    scripted_free(&script.scripted);
}

static void b03_forbidden(void **state) { /* 403 */
    refused_one_lets_the_others_pass(state, DUNLIN_NOT_ALLOWED);
}

static void b03_unprocessable(void **state) { /* 422 */
    refused_one_lets_the_others_pass(state, DUNLIN_INVALID_VALUE);
}

static void b03_other_fields_of_the_row_go_on(void **state) {
    struct notebook *notebook = *state;
    struct script script;
    dunlin_sync_result result;
    const dunlin_rejection *letter = NULL;
    dunlin_iter *iter = NULL;
    start(&script, notebook);
    OK(dunlin_list_create(notebook->store, NULL, "l0", "first", NULL));
    OK(dunlin_list_create(notebook->store, NULL, "l1", "second", NULL));
    OK(dunlin_sync(notebook->store, &script.scripted.remote, NULL, NULL));
    OK(dunlin_list_rename(notebook->store, "l1", "mine", NULL));
    OK(dunlin_list_rank(notebook->store, "l1", DUNLIN_PLACE_FIRST, NULL, NULL));
    script.field = "name";
    OK(dunlin_sync(notebook->store, &script.scripted.remote, &result, NULL));
    assert_int_equal(result.pushed, 1);
    assert_int_equal(result.rejected, 1);
    assert_int_equal(status_of(notebook).pending, 0);
    assert_string_equal(show_lists(notebook, NULL), "l1:central's:0 l0:first:0");
    OK(dunlin_rejected(notebook->store, &iter, NULL, NULL));
    OK(dunlin_rejected_next(iter, &letter, NULL));
    assert_string_equal(letter->fields, "{\"name\":\"mine\"}");
    dunlin_iter_free(iter);
    scripted_free(&script.scripted);
}

static void trouble_keeps_all_five(void **state, dunlin_status trouble) {
    struct notebook *notebook = *state;
    struct script script;
    dunlin_sync_result result;
    start(&script, notebook);
    five_edits(notebook);
    assert_string_equal(outbox(notebook), "u1 u2 u3 u4 u5");
    script.exchange = trouble;
    assert_int_equal(dunlin_sync(notebook->store, &script.scripted.remote, &result, NULL), trouble);
    assert_int_equal(script.scripted.exchanges, 1); /* the run stops */
    assert_int_equal(result.pushed, 0);
    assert_int_equal(status_of(notebook).pending, 5);
    assert_int_equal(status_of(notebook).rejected, 0);
    assert_string_equal(outbox(notebook), "u1 u2 u3 u4 u5");
    assert_true(result.retry_at_ms > 0);
    script.exchange = DUNLIN_OK;
    OK(dunlin_sync(notebook->store, &script.scripted.remote, &result, NULL));
    assert_string_equal(script.order, "u1 u2 u3 u4 u5");
    assert_int_equal(result.pushed, 5);
    assert_int_equal(status_of(notebook).pending, 0);
    scripted_free(&script.scripted);
}

static void b03_server_error(void **state) { /* 500 */
    trouble_keeps_all_five(state, DUNLIN_UNAVAILABLE);
}

static void b03_token_wanted(void **state) { /* 401 */
    trouble_keeps_all_five(state, DUNLIN_NEED_LOGIN);
}

static void b03_login_page(void **state) { /* 200 and HTML */
    trouble_keeps_all_five(state, DUNLIN_NOT_OUR_SERVER);
}

/* 409: there is none. The second edit meets another device's, and both go through the merge. */
static void b03_conflict_is_merged(void **state) {
    static struct world world;
    (void)state;
    world_open(&world, 3, NULL);
    struct device *d1 = world_device(&world, "aoi", 0);
    struct device *d2 = world_device(&world, "aoi", 0);
    dunlin_sync_result result;
    OK(dunlin_list_create(d1->store, NULL, "l1", "old", NULL));
    device_sync_ok(d1);
    device_sync_ok(d2);
    world.now_ms += 1000;
    OK(dunlin_follow(d1->store, DUNLIN_USER, "u1", NULL));
    OK(dunlin_list_rename(d1->store, "l1", "earlier", NULL));
    for (int i = 3; i <= 5; i++) {
        OK(dunlin_follow(d1->store, DUNLIN_USER, (const char *[]){"u3", "u4", "u5"}[i - 3], NULL));
    }
    world.now_ms += 1000;
    OK(dunlin_list_rename(d2->store, "l1", "later", NULL));
    device_sync_ok(d2);
    OK(device_sync(d1, &result));
    assert_int_equal(result.pushed, 5);
    assert_int_equal(result.rejected, 0);
    assert_int_equal(device_pending(d1), 0);
    assert_string_equal(sight_lists(d1), "l1:later:0");
    device_sync_ok(d2);
    sight_agree((struct device *[]){d1, d2}, 2);
    world_close(&world);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, notebook_setup, notebook_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b03_forbidden),
        TEST(b03_unprocessable),
        TEST(b03_other_fields_of_the_row_go_on),
        TEST(b03_server_error),
        TEST(b03_token_wanted),
        TEST(b03_login_page),
        cmocka_unit_test(b03_conflict_is_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
