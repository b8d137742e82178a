/* What derives, against a model of its own, and what it costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/handle.h"
#include "store/internal.h"
#include "tests/support/notebook.h"

enum { USERS = 7, GROUPS = 5, LISTS = 4, ITEMS = 6, EDITS = 2000 };

static const char *const users[USERS] = {"aoi", "ben", "chika", "dai", "$emi", "a.b", "!"};
static const char *const groups[GROUPS] = {"tea", "run", "tea.v2", "aoi", "!!"};

/* ---- rows as they come from anywhere */

/* One field of a row is set to a value; the row is made, changed or removed as a whole. */
struct change {
    enum dln_collection_id collection;
    struct dln_text group;
    struct dln_text parts[DLN_KEY_MAX];
    struct dln_value values[DLN_FIELD_MAX];
};

static void put(struct notebook *n, const struct change *change, bool removed) {
    static dln_stamp stamp = 1;
    struct dln_store *store = n->store->store;
    struct dln_arena arena = DLN_ARENA_INIT(1 << 20);
    const struct dln_collection *collection = dln_collection_by_id(change->collection);
    struct dln_key key = {.collection = collection,
                          .name = dln_text_of(collection->name),
                          .part_count = collection->key_count};
    struct dln_row row;
    key.scope = collection->scope == DLN_SCOPE_USER ? dln_scope_user(&arena, DLN_TEXT("aoi"))
                                                    : dln_scope_group(&arena, change->group);
    memcpy(key.parts, change->parts, sizeof(key.parts));
    OK(dln_row_get(store, &arena, &key, &row, NULL));
    if (removed) {
        OK(dln_row_remove(store, &key, NULL));
    } else {
        for (int i = 0; i < collection->field_count; i++) {
            row.record.fields[i] = (struct dln_field){++stamp, change->values[i]};
        }
        row.seq = 1;
        OK(dln_row_put(store, &row, NULL));
    }
    dln_arena_free(&arena);
}

/* ---- the model: plain arrays, everything worked out anew each time */

struct model {
    bool follows_user[USERS];
    bool follows_group[GROUPS];
    struct {
        bool known, deleted, closed;
        int owner;
    } groups[GROUPS];
    bool members[GROUPS][USERS];
    struct {
        bool known, deleted;
        bool items[ITEMS];
    } lists[LISTS];
};

static bool counts(const struct model *model, int group, int user) {
    return model->follows_group[group] && model->groups[group].known &&
           !model->groups[group].deleted && model->members[group][user] &&
           (!model->groups[group].closed || model->groups[group].owner == 0 ||
            model->members[group][0]);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct text {
    char data[4096];
    size_t len;
};

static void say(struct text *out, const char *first, const char *second) {
    int len = snprintf(out->data + out->len, sizeof(out->data) - out->len, "%s%s", first, second);
    assert_true(len >= 0 && out->len + (size_t)len < sizeof(out->data));
    out->len += (size_t)len;
}

static void model_subscription(const struct model *model, int user, struct text *out) {
    const char *origins[GROUPS + 1];
    int count = 0;
    for (int group = 0; group < GROUPS; group++) {
        if (counts(model, group, user)) {
            origins[count++] = groups[group];
        }
    }
    qsort(origins, (size_t)count, sizeof(origins[0]), by_text);
    if (user == 0 || (count == 0 && !model->follows_user[user])) {
        return;
    }
    say(out, out->len > 0 ? " " : "", users[user]);
    say(out, "=", model->follows_user[user] ? "!" : "");
    for (int i = 0; i < count; i++) {
        say(out, i > 0 || model->follows_user[user] ? "," : "", origins[i]);
    }
}

static void model_subscriptions(const struct model *model, struct text *out) {
    const char *sorted[USERS];
    *out = (struct text){.len = 0};
    memcpy(sorted, users, sizeof(users));
    qsort(sorted, USERS, sizeof(sorted[0]), by_text);
    for (int at = 0; at < USERS; at++) {
        int user = 0;
        while (strcmp(users[user], sorted[at]) != 0) {
            user++;
        }
        model_subscription(model, user, out);
    }
}

static void model_lists(const struct model *model, struct text *out) {
    *out = (struct text){.len = 0};
    for (int list = 0; list < LISTS; list++) {
        char row[32];
        int count = 0;
        for (int item = 0; item < ITEMS; item++) {
            count += model->lists[list].items[item];
        }
        (void)snprintf(row, sizeof(row), "l%d::%d", list, count);
        if (model->lists[list].known && !model->lists[list].deleted) {
            say(out, out->len > 0 ? " " : "", row);
        }
    }
}

/* ---- a random change to both */

static void change_follow(struct notebook *n, struct model *model) {
    bool group = test_random_below(&n->random, 2) == 0;
    bool present = test_random_below(&n->random, 2) == 0;
    int at = (int)test_random_below(&n->random, group ? GROUPS : USERS);
    struct change change = {.collection = DLN_FOLLOW,
                            .parts = {group ? DLN_TEXT("group") : DLN_TEXT("user"),
                                      dln_text_of(group ? groups[at] : users[at])},
                            .values = {dln_value_bool(present)}};
    (group ? model->follows_group : model->follows_user)[at] = present;
    put(n, &change, !present && test_random_below(&n->random, 2) == 0);
}

static void change_group(struct notebook *n, struct model *model) {
    int at = (int)test_random_below(&n->random, GROUPS);
    int owner = (int)test_random_below(&n->random, 3);
    bool closed = test_random_below(&n->random, 2) == 0;
    bool deleted = test_random_below(&n->random, 5) == 0;
    bool removed = test_random_below(&n->random, 6) == 0;
    struct change change = {
        .collection = DLN_GROUP,
        .group = dln_text_of(groups[at]),
        .values = {dln_value_null(), dln_value_string(dln_text_of(users[owner])),
                   closed ? dln_value_string(DLN_TEXT("closed")) : dln_value_null(),
                   dln_value_bool(deleted)}};
    model->groups[at].known = !removed;
    model->groups[at].deleted = deleted;
    model->groups[at].closed = closed;
    model->groups[at].owner = owner;
    put(n, &change, removed);
}

static void change_member(struct notebook *n, struct model *model) {
    int group = (int)test_random_below(&n->random, GROUPS);
    int user = (int)test_random_below(&n->random, USERS);
    bool present = test_random_below(&n->random, 3) != 0;
    struct change change = {.collection = DLN_MEMBER,
                            .group = dln_text_of(groups[group]),
                            .parts = {dln_text_of(users[user])},
                            .values = {dln_value_bool(present), dln_value_null()}};
    model->members[group][user] = present;
    put(n, &change, !present && test_random_below(&n->random, 2) == 0);
}

static void change_list(struct notebook *n, struct model *model) {
    int at = (int)test_random_below(&n->random, LISTS);
    bool deleted = test_random_below(&n->random, 3) == 0;
    bool removed = test_random_below(&n->random, 5) == 0;
    char id[8], rank[8];
    (void)snprintf(id, sizeof(id), "l%d", at);
    (void)snprintf(rank, sizeof(rank), "a%d", at);
    struct change change = {
        .collection = DLN_LIST,
        .parts = {dln_text_of(id)},
        .values = {dln_value_null(), dln_value_string(dln_text_of(rank)), dln_value_bool(deleted)}};
    model->lists[at].known = !removed;
    model->lists[at].deleted = deleted;
    put(n, &change, removed);
}

static void change_item(struct notebook *n, struct model *model) {
    int list = (int)test_random_below(&n->random, LISTS);
    int item = (int)test_random_below(&n->random, ITEMS);
    bool present = test_random_below(&n->random, 3) != 0;
    char list_id[8], id[8];
    (void)snprintf(list_id, sizeof(list_id), "l%d", list);
    (void)snprintf(id, sizeof(id), "i%d", item);
    struct change change = {.collection = DLN_ITEM,
                            .parts = {dln_text_of(list_id), DLN_TEXT("v"), dln_text_of(id)},
                            .values = {dln_value_bool(present)}};
    model->lists[list].items[item] = present;
    put(n, &change, !present && test_random_below(&n->random, 2) == 0);
}

static void assert_as_modelled(struct notebook *n, const struct model *model) {
    struct text text;
    dunlin_store_status status;
    dunlin_check check;
    model_subscriptions(model, &text);
    assert_string_equal(show_subscriptions(n, NULL), text.data);
    model_lists(model, &text);
    assert_string_equal(show_lists(n, NULL), text.data);
    OK(dunlin_store_verify(n->store, 0, &check, NULL));
    assert_int_equal(check.subscriptions_off, 0);
    assert_int_equal(check.counts_off, 0);
    assert_int_equal(check.search_off, 0);
    OK(dunlin_store_get_status(n->store, &status, NULL));
    assert_int_equal(status.subscriptions,
                     notebook_number(n, "SELECT count(DISTINCT user) FROM origin"));
}

static void upkeep_equals_recompute(void **state) {
    struct notebook *n = *state;
    struct model model = {0};
    void (*const changes[])(struct notebook *, struct model *) = {
        change_follow, change_group, change_member, change_list, change_item, change_member};
    for (int i = 0; i < EDITS; i++) {
        OK(dunlin_begin(n->store, NULL));
        changes[test_random_below(&n->random, 6)](n, &model);
        OK(dunlin_commit(n->store, NULL));
        if (i % 10 == 9) {
            assert_as_modelled(n, &model);
        }
    }
}

static void damage_is_found_and_repaired(void **state) {
    struct notebook *n = *state;
    struct model model = {0};
    static const struct {
        const char *sql;
        int subscriptions, counts;
    } damages[] = {{"DELETE FROM origin", 1, 0},
                   {"INSERT OR IGNORE INTO origin (user, origin) VALUES (9999, 0)", 1, 0},
                   {"UPDATE grp SET granted = 1", 1, 0},
                   {"UPDATE grp SET granted = 0", 0, 0},
                   {"UPDATE outbox SET a = a + 1 WHERE id > 4611686018427387904", 0, 1},
                   {"UPDATE outbox SET a = a - 1 WHERE id = 4611686018427387904", 0, 1}};
    OK(dunlin_begin(n->store, NULL));
    for (int i = 0; i < 200; i++) {
        change_follow(n, &model);
        change_group(n, &model);
        change_member(n, &model);
        change_list(n, &model);
        change_item(n, &model);
    }
    OK(dunlin_commit(n->store, NULL));
    assert_as_modelled(n, &model);
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        dunlin_check check;
        notebook_sql(n, damages[i].sql);
        for (int repair = 0; repair < 2; repair++) {
            OK(dunlin_store_verify(n->store, repair, &check, NULL));
            assert_true(damages[i].subscriptions == 0 || i == 2 || check.subscriptions_off > 0);
            assert_true(damages[i].counts == 0 || check.counts_off > 0);
        }
        assert_as_modelled(n, &model);
    }
}

/* ---- cost, in steps of SQLite's virtual machine */

static int64_t steps;

static int count_steps(unsigned what, void *ctx, void *stmt, void *time_ns) {
    (void)what;
    (void)ctx;
    (void)time_ns;
    steps += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
    return 0;
}

#define STEPS(n, call) (steps = 0, OK(call), steps)

static void watch(struct notebook *n) {
    assert_int_equal(sqlite3_trace_v2(n->store->store->db, SQLITE_TRACE_PROFILE, count_steps, NULL),
                     SQLITE_OK);
}

static void add_members(struct notebook *n, const char *group, int from, int to) {
    char id[16];
    for (int i = from; i < to; i++) {
        (void)snprintf(id, sizeof(id), "u%06d", i);
        OK(dunlin_group_add(n->store, group, id, DUNLIN_ROLE_MEMBER, NULL));
    }
}

struct cost {
    int64_t follow, unfollow, add, remove, follow_group, unfollow_group, close_group, few_group;
};

static void measure(struct notebook *n, struct cost *cost) {
    *cost = (struct cost){0};
    cost->follow = STEPS(n, dunlin_follow(n->store, DUNLIN_USER, "emi", NULL));
    cost->unfollow = STEPS(n, dunlin_unfollow(n->store, DUNLIN_USER, "emi", NULL));
    cost->add = STEPS(n, dunlin_group_add(n->store, "big", "emi", DUNLIN_ROLE_MEMBER, NULL));
    cost->remove = STEPS(n, dunlin_group_remove(n->store, "big", "emi", NULL));
    cost->follow_group = STEPS(n, dunlin_follow(n->store, DUNLIN_GROUP, "small", NULL));
    cost->unfollow_group = STEPS(n, dunlin_unfollow(n->store, DUNLIN_GROUP, "small", NULL));
}

static void assert_same_cost(int64_t few, int64_t many, const char *what) {
    if (many > few + few / 5 + 10) {
        fail_msg("%s: %lld steps at 100 subscriptions, %lld at 100,000", what, (long long)few,
                 (long long)many);
    }
}

static void deltas_cost_what_they_change(void **state) {
    struct notebook *n = *state;
    struct cost few, many;
    watch(n);
    OK(dunlin_begin(n->store, NULL));
    OK(dunlin_group_create(n->store, "small", NULL, DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_group_create(n->store, "big", NULL, DUNLIN_JOIN_OPEN, NULL));
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "big", NULL));
    add_members(n, "small", 0, 50);
    add_members(n, "big", 0, 100);
    measure(n, &few);
    int64_t big_at_100 = STEPS(n, dunlin_unfollow(n->store, DUNLIN_GROUP, "big", NULL));
    OK(dunlin_follow(n->store, DUNLIN_GROUP, "big", NULL));
    add_members(n, "big", 100, 100000);
    measure(n, &many);
    assert_same_cost(few.follow, many.follow, "follow a user");
    assert_same_cost(few.unfollow, many.unfollow, "unfollow a user");
    assert_same_cost(few.add, many.add, "add a member");
    assert_same_cost(few.remove, many.remove, "remove a member");
    assert_same_cost(few.follow_group, many.follow_group, "follow a group of 50");
    assert_same_cost(few.unfollow_group, many.unfollow_group, "unfollow a group of 50");
    assert_true(many.follow < 400 && many.add < 600);
    assert_true(many.follow_group < 100 * 50);
    int64_t big_at_100000 = STEPS(n, dunlin_unfollow(n->store, DUNLIN_GROUP, "big", NULL));
    assert_true(big_at_100000 < 1100 * big_at_100);
    OK(dunlin_commit(n->store, NULL));
}

/* Steps of reading one page of 50 behind or before a token. */
static int64_t page_steps(struct notebook *n, const char *after, const char *before,
                          int backwards) {
    dunlin_range range = {DUNLIN_RANGE_VERSION, 50, after, before, backwards};
    const dunlin_item *row;
    dunlin_iter *iter;
    int rows = 0;
    steps = 0;
    OK(dunlin_items(n->store, &iter, "l1", &range, NULL));
    for (;;) {
        OK(dunlin_items_next(iter, &row, NULL));
        if (!row) {
            break;
        }
        rows++;
    }
    dunlin_iter_free(iter);
    assert_int_equal(rows, 50);
    return steps;
}

static void pages_cost_the_same_everywhere(void **state) {
    struct notebook *n = *state;
    dunlin_range range = {DUNLIN_RANGE_VERSION, 51, NULL, NULL, 0};
    const dunlin_item *row;
    dunlin_iter *iter;
    char id[16], tokens[2][2049];
    watch(n);
    OK(dunlin_begin(n->store, NULL));
    OK(dunlin_list_create(n->store, NULL, "l1", "x", NULL));
    int64_t add_first = STEPS(n, dunlin_list_add(n->store, "l1", "v", "first", NULL, NULL));
    for (int i = 0; i < 100000; i++) {
        (void)snprintf(id, sizeof(id), "i%06d", i);
        OK(dunlin_list_add(n->store, "l1", "v", id, NULL, NULL));
    }
    int64_t add_last = STEPS(n, dunlin_list_add(n->store, "l1", "v", "last", NULL, NULL));
    assert_true(add_last <= add_first + 60);
    OK(dunlin_commit(n->store, NULL));
    for (int end = 0; end < 2; end++) { /* the 51st row from either end */
        range.backwards = end;
        OK(dunlin_items(n->store, &iter, "l1", &range, NULL));
        for (int i = 0; i < 51; i++) {
            OK(dunlin_items_next(iter, &row, NULL));
        }
        (void)snprintf(tokens[end], sizeof(tokens[end]), "%s", dunlin_iter_token(iter));
        dunlin_iter_free(iter);
    }
    int64_t start = page_steps(n, NULL, NULL, 0);
    assert_true(start < 3000);
    const int64_t others[] = {page_steps(n, NULL, NULL, 1), page_steps(n, tokens[0], NULL, 0),
                              page_steps(n, tokens[1], NULL, 0), page_steps(n, NULL, tokens[0], 0),
                              page_steps(n, NULL, tokens[1], 0)};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_in_range(others[i], start * 9 / 10, start * 11 / 10);
    }
    int64_t listed = (steps = 0, show_lists(n, NULL), steps);
    assert_true(listed < 200); /* the count is kept, not counted */
}

#define TEST(name, setup) cmocka_unit_test_setup_teardown(name, setup, notebook_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(upkeep_equals_recompute, notebook_setup),
        TEST(damage_is_found_and_repaired, notebook_setup),
        TEST(deltas_cost_what_they_change, notebook_setup),
        TEST(pages_cost_the_same_everywhere, notebook_setup_without_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
