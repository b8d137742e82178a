/* The device's half of replication, record by record.
 *
 * Invariants that every function keeps:
 *  - a version never gives way to one with a smaller seq (an answer may be older than an
 *    acknowledgement that came by another one);
 *  - what central sends replaces, it is not merged: only fields that wait in the outbox lie on top,
 *    and of those only the ones that win;
 *  - nothing of a person's edits disappears: it is in the outbox, at central, or in a dead letter.
 */
#include "sync/apply.h"

#include <assert.h>
#include <string.h>

#include "sync/merge.h"
#include "sync/settle.h"

enum { ROWS_PER_PAGE = 256 };

/* ---- what several rules need */

uint32_t dln_record_fields(const struct dln_record *record) {
    uint32_t fields = 0;
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        if (record->fields[i].stamp != 0) {
            fields |= UINT32_C(1) << i;
        }
    }
    return record->extra_count > 0 ? fields | DLN_EXTRAS_BIT : fields;
}

/* Whether the row still has every extra as it was sent. */
static bool extras_as_sent(const struct dln_record *now, const struct dln_record *sent) {
    if (now->extra_count != sent->extra_count) {
        return false;
    }
    for (size_t i = 0; i < now->extra_count; i++) {
        if (!dln_text_equal(now->extras[i].name, sent->extras[i].name) ||
            now->extras[i].field.stamp != sent->extras[i].field.stamp) {
            return false;
        }
    }
    return true;
}

/* Those of `fields` that were not edited again since they were sent. */
uint32_t dln_still_as_sent(const struct dln_row *row, const struct dln_row *sent, uint32_t fields) {
    uint32_t same = 0;
    fields &= row->pending;
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        uint32_t bit = UINT32_C(1) << i;
        if ((fields & bit) && row->record.fields[i].stamp == sent->record.fields[i].stamp) {
            same |= bit;
        }
    }
    if ((fields & DLN_EXTRAS_BIT) && extras_as_sent(&row->record, &sent->record)) {
        same |= DLN_EXTRAS_BIT;
    }
    return same;
}

void dln_settle(struct dln_row *row, uint32_t fields) {
    row->pending &= ~fields;
    row->offered &= ~fields;
}

/* A record with only those fields of `from`. Extras are shared. */
static struct dln_record pick(const struct dln_record *from, uint32_t fields) {
    struct dln_record record = {.key = from->key};
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        if (fields & (UINT32_C(1) << i)) {
            record.fields[i] = from->fields[i];
        }
    }
    if (fields & DLN_EXTRAS_BIT) {
        record.extras = from->extras;
        record.extra_count = from->extra_count;
    }
    return record;
}

/* A dead letter of what the person edited among `fields`; what is only offered makes none. */
dunlin_status dln_row_reject(struct dln_apply *apply, const struct dln_row *row, uint32_t fields,
                             dunlin_status code, struct dln_text reason, dunlin_error *err) {
    fields &= row->pending & ~row->offered;
    if (fields == 0) {
        return DUNLIN_OK;
    }
    struct dln_record refused = pick(&row->record, fields);
    apply->counts->rejected++;
    return apply->store->reject(
        apply->store->self,
        &(struct dln_reject){.code = code, .reason = reason, .record = &refused}, err);
}

dunlin_status dln_row_now(struct dln_apply *apply, const struct dln_key *key, struct dln_row *out,
                          dunlin_error *err) {
    return apply->store->row_get(apply->store->self, apply->arena, key, out, err);
}

/* ---- acknowledgements */

dunlin_status dln_apply_ack(struct dln_apply *apply, const struct dln_row *sent, uint32_t fields,
                            int64_t seq, dunlin_error *err) {
    struct dln_row row = {0};
    dunlin_status status = dln_row_now(apply, &sent->record.key, &row, err);
    if (status != DUNLIN_OK || !row.stored) {
        return status;
    }
    dln_settle(&row, dln_still_as_sent(&row, sent, fields));
    if (seq > row.seq) {
        row.seq = seq;
    }
    apply->again = apply->again || row.pending != 0;
    return apply->store->row_mark(apply->store->self, &row, err);
}

dunlin_status dln_apply_unsent(struct dln_apply *apply, const struct dln_row *sent,
                               dunlin_error *err) {
    if (sent->tried) {
        return DUNLIN_OK;
    }
    struct dln_row row = {0};
    dunlin_status status = dln_row_now(apply, &sent->record.key, &row, err);
    if (status != DUNLIN_OK || !row.stored || row.pending == 0 || !row.tried) {
        return status;
    }
    row.tried = false;
    return apply->store->row_mark(apply->store->self, &row, err);
}

/* ---- versions */

/* Lays local extras that win over central's. *wins tells whether any did. */
static bool overlay_extras(struct dln_apply *apply, struct dln_record *merged,
                           const struct dln_record *local, bool *wins) {
    struct dln_record on_top = {
        .key = local->key, .extras = local->extras, .extra_count = local->extra_count};
    return dln_merge(apply->arena, merged, &on_top, wins);
}

dunlin_status dln_apply_version(struct dln_apply *apply, const struct dln_scope_row *scope,
                                const struct dln_version *version, dunlin_error *err) {
    const struct dln_sync_store *store = apply->store;
    struct dln_row row = {0};
    dunlin_status status = store->clock_saw(store->self, dln_record_newest(&version->record), err);
    if (status == DUNLIN_OK && scope->rebuilding) {
        status = store->seen_add(store->self, &version->record.key, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_row_now(apply, &version->record.key, &row, err);
    }
    if (status != DUNLIN_OK || (row.stored && version->seq < row.seq)) {
        return status;
    }
    struct dln_row next = {
        .record = version->record, .stored = true, .seq = version->seq, .tried = true};
    uint32_t on_top = !row.stored       ? 0
                      : scope->offering ? row.pending | dln_record_fields(&row.record)
                                        : row.pending;
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        uint32_t bit = UINT32_C(1) << i;
        if ((on_top & bit) && dln_field_wins(&row.record.fields[i], &next.record.fields[i])) {
            next.record.fields[i] = row.record.fields[i];
            next.pending |= bit;
        }
    }
    if (on_top & DLN_EXTRAS_BIT) {
        bool wins = false;
        if (!overlay_extras(apply, &next.record, &row.record, &wins)) {
            return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_SYNC, "out of memory");
        }
        next.pending |= wins ? DLN_EXTRAS_BIT : 0;
    }
    next.offered = next.pending & (row.offered | ~row.pending);
    apply->counts->pulled++;
    apply->again = apply->again || next.offered != 0;
    return store->row_put(store->self, &next, err);
}

/* ---- starting over */

dunlin_status dln_apply_restart(struct dln_apply *apply, struct dln_scope_row *scope,
                                dunlin_error *err) {
    const struct dln_sync_store *store = apply->store;
    dunlin_status status = store->seen_clear(store->self, scope->scope, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    scope->cursor = (struct dln_cursor){0};
    scope->rebuilding = true;
    scope->rebuild_since_ms = apply->now_ms;
    scope->held = false;
    scope->head = 0;
    return store->scope_put(store->self, scope, err);
}

dunlin_status dln_apply_reset(struct dln_apply *apply, struct dln_scope_row *scope,
                              const struct dln_scope_answer *answer, struct dln_text epoch,
                              dunlin_error *err) {
    const struct dln_sync_store *store = apply->store;
    dunlin_status status = DUNLIN_OK;
    bool other_epoch = scope->epoch.len > 0 && !dln_text_equal(scope->epoch, epoch);
    int64_t shared = scope->cursor.seq < answer->base ? scope->cursor.seq : answer->base;
    /* It offers only if it cannot have missed a tombstone that is gone by now. */
    scope->offering =
        other_epoch && scope->writable && !scope->rebuilding && scope->complete_ms > 0 &&
        apply->now_ms - scope->complete_ms < answer->horizon_ms && shared >= answer->floor;
    if (other_epoch) {
        status = store->forget_seqs(store->self, scope->scope, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    scope->epoch = epoch;
    apply->counts->resets++;
    return dln_apply_restart(apply, scope, err);
}

/* A row that central did not send in a rebuild. */
static dunlin_status end_unseen(struct dln_apply *apply, const struct dln_scope_row *scope,
                                struct dln_row *row, dunlin_error *err) {
    const struct dln_sync_store *store = apply->store;
    if (row->pending != 0 && !row->tried) {
        row->seq = DLN_SEQ_NEVER; /* made here and never sent: it goes up */
        return store->row_mark(store->self, row, err);
    }
    if (scope->offering) {
        uint32_t all = dln_record_fields(&row->record);
        row->offered |= all & ~row->pending;
        row->pending |= all;
        row->tried = true;
        return store->row_mark(store->self, row, err);
    }
    dunlin_status status =
        dln_row_reject(apply, row, row->pending, DUNLIN_GONE,
                       DLN_TEXT("central removed the record, or never took it"), err);
    return status == DUNLIN_OK ? store->row_remove(store->self, &row->record.key, err) : status;
}

/* Walks a scope's rows, in pages, while they are removed or marked. */
static dunlin_status each_row(struct dln_apply *apply, struct dln_text scope, bool unseen,
                              dunlin_status (*visit)(struct dln_apply *,
                                                     const struct dln_scope_row *, struct dln_row *,
                                                     dunlin_error *),
                              const struct dln_scope_row *payload, dunlin_error *err) {
    const struct dln_sync_store *store = apply->store;
    struct dln_buf after = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    dunlin_status status = DUNLIN_OK;
    for (size_t count = 1; status == DUNLIN_OK && count > 0;) {
        struct dln_row *rows = NULL;
        dln_arena_clear(apply->scratch);
        status = store->scope_rows(store->self, apply->scratch, scope,
                                   (struct dln_text){after.data, after.len}, unseen, ROWS_PER_PAGE,
                                   &rows, &count, err);
        for (size_t i = 0; status == DUNLIN_OK && i < count; i++) {
            if (i + 1 == count) {
                dln_buf_clear(&after);
                dln_key_text(&after, &rows[i].record.key);
                status = dln_buf_status(&after, err);
            }
            if (status == DUNLIN_OK) {
                status = visit(apply, payload, &rows[i], err);
            }
        }
    }
    dln_buf_free(&after);
    return status;
}

dunlin_status dln_apply_rebuild_end(struct dln_apply *apply, struct dln_scope_row *scope,
                                    dunlin_error *err) {
    dunlin_status status = each_row(apply, scope->scope, true, end_unseen, scope, err);
    if (status == DUNLIN_OK) {
        status = apply->store->seen_clear(apply->store->self, scope->scope, err);
    }
    scope->rebuilding = false;
    scope->offering = false;
    scope->rebuild_since_ms = 0;
    apply->again = true; /* what waited for the end of the rebuild may go up */
    return status;
}

/* ---- losing access */

static dunlin_status deny_row(struct dln_apply *apply, const struct dln_scope_row *scope,
                              struct dln_row *row, dunlin_error *err) {
    (void)scope;
    dunlin_status status =
        dln_row_reject(apply, row, row->pending, DUNLIN_NOT_ALLOWED,
                       DLN_TEXT("this user may not read the group any more"), err);
    return status == DUNLIN_OK ? apply->store->row_remove(apply->store->self, &row->record.key, err)
                               : status;
}

dunlin_status dln_apply_denied(struct dln_apply *apply, struct dln_text scope, dunlin_error *err) {
    dunlin_status status = each_row(apply, scope, false, deny_row, NULL, err);
    if (status == DUNLIN_OK) {
        status = apply->store->seen_clear(apply->store->self, scope, err);
    }
    return status == DUNLIN_OK ? apply->store->scope_drop(apply->store->self, scope, err) : status;
}
