/* Round trips over MongoDB. What a scope costs is bounded, however many records a push brings. */
/* ctest: labels=mongo */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "central/log.h"
#include "tests/support/mongo.h"
#include "tests/support/shared_side.h"

#define AOI "user/aoi"

enum {
    APPEND_COMMANDS = 7,     /* of an append to a scope that was written to in this epoch */
    KNOWN_LAST_COMMANDS = 6, /* with its last entry known */
    NOTE_BASE_COMMANDS = 1,  /* besides, once in an epoch */
    EXCHANGE_COMMANDS = 3,   /* the epoch at its beginning and its end, the scopes' hints */
    PAGE_COMMANDS = 4        /* of a scope that is pulled */
};

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

static void assert_at_most(size_t most, const char *what) {
    if (mongo_heard() > most) {
        fail_msg("%s took %zu commands, not %zu: %s", what, mongo_heard(), most,
                 mongo_heard_text());
    }
}

/* ---- an append by itself */

struct append {
    const struct dln_text *keys;
    size_t count;
};

static dunlin_status judge(void *self, const struct dln_log_view *view, struct dln_entry **entries,
                           size_t *count, dunlin_error *err) {
    const struct append *append = self;
    struct dln_record *records = dln_arena_alloc(view->arena, append->count * sizeof(*records));
    (void)err;
    *entries = dln_arena_alloc(view->arena, append->count * sizeof(**entries));
    assert_non_null(records);
    assert_non_null(*entries);
    for (size_t i = 0; i < append->count; i++) {
        struct dln_record *record = &records[i];
        assert_true(dln_key_parse(view->arena, &record->key, append->keys[i]));
        record->key.scope = DLN_TEXT(AOI);
        record->fields[DLN_FOLLOW_PRESENT] =
            (struct dln_field){(dln_stamp)view->last.seq + 1, dln_value_bool(true)};
        (*entries)[i] = (struct dln_entry){.key = append->keys[i], .record = record};
    }
    *count = append->count;
    return DUNLIN_OK;
}

static void append_records(size_t count, const struct dln_cursor *last) {
    struct dln_epoch epoch;
    struct dln_log_outcome outcome;
    dunlin_error err = {0};
    struct dln_text *keys = dln_arena_alloc(&shared.arena, count * sizeof(*keys));
    assert_non_null(keys);
    for (size_t i = 0; i < count; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "follow/user/u%zu", i);
        keys[i] = dln_arena_text(&shared.arena, dln_text_of(key));
        assert_non_null(keys[i].data);
    }
    struct append self = {keys, count};
    assert_int_equal(dln_central_epoch(shared.central, &shared.arena, &epoch, NULL), DUNLIN_OK);
    struct dln_log_append append = {.scope = DLN_TEXT(AOI),
                                    .epoch = epoch.number,
                                    .last = last,
                                    .last_read_ms = shared.steady_ms,
                                    .cursor_seq = INT64_MAX,
                                    .keys = keys,
                                    .key_count = count,
                                    .judge = judge,
                                    .self = &self};
    mongo_listen();
    if (dln_log_append(shared.central, &append, &outcome, &err) != DUNLIN_OK) {
        fail_msg("%s", err.message);
    }
}

static void append_takes_seven_whatever_its_size(void **state) {
    (void)state;
    append_records(1, NULL);
    assert_at_most(APPEND_COMMANDS + NOTE_BASE_COMMANDS, "a scope's first append");
    append_records(1, NULL);
    assert_at_most(APPEND_COMMANDS, "an append of one record");
    append_records(400, NULL);
    assert_at_most(APPEND_COMMANDS, "an append of 400 new records");
    append_records(400, NULL);
    assert_at_most(APPEND_COMMANDS, "an append of 400 known records");
    assert_int_equal(shared_last(&shared, AOI), 802);
}

static void append_takes_six_with_the_last_known(void **state) {
    (void)state;
    struct dln_cursor last;
    append_records(1, NULL);
    assert_int_equal(
        shared.central->engine.last(shared.central->engine.self, DLN_TEXT(AOI), &last, NULL),
        DUNLIN_OK);
    append_records(100, &last);
    assert_at_most(KNOWN_LAST_COMMANDS, "an append behind a known last entry");
    assert_int_equal(shared_last(&shared, AOI), 101);
}

/* ---- exchanges */

static void push(int from, int count) {
    char key[32];
    shared_begin(&shared);
    shared_ask(&shared, AOI)->pull = false;
    for (int i = from; i < from + count; i++) {
        (void)snprintf(key, sizeof(key), "follow/user/f%d", i);
        (void)shared_record(&shared, AOI, key);
        shared_set(&shared, "present", shared_stamp(&shared, i), "true");
    }
    mongo_listen();
    shared_send(&shared, "aoi");
    assert_int_equal(shared.answer.ack_count, count);
}

static void push_costs_the_same_for_one_record_and_for_many(void **state) {
    (void)state;
    push(0, 1);
    push(1, 1);
    size_t one = mongo_heard();
    assert_at_most(APPEND_COMMANDS + EXCHANGE_COMMANDS, "a push of one record");
    push(2, 300);
    assert_at_most(one, "a push of 300 records");
}

static void pull_costs_the_same_for_one_record_and_for_many(void **state) {
    (void)state;
    push(0, 200);
    for (int64_t seq = 0; seq < 200; seq += 199) {
        shared_begin(&shared);
        struct dln_scope_ask *ask = shared_ask(&shared, AOI);
        if (seq > 0) {
            ask->cursor = shared_cursor(&shared, AOI, seq);
        }
        mongo_listen();
        shared_send(&shared, "aoi");
        assert_int_equal(shared_scope(&shared, AOI)->version_count, 200 - seq);
        assert_at_most(PAGE_COMMANDS + EXCHANGE_COMMANDS, "a pull");
    }
}

/* One question for all scopes that have nothing new. */
static void many_quiet_scopes_cost_one_question(void **state) {
    (void)state;
    enum { GROUPS = 60 };
    char scope[32];
    shared_begin(&shared);
    for (int i = 0; i < GROUPS; i++) {
        (void)snprintf(scope, sizeof(scope), "group/g%d", i);
        (void)shared_record(&shared, scope, "group");
        shared_set(&shared, "deleted", shared_stamp(&shared, 0), "false");
        shared_set(&shared, "owner", shared_stamp(&shared, 0), "aoi");
        shared_ask(&shared, scope)->pull = false;
    }
    shared_send(&shared, "aoi");
    assert_int_equal(shared.answer.ack_count, GROUPS);
    shared_pass(&shared, 10 * 60 * 1000);
    shared_begin(&shared);
    for (int i = 0; i < GROUPS; i++) {
        (void)snprintf(scope, sizeof(scope), "group/g%d", i);
        struct dln_scope_ask *ask = shared_ask(&shared, scope);
        ask->cursor = shared_cursor(&shared, scope, 1);
        ask->head = 1;
    }
    mongo_listen();
    shared_send(&shared, "aoi");
    for (int i = 0; i < GROUPS; i++) {
        (void)snprintf(scope, sizeof(scope), "group/g%d", i);
        assert_int_equal(shared_scope(&shared, scope)->state, DLN_SCOPE_SAME);
    }
    assert_at_most(EXCHANGE_COMMANDS, "a look at sixty quiet scopes");
}

/* The server's clock is asked for once a minute, not once a command. */
static void clock_of_the_server_is_asked_for_once_a_minute(void **state) {
    (void)state;
    int64_t now_ms;
    shared.options.ports = NULL;
    shared_reopen(&shared);
    struct dln_central_engine *engine = &shared.central->engine;
    mongo_listen();
    for (int i = 0; i < 10; i++) {
        assert_int_equal(engine->now(engine->self, &now_ms, NULL), DUNLIN_OK);
    }
    assert_at_most(1, "ten looks at the clock");
    shared.steady_ms += 59 * 1000;
    assert_int_equal(engine->now(engine->self, &now_ms, NULL), DUNLIN_OK);
    assert_at_most(1, "a look at the clock before a minute has passed");
    int64_t later_ms;
    shared.steady_ms += 2 * 1000;
    assert_int_equal(engine->now(engine->self, &later_ms, NULL), DUNLIN_OK);
    assert_int_equal(mongo_heard(), 2);
    assert_true(later_ms < now_ms); /* the steady clock ran a minute ahead, the server's did not */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(append_takes_seven_whatever_its_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(append_takes_six_with_the_last_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(push_costs_the_same_for_one_record_and_for_many, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(pull_costs_the_same_for_one_record_and_for_many, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(many_quiet_scopes_cost_one_question, set_up, tear_down),
        cmocka_unit_test_setup_teardown(clock_of_the_server_is_asked_for_once_a_minute, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
