#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/schema.h"

/* The table of the design, once more, to be compared by eye: a stored number or name that changes
 * breaks every file and every server. */
static const char *const expected[] = {
    "1 user follow/kind(user group)/target present:bool +present",
    "2 user mygroup/group! present:bool role:choice(owner admin member) +present",
    "3 user list/list name:text<1024 rank:rank<64 deleted:bool -deleted",
    ("4 user item/list/type/id present:bool created_at:time rank:rank<64 title:text<1024 "
     "data:json<16384 attachments:json<16384 +present"),
    "5 group group name:text<1024 owner:id<256 join:choice(open closed) deleted:bool -deleted",
    "6 group member/user present:bool role:choice(member admin) +present",
};

static void describe_choices(struct dln_buf *out, const char *const *choices) {
    for (int i = 0; choices[i] != NULL; i++) {
        dln_buf_printf(out, "%c%s", i == 0 ? '(' : ' ', choices[i]);
    }
    dln_buf_append_byte(out, ')');
}

static void describe(struct dln_buf *out, const struct dln_collection *collection) {
    static const char *const kinds[] = {"bool", "text", "id", "time", "rank", "json", "choice"};
    dln_buf_printf(out, "%d %s %s", (int)collection->id,
                   collection->scope == DLN_SCOPE_USER ? "user" : "group", collection->name);
    for (int i = 0; i < collection->key_count; i++) {
        const struct dln_key_spec *spec = &collection->keys[i];
        dln_buf_printf(out, "/%s%s", spec->name, spec->group ? "!" : "");
        if (spec->choices != NULL) {
            describe_choices(out, spec->choices);
        }
    }
    for (int i = 0; i < collection->field_count; i++) {
        const struct dln_field_spec *spec = &collection->fields[i];
        dln_buf_printf(out, " %s:%s", spec->name, kinds[spec->kind]);
        if (spec->limit_bytes > 0) {
            dln_buf_printf(out, "<%zu", spec->limit_bytes);
        }
        if (spec->choices != NULL) {
            describe_choices(out, spec->choices);
        }
    }
    dln_buf_printf(out, " %c%s", collection->exists_when ? '+' : '-',
                   collection->fields[collection->existence].name);
}

static void the_table_is_the_designs(void **state) {
    (void)state;
    const int count = sizeof(expected) / sizeof(expected[0]);
    struct dln_buf buf = DLN_BUF_INIT(1000);
    for (int i = 0; i < count; i++) {
        assert_non_null(dln_collection_at(i));
        dln_buf_clear(&buf);
        describe(&buf, dln_collection_at(i));
        assert_string_equal(buf.data, expected[i]);
    }
    assert_null(dln_collection_at(count));
    assert_null(dln_collection_at(-1));
    dln_buf_free(&buf);
}

static void collections_and_fields_are_found(void **state) {
    (void)state;
    const struct dln_collection *collection;
    for (int i = 0; (collection = dln_collection_at(i)) != NULL; i++) {
        assert_ptr_equal(dln_collection_by_id(collection->id), collection);
        assert_ptr_equal(dln_collection_by_name(dln_text_of(collection->name)), collection);
        for (int field = 0; field < collection->field_count; field++) {
            struct dln_text name = dln_text_of(collection->fields[field].name);
            assert_int_equal(dln_field_by_name(collection, name), field);
        }
        assert_int_equal(dln_field_by_name(collection, DLN_TEXT("colour")), -1);
    }
    assert_null(dln_collection_by_id(DLN_OTHER));
    assert_null(dln_collection_by_name(DLN_TEXT("lis")));
    assert_null(dln_collection_by_name(DLN_TEXT("lists")));
    assert_null(dln_collection_by_name(dln_text_of(NULL)));
    const struct dln_collection *item = dln_collection_by_id(DLN_ITEM);
    assert_int_equal(dln_field_by_name(item, DLN_TEXT("attachments")), DLN_ITEM_ATTACHMENTS);
}

static dunlin_status check(enum dln_collection_id id, int field, struct dln_value value) {
    dunlin_error err;
    const struct dln_field_spec *spec = &dln_collection_by_id(id)->fields[field];
    dunlin_status status = dln_check_field(spec, &value, &err);
    if (status != DUNLIN_OK) {
        assert_int_equal(err.code, status);
        assert_non_null(strstr(err.message, spec->name));
    }
    assert_int_equal(dln_check_field(spec, &value, NULL), status);
    return status;
}

/* One value of each type, in the order of enum dln_type, against one field of each kind. */
static void each_kind_takes_its_types_only(void **state) {
    (void)state;
    const struct dln_value values[] = {
        dln_value_null(),
        dln_value_bool(false),
        dln_value_bool(true),
        dln_value_integer(-5),
        dln_value_real(1.5),
        dln_value_string(DLN_TEXT("member")),
        dln_value_json(DLN_TEXT("{}")),
    };
    const struct {
        enum dln_collection_id id;
        int field;
        const char *taken; /* by type */
    } cases[] = {
        {DLN_FOLLOW, DLN_FOLLOW_PRESENT, " ft    "}, {DLN_ITEM, DLN_ITEM_TITLE, "n    s "},
        {DLN_GROUP, DLN_GROUP_OWNER, "n    s "},     {DLN_ITEM, DLN_ITEM_CREATED_AT, "n  i   "},
        {DLN_LIST, DLN_LIST_RANK, "       "}, /* "member" is no rank: 13 digits are wanted */
        {DLN_ITEM, DLN_ITEM_DATA, "n     j"},        {DLN_MEMBER, DLN_MEMBER_ROLE, "n    s "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t type = 0; type < 7; type++) {
            dunlin_status wanted = cases[i].taken[type] != ' ' ? DUNLIN_OK : DUNLIN_INVALID_VALUE;
            if (check(cases[i].id, cases[i].field, values[type]) != wanted) {
                fail_msg("case %zu, type %zu", i, type);
            }
        }
    }
}

static struct dln_value long_text(enum dln_type type, size_t len) {
    static char bytes[DLN_DATA_MAX + 1];
    memset(bytes, 'x', sizeof(bytes));
    return (struct dln_value){.type = type, .as.text = {bytes, len}};
}

static void limits_hold_to_the_byte(void **state) {
    (void)state;
    const struct {
        enum dln_collection_id id;
        int field;
        enum dln_type type;
        size_t limit;
    } cases[] = {
        {DLN_LIST, DLN_LIST_NAME, DLN_STRING, 1024},
        {DLN_GROUP, DLN_GROUP_NAME, DLN_STRING, 1024},
        {DLN_ITEM, DLN_ITEM_TITLE, DLN_STRING, 1024},
        {DLN_GROUP, DLN_GROUP_OWNER, DLN_STRING, 256},
        {DLN_ITEM, DLN_ITEM_DATA, DLN_JSON, 16384},
        {DLN_ITEM, DLN_ITEM_ATTACHMENTS, DLN_JSON, 16384},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct dln_value longest = long_text(cases[i].type, cases[i].limit);
        struct dln_value longer = long_text(cases[i].type, cases[i].limit + 1);
        assert_int_equal(check(cases[i].id, cases[i].field, longest), DUNLIN_OK);
        assert_int_equal(check(cases[i].id, cases[i].field, longer), DUNLIN_TOO_LONG);
    }
    assert_int_equal(check(DLN_LIST, DLN_LIST_RANK, long_text(DLN_STRING, 65)), DUNLIN_TOO_LONG);
}

static void texts_of_fields_are_checked(void **state) {
    (void)state;
    struct dln_value broken = dln_value_string(DLN_TEXT("\xff"));
    struct dln_value empty = dln_value_string(DLN_TEXT(""));
    assert_int_equal(check(DLN_LIST, DLN_LIST_NAME, broken), DUNLIN_INVALID_TEXT);
    assert_int_equal(check(DLN_LIST, DLN_LIST_NAME, empty), DUNLIN_OK);
    assert_int_equal(check(DLN_GROUP, DLN_GROUP_OWNER, broken), DUNLIN_INVALID_TEXT);
    assert_int_equal(check(DLN_GROUP, DLN_GROUP_OWNER, empty), DUNLIN_INVALID_ID);
    assert_int_equal(check(DLN_ITEM, DLN_ITEM_DATA, dln_value_json(DLN_TEXT("\"\xff\""))),
                     DUNLIN_INVALID_TEXT);
    assert_int_equal(check(DLN_LIST, DLN_LIST_RANK, dln_value_string(DLN_TEXT("a0"))), DUNLIN_OK);
    assert_int_equal(check(DLN_LIST, DLN_LIST_RANK, dln_value_string(DLN_TEXT("a00"))),
                     DUNLIN_INVALID_VALUE);
    assert_int_equal(check(DLN_LIST, DLN_LIST_RANK, empty), DUNLIN_INVALID_VALUE);
}

static void choices_are_kept_to(void **state) {
    (void)state;
    struct dln_value owner = dln_value_string(DLN_TEXT("owner"));
    struct dln_value closed = dln_value_string(DLN_TEXT("closed"));
    assert_int_equal(check(DLN_MYGROUP, DLN_MYGROUP_ROLE, owner), DUNLIN_OK);
    assert_int_equal(check(DLN_MEMBER, DLN_MEMBER_ROLE, owner), DUNLIN_INVALID_VALUE);
    assert_int_equal(check(DLN_GROUP, DLN_GROUP_JOIN, closed), DUNLIN_OK);
    assert_int_equal(check(DLN_GROUP, DLN_GROUP_JOIN, dln_value_string(DLN_TEXT("close"))),
                     DUNLIN_INVALID_VALUE);
}

static dunlin_status check_key(enum dln_collection_id id, const char *a, const char *b,
                               const char *c) {
    const struct dln_text parts[DLN_KEY_MAX] = {dln_text_of(a), dln_text_of(b), dln_text_of(c)};
    return dln_check_key(dln_collection_by_id(id), parts, NULL);
}

static void keys_are_checked(void **state) {
    (void)state;
    assert_int_equal(check_key(DLN_FOLLOW, "user", "bob", NULL), DUNLIN_OK);
    assert_int_equal(check_key(DLN_FOLLOW, "user", "!", NULL), DUNLIN_OK);
    assert_int_equal(check_key(DLN_FOLLOW, "group", "g", NULL), DUNLIN_OK);
    assert_int_equal(check_key(DLN_FOLLOW, "group", "!", NULL), DUNLIN_INVALID_ID);
    assert_int_equal(check_key(DLN_FOLLOW, "actor", "bob", NULL), DUNLIN_INVALID_VALUE);
    assert_int_equal(check_key(DLN_FOLLOW, NULL, "bob", NULL), DUNLIN_INVALID_VALUE);
    assert_int_equal(check_key(DLN_FOLLOW, "user", "", NULL), DUNLIN_INVALID_ID);
    assert_int_equal(check_key(DLN_MYGROUP, "!", NULL, NULL), DUNLIN_INVALID_ID);
    assert_int_equal(check_key(DLN_MYGROUP, "g", NULL, NULL), DUNLIN_OK);
    assert_int_equal(check_key(DLN_LIST, NULL, NULL, NULL), DUNLIN_INVALID_ID);
    assert_int_equal(check_key(DLN_ITEM, "l", "video", "a/b"), DUNLIN_OK);
    assert_int_equal(check_key(DLN_ITEM, "l", "video", "\xff"), DUNLIN_INVALID_TEXT);
    assert_int_equal(check_key(DLN_ITEM, "l", "", "x"), DUNLIN_INVALID_ID);
    assert_int_equal(check_key(DLN_GROUP, NULL, NULL, NULL), DUNLIN_OK);
    assert_int_equal(check_key(DLN_MEMBER, "!", NULL, NULL), DUNLIN_OK);
    struct dln_value too_long = long_text(DLN_STRING, DLN_ID_MAX + 1);
    assert_int_equal(dln_check_key(dln_collection_by_id(DLN_MEMBER), &too_long.as.text, NULL),
                     DUNLIN_TOO_LONG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_the_designs),
        cmocka_unit_test(collections_and_fields_are_found),
        cmocka_unit_test(each_kind_takes_its_types_only),
        cmocka_unit_test(limits_hold_to_the_byte),
        cmocka_unit_test(texts_of_fields_are_checked),
        cmocka_unit_test(choices_are_kept_to),
        cmocka_unit_test(keys_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
