#include "tests/support/records.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rank.h"

/* Ids and pieces of text: paths and operators elsewhere, escapes, separators, composed and
 * decomposed, outside of the first plane, a noncharacter, control characters. */
static const char *const pieces[] = {"a",
                                     "a.b",
                                     "$set",
                                     "__proto__",
                                     "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9",
                                     "\"",
                                     "\\",
                                     "a/b#c%2F",
                                     " ",
                                     "\xef\xbf\xbf",
                                     "\x01\x1f\x7f",
                                     "\n\r\t\b\f",
                                     "\xe3\x83\x93\xe3\x83\x87\xe3\x82\xaa",
                                     "\xe3\x83\x92\xe3\x82\x99",
                                     "null",
                                     "\xe2\x80\xa8",
                                     "{\"i\":\"1\"}",
                                     "\xc2\x80",
                                     "0",
                                     "\xf4\x8f\xbf\xbf"};
enum { PIECE_COUNT = sizeof(pieces) / sizeof(pieces[0]) };

static const char *const jsons[] = {"{}",
                                    "[]",
                                    "{\"a\":1.50,\n \"b\":2}",
                                    " \"\\u00e9\\/\" ",
                                    "123456789012345678901234567890",
                                    "-0.0",
                                    "null",
                                    "[[[[[[[[[[1e-400]]]]]]]]]]",
                                    "{\"$set\":{\"a.b\":\"\xf0\x9f\x91\xa8\"}}"};
enum { JSON_COUNT = sizeof(jsons) / sizeof(jsons[0]) };

static const double reals[] = {
    0.0,     1.5,      0.1,  -1e22, 1e300, DBL_MIN, DBL_TRUE_MIN,
    DBL_MAX, -DBL_MAX, 1e15, 1e16,  1e17,  1.0 / 3, 123456789012345680.0};
enum { REAL_COUNT = sizeof(reals) / sizeof(reals[0]) };

static struct dln_text keep(struct dln_arena *arena, struct dln_text text) {
    struct dln_text kept = dln_arena_text(arena, text);
    if (kept.data == NULL) {
        abort();
    }
    return kept;
}

static struct dln_text random_text(struct dln_arena *arena, struct test_random *random, size_t min,
                                   size_t max) {
    char text[4096];
    size_t len = 0;
    size_t count = 1 + test_random_below(random, 4);
    if (test_random_below(random, 20) == 0) {
        count = sizeof(text); /* up to the limit */
    }
    if (min == 0 && test_random_below(random, 10) == 0) {
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[test_random_below(random, PIECE_COUNT)];
        if (len + strlen(piece) > max || len + strlen(piece) > sizeof(text)) {
            break;
        }
        memcpy(text + len, piece, strlen(piece));
        len += strlen(piece);
    }
    return keep(arena, (struct dln_text){text, len});
}

static double random_real(struct test_random *random) {
    double real;
    uint64_t bits = test_random_next(random);
    memcpy(&real, &bits, sizeof(real));
    if (!isfinite(real) || test_random_below(random, 2) == 0) {
        real = reals[test_random_below(random, REAL_COUNT)];
    }
    return real;
}

static int64_t random_integer(struct test_random *random) {
    static const int64_t corners[] = {0, -1, INT64_MIN, INT64_MAX, INT64_C(9007199254740993)};
    uint64_t which = test_random_below(random, 8);
    return which < 5 ? corners[which] : (int64_t)(test_random_next(random) >> which * 7);
}

static struct dln_value random_json(struct test_random *random) {
    return dln_value_json(dln_text_of(jsons[test_random_below(random, JSON_COUNT)]));
}

static struct dln_value random_value(struct dln_arena *arena, struct test_random *random) {
    switch (test_random_below(random, 7)) {
    case 0:
        return dln_value_null();
    case 1:
        return dln_value_bool(false);
    case 2:
        return dln_value_bool(true);
    case 3:
        return dln_value_integer(random_integer(random));
    case 4:
        return dln_value_real(random_real(random));
    case 5:
        return random_json(random);
    default:
        return dln_value_string(random_text(arena, random, 0, 2000));
    }
}

static struct dln_value random_rank(struct dln_arena *arena, struct test_random *random) {
    struct dln_text none = {NULL, 0};
    struct dln_rank rank;
    if (!dln_rank_between(&rank, none, none, test_random_next(random))) {
        abort();
    }
    return dln_value_string(keep(arena, (struct dln_text){rank.data, rank.len}));
}

static struct dln_value random_field(struct dln_arena *arena, struct test_random *random,
                                     const struct dln_field_spec *spec) {
    bool null = test_random_below(random, 8) == 0;
    switch (spec->kind) {
    case DLN_KIND_BOOL:
        return dln_value_bool(test_random_below(random, 2) == 0);
    case DLN_KIND_RANK:
        return random_rank(arena, random);
    case DLN_KIND_TEXT:
        return null ? dln_value_null()
                    : dln_value_string(random_text(arena, random, 0, spec->limit_bytes));
    case DLN_KIND_ID:
        return null ? dln_value_null()
                    : dln_value_string(random_text(arena, random, 1, DLN_ID_MAX));
    case DLN_KIND_TIME:
        return null ? dln_value_null() : dln_value_integer(random_integer(random));
    case DLN_KIND_JSON:
        return null ? dln_value_null() : random_json(random);
    case DLN_KIND_CHOICE:
        return null ? dln_value_null() : dln_value_string(dln_text_of(spec->choices[0]));
    }
    abort();
}

static dln_stamp random_stamp(struct test_random *random) {
    dln_stamp stamp = test_random_next(random) >> (1 + test_random_below(random, 63));
    return stamp == 0 ? DLN_STAMP_MAX : stamp;
}

static void random_key(struct dln_arena *arena, struct test_random *random, struct dln_key *key) {
    const struct dln_collection *collection = key->collection;
    key->part_count =
        collection != NULL ? collection->key_count : (int)test_random_below(random, 4);
    for (int i = 0; i < key->part_count; i++) {
        if (collection != NULL && collection->keys[i].choices != NULL) {
            key->parts[i] = dln_text_of(collection->keys[i].choices[test_random_below(random, 2)]);
        } else {
            key->parts[i] = random_text(arena, random, collection != NULL, DLN_ID_MAX);
        }
    }
}

static int compare_extras(const void *a, const void *b) {
    return dln_text_compare(((const struct dln_extra *)a)->name,
                            ((const struct dln_extra *)b)->name);
}

static void add_extras(struct dln_arena *arena, struct test_random *random, struct dln_record *out,
                       size_t count) {
    size_t kept = 0;
    out->extras = dln_arena_alloc(arena, count * sizeof(*out->extras));
    if (out->extras == NULL) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        struct dln_text name = random_text(arena, random, 1, DLN_FIELD_NAME_MAX);
        bool twice = false;
        for (size_t at = 0; at < kept; at++) {
            twice = twice || dln_text_equal(out->extras[at].name, name);
        }
        if (!twice) {
            out->extras[kept].name = name;
            out->extras[kept].field.stamp = random_stamp(random);
            out->extras[kept++].field.value = random_value(arena, random);
        }
    }
    qsort(out->extras, kept, sizeof(*out->extras), compare_extras);
    out->extra_count = kept;
}

void test_record_random(struct dln_arena *arena, struct test_random *random, struct dln_record *out,
                        struct dln_text user, struct dln_text group) {
    const struct dln_collection *collection = dln_collection_at((int)test_random_below(random, 7));
    *out = (struct dln_record){.key = {.collection = collection}};
    out->key.name = collection != NULL ? dln_text_of(collection->name) : DLN_TEXT("playlist.v2");
    out->key.scope = collection != NULL && collection->scope == DLN_SCOPE_GROUP ? group : user;
    random_key(arena, random, &out->key);
    for (int i = 0; collection != NULL && i < collection->field_count; i++) {
        if (i == collection->existence || test_random_below(random, 2) == 0) {
            out->fields[i].stamp = random_stamp(random);
            out->fields[i].value = random_field(arena, random, &collection->fields[i]);
        }
    }
    if (collection == NULL || test_random_below(random, 4) == 0) {
        add_extras(arena, random, out, 1 + test_random_below(random, DLN_EXTRA_MAX));
    }
}

/* Few values, so that fields with equal stamps are often equal and often not. */
static struct dln_value small_value(struct test_random *random) {
    switch (test_random_below(random, 4)) {
    case 0:
        return dln_value_null();
    case 1:
        return dln_value_bool(true);
    case 2:
        return dln_value_integer((int64_t)test_random_below(random, 2));
    default:
        return dln_value_string(dln_text_of(pieces[test_random_below(random, 3)]));
    }
}

void test_record_vary(struct dln_arena *arena, struct test_random *random, struct dln_record *out,
                      const struct dln_record *of) {
    static const char *const names[] = {"", "a", "aa", "b", "colour", "z"};
    const struct dln_collection *collection = of->key.collection;
    *out = (struct dln_record){.key = of->key};
    for (int i = 0; collection != NULL && i < collection->field_count; i++) {
        out->fields[i].stamp = test_random_below(random, 4);
        out->fields[i].value = small_value(random);
    }
    out->extras = dln_arena_alloc(arena, 6 * sizeof(*out->extras));
    if (out->extras == NULL) {
        abort();
    }
    for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
        dln_stamp stamp = test_random_below(random, 4);
        if (stamp > 0) {
            out->extras[out->extra_count].name = dln_text_of(names[i]);
            out->extras[out->extra_count].field.stamp = stamp;
            out->extras[out->extra_count++].field.value = small_value(random);
        }
    }
}

static bool fields_equal(const struct dln_field *a, const struct dln_field *b) {
    return a->stamp == b->stamp && (a->stamp == 0 || dln_value_equal(&a->value, &b->value));
}

bool test_records_equal(const struct dln_record *a, const struct dln_record *b) {
    bool equal = a->key.collection == b->key.collection && dln_key_equal(&a->key, &b->key) &&
                 a->extra_count == b->extra_count;
    for (int i = 0; equal && i < DLN_FIELD_MAX; i++) {
        equal = fields_equal(&a->fields[i], &b->fields[i]);
    }
    for (size_t i = 0; equal && i < a->extra_count; i++) {
        equal = dln_text_equal(a->extras[i].name, b->extras[i].name) &&
                fields_equal(&a->extras[i].field, &b->extras[i].field);
    }
    return equal;
}

void test_body_exchange(struct dln_buf *body, size_t line, const char *text) {
    struct dln_buf made = DLN_BUF_INIT(body->max);
    const char *from = body->data;
    for (size_t i = 0; i < line; i++) {
        from = strchr(from, '\n') + 1;
    }
    dln_buf_append(&made, body->data, (size_t)(from - body->data));
    if (text != NULL) {
        dln_buf_append_text(&made, text);
        dln_buf_append_byte(&made, '\n');
    }
    dln_buf_append_text(&made, strchr(from, '\n') + 1);
    if (made.status != DUNLIN_OK) {
        abort();
    }
    dln_buf_free(body);
    *body = made;
}
