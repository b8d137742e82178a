/* The state machine: idle, or one request out.
 *
 *   SYNC     idle    -> builds a request: SEND, or DONE when there is nothing to do
 *   ANSWER   out     -> applies it, builds the next: SEND, DONE, or WAIT when something failed
 *   FAILED   out     -> puts back what cannot have arrived; a smaller request (SEND) or WAIT
 *   NETWORK  idle    -> forgets the backoff, then as SYNC
 *
 * Any failure ends the run; the next SYNC starts another, which repeats what was not settled.
 * Waiting times are drawn with full jitter: uniformly from 0 to min(15 min, 1 s * 2^failures)
 * (M. Brooker, "Exponential Backoff And Jitter", 2015). */
#include "sync/engine.h"

#include <assert.h>
#include <stdlib.h>

#include "sync/exchange.h"

enum {
    ARENA_BYTES_MAX = 48 * 1024 * 1024,
    PLACE_BYTES_MAX = 4096,
    STALE_ANSWERS_MAX = 3,
    GROWTH = 8
};

static const int64_t backoff_first_ms = 1000;
static const int64_t backoff_cap_ms = 15 * 60 * 1000;

/* ---- life */

dunlin_status dln_engine_new(struct dln_engine **out, const struct dln_engine_options *options,
                             dunlin_error *err) {
    assert(options->random != NULL && options->store.begin != NULL);
    struct dln_engine *engine = calloc(1, sizeof(*engine));
    *out = engine;
    if (engine == NULL) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_SYNC, "out of memory");
    }
    engine->options = *options;
    if (engine->options.request_records == 0 ||
        engine->options.request_records > DLN_REQUEST_RECORDS_MAX) {
        engine->options.request_records = DLN_REQUEST_RECORDS_MAX;
    }
    if (engine->options.request_bytes == 0 ||
        engine->options.request_bytes > DLN_REQUEST_BYTES_MAX) {
        engine->options.request_bytes = DLN_REQUEST_BYTES_MAX;
    }
    engine->limit_bytes = engine->options.request_bytes;
    engine->page_records = options->page_records > 0 && options->page_records < DLN_PAGE_RECORDS_MAX
                               ? options->page_records
                               : DLN_PAGE_RECORDS_MAX;
    engine->request_arena = DLN_ARENA_INIT(ARENA_BYTES_MAX);
    engine->answer_arena = DLN_ARENA_INIT(ARENA_BYTES_MAX);
    engine->scratch = DLN_ARENA_INIT(ARENA_BYTES_MAX);
    engine->done = DLN_DONE_INIT;
    engine->place = DLN_BUF_INIT(PLACE_BYTES_MAX);
    engine->place_before = DLN_BUF_INIT(PLACE_BYTES_MAX);
    engine->body = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    return DUNLIN_OK;
}

void dln_engine_free(struct dln_engine *engine) {
    if (engine == NULL) {
        return;
    }
    dln_arena_free(&engine->request_arena);
    dln_arena_free(&engine->answer_arena);
    dln_arena_free(&engine->scratch);
    dln_done_free(&engine->done);
    dln_buf_free(&engine->place);
    dln_buf_free(&engine->place_before);
    dln_buf_free(&engine->body);
    free(engine);
}

const struct dln_sync_counts *dln_engine_counts(const struct dln_engine *engine) {
    return &engine->counts;
}

/* Half of what was refused may still be too much, and a run that had less to send does not find
 * out: what is kept over a restart is rather the largest request that got through. A run that came
 * to its end with a request near the limit lets the next one try a little more: the remote may take
 * more than it did, and a refusal costs one request. */
size_t dln_engine_learned_bytes(const struct dln_engine *engine) {
    size_t limit = engine->limit_bytes;
    if (limit >= engine->options.request_bytes) {
        return 0;
    }
    if (!engine->was_too_large && engine->ended && engine->passed_bytes >= limit / 4 * 3) {
        limit += limit / GROWTH;
        return limit >= engine->options.request_bytes ? 0 : limit;
    }
    if (!engine->was_too_large || engine->passed_bytes == 0) {
        return limit;
    }
    return engine->passed_bytes > limit / 2 ? engine->passed_bytes : limit / 2;
}

void dln_engine_set_learned_bytes(struct dln_engine *engine, size_t bytes) {
    if (bytes > 0 && bytes < engine->options.request_bytes) {
        engine->limit_bytes = bytes;
    }
}

int dln_engine_failures(const struct dln_engine *engine) {
    return engine->failures;
}

void dln_engine_set_failures(struct dln_engine *engine, int failures) {
    engine->failures = failures;
}

/* ---- actions */

static int64_t greater(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static void wait_after(struct dln_engine *engine, const struct dln_event *event,
                       const dunlin_error *why, int64_t retry_after_ms, struct dln_action *out) {
    int64_t most = backoff_first_ms;
    for (int i = 0; i < engine->failures && most < backoff_cap_ms; i++) {
        most *= 2;
    }
    most = most < backoff_cap_ms ? most : backoff_cap_ms;
    uint64_t bits = engine->options.random(engine->options.random_self);
    int64_t delay_ms = (int64_t)(bits % (uint64_t)(most + 1));
    retry_after_ms = retry_after_ms < backoff_cap_ms ? retry_after_ms : backoff_cap_ms;
    engine->failures++;
    engine->running = false;
    *out = (struct dln_action){.kind = DLN_ACTION_WAIT,
                               .wake_ms = event->now_ms + greater(delay_ms, retry_after_ms),
                               .error = *why};
}

static void send(struct dln_engine *engine, struct dln_action *out) {
    engine->counts.exchanges++;
    engine->counts.bytes_sent += engine->body.len;
    *out =
        (struct dln_action){.kind = DLN_ACTION_SEND, .body = {engine->body.data, engine->body.len}};
}

static void done(struct dln_engine *engine, struct dln_action *out) {
    engine->running = false;
    engine->ended = true;
    engine->failures = 0;
    *out = (struct dln_action){.kind = DLN_ACTION_DONE};
    if (engine->held) {
        (void)dln_fail(&out->error, DUNLIN_HELD, DUNLIN_DOMAIN_SYNC,
                       "central has lost history; what is held waits until it is restored");
    }
}

static void go_on(struct dln_engine *engine, const struct dln_event *event,
                  struct dln_action *out) {
    dunlin_error err = {0};
    bool nothing = false;
    dunlin_status status = dln_outgoing(engine, event->now_ms, &nothing, &err);
    if (status != DUNLIN_OK) {
        wait_after(engine, event, &err, 0, out);
    } else if (nothing) {
        done(engine, out);
    } else {
        send(engine, out);
    }
}

/* ---- events */

static void on_sync(struct dln_engine *engine, const struct dln_event *event,
                    struct dln_action *out) {
    engine->counts = (struct dln_sync_counts){0};
    engine->running = true;
    engine->ended = false;
    engine->held = false;
    engine->resync_failed = false;
    engine->again = false;
    engine->pass_ended = false;
    engine->passes = 0;
    engine->stale_answers = 0;
    dln_done_clear(&engine->done);
    dln_buf_clear(&engine->place);
    go_on(engine, event, out);
}

/* The request was too large, or its answer (then we found out ourselves: domain SYNC): asks for
 * less, until there is nothing left to leave out. */
static bool on_too_large(struct dln_engine *engine, dunlin_error *err) {
    bool answer = err->domain == DUNLIN_DOMAIN_SYNC;
    bool alone = engine->request.record_count == 1 && engine->request.scope_count == 1;
    if (answer ? engine->page_records <= 1
               : engine->request.record_count == 0 && engine->request.scope_count <= 1) {
        return false;
    }
    if (dln_incoming_none(engine, !answer && alone, err) != DUNLIN_OK) {
        return false;
    }
    if (answer) {
        engine->page_records /= 2;
    } else if (!alone) {
        size_t half = engine->body.len / 2;
        engine->limit_bytes = half < engine->limit_bytes ? half : engine->limit_bytes / 2;
        engine->was_too_large = true;
        if (engine->passed_bytes >= engine->body.len) {
            engine->passed_bytes = 0; /* the remote takes less than it did */
        }
    }
    if (answer || !alone) {
        /* The same rows again; the place is behind the one that became a dead letter otherwise. */
        dln_buf_clear(&engine->place);
        dln_buf_append(&engine->place, engine->place_before.data, engine->place_before.len);
        engine->pass_ended = false;
        return dln_buf_status(&engine->place, err) == DUNLIN_OK;
    }
    return true;
}

static void on_answer(struct dln_engine *engine, const struct dln_event *event,
                      struct dln_action *out) {
    dunlin_error err = {0};
    int64_t retry_after_ms = 0;
    engine->counts.bytes_received += event->body.len;
    dunlin_status status = dln_incoming(engine, event->now_ms, event->body, &retry_after_ms, &err);
    if (status == DUNLIN_STALE_REPLY && ++engine->stale_answers < STALE_ANSWERS_MAX) {
        status = dln_outgoing_encode(engine, &err);
        if (status == DUNLIN_OK) {
            send(engine, out);
            return;
        }
    }
    if (status == DUNLIN_OK && engine->resync_failed) {
        status = dln_fail(&err, DUNLIN_RESYNC_FAILED, DUNLIN_DOMAIN_SYNC,
                          "central asks to start over while that is being done");
    }
    if (status == DUNLIN_TOO_LARGE && on_too_large(engine, &err)) {
        go_on(engine, event, out);
        return;
    }
    if (status != DUNLIN_OK) {
        wait_after(engine, event, &err, greater(retry_after_ms, event->retry_after_ms), out);
        return;
    }
    engine->stale_answers = 0;
    engine->passed_bytes =
        engine->body.len > engine->passed_bytes ? engine->body.len : engine->passed_bytes;
    go_on(engine, event, out);
}

static void on_failed(struct dln_engine *engine, const struct dln_event *event,
                      struct dln_action *out) {
    dunlin_error err = event->failure;
    if (err.code == DUNLIN_TOO_LARGE && on_too_large(engine, &err)) {
        go_on(engine, event, out);
        return;
    }
    if (err.code == DUNLIN_OFFLINE) {
        dunlin_error local = {0};
        if (dln_incoming_none(engine, false, &local) != DUNLIN_OK) {
            err = local;
        }
    }
    wait_after(engine, event, &err, event->retry_after_ms, out);
}

void dln_engine_step(struct dln_engine *engine, const struct dln_event *event,
                     struct dln_action *out) {
    switch (event->kind) {
    case DLN_EVENT_NETWORK:
        assert(!engine->running);
        engine->failures = 0;
        on_sync(engine, event, out);
        return;
    case DLN_EVENT_SYNC:
        on_sync(engine, event, out);
        return;
    case DLN_EVENT_ANSWER:
        assert(engine->running);
        on_answer(engine, event, out);
        return;
    case DLN_EVENT_FAILED:
        assert(engine->running);
        on_failed(engine, event, out);
        return;
    }
}
