#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/record.h"
#include "tests/support/random.h"

static int make_arena(void **state) {
    static struct dln_arena arena;
    arena = DLN_ARENA_INIT(1 << 20);
    *state = &arena;
    return 0;
}

static int free_arena(void **state) {
    dln_arena_free(*state);
    return 0;
}

static void assert_text(struct dln_text text, struct dln_text expected) {
    assert_non_null(text.data);
    assert_int_equal(text.len, expected.len);
    assert_memory_equal(text.data, expected.data, expected.len);
}

static void scopes_are_built_and_read(void **state) {
    const struct {
        enum dln_scope_kind kind;
        struct dln_text id;
        struct dln_text scope;
    } cases[] = {
        {DLN_SCOPE_USER, DLN_TEXT("alice"), DLN_TEXT("user/alice")},
        {DLN_SCOPE_USER, DLN_TEXT("!"), DLN_TEXT("user/!")},
        {DLN_SCOPE_USER, DLN_TEXT("a/b#c%"), DLN_TEXT("user/a%2Fb%23c%25")},
        {DLN_SCOPE_GROUP, DLN_TEXT("climbers"), DLN_TEXT("group/climbers")},
        {DLN_SCOPE_GROUP, DLN_TEXT("\n\xe6\x97\xa5"), DLN_TEXT("group/%0A\xe6\x97\xa5")},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct dln_text built = cases[i].kind == DLN_SCOPE_USER
                                    ? dln_scope_user(*state, cases[i].id)
                                    : dln_scope_group(*state, cases[i].id);
        assert_text(built, cases[i].scope);
        enum dln_scope_kind kind;
        struct dln_text id;
        assert_true(dln_scope_parse(*state, built, &kind, &id));
        assert_int_equal(kind, cases[i].kind);
        assert_text(id, cases[i].id);
    }
}

/* The longest id, all of it escaped, has a scope and a key. */
static void the_longest_id_has_a_scope(void **state) {
    char bytes[DLN_ID_MAX];
    memset(bytes, '/', sizeof(bytes));
    struct dln_text longest = {bytes, sizeof(bytes)};
    enum dln_scope_kind kind;
    struct dln_text id;
    assert_true(dln_scope_parse(*state, dln_scope_group(*state, longest), &kind, &id));
    assert_text(id, longest);
    struct dln_arena tiny = DLN_ARENA_INIT(16);
    assert_null(dln_scope_user(&tiny, longest).data);
    dln_arena_free(&tiny);
}

static void other_scopes_are_refused(void **state) {
    static const char *const wrong[] = {"",
                                        "user",
                                        "user/",
                                        "users/a",
                                        "USER/a",
                                        "user/a/b",
                                        "user/a#1",
                                        "user/%61",
                                        "user/%2f",
                                        "user/%",
                                        "group/",
                                        "group/!",
                                        "actor/bob",
                                        "user/\xff",
                                        "user/%00",
                                        "group/a%2",
                                        "inbox/alice/people"};
    enum dln_scope_kind kind;
    struct dln_text id;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (dln_scope_parse(*state, dln_text_of(wrong[i]), &kind, &id)) {
            fail_msg("\"%s\" was read", wrong[i]);
        }
    }
    char bytes[5 + DLN_ID_MAX + 1] = "user/";
    memset(bytes + 5, 'x', DLN_ID_MAX + 1);
    assert_true(dln_scope_parse(*state, (struct dln_text){bytes, 5 + DLN_ID_MAX}, &kind, &id));
    assert_false(dln_scope_parse(*state, (struct dln_text){bytes, 5 + DLN_ID_MAX + 1}, &kind, &id));
    assert_false(dln_scope_parse(*state, dln_text_of(NULL), &kind, &id));
}

static void assert_key_text(struct dln_arena *arena, const char *text, int part_count,
                            const struct dln_text *parts) {
    struct dln_key key;
    memset(&key, 0x5a, sizeof(key));
    key.scope = DLN_TEXT("user/alice");
    assert_true(dln_key_parse(arena, &key, dln_text_of(text)));
    assert_text(key.scope, DLN_TEXT("user/alice"));
    assert_ptr_equal(key.collection, dln_collection_by_name(key.name));
    assert_int_equal(key.part_count, part_count);
    for (int i = 0; i < part_count; i++) {
        assert_text(key.parts[i], parts[i]);
    }
    struct dln_buf buf = DLN_BUF_INIT(1000);
    dln_key_text(&buf, &key);
    assert_string_equal(buf.data, text);
    dln_buf_free(&buf);
}

static void keys_are_written_and_read(void **state) {
    assert_key_text(*state, "group", 0, NULL);
    assert_key_text(*state, "list/l1", 1, (struct dln_text[]){DLN_TEXT("l1")});
    assert_key_text(*state, "follow/group/!x", 2,
                    (struct dln_text[]){DLN_TEXT("group"), DLN_TEXT("!x")});
    assert_key_text(*state, "item/l1/video/a%2Fb", 3,
                    (struct dln_text[]){DLN_TEXT("l1"), DLN_TEXT("video"), DLN_TEXT("a/b")});
    assert_key_text(*state, "member/\xc3\xa9", 1, (struct dln_text[]){DLN_TEXT("\xc3\xa9")});
    /* unknown ones, with as many parts as they have, empty ones too */
    assert_key_text(*state, "profile", 0, NULL);
    assert_key_text(*state, "entry/a1/", 2, (struct dln_text[]){DLN_TEXT("a1"), DLN_TEXT("")});
    assert_key_text(*state, "odd%2Fname/1/2/3", 3,
                    (struct dln_text[]){DLN_TEXT("1"), DLN_TEXT("2"), DLN_TEXT("3")});
}

static void malformed_keys_are_refused(void **state) {
    static const char *const wrong[] = {
        "",         "/",        "/a",           "group/",    "group/a",  "list",
        "list/a/b", "item/l/t", "item/l/t/i/x", "member",    "list/%6C", "list/%2f",
        "list/a#b", "list/%",   "list/\x01",    "list/\xff", "list/%00", "new/1/2/3/4",
        "%6Cist/a", "n\xffw",   "follow/user"};
    struct dln_key key;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (dln_key_parse(*state, &key, dln_text_of(wrong[i]))) {
            fail_msg("\"%s\" was read", wrong[i]);
        }
    }
    /* one part, though not a legal id: for dln_check_key() to say */
    assert_true(dln_key_parse(*state, &key, DLN_TEXT("mygroup/")));
    assert_int_equal(dln_check_key(key.collection, key.parts, NULL), DUNLIN_INVALID_ID);
    assert_false(dln_key_parse(*state, &key, dln_text_of(NULL)));
    struct dln_arena tiny = DLN_ARENA_INIT(16);
    assert_false(dln_key_parse(&tiny, &key, DLN_TEXT("list/l")));
    dln_arena_free(&tiny);
}

/* What is read is written the same again: no two texts are one key. */
static void every_key_has_one_text(void **state) {
    struct dln_arena *arena = *state;
    static const char *const pieces[] = {"list", "item", "group", "/", "/", "%2F", "%", "a", "#"};
    struct test_random random = {9};
    struct dln_buf buf = DLN_BUF_INIT(1000);
    int taken = 0;
    for (int round = 0; round < 200000; round++) {
        struct dln_buf text = DLN_BUF_INIT(64);
        dln_buf_append(&text, "", 0);
        for (uint64_t i = test_random_below(&random, 8); i > 0; i--) {
            dln_buf_append_text(&text, pieces[test_random_below(&random, 9)]);
        }
        struct dln_key key;
        dln_arena_clear(arena);
        if (dln_key_parse(arena, &key, dln_text_of(text.data))) {
            taken++;
            dln_buf_clear(&buf);
            dln_key_text(&buf, &key);
            assert_string_equal(buf.data, text.data);
        }
        dln_buf_free(&text);
    }
    assert_true(taken > 1000);
    dln_buf_free(&buf);
}

static struct dln_key make_key(const char *scope, const char *name, const char *a, const char *b) {
    struct dln_key key = {.collection = dln_collection_by_name(dln_text_of(name)),
                          .name = dln_text_of(name),
                          .scope = dln_text_of(scope),
                          .part_count = (a != NULL) + (b != NULL),
                          .parts = {dln_text_of(a), dln_text_of(b)}};
    return key;
}

static void keys_are_ordered_by_scope_collection_and_parts(void **state) {
    (void)state;
    const struct dln_key keys[] = {
        make_key("group/a", "member", "z", NULL),   make_key("user/a", "follow", "group", "b"),
        make_key("user/a", "follow", "user", "a"),  make_key("user/a", "follow", "user", "b"),
        make_key("user/a", "list", "a", NULL),      make_key("user/a", "list", "ab", NULL),
        make_key("user/a", "new", NULL, NULL),      make_key("user/a", "new", "", NULL),
        make_key("user/a", "new", "", ""),          make_key("user/a", "new", "a", NULL),
        make_key("user/ab", "follow", "user", "a"),
    };
    const int count = sizeof(keys) / sizeof(keys[0]);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            int order = dln_key_compare(&keys[i], &keys[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
            assert_int_equal(dln_key_equal(&keys[i], &keys[j]), i == j);
        }
    }
}

static void existence_is_present_true_or_deleted_false(void **state) {
    (void)state;
    struct dln_record follow = {.key = make_key("user/a", "follow", "user", "b")};
    assert_null(dln_record_existence(&follow));
    assert_false(dln_record_exists(&follow));
    follow.fields[DLN_FOLLOW_PRESENT] = (struct dln_field){5, dln_value_bool(true)};
    assert_ptr_equal(dln_record_existence(&follow), &follow.fields[DLN_FOLLOW_PRESENT]);
    assert_true(dln_record_exists(&follow));
    follow.fields[DLN_FOLLOW_PRESENT].value = dln_value_bool(false);
    assert_false(dln_record_exists(&follow));

    struct dln_record list = {.key = make_key("user/a", "list", "l", NULL)};
    list.fields[DLN_LIST_NAME] = (struct dln_field){5, dln_value_string(DLN_TEXT("name"))};
    assert_null(dln_record_existence(&list));
    assert_false(dln_record_exists(&list));
    list.fields[DLN_LIST_DELETED] = (struct dln_field){5, dln_value_bool(false)};
    assert_true(dln_record_exists(&list));
    list.fields[DLN_LIST_DELETED].value = dln_value_bool(true);
    assert_false(dln_record_exists(&list));
}

static void existence_of_unknown_collections_is_among_the_extras(void **state) {
    (void)state;
    struct dln_extra extras[] = {
        {DLN_TEXT("deleted"), {7, dln_value_bool(false)}},
        {DLN_TEXT("other"), {9, dln_value_bool(false)}},
    };
    struct dln_record record = {
        .key = make_key("user/a", "new", "x", NULL), .extras = extras, .extra_count = 2};
    assert_ptr_equal(dln_record_existence(&record), &extras[0].field);
    assert_true(dln_record_exists(&record));
    extras[0].field.value = dln_value_bool(true);
    assert_false(dln_record_exists(&record));
    extras[0].name = DLN_TEXT("present");
    assert_true(dln_record_exists(&record));
    extras[0].field.value = dln_value_null();
    assert_false(dln_record_exists(&record));
    extras[0].name = DLN_TEXT("a"); /* has none */
    assert_null(dln_record_existence(&record));
    assert_true(dln_record_exists(&record));
    /* an extra of a known collection says nothing */
    extras[0].name = DLN_TEXT("deleted");
    record.key = make_key("user/a", "follow", "user", "b");
    assert_null(dln_record_existence(&record));
}

static void the_newest_stamp_is_of_fields_and_extras(void **state) {
    (void)state;
    struct dln_extra extra = {DLN_TEXT("colour"), {8, dln_value_null()}};
    struct dln_record record = {.key = make_key("user/a", "list", "l", NULL)};
    assert_int_equal(dln_record_newest(&record), 0);
    record.fields[DLN_LIST_NAME].stamp = 5;
    record.fields[DLN_LIST_DELETED].stamp = 7;
    assert_int_equal(dln_record_newest(&record), 7);
    record.extras = &extra;
    record.extra_count = 1;
    assert_int_equal(dln_record_newest(&record), 8);
}

static struct dln_text encode_extras(struct dln_buf *buf, const struct dln_record *record) {
    dln_buf_clear(buf);
    dln_buf_append(buf, "", 0);
    dln_extras_encode(buf, record);
    assert_int_equal(buf->status, DUNLIN_OK);
    return (struct dln_text){buf->data, buf->len};
}

/* All of a record's bytes may go after the copy was made. */
static void a_copy_owns_its_bytes(void **state) {
    char scope[] = "user/a";
    char name[] = "new";
    char part[] = "p1";
    char extra_name[] = "colour";
    char value[] = "red";
    char field_value[] = "title";
    struct dln_extra extra = {dln_text_of(extra_name), {8, dln_value_json(dln_text_of(value))}};
    struct dln_record record = {
        .key = make_key(scope, name, part, NULL), .extras = &extra, .extra_count = 1};
    record.fields[2] = (struct dln_field){5, dln_value_string(dln_text_of(field_value))};
    record.fields[3] = (struct dln_field){6, dln_value_integer(-1)};

    struct dln_record copy;
    assert_true(dln_record_copy(*state, &copy, &record));
    memset(scope, 'X', 6);
    memset(name, 'X', 3);
    memset(part, 'X', 2);
    memset(extra_name, 'X', 6);
    memset(value, 'X', 3);
    memset(field_value, 'X', 5);
    memset(&extra, 0, sizeof(extra));

    const struct dln_key expected = make_key("user/a", "new", "p1", NULL);
    assert_true(dln_key_equal(&copy.key, &expected));
    assert_text(copy.fields[2].value.as.text, DLN_TEXT("title"));
    assert_int_equal(copy.fields[2].stamp, 5);
    assert_int_equal(copy.fields[3].value.as.integer, -1);
    assert_int_equal(copy.extra_count, 1);
    assert_text(copy.extras[0].name, DLN_TEXT("colour"));
    assert_text(copy.extras[0].field.value.as.text, DLN_TEXT("red"));
    assert_int_equal(copy.extras[0].field.stamp, 8);
}

/* Memory that ends at any point makes the copy fail, until there is enough. */
static void copying_fails_for_every_size_that_is_too_small(void **state) {
    (void)state;
    struct dln_extra extras[] = {{DLN_TEXT("a"), {8, dln_value_string(DLN_TEXT("x"))}},
                                 {DLN_TEXT("b"), {8, dln_value_null()}}};
    struct dln_record record = {
        .key = make_key("user/a", "follow", "user", "b"), .extras = extras, .extra_count = 2};
    record.fields[0] = (struct dln_field){5, dln_value_string(DLN_TEXT("title"))};
    struct dln_record copy;
    struct dln_arena large = DLN_ARENA_INIT(4096);
    assert_true(dln_record_copy(&large, &copy, &record));
    for (size_t size = 0; size <= large.used_bytes; size += 16) {
        struct dln_arena arena = DLN_ARENA_INIT(size);
        assert_int_equal(dln_record_copy(&arena, &copy, &record), size == large.used_bytes);
        dln_arena_free(&arena);
    }
    dln_arena_free(&large);
}

static void extras_have_fixed_bytes(void **state) {
    struct dln_extra extras[] = {
        {DLN_TEXT("colour"), {0x0102, dln_value_string(DLN_TEXT("red"))}},
        {DLN_TEXT("n"), {DLN_STAMP_MAX, dln_value_null()}},
    };
    struct dln_record record = {.extras = extras, .extra_count = 2};
    struct dln_buf buf = DLN_BUF_INIT(1000);
    struct dln_text bytes = encode_extras(&buf, &record);
    assert_text(bytes, DLN_TEXT("\0\x06"
                                "colour"
                                "\0\0\0\0\0\0\x01\x02"
                                "\0\0\0\x04"
                                "\x05red"
                                "\0\x01"
                                "n"
                                "\x7f\xff\xff\xff\xff\xff\xff\xff"
                                "\0\0\0\x01"
                                "\0"));
    struct dln_record decoded = {.extra_count = 99};
    assert_true(dln_extras_decode(*state, &decoded, bytes));
    assert_int_equal(decoded.extra_count, 2);
    assert_text(decoded.extras[0].name, DLN_TEXT("colour"));
    assert_int_equal(decoded.extras[0].field.stamp, 0x0102);
    assert_true(dln_value_equal(&decoded.extras[0].field.value, &extras[0].field.value));
    assert_int_equal(decoded.extras[1].field.stamp, DLN_STAMP_MAX);

    /* every cut is refused, but the one between the two, and none at all */
    for (size_t len = 0; len < bytes.len; len++) {
        bool whole = len == 0 || len == 24;
        assert_int_equal(dln_extras_decode(*state, &decoded, (struct dln_text){bytes.data, len}),
                         whole);
    }
    dln_buf_free(&buf);
}

/* clang-format off */
static const struct dln_text wrong[] = {
    /* no name */
    {"\0\0" "\0\0\0\0\0\0\0\x01" "\0\0\0\x01" "\0",
     15},
    /* stamp 0, and one above the greatest */
    {"\0\x01" "a" "\0\0\0\0\0\0\0\0" "\0\0\0\x01" "\0",
     16},
    {"\0\x01" "a" "\x80\0\0\0\0\0\0\0" "\0\0\0\x01" "\0",
     16},
    /* no value, a value that is none, a length beyond the end */
    {"\0\x01" "a" "\0\0\0\0\0\0\0\x01" "\0\0\0\0",
     15},
    {"\0\x01" "a" "\0\0\0\0\0\0\0\x01" "\0\0\0\x01" "\x09",
     16},
    {"\0\x01" "a" "\0\0\0\0\0\0\0\x01" "\xff\xff\xff\xff" "\0",
     16},
    /* a name that is not UTF-8 */
    {"\0\x01" "\xff" "\0\0\0\0\0\0\0\x01" "\0\0\0\x01" "\0",
     16},
    /* a name twice, and out of order */
    {"\0\x01" "a" "\0\0\0\0\0\0\0\x01" "\0\0\0\x01" "\0"
     "\0\x01" "a" "\0\0\0\0\0\0\0\x02" "\0\0\0\x01" "\0",
     32},
    {"\0\x01" "b" "\0\0\0\0\0\0\0\x01" "\0\0\0\x01" "\0"
     "\0\x01" "a" "\0\0\0\0\0\0\0\x02" "\0\0\0\x01" "\0",
     32},
};
/* clang-format on */

static void extras_in_another_form_are_refused(void **state) {
    struct dln_record record;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (dln_extras_decode(*state, &record, wrong[i])) {
            fail_msg("extras %zu were read", i);
        }
        assert_int_equal(record.extra_count, 0);
    }
    assert_true(dln_extras_decode(*state, &record, dln_text_of(NULL)));
    assert_null(record.extras);
}

static void extras_have_a_ceiling(void **state) {
    struct dln_extra extras[DLN_EXTRA_MAX + 1];
    char names[DLN_EXTRA_MAX + 1][DLN_FIELD_NAME_MAX];
    for (int i = 0; i <= DLN_EXTRA_MAX; i++) {
        memset(names[i], 'a' + i / 26, DLN_FIELD_NAME_MAX);
        names[i][DLN_FIELD_NAME_MAX - 1] = (char)('a' + i % 26);
        extras[i].name = (struct dln_text){names[i], DLN_FIELD_NAME_MAX};
        extras[i].field = (struct dln_field){1 + (dln_stamp)i, dln_value_integer(i)};
    }
    struct dln_record record = {.extras = extras, .extra_count = DLN_EXTRA_MAX};
    struct dln_record decoded;
    struct dln_buf buf = DLN_BUF_INIT(1 << 16);
    struct dln_text bytes = encode_extras(&buf, &record);
    assert_true(dln_extras_decode(*state, &decoded, bytes));
    assert_int_equal(decoded.extra_count, DLN_EXTRA_MAX);
    assert_int_equal(decoded.extras[31].field.value.as.integer, 31);

    record.extra_count++;
    dln_extras_encode(&buf, &record);
    assert_int_equal(buf.status, DUNLIN_TOO_LARGE);

    dln_buf_clear(&buf);
    record = (struct dln_record){.extras = extras + DLN_EXTRA_MAX, .extra_count = 1};
    struct dln_buf both = DLN_BUF_INIT(1 << 16);
    struct dln_record full = {.extras = extras, .extra_count = DLN_EXTRA_MAX};
    (void)encode_extras(&both, &full);
    dln_extras_encode(&both, &record); /* one more behind them */
    assert_false(dln_extras_decode(*state, &decoded, (struct dln_text){both.data, both.len}));
    dln_buf_free(&both);
    dln_buf_free(&buf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scopes_are_built_and_read, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(the_longest_id_has_a_scope, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(other_scopes_are_refused, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(keys_are_written_and_read, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(malformed_keys_are_refused, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(every_key_has_one_text, make_arena, free_arena),
        cmocka_unit_test(keys_are_ordered_by_scope_collection_and_parts),
        cmocka_unit_test(existence_is_present_true_or_deleted_false),
        cmocka_unit_test(existence_of_unknown_collections_is_among_the_extras),
        cmocka_unit_test(the_newest_stamp_is_of_fields_and_extras),
        cmocka_unit_test_setup_teardown(a_copy_owns_its_bytes, make_arena, free_arena),
        cmocka_unit_test(copying_fails_for_every_size_that_is_too_small),
        cmocka_unit_test_setup_teardown(extras_have_fixed_bytes, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(extras_in_another_form_are_refused, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(extras_have_a_ceiling, make_arena, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
