/* Writers over a replica set that fails over: an engine that takes writes, loses those that were
 * not replicated, and delivers some late. Reads are majority reads, as the engine over MongoDB
 * makes them: they see what cannot be lost any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/shared_side.h"

#define AOI "user/aoi"

enum {
    SEEDS = 150,
    STEPS = 80,
    WRITERS = 2,
    KEYS_MAX = STEPS + 1,
    LATE_MAX_MS =
        60 * 1000, /* appends go without the driver's retries and with shorter time-outs */
    LOG_MAX = 4096
};

enum fate {
    FATE_REPLICATED, /* and acknowledged */
    FATE_ALONE,      /* on the primary only; its answer is lost */
    FATE_NEVER,      /* the connection broke before it arrived */
    FATE_LATE,       /* still on its way when its sender has given it up */
    FATE_COUNT
};

struct late {
    int64_t last_seq;
    int64_t sent_ms;
    size_t count;
    struct dln_entry entries[4];
};

static struct shared shared;
static struct dln_central_engine primary; /* all that it holds */
static struct dln_arena memory;
static int64_t replicated; /* entries up to here are on a majority */
static enum fate fate;     /* of the coming insert */
static bool fails_over_between_the_reads;
static struct late late;

/* ---- the stub */

static int64_t primary_last(void) {
    struct dln_cursor last;
    assert_int_equal(primary.last(primary.self, DLN_TEXT(AOI), &last, NULL), DUNLIN_OK);
    return last.seq;
}

static void replicate(void) {
    replicated = primary_last();
}

static void fail_over(void) {
    int64_t last = primary_last();
    for (int64_t seq = replicated + 1; seq <= last; seq++) {
        assert_int_equal(primary.drop(primary.self, DLN_TEXT(AOI), &seq, 1, NULL), DUNLIN_OK);
    }
}

static dunlin_status stub_last(void *self, struct dln_text scope, struct dln_cursor *out,
                               dunlin_error *err) {
    bool stands = replicated > 0;
    *out = (struct dln_cursor){replicated, 0};
    return stands ? primary.salt(self, scope, replicated, &stands, &out->salt, err) : DUNLIN_OK;
}

static dunlin_status stub_salt(void *self, struct dln_text scope, int64_t seq, bool *stands,
                               uint32_t *salt, dunlin_error *err) {
    *stands = false;
    return seq <= replicated ? primary.salt(self, scope, seq, stands, salt, err) : DUNLIN_OK;
}

static dunlin_status stub_after(void *self, struct dln_arena *arena, struct dln_text scope,
                                int64_t seq, size_t limit, size_t limit_bytes,
                                struct dln_stored **out, size_t *count, bool *more,
                                dunlin_error *err) {
    dunlin_status status =
        primary.after(self, arena, scope, seq, limit, limit_bytes, out, count, more, err);
    while (status == DUNLIN_OK && *count > 0 && (*out)[*count - 1].place.seq > replicated) {
        (*count)--;
        *more = false;
    }
    return status;
}

/* The newest replicated version of each key. */
static dunlin_status stub_current(void *self, struct dln_arena *arena, struct dln_text scope,
                                  const struct dln_text *keys, size_t count, struct dln_stored *out,
                                  dunlin_error *err) {
    struct dln_stored *all = NULL;
    size_t all_count = 0;
    bool more;
    if (fails_over_between_the_reads) {
        fails_over_between_the_reads = false;
        fail_over();
    }
    memset(out, 0, count * sizeof(*out));
    dunlin_status status =
        stub_after(self, arena, scope, 0, LOG_MAX, SIZE_MAX / 2, &all, &all_count, &more, err);
    for (size_t i = 0; status == DUNLIN_OK && i < all_count; i++) {
        for (size_t k = 0; k < count; k++) {
            out[k] = dln_text_equal(all[i].key, keys[k]) ? all[i] : out[k];
        }
    }
    return status;
}

static void keep_for_later(int64_t last_seq, const struct dln_entry *entries, size_t count) {
    assert_true(count <= sizeof(late.entries) / sizeof(*late.entries));
    late = (struct late){.last_seq = last_seq, .sent_ms = shared.now_ms, .count = count};
    for (size_t i = 0; i < count; i++) {
        struct dln_record *record = dln_arena_alloc(&memory, sizeof(*record));
        assert_non_null(record);
        assert_true(dln_record_copy(&memory, record, entries[i].record));
        late.entries[i] =
            (struct dln_entry){entries[i].salt, dln_arena_text(&memory, entries[i].key), record};
    }
}

static dunlin_status stub_insert(void *self, struct dln_text scope, int64_t last_seq,
                                 const struct dln_entry *entries, size_t count, int64_t deadline_ms,
                                 size_t *inserted, dunlin_error *err) {
    enum fate mine = fate;
    dunlin_status status = DUNLIN_OK;
    fate = FATE_REPLICATED;
    *inserted = 0;
    if (mine == FATE_LATE) {
        keep_for_later(last_seq, entries, count);
    } else if (mine != FATE_NEVER) {
        status = primary.insert(self, scope, last_seq, entries, count, deadline_ms, inserted, err);
    }
    if (mine == FATE_REPLICATED) { /* also behind a duplicate: its writer waits for the majority */
        replicate();
        return status;
    }
    return dln_fail(err, DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_CENTRAL, "not the primary any more");
}

static void deliver_late(void) {
    size_t inserted;
    if (late.count > 0 && shared.now_ms - late.sent_ms < LATE_MAX_MS) {
        assert_int_equal(primary.insert(primary.self, DLN_TEXT(AOI), late.last_seq, late.entries,
                                        late.count, INT64_MAX, &inserted, NULL),
                         DUNLIN_OK);
    }
    late.count = 0;
}

/* ---- people */

struct writer {
    struct dln_cursor cursor;
    int pending[KEYS_MAX]; /* not acknowledged, from here on with every push */
    size_t pending_count;
};

struct reader {
    struct dln_cursor cursor;
    bool seen[KEYS_MAX];
};

static bool acknowledged[KEYS_MAX];

static void poll_once(struct reader *reader) {
    char key[32];
    shared_begin(&shared);
    shared_ask(&shared, AOI)->cursor = reader->cursor;
    shared_send(&shared, "aoi");
    const struct dln_scope_answer *page = shared_scope(&shared, AOI);
    assert_non_null(page);
    assert_int_equal(page->state, DLN_SCOPE_PAGE); /* never HELD: nothing that was shown is lost */
    assert_true(page->cursor.seq >= reader->cursor.seq);
    for (size_t i = 0; i < page->version_count; i++) {
        assert_true(page->versions[i].seq > reader->cursor.seq);
        for (int n = 0; n < KEYS_MAX; n++) {
            (void)snprintf(key, sizeof(key), "u%d", n);
            if (page->versions[i].record.key.part_count == 2 &&
                dln_text_equal(page->versions[i].record.key.parts[1], dln_text_of(key))) {
                reader->seen[n] = true;
            }
        }
    }
    reader->cursor = page->cursor;
}

static void push_pending(struct writer *writer) {
    char key[64];
    shared_begin(&shared);
    struct dln_scope_ask *ask = shared_ask(&shared, AOI);
    ask->pull = false;
    ask->cursor = writer->cursor;
    for (size_t i = writer->pending_count > 3 ? writer->pending_count - 3 : 0;
         i < writer->pending_count; i++) {
        (void)snprintf(key, sizeof(key), "follow/user/u%d", writer->pending[i]);
        (void)shared_record(&shared, AOI, key);
        shared_set(&shared, "present", shared_stamp(&shared, 0), "true");
    }
    size_t sent = shared.request.record_count;
    if (shared_try(&shared, "aoi") != DUNLIN_OK) {
        return;
    }
    for (size_t i = 0; i < sent; i++) {
        assert_true(shared_ack(&shared, i) > 0);
        acknowledged[writer->pending[writer->pending_count - sent + i]] = true;
    }
    writer->pending_count -= sent;
}

static void run_step(int step, struct writer *writers, struct reader *reader,
                     struct test_random *random) {
    struct writer *writer = &writers[test_random_below(random, WRITERS)];
    switch (test_random_below(random, 8)) {
    case 0:
        replicate();
        break;
    case 1:
        fail_over();
        break;
    case 2:
        deliver_late();
        break;
    case 3:
        shared_pass(&shared, (int64_t)test_random_below(random, 2 * SHARED_DAY_MS));
        assert_int_equal(dunlin_central_maintain(shared.central, NULL, NULL), DUNLIN_OK);
        break;
    case 4:
        poll_once(reader);
        break;
    default:
        fate = (enum fate)test_random_below(random, FATE_COUNT);
        fails_over_between_the_reads = test_random_below(random, 3) == 0;
        writer->pending[writer->pending_count++] = step;
        push_pending(writer);
        break;
    }
    shared_pass(&shared, (int64_t)test_random_below(random, LATE_MAX_MS));
}

static void run_seed(uint64_t seed) {
    struct test_random random = {seed};
    struct writer writers[WRITERS] = {0};
    struct reader reader = {0};
    shared_open(&shared, NULL);
    memory = DLN_ARENA_INIT(1 << 24);
    memset(acknowledged, 0, sizeof(acknowledged));
    late.count = 0;
    replicated = 0;
    primary = shared.central->engine;
    struct dln_central_engine *engine = &shared.central->engine;
    engine->last = stub_last;
    engine->salt = stub_salt;
    engine->after = stub_after;
    engine->current = stub_current;
    engine->insert = stub_insert;
    for (int step = 0; step < STEPS; step++) {
        run_step(step, writers, &reader, &random);
    }
    fate = FATE_REPLICATED;
    for (int i = 0; i < WRITERS; i++) {
        while (writers[i].pending_count > 0) {
            push_pending(&writers[i]);
        }
    }
    poll_once(&reader);
    for (int n = 0; n < KEYS_MAX; n++) {
        if (acknowledged[n] && !reader.seen[n]) {
            fail_msg("seed %llu: u%d was acknowledged, and its reader never saw it",
                     (unsigned long long)seed, n);
        }
    }
    dln_arena_free(&memory);
    shared_close(&shared);
}

static void failover_loses_and_hides_nothing(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run_seed(seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(failover_loses_and_hides_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
