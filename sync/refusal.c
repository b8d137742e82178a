/* What central refused: per record, with a code and the fields.
 *
 * AHEAD is no verdict: the field gets the stamp that central would take and goes up again. NO_LIST
 * and NO_GROUP wait as long as the outbox holds the creation of what is missing. Everything else is
 * final: the person's values become a dead letter, and central's take their place without a merge,
 * since the refused stamp is newer. A field that was edited again since it was sent is not touched:
 * that edit is still to be judged. */
#include "sync/merge.h"
#include "sync/settle.h"

static const struct dln_field no_field;

static struct dln_extra *find_extra(struct dln_record *record, struct dln_text name) {
    for (size_t i = 0; i < record->extra_count; i++) {
        if (dln_text_equal(record->extras[i].name, name)) {
            return &record->extras[i];
        }
    }
    return NULL;
}

/* The bit of the field that says whether the record exists. */
static uint32_t existence_bit(const struct dln_key *key) {
    return key->collection == NULL ? DLN_EXTRAS_BIT : UINT32_C(1) << key->collection->existence;
}

/* Central would take the edit with a smaller stamp: the row gets that one and is sent again. */
static dunlin_status restamp(struct dln_apply *apply, const struct dln_row *sent,
                             const struct dln_refusal *refusal, dunlin_error *err) {
    struct dln_row row = {0};
    dunlin_status status = dln_row_now(apply, &sent->record.key, &row, err);
    if (status != DUNLIN_OK || !row.stored) {
        return status;
    }
    dln_stamp greatest = 0;
    for (size_t i = 0; i < refusal->field_count; i++) {
        const struct dln_refused_field *refused = &refusal->fields[i];
        struct dln_field *now = NULL;
        dln_stamp was = 0;
        if (refused->field >= 0) {
            now = &row.record.fields[refused->field];
            was = sent->record.fields[refused->field].stamp;
        } else {
            struct dln_record as_sent = sent->record;
            struct dln_extra *extra = find_extra(&row.record, refused->name);
            struct dln_extra *sent_extra = find_extra(&as_sent, refused->name);
            now = extra == NULL ? NULL : &extra->field;
            was = sent_extra == NULL ? 0 : sent_extra->field.stamp;
        }
        if (now != NULL && was != 0 && now->stamp == was && refused->take != 0) {
            now->stamp = refused->take;
            greatest = refused->take > greatest ? refused->take : greatest;
        }
    }
    apply->again = true;
    if (greatest == 0) {
        return DUNLIN_OK; /* edited again meanwhile: the newer edit goes up with its own stamp */
    }
    status = apply->store->clock_lower(apply->store->self, greatest, err);
    return status == DUNLIN_OK ? apply->store->row_put(apply->store->self, &row, err) : status;
}

/* Whether the outbox holds the creation of the list or group that this record needs. */
static dunlin_status waits_for_creation(struct dln_apply *apply, const struct dln_key *key,
                                        bool *waits, dunlin_error *err) {
    *waits = false;
    struct dln_key needed = {.scope = key->scope};
    if (key->collection != NULL && key->collection->id == DLN_ITEM) {
        needed.collection = dln_collection_by_id(DLN_LIST);
        needed.part_count = 1;
        needed.parts[0] = key->parts[0];
    } else if (key->collection != NULL && key->collection->id == DLN_MEMBER) {
        needed.collection = dln_collection_by_id(DLN_GROUP);
    } else {
        return DUNLIN_OK;
    }
    needed.name = dln_text_of(needed.collection->name);
    struct dln_row row = {0};
    dunlin_status status = dln_row_now(apply, &needed, &row, err);
    *waits = status == DUNLIN_OK && row.stored && (row.pending & existence_bit(&needed)) != 0;
    return status;
}

/* The whole row is refused, since central does not hold the record. */
static dunlin_status refuse_row(struct dln_apply *apply, const struct dln_row *sent,
                                struct dln_row *row, const struct dln_refusal *refusal,
                                dunlin_error *err) {
    uint32_t exists = existence_bit(&row->record.key);
    if ((row->pending & exists) && !dln_still_as_sent(row, sent, exists)) {
        apply->again = true; /* created anew or deleted since: that is still to be judged */
        return DUNLIN_OK;
    }
    dunlin_status status =
        dln_row_reject(apply, row, UINT32_MAX, refusal->code, refusal->reason, err);
    return status == DUNLIN_OK ? apply->store->row_remove(apply->store->self, &row->record.key, err)
                               : status;
}

/* Which of the sent fields a refusal names; none named means all. */
static uint32_t refused_fields(const struct dln_row *sent, const struct dln_refusal *refusal) {
    uint32_t fields = refusal->field_count == 0 ? sent->pending : 0;
    for (size_t i = 0; i < refusal->field_count; i++) {
        int field = refusal->fields[i].field;
        fields |= field < 0 ? DLN_EXTRAS_BIT : UINT32_C(1) << field;
    }
    return fields & sent->pending;
}

/* Puts central's values over the refused fields that are still as they were sent. */
static bool take_central(struct dln_apply *apply, struct dln_row *row,
                         const struct dln_refusal *refusal, uint32_t fields) {
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        if (fields & (UINT32_C(1) << i)) {
            row->record.fields[i] = no_field;
        }
    }
    if (fields & DLN_EXTRAS_BIT) {
        row->record.extras = NULL;
        row->record.extra_count = 0;
    }
    struct dln_record now = {.key = row->record.key};
    now.extras = dln_arena_alloc(apply->arena, (refusal->field_count + 1) * sizeof(*now.extras));
    if (now.extras == NULL) {
        return false;
    }
    for (size_t i = 0; i < refusal->field_count; i++) {
        const struct dln_refused_field *refused = &refusal->fields[i];
        if (refused->field >= 0 && (fields & (UINT32_C(1) << refused->field))) {
            row->record.fields[refused->field] = refused->now;
        } else if (refused->field < 0 && (fields & DLN_EXTRAS_BIT) && refused->now.stamp != 0) {
            now.extras[now.extra_count++] =
                (struct dln_extra){.name = refused->name, .field = refused->now};
        }
    }
    bool changed = false;
    return now.extra_count == 0 || dln_merge(apply->arena, &row->record, &now, &changed);
}

dunlin_status dln_apply_refusal(struct dln_apply *apply, const struct dln_row *sent,
                                const struct dln_refusal *refusal, dunlin_error *err) {
    if (refusal->code == DUNLIN_AHEAD) {
        return restamp(apply, sent, refusal, err);
    }
    dunlin_status status = DUNLIN_OK;
    if (refusal->code == DUNLIN_NO_LIST || refusal->code == DUNLIN_NO_GROUP) {
        bool waits = false;
        status = waits_for_creation(apply, &sent->record.key, &waits, err);
        if (status == DUNLIN_OK && waits) {
            apply->again = true;
            status = dln_apply_unsent(apply, sent, err);
        }
        if (status != DUNLIN_OK || waits) {
            return status;
        }
    }
    struct dln_row row = {0};
    status = dln_row_now(apply, &sent->record.key, &row, err);
    if (status != DUNLIN_OK || !row.stored) {
        return status;
    }
    if (!refusal->held) {
        return refuse_row(apply, sent, &row, refusal, err);
    }
    uint32_t fields = dln_still_as_sent(&row, sent, refused_fields(sent, refusal));
    status = dln_row_reject(apply, &row, fields, refusal->code, refusal->reason, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    dln_settle(&row, fields);
    if (!take_central(apply, &row, refusal, fields)) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_SYNC, "out of memory");
    }
    if (refusal->seq > row.seq) {
        row.seq = refusal->seq;
    }
    apply->again = apply->again || row.pending != 0;
    return apply->store->row_put(apply->store->self, &row, err);
}

dunlin_status dln_apply_too_large(struct dln_apply *apply, const struct dln_row *sent,
                                  dunlin_error *err) {
    struct dln_row row = {0};
    dunlin_status status = dln_row_now(apply, &sent->record.key, &row, err);
    if (status != DUNLIN_OK || !row.stored) {
        return status;
    }
    status = dln_row_reject(apply, &row, row.pending, DUNLIN_TOO_LARGE,
                            DLN_TEXT("the record alone is larger than the remote takes"), err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (row.seq == DLN_SEQ_NEVER) {
        return apply->store->row_remove(apply->store->self, &row.record.key, err);
    }
    /* Central's version is not at hand: the scope is read anew, and it takes the refused one's
     * place. */
    dln_settle(&row, row.pending);
    row.seq = DLN_SEQ_FORGOTTEN;
    status = apply->store->row_mark(apply->store->self, &row, err);
    struct dln_scope_row scope = {0};
    if (status == DUNLIN_OK) {
        status = apply->store->scope_get(apply->store->self, apply->arena, row.record.key.scope,
                                         &scope, err);
    }
    return status == DUNLIN_OK ? dln_apply_restart(apply, &scope, err) : status;
}
