/* Nothing but the store's functions under the engine's names: store/ and sync/ do not see each
 * other. */
#include "client/sync_port.h"

static dunlin_status begin(void *self, dunlin_error *err) {
    return dln_store_begin(self, err);
}

static dunlin_status commit(void *self, dunlin_error *err) {
    return dln_store_commit(self, err);
}

static void rollback(void *self) {
    dln_store_rollback(self);
}

static dunlin_status clock_saw(void *self, dln_stamp stamp, dunlin_error *err) {
    return dln_clock_store_saw(self, stamp, err);
}

static dunlin_status clock_lower(void *self, dln_stamp stamp, dunlin_error *err) {
    return dln_clock_store_lower(self, stamp, err);
}

static dunlin_status clock_offset(void *self, int64_t offset_ms, dunlin_error *err) {
    return dln_clock_store_offset(self, offset_ms, err);
}

static dunlin_status scopes(void *self, struct dln_arena *arena, struct dln_text after,
                            size_t limit, struct dln_scope_row **out, size_t *count,
                            dunlin_error *err) {
    return dln_scopes(self, arena, after, limit, out, count, err);
}

static dunlin_status scope_get(void *self, struct dln_arena *arena, struct dln_text scope,
                               struct dln_scope_row *out, dunlin_error *err) {
    return dln_scope_get(self, arena, scope, out, err);
}

static dunlin_status scope_put(void *self, const struct dln_scope_row *row, dunlin_error *err) {
    return dln_scope_put(self, row, err);
}

static dunlin_status scope_drop(void *self, struct dln_text scope, dunlin_error *err) {
    return dln_scope_drop(self, scope, err);
}

static dunlin_status forget_seqs(void *self, struct dln_text scope, dunlin_error *err) {
    return dln_scope_forget_seqs(self, scope, err);
}

static dunlin_status row_get(void *self, struct dln_arena *arena, const struct dln_key *key,
                             struct dln_row *out, dunlin_error *err) {
    return dln_row_get(self, arena, key, out, err);
}

static dunlin_status row_put(void *self, const struct dln_row *row, dunlin_error *err) {
    return dln_row_put(self, row, err);
}

static dunlin_status row_mark(void *self, const struct dln_row *row, dunlin_error *err) {
    return dln_row_mark(self, row, err);
}

static dunlin_status row_remove(void *self, const struct dln_key *key, dunlin_error *err) {
    return dln_row_remove(self, key, err);
}

static dunlin_status outbox_next(void *self, struct dln_arena *arena,
                                 struct dln_outbox_place *place, size_t limit, struct dln_row **out,
                                 size_t *count, dunlin_error *err) {
    return dln_outbox_next(self, arena, place, limit, out, count, err);
}

static dunlin_status scope_rows(void *self, struct dln_arena *arena, struct dln_text scope,
                                struct dln_text after, bool unseen, size_t limit,
                                struct dln_row **out, size_t *count, dunlin_error *err) {
    return dln_scope_rows(self, arena, scope, after, unseen, limit, out, count, err);
}

static dunlin_status seen_add(void *self, const struct dln_key *key, dunlin_error *err) {
    return dln_seen_add(self, key, err);
}

static dunlin_status seen_clear(void *self, struct dln_text scope, dunlin_error *err) {
    return dln_seen_clear(self, scope, err);
}

static dunlin_status reject(void *self, const struct dln_reject *what, dunlin_error *err) {
    return dln_reject_add(self, what, err);
}

struct dln_sync_store dln_sync_port(struct dln_store *store) {
    return (struct dln_sync_store){.self = store,
                                   .begin = begin,
                                   .commit = commit,
                                   .rollback = rollback,
                                   .clock_saw = clock_saw,
                                   .clock_lower = clock_lower,
                                   .clock_offset = clock_offset,
                                   .scopes = scopes,
                                   .scope_get = scope_get,
                                   .scope_put = scope_put,
                                   .scope_drop = scope_drop,
                                   .forget_seqs = forget_seqs,
                                   .row_get = row_get,
                                   .row_put = row_put,
                                   .row_mark = row_mark,
                                   .row_remove = row_remove,
                                   .outbox_next = outbox_next,
                                   .scope_rows = scope_rows,
                                   .seen_add = seen_add,
                                   .seen_clear = seen_clear,
                                   .reject = reject};
}
