#include "tests/support/versions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NOW_MS INT64_C(1767225600000)

dln_stamp version_stamp(int n) {
    return dln_stamp_of_ms(NOW_MS) + (dln_stamp)n;
}

static struct dln_version version(enum dln_collection_id id, int64_t seq) {
    struct dln_version version = {.seq = seq};
    struct dln_key *key = &version.record.key;
    key->collection = dln_collection_by_id(id);
    key->name = dln_text_of(key->collection->name);
    key->scope = VERSIONS_OWN;
    key->part_count = key->collection->key_count;
    return version;
}

static struct dln_text text(struct dln_arena *arena, const char *bytes) {
    struct dln_text copy = dln_arena_text(arena, dln_text_of(bytes));
    assert_non_null(copy.data);
    return copy;
}

struct dln_version version_follow(struct dln_arena *arena, int64_t seq, const char *user, int stamp,
                                  bool present) {
    struct dln_version out = version(DLN_FOLLOW, seq);
    out.record.key.parts[0] = DLN_TEXT("user");
    out.record.key.parts[1] = text(arena, user);
    out.record.fields[DLN_FOLLOW_PRESENT] =
        (struct dln_field){version_stamp(stamp), dln_value_bool(present)};
    return out;
}

struct dln_version version_list(struct dln_arena *arena, int64_t seq, const char *list, int stamp,
                                const char *name, bool deleted) {
    struct dln_version out = version(DLN_LIST, seq);
    dln_stamp at = version_stamp(stamp);
    out.record.key.parts[0] = text(arena, list);
    out.record.fields[DLN_LIST_NAME] = (struct dln_field){at, dln_value_string(text(arena, name))};
    out.record.fields[DLN_LIST_RANK] = (struct dln_field){at, dln_value_string(DLN_TEXT("a1"))};
    out.record.fields[DLN_LIST_DELETED] = (struct dln_field){at, dln_value_bool(deleted)};
    return out;
}

struct dln_version version_item(struct dln_arena *arena, int64_t seq, const char *list,
                                const char *id, int stamp, bool present) {
    struct dln_version out = version(DLN_ITEM, seq);
    dln_stamp at = version_stamp(stamp);
    out.record.key.parts[0] = text(arena, list);
    out.record.key.parts[1] = DLN_TEXT("video");
    out.record.key.parts[2] = text(arena, id);
    out.record.fields[DLN_ITEM_PRESENT] = (struct dln_field){at, dln_value_bool(present)};
    out.record.fields[DLN_ITEM_CREATED_AT] = (struct dln_field){at, dln_value_integer(NOW_MS)};
    out.record.fields[DLN_ITEM_RANK] = (struct dln_field){at, dln_value_string(DLN_TEXT("a1"))};
    return out;
}

struct dln_scope_answer *version_page_of(struct dln_sync_answer *answer, struct dln_text scope) {
    for (size_t i = 0; i < answer->scope_count; i++) {
        if (dln_text_equal(answer->scopes[i].scope, scope)) {
            return &answer->scopes[i];
        }
    }
    return NULL;
}

void version_page(struct dln_arena *arena, struct dln_scope_answer *page,
                  const struct dln_version *versions, size_t count, int64_t cursor, bool more) {
    page->versions = dln_arena_alloc(arena, (count + 1) * sizeof(*versions));
    assert_non_null(page->versions);
    if (count > 0) {
        memcpy(page->versions, versions, count * sizeof(*versions));
    }
    page->version_count = count;
    page->cursor = (struct dln_cursor){.seq = cursor, .salt = (uint32_t)cursor * 7 + 1};
    page->more = more;
}
