/* Every operation of the engine fails once: the n-th call, for n = 1, 2, … until nothing fails. The
 * exchange says so, leaves nothing open, and is whole when it is sent again; so is a round of
 * upkeep. */
/* ctest: engines */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/shared_side.h"

static struct shared shared;
static struct dln_central_engine inner;
static int left;   /* calls until one fails */
static bool after; /* it does its work first, and fails then */

static bool fails(void) {
    return left > 0 && --left == 0;
}

static dunlin_status broken(dunlin_error *err) {
    return dln_fail(err, DUNLIN_IO, DUNLIN_DOMAIN_CENTRAL, "made to fail");
}

#define FAULTY(name, parameters, arguments)                                                        \
    static dunlin_status faulty_##name parameters {                                                \
        bool now = fails();                                                                        \
        dunlin_status status = now && !after ? DUNLIN_OK : inner.name arguments;                   \
        return now ? broken(err) : status;                                                         \
    }                                                                                              \
    struct faulty_##name /* takes the semicolon */

FAULTY(now, (void *self, int64_t *out, dunlin_error *err), (self, out, err));
FAULTY(begin, (void *self, dunlin_error *err), (self, err));
FAULTY(last, (void *self, struct dln_text scope, struct dln_cursor *out, dunlin_error *err),
       (self, scope, out, err));
FAULTY(salt,
       (void *self, struct dln_text scope, int64_t seq, bool *stands, uint32_t *salt,
        dunlin_error *err),
       (self, scope, seq, stands, salt, err));
FAULTY(current,
       (void *self, struct dln_arena *arena, struct dln_text scope, const struct dln_text *keys,
        size_t count, struct dln_stored *out, dunlin_error *err),
       (self, arena, scope, keys, count, out, err));
FAULTY(after,
       (void *self, struct dln_arena *arena, struct dln_text scope, int64_t seq, size_t limit,
        size_t bytes, struct dln_stored **out, size_t *count, bool *more, dunlin_error *err),
       (self, arena, scope, seq, limit, bytes, out, count, more, err));
FAULTY(insert,
       (void *self, struct dln_text scope, int64_t last, const struct dln_entry *entries,
        size_t count, int64_t deadline_ms, size_t *inserted, dunlin_error *err),
       (self, scope, last, entries, count, deadline_ms, inserted, err));
FAULTY(walk,
       (void *self, struct dln_arena *arena, struct dln_text scope, struct dln_text prefix,
        const struct dln_trace_place *place, size_t limit, struct dln_trace **out, size_t *count,
        dunlin_error *err),
       (self, arena, scope, prefix, place, limit, out, count, err));
FAULTY(drop,
       (void *self, struct dln_text scope, const int64_t *seqs, size_t count, dunlin_error *err),
       (self, scope, seqs, count, err));
FAULTY(raise_hint,
       (void *self, struct dln_text scope, const struct dln_hint *hint, dunlin_error *err),
       (self, scope, hint, err));
FAULTY(hints,
       (void *self, const struct dln_text *scopes, size_t count, struct dln_hint *out,
        dunlin_error *err),
       (self, scopes, count, out, err));
FAULTY(floor, (void *self, struct dln_text scope, int64_t *out, dunlin_error *err),
       (self, scope, out, err));
FAULTY(raise_floor, (void *self, struct dln_text scope, int64_t floor, dunlin_error *err),
       (self, scope, floor, err));
FAULTY(scopes,
       (void *self, struct dln_arena *arena, struct dln_text behind, size_t limit,
        struct dln_text **out, size_t *count, dunlin_error *err),
       (self, arena, behind, limit, out, count, err));
FAULTY(epoch, (void *self, struct dln_arena *arena, struct dln_epoch *out, dunlin_error *err),
       (self, arena, out, err));
FAULTY(base,
       (void *self, int64_t epoch, struct dln_text scope, bool *noted, int64_t *seq,
        dunlin_error *err),
       (self, epoch, scope, noted, seq, err));
FAULTY(note_base,
       (void *self, int64_t epoch, struct dln_text scope, int64_t seq, dunlin_error *err),
       (self, epoch, scope, seq, err));
FAULTY(lease,
       (void *self, struct dln_arena *arena, struct dln_text name, struct dln_lease *out,
        dunlin_error *err),
       (self, arena, name, out, err));
FAULTY(insert_lease,
       (void *self, struct dln_text name, const struct dln_lease *lease, bool *inserted,
        dunlin_error *err),
       (self, name, lease, inserted, err));
FAULTY(set_lease_end,
       (void *self, struct dln_text name, int64_t number, int64_t until_ms, dunlin_error *err),
       (self, name, number, until_ms, err));
FAULTY(drop_leases, (void *self, struct dln_text name, int64_t before, dunlin_error *err),
       (self, name, before, err));

/* A failed commit has either happened or not; it never leaves a transaction open. */
static dunlin_status faulty_end(void *self, bool keep, dunlin_error *err) {
    bool now = fails();
    dunlin_status status = inner.end(self, keep && (!now || after), err);
    return now ? broken(err) : status;
}

static void make_faulty(struct dln_central_engine *engine) {
    engine->now = faulty_now;
    engine->end = faulty_end;
    engine->last = faulty_last;
    engine->salt = faulty_salt;
    engine->current = faulty_current;
    engine->after = faulty_after;
    engine->insert = faulty_insert;
    engine->walk = faulty_walk;
    engine->drop = faulty_drop;
    engine->raise_hint = faulty_raise_hint;
    engine->hints = faulty_hints;
    engine->floor = faulty_floor;
    engine->raise_floor = faulty_raise_floor;
    engine->scopes = faulty_scopes;
    engine->epoch = faulty_epoch;
    engine->base = faulty_base;
    engine->note_base = faulty_note_base;
    engine->lease = faulty_lease;
    engine->insert_lease = faulty_insert_lease;
    engine->set_lease_end = faulty_set_lease_end;
    engine->drop_leases = faulty_drop_leases;
    engine->begin = after ? inner.begin : faulty_begin; /* begun is begun */
}

static int set_up(void **state) {
    (void)state;
    shared_open(&shared, NULL);
    inner = shared.central->engine;
    left = 0;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    shared_close(&shared);
    return 0;
}

/* A push to two new scopes, and their pages. */
static void build_request(int round) {
    char scope[32];
    dln_stamp stamp = shared_stamp(&shared, 0);
    shared_begin(&shared);
    (void)snprintf(scope, sizeof(scope), "group/g%d", round);
    (void)shared_record(&shared, scope, "group");
    shared_set(&shared, "deleted", stamp, "false");
    shared_set(&shared, "owner", stamp, "aoi");
    (void)shared_record(&shared, scope, "member/ben");
    shared_set(&shared, "present", stamp, "true");
    (void)shared_record(&shared, "user/aoi", "list/l1");
    shared_set(&shared, "deleted", stamp, "false");
    shared_set(&shared, "name", stamp + (dln_stamp)round, "n");
    shared_ask(&shared, "user/aoi")->cursor =
        shared_cursor(&shared, "user/aoi", shared_last(&shared, "user/aoi"));
}

static void exchange_survives_every_failure(void **state) {
    (void)state;
    char scope[32];
    assert_int_equal(SHARED_PUSH(&shared, "aoi", "user/aoi", "list/l0", 1, "deleted", "false"),
                     DUNLIN_OK);
    for (int mode = 0; mode < 2; mode++) {
        dunlin_status status = DUNLIN_IO;
        int failed = 0;
        after = mode == 1;
        for (int n = 1; status != DUNLIN_OK && n < 200; n++) {
            int round = mode * 1000 + n;
            build_request(round);
            make_faulty(&shared.central->engine);
            left = n;
            status = shared_try(&shared, "aoi");
            assert_true(status == DUNLIN_IO || left > 0);
            failed += status == DUNLIN_IO;
            shared.central->engine = inner;
            left = 0;
            shared_send(&shared, "aoi");
            assert_int_equal(shared.answer.ack_count, 3);
            assert_int_equal(shared.answer.scope_count, 2);
            (void)snprintf(scope, sizeof(scope), "group/g%d", round);
            assert_int_equal(shared_last(&shared, scope), 2);
            assert_int_equal(shared_versions(&shared, "user/aoi"),
                             shared_last(&shared, "user/aoi"));
        }
        assert_int_equal(status, DUNLIN_OK);
        assert_true(failed > 20);
    }
}

static void upkeep_survives_every_failure(void **state) {
    (void)state;
    dunlin_maintenance done;
    for (int mode = 0; mode < 2; mode++) {
        dunlin_status status = DUNLIN_IO;
        after = mode == 1;
        for (int n = 1; status != DUNLIN_OK && n < 200; n++) {
            char key[32];
            dln_stamp stamp = shared_stamp(&shared, 0);
            (void)snprintf(key, sizeof(key), "follow/user/u%d-%d", mode, n);
            assert_int_equal(SHARED_PUSH(&shared, "aoi", "user/aoi", key, stamp, "present", "true"),
                             DUNLIN_OK);
            shared_pass(&shared, 1);
            assert_int_equal(
                SHARED_PUSH(&shared, "aoi", "user/aoi", key, stamp + 1, "present", "false"),
                DUNLIN_OK);
            assert_int_equal(
                SHARED_PUSH(&shared, "aoi", "user/aoi", "list/l1", stamp, "deleted", "false"),
                DUNLIN_OK);
            shared_pass(&shared, 100 * SHARED_DAY_MS);
            make_faulty(&shared.central->engine);
            left = n;
            status = dunlin_central_maintain(shared.central, &done, NULL);
            shared.central->engine = inner;
            left = 0;
            shared_pass(&shared, SHARED_DAY_MS); /* a lease that stayed runs out */
            assert_int_equal(dunlin_central_maintain(shared.central, &done, NULL), DUNLIN_OK);
            assert_int_equal(shared_stored(&shared, "user/aoi", key)->place.seq, 0);
            assert_int_equal(shared_versions(&shared, "user/aoi"), 1);
        }
        assert_int_equal(status, DUNLIN_OK);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(exchange_survives_every_failure),
        TEST(upkeep_survives_every_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
