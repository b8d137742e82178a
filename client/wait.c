/* Waiting for a reason to sync.
 *
 * The remote waits for news where it can, in slices of a second, between which the file is looked
 * at; whoever else has it open tells nobody that he wrote. Where the remote cannot wait, the slices
 * are slept, and after POLL_MS there may be news. Nothing is kept between two calls but what the
 * last sync saw, so a call may end at any time and be made again. */
#include <time.h>

#include <dunlin/sync.h>

#include "base/error.h"
#include "client/handle.h"
#include "client/sync_port.h"

enum { SLICE_MS = 1000, POLL_MS = 5000, ARENA_BYTES_MAX = 1024 * 1024 };

int64_t dln_monotonic_now_ms(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Ends early when a signal is handled, which the caller may be waiting for. */
static void sleep_ms(int64_t delay_ms) {
    struct timespec delay = {.tv_sec = (time_t)(delay_ms / 1000),
                             .tv_nsec = (long)(delay_ms % 1000) * 1000000};
    (void)nanosleep(&delay, NULL);
}

static dunlin_status has_pending(struct dln_store *store, bool *out, dunlin_error *err) {
    struct dln_arena arena = DLN_ARENA_INIT(ARENA_BYTES_MAX);
    struct dln_outbox_place place = {0};
    struct dln_row *rows = NULL;
    size_t count = 0;
    dunlin_status status = dln_outbox_next(store, &arena, &place, 1, &rows, &count, err);
    *out = count > 0;
    dln_arena_free(&arena);
    return status;
}

/* Whether edits wait that the last sync has not seen. They are said once: what is left in the
 * outbox after the sync that follows has its reasons. */
static dunlin_status look_for_edits(dunlin_store *store, int *edits, dunlin_error *err) {
    struct dln_changes now = {0};
    bool pending = false;
    dunlin_status status = dln_store_changes(store->store, &now, err);
    if (status != DUNLIN_OK ||
        (store->synced && now.others == store->at_sync.others && now.own == store->at_sync.own)) {
        return status;
    }
    status = has_pending(store->store, &pending, err);
    if (status == DUNLIN_OK) {
        *edits = pending;
        store->synced = true;
        store->at_sync = now;
    }
    return status;
}

/* Spends the slice; news or not. */
static void wait_slice(dunlin_store *store, dunlin_remote *remote, int64_t slice_ms,
                       dunlin_wakeup *out) {
    int64_t end_ms = dln_monotonic_now_ms() + slice_ms;
    out->listening =
        remote->wait && remote->wait(remote->self, slice_ms, &out->news, NULL) == DUNLIN_OK;
    int64_t now_ms = dln_monotonic_now_ms();
    if (!out->listening) {
        out->news = 0;
        if (now_ms < end_ms) {
            sleep_ms(end_ms - now_ms);
        }
        now_ms = dln_monotonic_now_ms();
        out->news = now_ms - store->asked_ms >= POLL_MS;
    }
    if (out->news) {
        store->asked_ms = now_ms;
    }
}

dunlin_status dunlin_sync_wait(dunlin_store *store, dunlin_remote *remote, int64_t timeout_ms,
                               dunlin_wakeup *out, dunlin_error *err) {
    dunlin_status status = dln_handle_check_idle(store, err);
    if (status == DUNLIN_OK) {
        status = dln_check_remote(remote, err);
    }
    if (status == DUNLIN_OK && (timeout_ms < 0 || !out)) {
        status = dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API,
                          "a time-out of 0 or more and a place for the reason are needed");
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    *out = (dunlin_wakeup){0};
    int64_t start_ms = dln_monotonic_now_ms();
    for (;;) {
        status = look_for_edits(store, &out->edits, err);
        if (status != DUNLIN_OK || out->edits) {
            return status;
        }
        int64_t left_ms = timeout_ms - (dln_monotonic_now_ms() - start_ms);
        left_ms = left_ms > 0 ? left_ms : 0;
        wait_slice(store, remote, left_ms < SLICE_MS ? left_ms : SLICE_MS, out);
        if (out->news || left_ms == 0) {
            return DUNLIN_OK;
        }
    }
}
