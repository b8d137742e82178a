#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dunlin/sync.h>

#include "store/internal.h"
#include "store/outbox_page.h"
#include "tests/support/bare.h"

static void put_member(struct bare *bare, const char *group, const char *user) {
    struct dln_key key = bare_key(bare, DLN_MEMBER, group, &user);
    struct dln_row row = bare_row(bare, &key);
    row.record.fields[DLN_MEMBER_PRESENT].value = dln_value_bool(true);
    row.record.fields[DLN_MEMBER_ROLE].value = dln_value_string(DLN_TEXT("member"));
    assert_int_equal(dln_row_edit(bare->store, &row, 3, NULL), DUNLIN_OK);
}

static void put_group(struct bare *bare, const char *group) {
    struct dln_key key = bare_key(bare, DLN_GROUP, group, NULL);
    struct dln_row row = bare_row(bare, &key);
    row.record.fields[DLN_GROUP_NAME].value = dln_value_null();
    row.record.fields[DLN_GROUP_OWNER].value = dln_value_string(DLN_TEXT("alice"));
    row.record.fields[DLN_GROUP_JOIN].value = dln_value_string(DLN_TEXT("open"));
    row.record.fields[DLN_GROUP_DELETED].value = dln_value_bool(false);
    assert_int_equal(dln_row_edit(bare->store, &row, 15, NULL), DUNLIN_OK);
}

static void put_other(struct bare *bare, const char *scope, const char *part) {
    struct dln_extra extra = {DLN_TEXT("colour"), {5, dln_value_string(DLN_TEXT("teal"))}};
    struct dln_row row = {.seq = 1, .pending = DLN_EXTRAS_BIT, .offered = DLN_EXTRAS_BIT};
    row.record.key = (struct dln_key){.name = DLN_TEXT("hologram"),
                                      .scope = dln_text_of(scope),
                                      .part_count = 1,
                                      .parts = {dln_text_of(part)}};
    row.record.extras = &extra;
    row.record.extra_count = 1;
    assert_int_equal(dln_row_put(bare->store, &row, NULL), DUNLIN_OK);
}

static void put_mygroup(struct bare *bare, const char *group) {
    struct dln_key key = bare_key(bare, DLN_MYGROUP, NULL, &group);
    struct dln_row row = bare_row(bare, &key);
    row.record.fields[DLN_MYGROUP_PRESENT].value = dln_value_bool(true);
    row.record.fields[DLN_MYGROUP_ROLE].value = dln_value_null();
    assert_int_equal(dln_row_edit(bare->store, &row, 3, NULL), DUNLIN_OK);
}

/* Made in an order that is none, each thing in two places at least. */
static void fill(struct bare *bare) {
    bare_begin(bare);
    put_other(bare, "user/alice", "h1");
    put_member(bare, "g/1", "alice");
    put_member(bare, "g/1", "zoe");
    put_member(bare, "g2", "alice");
    put_member(bare, "g2", "ben");
    put_group(bare, "g/1");
    bare_put_item(bare, "l2", "v1", "a");
    bare_put_item(bare, "l1", "v1", "b");
    bare_put_item(bare, "l1", "v0", "c");
    bare_put_list(bare, "l1", "one");
    bare_put_list(bare, "l2", "two");
    bare_put_follow(bare, "group", "g2", true);
    bare_put_follow(bare, "user", "ben", true);
    put_mygroup(bare, "g/1");
    put_group(bare, "g2");
    bare_commit(bare);
}

/* In names: "follow user ben" and so on; within a stage in the order of the edits. */
static const char *const order[] = {"user/alice follow group g2",  "user/alice follow user ben",
                                    "user/alice mygroup g/1",      "user/alice list l1",
                                    "user/alice list l2",          "user/alice item l2 video v1",
                                    "user/alice item l1 video v1", "user/alice item l1 video v0",
                                    "group/g%2F1 group",           "group/g2 group",
                                    "group/g%2F1 member zoe",      "group/g2 member ben",
                                    "group/g%2F1 member alice",    "group/g2 member alice",
                                    "user/alice hologram h1"};

enum { ORDER_COUNT = sizeof(order) / sizeof(order[0]) };

static const char *name_of(const struct dln_key *key) {
    static char name[400];
    int len = snprintf(name, sizeof(name), "%.*s %.*s", (int)key->scope.len, key->scope.data,
                       (int)key->name.len, key->name.data);
    for (int i = 0; i < key->part_count; i++) {
        len += snprintf(name + len, sizeof(name) - (size_t)len, " %.*s", (int)key->parts[i].len,
                        key->parts[i].data);
    }
    return name;
}

static void a_pass_gives_every_row_once_in_sending_order(void **state) {
    struct bare *bare = *state;
    fill(bare);
    for (size_t limit = 1; limit <= ORDER_COUNT + 1; limit++) {
        struct dln_outbox_place place = {0};
        size_t at = 0;
        for (size_t count = limit; count == limit;) {
            struct dln_row *rows;
            assert_int_equal(
                dln_outbox_next(bare->store, &bare->arena, &place, limit, &rows, &count, NULL),
                DUNLIN_OK);
            for (size_t i = 0; i < count; i++, at++) {
                assert_true(at < ORDER_COUNT);
                assert_string_equal(name_of(&rows[i].record.key), order[at]);
                assert_true(rows[i].stored && rows[i].pending);
            }
        }
        assert_int_equal(at, ORDER_COUNT);
    }
}

static void a_place_outlives_the_row_that_it_stands_at(void **state) {
    struct bare *bare = *state;
    struct dln_outbox_place place = {0};
    struct dln_row *rows;
    size_t count;
    fill(bare);
    assert_int_equal(dln_outbox_next(bare->store, &bare->arena, &place, 6, &rows, &count, NULL),
                     DUNLIN_OK);
    struct dln_key last = rows[5].record.key;
    bare_begin(bare);
    assert_int_equal(dln_row_remove(bare->store, &last, NULL), DUNLIN_OK);
    bare_put_item(bare, "l1", "v9", "later");
    bare_commit(bare);
    assert_int_equal(dln_outbox_next(bare->store, &bare->arena, &place, 2, &rows, &count, NULL),
                     DUNLIN_OK);
    assert_string_equal(name_of(&rows[0].record.key), order[6]);
}

static void what_is_settled_is_gone(void **state) {
    struct bare *bare = *state;
    struct dln_outbox_place place = {0};
    struct dln_row *rows;
    size_t count;
    fill(bare);
    assert_int_equal(dln_outbox_next(bare->store, &bare->arena, &place, 100, &rows, &count, NULL),
                     DUNLIN_OK);
    bare_begin(bare);
    for (size_t i = 0; i < count; i++) {
        bare_settle(bare, &rows[i].record.key, (int64_t)i + 1);
    }
    bare_commit(bare);
    place = (struct dln_outbox_place){0};
    assert_int_equal(dln_outbox_next(bare->store, &bare->arena, &place, 100, &rows, &count, NULL),
                     DUNLIN_OK);
    assert_int_equal(count, 0);
}

static void a_place_that_is_none_is_refused(void **state) {
    struct bare *bare = *state;
    static const struct dln_outbox_place places[] = {
        {0, {"nonsense", 8}}, {0, {"-1", 2}}, {0, {"99999999999999999999", 20}}};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct dln_outbox_place place = places[i];
        struct dln_row *rows;
        size_t count;
        assert_int_equal(dln_outbox_next(bare->store, &bare->arena, &place, 5, &rows, &count, NULL),
                         DUNLIN_INVALID_CURSOR);
    }
}

static void an_edit_keeps_its_place_and_an_offer_takes_another(void **state) {
    struct bare *bare = *state;
    struct dln_outbox_place place = {0};
    struct dln_row *rows;
    size_t count;
    bare_begin(bare);
    bare_put_item(bare, "l1", "v1", "a");
    bare_put_item(bare, "l1", "v2", "b");
    bare_put_item(bare, "l1", "v1", "c");
    struct dln_key key = bare_item(bare, "l1", "v2");
    struct dln_row row = bare_row(bare, &key);
    row.offered = row.pending;
    assert_int_equal(dln_row_mark(bare->store, &row, NULL), DUNLIN_OK);
    bare_put_item(bare, "l1", "v3", "d");
    bare_commit(bare);
    static const char *const expected[] = {"v1", "v3", "v2"};
    for (int round = 0; round < 2; round++) {
        place = (struct dln_outbox_place){0};
        assert_int_equal(dln_outbox_next(bare->store, &bare->arena, &place, 9, &rows, &count, NULL),
                         DUNLIN_OK);
        assert_int_equal(count, 3);
        for (size_t i = 0; i < count; i++) {
            assert_true(dln_text_equal(rows[i].record.key.parts[2], dln_text_of(expected[i])));
        }
        /* Once it is edited it is as good as any other, but behind them. */
        bare_begin(bare);
        row = bare_row(bare, &key);
        assert_int_equal(dln_row_edit(bare->store, &row, 63, NULL), DUNLIN_OK);
        bare_commit(bare);
        bare_reopen(bare);
    }
    dunlin_store_status status;
    assert_int_equal(dln_store_status(bare->store, &status, NULL), DUNLIN_OK);
    assert_int_equal(status.pending, 3);
}

static size_t waiting(struct bare *bare) {
    struct dln_outbox_place place = {0};
    struct dln_row *rows;
    size_t count;
    assert_int_equal(dln_outbox_next(bare->store, &bare->arena, &place, 100, &rows, &count, NULL),
                     DUNLIN_OK);
    return count;
}

static void places_out_of_step_are_found_and_put_right(void **state) {
    struct bare *bare = *state;
    static const struct {
        const char *sql;
        int64_t off;
    } damages[] = {
        {"DELETE FROM outbox WHERE id < 4611686018427387904", ORDER_COUNT},
        {"DELETE FROM outbox WHERE id < (4 << 48)", 3},
        {"UPDATE item SET place = NULL WHERE id = 'v0'", 2}, /* the row, and the place */
        {"INSERT INTO outbox (id, a, b, c) VALUES ((6 << 48) + 99, 'v0', 5, 5)", 1},
        {"UPDATE member SET pending = 0", 4},
        {"UPDATE other SET place = 5", 2},
    };
    dunlin_check check;
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        assert_int_equal(dln_store_wipe(bare->store, true, NULL), DUNLIN_OK);
        fill(bare);
        assert_int_equal(dln_store_verify(bare->store, false, &check, NULL), DUNLIN_OK);
        assert_int_equal(check.counts_off, 0);
        assert_int_equal(sqlite3_exec(bare->store->db, damages[i].sql, NULL, NULL, NULL),
                         SQLITE_OK);
        assert_int_equal(dln_store_verify(bare->store, false, &check, NULL), DUNLIN_OK);
        assert_int_equal(check.counts_off, damages[i].off);
        assert_int_equal(dln_store_verify(bare->store, true, &check, NULL), DUNLIN_OK);
        assert_int_equal(check.counts_off, damages[i].off);
        assert_int_equal(dln_store_verify(bare->store, false, &check, NULL), DUNLIN_OK);
        assert_int_equal(check.counts_off, 0);
        assert_int_equal(waiting(bare), i == 4 ? ORDER_COUNT - 4 : ORDER_COUNT);
    }
}

/* ---- as a listing */

static void a_page_lists_what_was_edited_in_both_directions(void **state) {
    struct bare *bare = *state;
    fill(bare); /* what is only offered, the hologram, is not listed */
    for (int backwards = 0; backwards < 2; backwards++) {
        for (size_t limit = 1; limit <= ORDER_COUNT; limit++) {
            struct dln_page_key from;
            size_t at = 0;
            for (bool more = true; more;) {
                struct dln_page page = {.arena = &bare->arena,
                                        .from = at ? &from : NULL,
                                        .backwards = backwards,
                                        .limit = limit};
                assert_int_equal(dln_page_pending(bare->store, &page, NULL), DUNLIN_OK);
                const dunlin_pending *rows = page.rows;
                for (size_t i = 0; i < page.count; i++, at++) {
                    struct dln_key key = {.name = dln_text_of(rows[i].collection),
                                          .scope = dln_text_of(rows[i].scope),
                                          .part_count = (int)rows[i].key_count};
                    for (size_t part = 0; part < rows[i].key_count; part++) {
                        key.parts[part] = dln_text_of(rows[i].key[part]);
                    }
                    assert_true(at < ORDER_COUNT - 1);
                    assert_string_equal(name_of(&key),
                                        order[backwards ? ORDER_COUNT - 2 - at : at]);
                    assert_false(rows[i].tried);
                    from = page.keys[i];
                }
                more = page.more;
                assert_true(page.count > 0 || !more);
            }
            assert_int_equal(at, ORDER_COUNT - 1);
        }
    }
}

static void a_page_names_the_fields(void **state) {
    struct bare *bare = *state;
    struct dln_key key = bare_item(bare, "l1", "v1");
    struct dln_extra extra = {DLN_TEXT("colour"), {5, dln_value_string(DLN_TEXT("teal"))}};
    bare_begin(bare);
    bare_put_item(bare, "l1", "v1", "title");
    struct dln_row row = bare_row(bare, &key);
    row.record.extras = &extra;
    row.record.extra_count = 1;
    row.pending = 1u << DLN_ITEM_TITLE | 1u << DLN_ITEM_RANK | DLN_EXTRAS_BIT;
    row.offered = 1u << DLN_ITEM_RANK;
    row.tried = true;
    assert_int_equal(dln_row_put(bare->store, &row, NULL), DUNLIN_OK);
    bare_commit(bare);
    struct dln_page page = {.arena = &bare->arena, .limit = 10};
    assert_int_equal(dln_page_pending(bare->store, &page, NULL), DUNLIN_OK);
    assert_int_equal(page.count, 1);
    const dunlin_pending *pending = page.rows;
    assert_int_equal(pending->field_count, 2);
    assert_string_equal(pending->fields[0], "title");
    assert_string_equal(pending->fields[1], "colour");
    assert_true(pending->tried);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bare_set_up, bare_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_pass_gives_every_row_once_in_sending_order),
        TEST(a_place_outlives_the_row_that_it_stands_at),
        TEST(what_is_settled_is_gone),
        TEST(a_place_that_is_none_is_refused),
        TEST(an_edit_keeps_its_place_and_an_offer_takes_another),
        TEST(places_out_of_step_are_found_and_put_right),
        TEST(a_page_lists_what_was_edited_in_both_directions),
        TEST(a_page_names_the_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
