/* Every public function, each of its arguments wrong in every way, one at a time: a named error,
 * and nothing has changed. What is wrong stands in tests/support/wrong.c, what is done with it in
 * tests/support/refuse.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dunlin/central.h>
#include <dunlin/dunlin.h>
#include <dunlin/mongo.h>

#include "tests/support/refuse.h"

/* ---- the calls: a are the arguments that can be wrong, in the order of the table below */

#define CALL_AS(as, name, ...)                                                                     \
    static dunlin_status call_##as(const struct argument *a, dunlin_error *err) {                  \
        return dunlin_##name(__VA_ARGS__, err);                                                    \
    }
#define CALL(name, ...) CALL_AS(name, name, __VA_ARGS__)

#define KIND(argument) ((dunlin_kind)(argument).number)
#define PLACE_KIND(argument) ((dunlin_place_kind)(argument).number)

/* Opens a listing of the store into a place, with what follows. */
#define OPENS(name, ...) CALL(name, a[0].at, a[1].at, __VA_ARGS__)
#define READS(name) CALL(name, a[0].at, a[1].at)

CALL(begin, a[0].at)
CALL(commit, a[0].at)
CALL(dump, a[0].at, a[1].callback, NULL)
CALL(dump_remote, a[0].at, a[1].at, a[2].callback, NULL)
CALL(follow, a[0].at, KIND(a[1]), a[2].text)
CALL_AS(follow_user, follow, a[0].at, DUNLIN_USER, a[1].text)
CALL(group_add, a[0].at, a[1].text, a[2].text, (dunlin_role)a[3].number)
CALL(group_create, a[0].at, a[1].text, a[2].text, (dunlin_join)a[3].number)
CALL(group_delete, a[0].at, a[1].text)
CALL(group_get, a[0].at, a[1].at, a[2].text)
CALL(group_remove, a[0].at, a[1].text, a[2].text)
CALL(group_set, a[0].at, a[1].text, a[2].text, a[3].given)
CALL(http_remote, a[0].at, a[1].text, a[2].given)
CALL(item_set, a[0].at, a[1].text, a[2].text, a[3].text, a[4].given)
CALL(list_add, a[0].at, a[1].text, a[2].text, a[3].text, a[4].given)
CALL(list_create, a[0].at, NULL, a[1].text, a[2].text)
CALL_AS(list_create_any, list_create, a[0].at, a[1].at, NULL, a[2].text)
CALL(list_delete, a[0].at, a[1].text)
CALL(list_move, a[0].at, a[1].text, a[2].text, a[3].text, a[4].given)
CALL(list_rank, a[0].at, a[1].text, PLACE_KIND(a[2]), NULL)
CALL_AS(list_rank_before, list_rank, a[0].at, a[1].text, DUNLIN_PLACE_BEFORE, a[2].text)
CALL_AS(list_rank_first, list_rank, a[0].at, a[1].text, DUNLIN_PLACE_FIRST, a[2].text)
CALL_AS(list_rank_last, list_rank, a[0].at, a[1].text, DUNLIN_PLACE_LAST, a[2].text)
CALL(list_remove, a[0].at, a[1].text, a[2].text, a[3].text)
CALL(list_rename, a[0].at, a[1].text, a[2].text)
CALL(list_restore, a[0].at, a[1].text)
CALL(new_id, a[0].at, a[1].at)
CALL(rejected_discard, a[0].at, a[1].number)
CALL(rejected_export, a[0].at, a[1].number, a[2].callback, NULL)
CALL(rejected_retry, a[0].at, a[1].number, a[2].text)
CALL(store_backup, a[0].at, a[1].text)
CALL(store_get_status, a[0].at, a[1].at)
CALL(store_open, a[0].at, a[1].text, a[2].text, a[3].given)
CALL(store_verify, a[0].at, 0, a[1].at)
CALL(store_wipe, a[0].at, (dunlin_wipe_mode)a[1].number)
CALL(sync, a[0].at, a[1].at, NULL)
CALL(sync_wait, a[0].at, a[1].at, a[2].number, a[3].at)
CALL(unfollow, a[0].at, KIND(a[1]), a[2].text)
CALL_AS(unfollow_user, unfollow, a[0].at, DUNLIN_USER, a[1].text)
CALL(verify_remote, a[0].at, a[1].at, 0, a[2].at, NULL, NULL)

OPENS(explain, a[2].text)
OPENS(following, a[2].given)
OPENS(item_get, a[2].text, a[3].text, a[4].text)
OPENS(items, a[2].text, a[3].given)
OPENS(list_get, a[2].text)
OPENS(lists, a[2].given)
OPENS(lists_named, a[2].text)
OPENS(lists_with, a[2].text, a[3].text)
OPENS(members, a[2].text, a[3].given)
OPENS(outbox, a[2].given)
OPENS(rejected, a[2].given)
OPENS(search, a[2].text, a[3].given)
OPENS(subscription_of, a[2].text)
OPENS(subscriptions, a[2].given)

READS(explain_next)
READS(following_next)
READS(items_next)
READS(lists_next)
READS(members_next)
READS(outbox_next)
READS(rejected_next)
READS(search_next)
READS(subscriptions_next)

CALL(central_maintain, a[0].at, NULL)
CALL(central_open, a[0].at, a[1].text, a[2].given)
CALL(central_remote, a[0].at, a[1].at, a[2].text)
CALL(central_restored, a[0].at, 1)
CALL(embedded_remote, a[0].at, a[1].text, a[2].text, a[3].given)
CALL(mongo_remote, a[0].at, a[1].text, a[2].text, a[3].given)

/* ---- the table */

#define ROW(as, name, when, good, ...)                                                             \
    {                                                                                              \
        "dunlin_" #name, call_##as, (when), (good), {                                              \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define FUNCTION(name, ...) ROW(name, name, ANY_TIME, DUNLIN_OK, __VA_ARGS__)
#define FUNCTION_AS(as, name, ...) ROW(as, name, ANY_TIME, DUNLIN_OK, __VA_ARGS__)
#define FUNCTION_WHEN(when, name, ...) ROW(name, name, when, DUNLIN_OK, __VA_ARGS__)

#define PARAMETER(kind, ...)                                                                       \
    {                                                                                              \
        PARAMETER_##kind, {__VA_ARGS__}, {                                                         \
            {.at = NULL}, DUNLIN_OK                                                                \
        }                                                                                          \
    }
#define PLAIN(kind) PARAMETER(kind, .at = NULL)
#define STORE PLAIN(STORE)
#define REMOTE PLAIN(REMOTE)
#define CENTRAL PLAIN(CENTRAL)
#define OUT PLAIN(OUT)
#define OUT_ITER PLAIN(OUT_ITER)
#define OUT_REMOTE PLAIN(OUT_REMOTE)
#define CALLBACK PLAIN(LINE_CALLBACK)
#define ID(good) PARAMETER(ID, .text = (good))
#define GROUP(good) PARAMETER(GROUP, .text = (good))
#define NAME(good) PARAMETER(NAME, .text = (good))
#define NAME_OR_NULL PLAIN(NAME_OR_NULL)
#define ENUM(last) PARAMETER(ENUM, .number = (last))
/* A place without its neighbour, where there must be one. */
#define PLACE_ALONE                                                                                \
    {                                                                                              \
        PARAMETER_ENUM, {.number = DUNLIN_PLACE_FIRST}, {                                          \
            {.number = 3}, DUNLIN_MISUSE                                                           \
        }                                                                                          \
    }
#define LETTER PARAMETER(LETTER, .number = 1)
#define RANGE(listing) PARAMETER(RANGE, .number = LISTING_##listing)
#define READER(listing) PARAMETER(ITER, .number = LISTING_##listing), PLAIN(OUT_ROW)
/* An id that is right as such, and wrong here. */
#define ID_BUT(kind, good, wrong, status)                                                          \
    {                                                                                              \
        PARAMETER_##kind, {.text = (good)}, {                                                      \
            {.text = (wrong)}, DUNLIN_##status                                                     \
        }                                                                                          \
    }
#define KNOWN_GROUP(good) ID_BUT(GROUP, good, "none", NOT_FOUND)
#define KNOWN(good) ID_BUT(ID, good, "none", NOT_FOUND)
#define ITEM KNOWN("l1"), KNOWN("v"), KNOWN("a")
/* Where nobody answers: a call with nothing wrong comes as far as that. */
#define NO_MONGO "mongodb://127.0.0.1:1/db?serverSelectionTimeoutMS=50"

static const struct function functions[] = {
    FUNCTION_WHEN(ALONE, begin, STORE),
    FUNCTION_WHEN(INSIDE, commit, STORE),
    FUNCTION(dump, STORE, CALLBACK),
    FUNCTION_WHEN(ALONE, dump_remote, STORE, REMOTE, CALLBACK),
    FUNCTION(new_id, STORE, OUT),
    FUNCTION_WHEN(ALONE, store_backup, STORE, PLAIN(NEW_FILE)),
    FUNCTION(store_get_status, STORE, OUT),
    FUNCTION(store_open, PLAIN(OUT_STORE), PLAIN(STORE_FILE), PARAMETER(OWNER, .text = "aoi"),
             PLAIN(OPEN_OPTIONS)),
    FUNCTION_WHEN(ALONE, store_verify, STORE, OUT),
    FUNCTION_WHEN(ALONE, store_wipe, STORE, ENUM(DUNLIN_WIPE_FORCE)),
    FUNCTION_WHEN(ALONE, sync, STORE, REMOTE),
    FUNCTION_WHEN(ALONE, sync_wait, STORE, REMOTE, PARAMETER(TIMEOUT, .number = 0), OUT),
    FUNCTION_WHEN(ALONE, verify_remote, STORE, REMOTE, OUT),

    FUNCTION(follow, STORE, ENUM(DUNLIN_GROUP), GROUP("dai")),
    FUNCTION_AS(follow_user, follow, STORE, ID_BUT(ID, "dai", "aoi", SELF)),
    FUNCTION(unfollow, STORE, ENUM(DUNLIN_GROUP), GROUP("tea")),
    FUNCTION_AS(unfollow_user, unfollow, STORE, ID("ben")),
    FUNCTION(following, STORE, OUT_ITER, RANGE(FOLLOWING)),
    FUNCTION(following_next, READER(FOLLOWING)),
    FUNCTION(group_create, STORE, ID_BUT(GROUP, "new", "tea", EXISTS), NAME_OR_NULL,
             ENUM(DUNLIN_JOIN_CLOSED)),
    FUNCTION(group_set, STORE, KNOWN_GROUP("tea"), NAME_OR_NULL, PLAIN(JOIN_OR_NULL)),
    FUNCTION(group_delete, STORE, KNOWN_GROUP("tea")),
    FUNCTION(group_add, STORE, KNOWN_GROUP("tea"), ID("dai"), ENUM(DUNLIN_ROLE_ADMIN)),
    FUNCTION(group_remove, STORE, KNOWN_GROUP("tea"), ID("chika")),
    FUNCTION(group_get, STORE, PLAIN(OUT_GROUP), KNOWN_GROUP("tea")),
    FUNCTION(members, STORE, OUT_ITER, KNOWN_GROUP("tea"), RANGE(MEMBERS)),
    FUNCTION(members_next, READER(MEMBERS)),
    FUNCTION(subscriptions, STORE, OUT_ITER, RANGE(SUBSCRIPTIONS)),
    FUNCTION(subscription_of, STORE, OUT_ITER, ID("ben")),
    FUNCTION(subscriptions_next, READER(SUBSCRIPTIONS)),
    FUNCTION(explain, STORE, OUT_ITER, ID("ben")),
    FUNCTION(explain_next, READER(REASONS)),

    FUNCTION(list_create, STORE, ID_BUT(ID, "new", "l1", EXISTS), NAME("New")),
    FUNCTION_AS(list_create_any, list_create, STORE, OUT, NAME("New")),
    FUNCTION(list_rename, STORE, KNOWN("l1"), NAME("New")),
    FUNCTION(list_delete, STORE, KNOWN("l1")),
    FUNCTION(list_restore, STORE, KNOWN("l1")),
    FUNCTION(list_rank, STORE, KNOWN("l2"), PLACE_ALONE),
    FUNCTION_AS(list_rank_before, list_rank, STORE, KNOWN("l2"), KNOWN("l1")),
    FUNCTION_AS(list_rank_first, list_rank, STORE, KNOWN("l2"), PLAIN(NO_TEXT)),
    FUNCTION_AS(list_rank_last, list_rank, STORE, KNOWN("l1"), PLAIN(NO_TEXT)),
    FUNCTION(lists, STORE, OUT_ITER, RANGE(LISTS)),
    FUNCTION(lists_named, STORE, OUT_ITER, NAME("One")),
    FUNCTION(list_get, STORE, OUT_ITER, ID("l1")),
    FUNCTION(lists_with, STORE, OUT_ITER, ID("v"), ID("a")),
    FUNCTION(lists_next, READER(LISTS)),
    FUNCTION(list_add, STORE, KNOWN("l1"), ID("v"), ID("new"), PLAIN(ITEM_OPTIONS)),
    FUNCTION(item_set, STORE, ITEM, PLAIN(ITEM_OPTIONS)),
    FUNCTION(list_remove, STORE, ITEM),
    FUNCTION(list_move, STORE, ITEM,
             PARAMETER(ITEM_PLACE, .given = &(const dunlin_item_place)DUNLIN_ITEM_PLACE_INIT)),
    FUNCTION(items, STORE, OUT_ITER, KNOWN("l1"), RANGE(ITEMS)),
    FUNCTION(item_get, STORE, OUT_ITER, ID("l1"), ID("v"), ID("a")),
    FUNCTION(items_next, READER(ITEMS)),
    FUNCTION(search, STORE, OUT_ITER, NAME("tea"), RANGE(HITS)),
    FUNCTION(search_next, READER(HITS)),

    FUNCTION(outbox, STORE, OUT_ITER, RANGE(OUTBOX)),
    FUNCTION(outbox_next, READER(OUTBOX)),
    FUNCTION(rejected, STORE, OUT_ITER, RANGE(REJECTED)),
    FUNCTION(rejected_next, READER(REJECTED)),
    FUNCTION(rejected_retry, STORE, LETTER, PLAIN(VALUES)),
    FUNCTION(rejected_discard, STORE, LETTER),
    FUNCTION(rejected_export, STORE, LETTER, CALLBACK),

    FUNCTION(http_remote, OUT_REMOTE, PARAMETER(HTTP_URL, .text = "https://example.org"),
             PLAIN(HTTP_OPTIONS)),
    FUNCTION(central_open, PLAIN(OUT_CENTRAL), PLAIN(CENTRAL_URL), PLAIN(CENTRAL_OPTIONS)),
    FUNCTION(central_remote, CENTRAL, OUT_REMOTE, ID("ben")),
    FUNCTION(central_maintain, CENTRAL),
    FUNCTION(central_restored, CENTRAL),
    FUNCTION(embedded_remote, OUT_REMOTE, PLAIN(CENTRAL_URL), ID("ben"), PLAIN(CENTRAL_OPTIONS)),
    ROW(mongo_remote, mongo_remote, ANY_TIME, DUNLIN_OFFLINE, OUT_REMOTE,
        PARAMETER(MONGO_URL, .text = NO_MONGO), ID("ben"), PLAIN(CENTRAL_OPTIONS)),
};

enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/* ---- all of them */

static void each_argument_is_refused_by_name(void **state) {
    (void)state;
    for (size_t i = 0; i < FUNCTIONS; i++) {
        refuse_function(&functions[i]);
    }
}

/* ---- those that give no status: nothing is wrong with any argument */

static const char *const harmless[] = {
    "dunlin_central_close",       "dunlin_group_free",   "dunlin_iter_free",
    "dunlin_iter_token",          "dunlin_remote_close", "dunlin_rollback",
    "dunlin_status_is_retryable", "dunlin_status_name",  "dunlin_status_text",
    "dunlin_store_close",         "dunlin_store_device", "dunlin_store_owner",
};

enum { HARMLESS = sizeof(harmless) / sizeof(harmless[0]) };

static void what_gives_no_status_takes_anything(void **state) {
    static const int numbers[] = {1, 99, -99, -1000, INT32_MIN, INT32_MAX};
    struct scene scene;
    (void)state;
    scene_open(&scene);
    char *before = scene_state(&scene);
    dunlin_central_close(NULL);
    dunlin_group_free(NULL);
    dunlin_iter_free(NULL);
    dunlin_remote_close(NULL);
    dunlin_store_close(NULL);
    dunlin_rollback(NULL);
    dunlin_rollback(scene.store); /* nothing is open: nothing happens */
    assert_null(dunlin_iter_token(NULL));
    assert_null(dunlin_store_owner(NULL));
    assert_null(dunlin_store_device(NULL));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        dunlin_status status = (dunlin_status)numbers[i];
        assert_string_equal(dunlin_status_name(status), "UNKNOWN");
        assert_true(strlen(dunlin_status_text(status)) > 0);
        assert_false(dunlin_status_is_retryable(status));
    }
    char *after = scene_state(&scene);
    assert_string_equal(before, after);
    free(before);
    free(after);
    scene_close(&scene);
}

/* ---- what is seen only when it is read: a well-formed token of this listing, of no row */

static void tokens_of_no_row_are_refused_by_the_reader(void **state) {
    struct scene scene;
    char token[128];
    dunlin_range range = DUNLIN_RANGE_INIT;
    const dunlin_rejection *letter;
    const dunlin_pending *pending;
    dunlin_iter *iter;
    (void)state;
    scene_open(&scene);
    range.after = token;
    (void)snprintf(token, sizeof(token), "%.*s.78",
                   (int)strcspn(scene.tokens[LISTING_REJECTED], "."),
                   scene.tokens[LISTING_REJECTED]);
    assert_int_equal(dunlin_rejected(scene.store, &iter, &range, NULL), DUNLIN_OK);
    assert_int_equal(dunlin_rejected_next(iter, &letter, NULL), DUNLIN_INVALID_CURSOR);
    assert_null(letter);
    dunlin_iter_free(iter);
    (void)snprintf(token, sizeof(token), "%.*s.78", (int)strcspn(scene.tokens[LISTING_OUTBOX], "."),
                   scene.tokens[LISTING_OUTBOX]);
    assert_int_equal(dunlin_outbox(scene.store, &iter, &range, NULL), DUNLIN_OK);
    assert_int_equal(dunlin_outbox_next(iter, &pending, NULL), DUNLIN_INVALID_CURSOR);
    assert_null(pending);
    dunlin_iter_free(iter);
    scene_close(&scene);
}

/* ---- nothing is left out */

static bool is_tried(const char *name) {
    for (size_t i = 0; i < FUNCTIONS; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < HARMLESS; i++) {
        if (strcmp(harmless[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void each_exported_function_is_tried(void **state) {
    static const char *const lists[] = {"dunlin", "dunlin-central", "dunlin-mongo"};
    char text[600];
    size_t count = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        (void)snprintf(text, sizeof(text), DUNLIN_SOURCE_DIR "/cmake/exports/%s.sym", lists[i]);
        FILE *file = fopen(text, "r");
        assert_non_null(file);
        while (fgets(text, sizeof(text), file)) {
            text[strcspn(text, "\n")] = '\0';
            if (!is_tried(text)) {
                fail_msg("%s is exported, and not in the table", text);
            }
            count++;
        }
        assert_int_equal(fclose(file), 0);
    }
    assert_true(count > HARMLESS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_argument_is_refused_by_name),
        cmocka_unit_test(what_gives_no_status_takes_anything),
        cmocka_unit_test(tokens_of_no_row_are_refused_by_the_reader),
        cmocka_unit_test(each_exported_function_is_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
