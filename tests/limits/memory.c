/* ctest: labels=long,no-sanitizer timeout=900
 *
 * 1,000,000 changes arrive page by page: the process stays below 64 MiB. The pages are made up as
 * they are asked for, so that central takes no part of that memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include <dunlin/dunlin.h>

#include "tests/support/memory.h"
#include "tests/support/scripted.h"
#include "tests/support/temp.h"

enum { CHANGES = 1000000, ITEMS = 400000, RESIDENT_KIB_MAX = 64 * 1024 };

#define NOW_MS INT64_C(1767225600000)

/* before + the number in that many digits + behind */
static struct dln_text text(struct dln_arena *arena, const char *before, int digits,
                            long long number, const char *behind) {
    char bytes[64];
    (void)snprintf(bytes, sizeof(bytes), "%s%0*lld%s", before, digits, number, behind);
    return dln_arena_text(arena, dln_text_of(bytes));
}

static void set(struct dln_record *record, int field, int64_t seq, struct dln_value value) {
    record->fields[field] = (struct dln_field){dln_stamp_of_ms(NOW_MS) + (dln_stamp)seq, value};
}

/* The version with that seq: first the list, then its items over and over. */
static struct dln_version version_at(struct dln_arena *arena, struct dln_text scope, int64_t seq) {
    struct dln_version version = {.seq = seq};
    struct dln_key *key = &version.record.key;
    key->collection = dln_collection_by_id(seq == 1 ? DLN_LIST : DLN_ITEM);
    key->name = dln_text_of(key->collection->name);
    key->scope = scope;
    key->part_count = key->collection->key_count;
    key->parts[0] = DLN_TEXT("l1");
    if (seq == 1) {
        set(&version.record, DLN_LIST_NAME, seq, dln_value_string(DLN_TEXT("all of it")));
        set(&version.record, DLN_LIST_RANK, seq, dln_value_string(DLN_TEXT("a1")));
        set(&version.record, DLN_LIST_DELETED, seq, dln_value_bool(false));
        return version;
    }
    key->parts[1] = DLN_TEXT("video");
    key->parts[2] = text(arena, "", 24, seq % ITEMS, "");
    set(&version.record, DLN_ITEM_PRESENT, seq, dln_value_bool(true));
    set(&version.record, DLN_ITEM_CREATED_AT, seq, dln_value_integer(NOW_MS + seq));
    set(&version.record, DLN_ITEM_RANK, seq,
        dln_value_string(text(arena, "a", 7, seq % ITEMS, "V")));
    set(&version.record, DLN_ITEM_TITLE, seq,
        dln_value_string(text(arena, "a title of some forty bytes, no. ", 8, seq, "")));
    return version;
}

static dunlin_status next_page(void *payload, struct dln_arena *arena,
                               const struct dln_sync_request *request,
                               struct dln_sync_answer *answer, dunlin_error *err) {
    (void)payload;
    (void)err;
    scripted_nothing_new(arena, request, answer);
    for (size_t i = 0; i < answer->scope_count; i++) {
        struct dln_scope_answer *page = &answer->scopes[i];
        int64_t left = CHANGES - page->cursor.seq;
        page->version_count = (size_t)(left < request->page_records ? left : request->page_records);
        page->versions =
            dln_arena_alloc(arena, (page->version_count + 1) * sizeof(*page->versions));
        assert_non_null(page->versions);
        for (size_t k = 0; k < page->version_count; k++) {
            page->versions[k] = version_at(arena, page->scope, ++page->cursor.seq);
        }
        page->more = page->cursor.seq < CHANGES;
    }
    return DUNLIN_OK;
}

static void a_million_changes(void **state) {
    (void)state;
    char *dir = temp_new();
    dunlin_store *store = NULL;
    dunlin_sync_result result = {0};
    dunlin_store_status status = {0};
    dunlin_error err;
    struct scripted scripted;
    scripted_init(&scripted, next_page, NULL, NOW_MS);
    assert_int_equal(dunlin_store_open(&store, temp_file(dir, "a.db"), "aoi", NULL, &err),
                     DUNLIN_OK);
    assert_int_equal(dunlin_sync(store, &scripted.remote, &result, &err), DUNLIN_OK);
    assert_int_equal(dunlin_store_get_status(store, &status, &err), DUNLIN_OK);
    print_message("%llu changes in %llu exchanges, %lld items, at most %ld KiB resident\n",
                  (unsigned long long)result.pulled, (unsigned long long)result.exchanges,
                  (long long)status.items, memory_peak_kib());
    assert_int_equal(result.pulled, CHANGES);
    assert_int_equal(status.items, ITEMS);
    assert_true(memory_peak_kib() < RESIDENT_KIB_MAX);
    dunlin_store_close(store);
    scripted_free(&scripted);
    temp_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_million_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
