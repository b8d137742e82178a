/* A sync: the engine says what to send, the remote carries it, the engine applies the answer. The
 * store is locked only while the engine takes a step.
 *
 * Two processes may do this with one file at once: every step is one transaction, and what the
 * other one did in between is nothing but a repeated or a late answer, which changes nothing. */
#include <string.h>

#include <dunlin/sync.h>

#include "base/error.h"
#include "client/handle.h"
#include "client/sync_port.h"

enum {
    TOMBSTONE_DAYS = 90, /* as long as central keeps them unless told otherwise */
    PURGE_ROWS = 1000    /* of one transaction */
};

static const int64_t day_ms = 24 * 60 * 60 * 1000;
static const char learned_name[] = "request_bytes";
static const char purged_name[] = "purged_ms";

static uint64_t random_bits(void *self) {
    return dln_store_random(self);
}

static dunlin_status new_engine(struct dln_engine **out, struct dln_store *store, bool pull_only,
                                dunlin_error *err) {
    const struct dln_engine_options options = {.store = dln_sync_port(store),
                                               .random = random_bits,
                                               .random_self = store,
                                               .pull_only = pull_only};
    return dln_engine_new(out, &options, err);
}

/* The event that the remote's answer, or its failure, is. */
static void carry(struct dln_store *store, dunlin_remote *remote, const struct dln_action *action,
                  struct dln_buf *answer, struct dln_event *event) {
    *event = (struct dln_event){.kind = DLN_EVENT_ANSWER};
    dunlin_status status =
        dln_exchange(remote, "sync", action->body, answer, &event->retry_after_ms, &event->failure);
    event->now_ms = dln_store_now_ms(store);
    event->body = (struct dln_text){answer->data, answer->len};
    if (status != DUNLIN_OK) {
        event->kind = DLN_EVENT_FAILED;
        event->failure.code = status;
    }
}

dunlin_status dln_run_engine(struct dln_store *store, struct dln_engine *engine,
                             dunlin_remote *remote, struct dln_action *action, dunlin_error *err) {
    struct dln_buf answer = {0};
    struct dln_event event = {.kind = DLN_EVENT_SYNC, .now_ms = dln_store_now_ms(store)};
    for (;;) {
        dln_engine_step(engine, &event, action);
        if (action->kind != DLN_ACTION_SEND) {
            break;
        }
        carry(store, remote, action, &answer, &event);
    }
    dln_buf_free(&answer);
    if (action->error.code != DUNLIN_OK && err) {
        *err = action->error;
    }
    return action->error.code;
}

dunlin_status dln_pull_store(struct dln_store *store, dunlin_remote *remote, dunlin_error *err) {
    struct dln_engine *engine = NULL;
    struct dln_action action;
    dunlin_status status = new_engine(&engine, store, true, err);
    if (status == DUNLIN_OK) {
        status = dln_run_engine(store, engine, remote, &action, err);
        dln_engine_free(engine);
    }
    return status;
}

/* ---- what is done besides */

static dunlin_status put_setting(struct dln_store *store, const char *name, int64_t value,
                                 dunlin_error *err) {
    dunlin_status status = dln_store_begin(store, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    status = dln_store_setting_put(store, name, value, err);
    if (status != DUNLIN_OK) {
        dln_store_rollback(store);
        return status;
    }
    return dln_store_commit(store, err);
}

static dunlin_status purge_some(struct dln_store *store, dln_stamp before, size_t *removed,
                                dunlin_error *err) {
    *removed = 0;
    dunlin_status status = dln_store_begin(store, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    status = dln_tombstones_purge(store, before, PURGE_ROWS, removed, err);
    if (status != DUNLIN_OK) {
        dln_store_rollback(store);
        return status;
    }
    return dln_store_commit(store, err);
}

/* Once a day, after a sync that came to its end. */
static dunlin_status purge_tombstones(struct dln_store *store, dunlin_error *err) {
    int64_t now_ms = dln_store_corrected_ms(store);
    int64_t purged_ms;
    size_t removed = PURGE_ROWS;
    dunlin_status status = dln_store_setting_get(store, purged_name, &purged_ms, err);
    bool today = purged_ms > 0 && now_ms >= purged_ms && now_ms - purged_ms < day_ms;
    if (status != DUNLIN_OK || today || now_ms <= TOMBSTONE_DAYS * day_ms) {
        return status;
    }
    dln_stamp before = dln_stamp_of_ms(now_ms - TOMBSTONE_DAYS * day_ms);
    while (removed == PURGE_ROWS && status == DUNLIN_OK) {
        status = purge_some(store, before, &removed, err);
    }
    return status == DUNLIN_OK ? put_setting(store, purged_name, now_ms, err) : status;
}

static dunlin_status load_learned(struct dln_store *store, struct dln_engine *engine,
                                  int64_t *learned, dunlin_error *err) {
    dunlin_status status = dln_store_setting_get(store, learned_name, learned, err);
    if (status == DUNLIN_OK && *learned > 0) {
        dln_engine_set_learned_bytes(engine, (size_t)*learned);
    }
    return status;
}

static void fill_result(dunlin_sync_result *result, const struct dln_engine *engine,
                        const struct dln_action *action) {
    const struct dln_sync_counts *counts = dln_engine_counts(engine);
    *result = (dunlin_sync_result){.exchanges = counts->exchanges,
                                   .pushed = counts->pushed,
                                   .pulled = counts->pulled,
                                   .rejected = counts->rejected,
                                   .quarantined = counts->quarantined,
                                   .bytes_sent = counts->bytes_sent,
                                   .bytes_received = counts->bytes_received};
    if (action->kind == DLN_ACTION_WAIT) {
        result->retry_at_ms = action->wake_ms;
    }
}

static dunlin_status sync_store(dunlin_store *handle, dunlin_remote *remote,
                                dunlin_sync_result *result, dunlin_error *err) {
    struct dln_store *store = handle->store;
    struct dln_engine *engine = NULL;
    struct dln_action action;
    int64_t learned = 0;
    dunlin_status status = new_engine(&engine, store, false, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    status = load_learned(store, engine, &learned, err);
    if (status != DUNLIN_OK) {
        dln_engine_free(engine);
        return status;
    }
    dln_engine_set_failures(engine, handle->failures);
    status = dln_run_engine(store, engine, remote, &action, err);
    handle->failures = dln_engine_failures(engine);
    if (result) {
        fill_result(result, engine, &action);
    }
    int64_t now_learned = (int64_t)dln_engine_learned_bytes(engine);
    dln_engine_free(engine);
    dunlin_status kept = DUNLIN_OK;
    if (now_learned != learned) {
        kept = put_setting(store, learned_name, now_learned, status == DUNLIN_OK ? err : NULL);
    }
    if (status == DUNLIN_OK && kept == DUNLIN_OK) {
        kept = purge_tombstones(store, err);
    }
    return status != DUNLIN_OK ? status : kept;
}

dunlin_status dunlin_sync(dunlin_store *store, dunlin_remote *remote, dunlin_sync_result *result,
                          dunlin_error *err) {
    if (result) {
        memset(result, 0, sizeof(*result));
    }
    dunlin_status status = dln_handle_check_idle(store, err);
    if (status == DUNLIN_OK) {
        status = dln_check_remote(remote, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    /* What others commit from here on may be missed by this sync, and is for the next. */
    struct dln_changes before = {0}, after = {0};
    status = dln_store_changes(store->store, &before, err);
    if (status == DUNLIN_OK) {
        status = sync_store(store, remote, result, err);
        store->synced = dln_store_changes(store->store, &after, NULL) == DUNLIN_OK;
        store->at_sync = (struct dln_changes){before.others, after.own};
        store->asked_ms = dln_monotonic_now_ms();
    }
    return status;
}
