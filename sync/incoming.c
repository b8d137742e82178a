/* What an answer does: everything of it in one transaction, cursors included, so that a crash
 * leaves all of it or nothing, and the same answer may come again. */
#include <assert.h>

#include "sync/exchange.h"

static dunlin_status begin(struct dln_engine *engine, struct dln_apply *apply, dunlin_error *err) {
    *apply = (struct dln_apply){.store = &engine->options.store,
                                .arena = &engine->answer_arena,
                                .scratch = &engine->scratch,
                                .counts = &engine->counts};
    return apply->store->begin(apply->store->self, err);
}

/* Commits or rolls back; counts of what was rolled back are taken back. */
static dunlin_status finish(struct dln_apply *apply, const struct dln_sync_counts *before,
                            dunlin_status status, dunlin_error *err) {
    if (status == DUNLIN_OK) {
        status = apply->store->commit(apply->store->self, err);
    } else {
        apply->store->rollback(apply->store->self);
    }
    if (status != DUNLIN_OK) {
        *apply->counts = *before;
    }
    return status;
}

static const struct dln_scope_ask *find_ask(const struct dln_engine *engine,
                                            struct dln_text scope) {
    for (size_t i = 0; i < engine->request.scope_count; i++) {
        if (dln_text_equal(engine->request.scopes[i].scope, scope)) {
            return &engine->request.scopes[i];
        }
    }
    return NULL;
}

/* ---- records: settled, refused, or not judged */

enum verdict { VERDICT_NONE, VERDICT_GIVEN, VERDICT_UNJUDGED };

struct verdicts {
    uint8_t *of;       /* one a record */
    uint32_t *refused; /* fields that a refusal names */
};

static dunlin_status mark_unjudged(struct dln_engine *engine, struct dln_apply *apply,
                                   const struct dln_sync_answer *answer, struct verdicts *verdicts,
                                   dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    for (size_t i = 0; i < answer->scope_count; i++) {
        const struct dln_scope_answer *scope = &answer->scopes[i];
        if (scope->state != DLN_SCOPE_RESET && scope->state != DLN_SCOPE_HELD) {
            continue;
        }
        for (size_t k = 0; status == DUNLIN_OK && k < engine->request.record_count; k++) {
            const struct dln_row *sent = &engine->sent[k];
            if (dln_text_equal(sent->record.key.scope, scope->scope)) {
                verdicts->of[k] = VERDICT_UNJUDGED;
                status = dln_apply_unsent(apply, sent, err);
            }
        }
    }
    return status;
}

/* An answer names fields; which ones they are depends on the record that was sent. */
static void resolve_fields(const struct dln_engine *engine, const struct dln_refusal *refusal) {
    const struct dln_collection *collection = engine->sent[refusal->index].record.key.collection;
    for (size_t i = 0; i < refusal->field_count; i++) {
        struct dln_refused_field *field = &refusal->fields[i];
        field->field = collection == NULL ? -1 : dln_field_by_name(collection, field->name);
    }
}

static void note_refused(const struct dln_engine *engine, const struct dln_sync_answer *answer,
                         struct verdicts *verdicts) {
    for (size_t i = 0; i < answer->refusal_count; i++) {
        const struct dln_refusal *refusal = &answer->refusals[i];
        if (refusal->index >= engine->request.record_count) {
            continue;
        }
        uint32_t *fields = &verdicts->refused[refusal->index];
        resolve_fields(engine, refusal);
        *fields = refusal->field_count == 0 ? UINT32_MAX : *fields;
        for (size_t k = 0; k < refusal->field_count; k++) {
            int field = refusal->fields[k].field;
            *fields |= field < 0 ? DLN_EXTRAS_BIT : UINT32_C(1) << field;
        }
    }
}

static dunlin_status apply_verdicts(struct dln_engine *engine, struct dln_apply *apply,
                                    const struct dln_sync_answer *answer, struct verdicts *verdicts,
                                    dunlin_error *err) {
    dunlin_status status = mark_unjudged(engine, apply, answer, verdicts, err);
    note_refused(engine, answer, verdicts);
    for (size_t i = 0; status == DUNLIN_OK && i < answer->ack_count; i++) {
        const struct dln_ack *ack = &answer->acks[i];
        if (ack->index >= engine->request.record_count ||
            verdicts->of[ack->index] != VERDICT_NONE) {
            continue;
        }
        const struct dln_row *sent = &engine->sent[ack->index];
        verdicts->of[ack->index] = VERDICT_GIVEN;
        engine->counts.pushed++;
        status = dln_apply_ack(apply, sent, sent->pending & ~verdicts->refused[ack->index],
                               ack->seq, err);
    }
    for (size_t i = 0; status == DUNLIN_OK && i < answer->refusal_count; i++) {
        const struct dln_refusal *refusal = &answer->refusals[i];
        if (refusal->index < engine->request.record_count &&
            verdicts->of[refusal->index] != VERDICT_UNJUDGED) {
            verdicts->of[refusal->index] = VERDICT_GIVEN;
            status = dln_apply_refusal(apply, &engine->sent[refusal->index], refusal, err);
        }
    }
    return status;
}

/* ---- scopes */

static dunlin_status apply_page(struct dln_engine *engine, struct dln_apply *apply,
                                struct dln_scope_row *row, const struct dln_scope_answer *page,
                                struct dln_text epoch, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    for (size_t i = 0; status == DUNLIN_OK && i < page->version_count; i++) {
        if (dln_text_equal(page->versions[i].record.key.scope, page->scope)) {
            status = dln_apply_version(apply, row, &page->versions[i], err);
        }
    }
    apply->again = apply->again || row->held;
    row->epoch = epoch;
    row->held = false;
    if (page->state == DLN_SCOPE_PAGE) {
        row->cursor = page->cursor;
        row->head = page->more ? 0 : page->head;
    }
    if (status == DUNLIN_OK && !page->more && row->rebuilding) {
        status = dln_apply_rebuild_end(apply, row, err);
    }
    if (status == DUNLIN_OK && !page->more) {
        row->complete_ms = apply->now_ms;
        if (!dln_done_add(&engine->done, page->scope)) {
            status = dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_SYNC, "out of memory");
        }
    }
    return status == DUNLIN_OK ? apply->store->scope_put(apply->store->self, row, err) : status;
}

static dunlin_status apply_scope(struct dln_engine *engine, struct dln_apply *apply,
                                 const struct dln_scope_answer *answer, struct dln_text epoch,
                                 dunlin_error *err) {
    const struct dln_scope_ask *ask = find_ask(engine, answer->scope);
    if (ask == NULL) {
        return DUNLIN_OK; /* not asked for: not ours to take */
    }
    struct dln_scope_row row = {0};
    dunlin_status status =
        apply->store->scope_get(apply->store->self, apply->arena, answer->scope, &row, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    bool closed = true; /* nothing more to ask of it in this run */
    if (answer->state == DLN_SCOPE_PAGE && answer->more && answer->cursor.seq <= ask->cursor.seq) {
        return dln_fail(err, DUNLIN_NOT_OUR_SERVER, DUNLIN_DOMAIN_SYNC,
                        "a page does not move the cursor and says that there is more");
    }
    switch (answer->state) {
    case DLN_SCOPE_PAGE:
    case DLN_SCOPE_SAME:
        return ask->pull ? apply_page(engine, apply, &row, answer, epoch, err) : DUNLIN_OK;
    case DLN_SCOPE_RESET:
        engine->resync_failed = engine->resync_failed || ask->rebuilding;
        apply->again = true;
        closed = false;
        status = dln_apply_reset(apply, &row, answer, epoch, err);
        break;
    case DLN_SCOPE_HELD:
        engine->held = true;
        row.held = true;
        status = apply->store->scope_put(apply->store->self, &row, err);
        break;
    case DLN_SCOPE_DENIED:
        status = ask->pull ? dln_apply_denied(apply, answer->scope, err) : DUNLIN_OK;
        break;
    }
    if (status == DUNLIN_OK && closed && !dln_done_add(&engine->done, answer->scope)) {
        status = dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_SYNC, "out of memory");
    }
    return status;
}

/* ---- the answer */

static dunlin_status apply_answer(struct dln_engine *engine, struct dln_apply *apply,
                                  const struct dln_sync_answer *answer, int64_t now_ms,
                                  dunlin_error *err) {
    size_t records = engine->request.record_count;
    struct verdicts verdicts = {
        .of = dln_arena_alloc(&engine->answer_arena, records + 1),
        .refused = dln_arena_alloc(&engine->answer_arena, (records + 1) * sizeof(uint32_t))};
    if (verdicts.of == NULL || verdicts.refused == NULL) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_SYNC, "out of memory");
    }
    engine->offset_ms = answer->now_ms - now_ms;
    apply->now_ms = answer->now_ms;
    dunlin_status status = apply->store->clock_offset(apply->store->self, engine->offset_ms, err);
    if (status == DUNLIN_OK) {
        status = apply_verdicts(engine, apply, answer, &verdicts, err);
    }
    for (size_t i = 0; status == DUNLIN_OK && i < answer->scope_count; i++) {
        status = apply_scope(engine, apply, &answer->scopes[i], answer->epoch, err);
    }
    engine->counts.quarantined += answer->quarantined;
    return status;
}

dunlin_status dln_incoming(struct dln_engine *engine, int64_t now_ms, struct dln_text body,
                           int64_t *retry_after_ms, dunlin_error *err) {
    struct dln_sync_answer answer = {0};
    struct dln_apply apply;
    dln_arena_clear(&engine->answer_arena);
    dunlin_status status =
        dln_answer_decode(&engine->answer_arena, &answer, engine->request.nonce, body, err);
    *retry_after_ms = answer.retry_after_ms;
    if (status != DUNLIN_OK) {
        return status;
    }
    if (answer.scope_count == 0 && answer.ack_count == 0 && answer.refusal_count == 0) {
        return dln_fail(err, DUNLIN_NOT_OUR_SERVER, DUNLIN_DOMAIN_SYNC,
                        "the answer says nothing of what was asked");
    }
    struct dln_sync_counts before = engine->counts;
    status = begin(engine, &apply, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    status = apply_answer(engine, &apply, &answer, now_ms, err);
    status = finish(&apply, &before, status, err);
    engine->again = engine->again || apply.again;
    return status;
}

dunlin_status dln_incoming_none(struct dln_engine *engine, bool too_large, dunlin_error *err) {
    if (engine->request.record_count == 0) {
        return DUNLIN_OK;
    }
    struct dln_apply apply;
    struct dln_sync_counts before = engine->counts;
    dln_arena_clear(&engine->answer_arena);
    dunlin_status status = begin(engine, &apply, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (too_large) {
        assert(engine->request.record_count == 1);
        status = dln_apply_too_large(&apply, &engine->sent[0], err);
    }
    for (size_t i = 0; status == DUNLIN_OK && !too_large && i < engine->request.record_count; i++) {
        status = dln_apply_unsent(&apply, &engine->sent[i], err);
    }
    return finish(&apply, &before, status, err);
}
