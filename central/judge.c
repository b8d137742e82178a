/* The judgement of one record of a push; push.c says in which order. */
#include "central/push.h"

#include "sync/merge.h"

dln_stamp dln_push_take(const struct dln_push *push, dln_stamp stored) {
    dln_stamp now = dln_stamp_of_ms(push->now_ms);
    return now > stored ? now : stored + 1;
}

static bool is_ahead(const struct dln_push *push, dln_stamp sent, const struct dln_field *stored) {
    dln_stamp limit = dln_stamp_of_ms(push->now_ms + DLN_MAX_AHEAD_MS);
    dln_stamp above = stored != NULL ? stored->stamp + 1 : 1;
    return sent > (limit > above ? limit : above);
}

static struct dln_fields ahead_of(const struct dln_push *push, const struct dln_push_item *item,
                                  struct dln_fields fields) {
    const struct dln_record *sent = item->sent;
    const struct dln_record *before = item->draft->held ? &item->draft->record : NULL;
    struct dln_fields ahead = {0, 0};
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        if ((fields.known >> i & 1) != 0 &&
            is_ahead(push, sent->fields[i].stamp, before != NULL ? &before->fields[i] : NULL)) {
            ahead.known |= UINT32_C(1) << i;
        }
    }
    for (size_t i = 0; i < sent->extra_count; i++) {
        if ((fields.extras >> i & 1) != 0 && is_ahead(push, sent->extras[i].field.stamp,
                                                      dln_extra_of(before, sent->extras[i].name))) {
            ahead.extras |= UINT32_C(1) << i;
        }
    }
    return ahead;
}

static size_t value_bytes(const struct dln_value *value) {
    return value->type == DLN_STRING || value->type == DLN_JSON ? value->as.text.len : 8;
}

/* A record must fit into a page with whatever escapes its text needs. */
static bool is_too_large(const struct dln_record *record) {
    size_t bytes = 0;
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        bytes += value_bytes(&record->fields[i].value);
    }
    for (size_t i = 0; i < record->extra_count; i++) {
        bytes += record->extras[i].name.len + value_bytes(&record->extras[i].field.value);
    }
    return bytes > DLN_RECORD_BYTES_MAX;
}

/* The parts of one judgement. */
struct judging {
    struct dln_push *push;
    struct dln_push_item *item;
    const struct dln_record *before; /* NULL: central holds none */
    struct dln_fields fields;        /* of what was sent: what may still be taken */
    struct dln_fields winning;       /* of those: what changes something */
    struct dln_record taken;         /* `fields` of what was sent */
    struct dln_record merged;
};

/* How many unknown fields the two have together. */
static size_t count_extras(const struct dln_record *into, const struct dln_record *from) {
    size_t count = into->extra_count;
    for (size_t i = 0; i < from->extra_count; i++) {
        count +=
            from->extras[i].field.stamp != 0 && dln_extra_of(into, from->extras[i].name) == NULL;
    }
    return count;
}

/* Merges what is left of the record. A record that would get too many unknown fields is refused. */
static dunlin_status merge_fields(struct judging *judging, dunlin_error *err) {
    struct dln_push_item *item = judging->item;
    struct dln_arena *arena = judging->push->arena;
    bool changed;
    if (!dln_record_only(arena, &judging->taken, item->sent, judging->fields)) {
        return dln_central_no_memory(err);
    }
    judging->winning = dln_fields_winning(&judging->taken, judging->before);
    judging->merged = item->draft->record;
    judging->merged.key = item->sent->key;
    if (count_extras(&judging->merged, &judging->taken) > DLN_EXTRA_MAX) {
        dln_verdict_whole(&item->verdict, DUNLIN_TOO_LARGE, "too many unknown fields");
        return DUNLIN_OK;
    }
    return dln_merge(arena, &judging->merged, &judging->taken, &changed)
               ? DUNLIN_OK
               : dln_central_no_memory(err);
}

/* What central does not hold is only taken with the field that says that it exists, so that an edit
 * never brings back what was deleted. A collection that is not known here may have no such field.
 */
static bool lacks_existence(const struct judging *judging) {
    return judging->before == NULL && judging->taken.key.collection != NULL &&
           dln_record_existence(&judging->taken) == NULL;
}

static const struct dln_record *held(const struct dln_push_draft *draft) {
    return draft->held ? &draft->record : NULL;
}

/* What the sender is to the scope, as the drafts stand. */
static struct dln_standing standing_of(const struct dln_push *push) {
    struct dln_standing standing = {
        .user = push->exchange->user, .kind = push->scope->kind, .id = push->scope->id};
    if (standing.kind == DLN_SCOPE_GROUP) {
        standing.group = held(&push->drafts[push->group]);
        standing.own = held(&push->drafts[push->own]);
    }
    return standing;
}

bool dln_push_may_read(const struct dln_push *push) {
    struct dln_standing standing = standing_of(push);
    return dln_may_read(&standing);
}

/* A member record of the sender's own that says that he is none. */
static bool is_leaving(const struct dln_push *push, const struct dln_push_item *item) {
    return item->key == push->own && item->sent->key.collection != NULL &&
           item->sent->key.collection->id == DLN_MEMBER && !dln_record_exists(item->sent);
}

static void authorize(struct judging *judging) {
    struct dln_standing standing = standing_of(judging->push);
    struct dln_change change = {.before = judging->before,
                                .sent = &judging->taken,
                                .after = &judging->merged,
                                .fields = judging->winning};
    dln_authorize(&judging->item->verdict, &standing, &change);
}

/* Refuses what would be one more than the user may have. */
static dunlin_status check_quota(struct judging *judging, dunlin_error *err) {
    struct dln_push *push = judging->push;
    enum dln_quota_kind kind = dln_quota_kind_of(judging->merged.key.collection);
    bool lived = judging->before != NULL && dln_record_exists(judging->before);
    dunlin_status status;
    bool allowed;
    if (kind == DLN_QUOTA_KINDS || lived || !dln_record_exists(&judging->merged)) {
        return DUNLIN_OK;
    }
    if ((status = dln_quota_allows(push->exchange->central, push->exchange->epoch.number,
                                   push->scope->ask->scope, push->last_seq, kind,
                                   push->made[kind] + 1, &allowed, err))) {
        return status;
    }
    if (!allowed) {
        dln_verdict_whole(&judging->item->verdict, DUNLIN_QUOTA,
                          "the user has as many of these as he may have");
    } else {
        push->made[kind]++;
    }
    return DUNLIN_OK;
}

/* Merges and judges. Afterwards the verdict says whether `merged` is to be kept: not when it is
 * refused whole, nor when nothing is left that changes something. */
static dunlin_status judge_fields(struct judging *judging, dunlin_error *err) {
    struct dln_push_item *item = judging->item;
    struct dln_verdict *verdict = &item->verdict;
    dunlin_status status;
    if ((status = merge_fields(judging, err)) || verdict->whole ||
        !dln_fields_any(judging->winning)) {
        return status;
    }
    if (lacks_existence(judging)) {
        dln_verdict_whole(verdict, DUNLIN_GONE, "central does not hold the record");
        return DUNLIN_OK;
    }
    if (item->sent->key.collection != NULL && item->sent->key.collection->id == DLN_ITEM &&
        !judging->push->drafts[item->list].held) {
        dln_verdict_whole(verdict, DUNLIN_NO_LIST, "central does not know the item's list");
        return DUNLIN_OK;
    }
    authorize(judging);
    if (verdict->whole) {
        return DUNLIN_OK;
    }
    judging->fields = dln_fields_without(judging->fields, verdict->refused);
    if ((status = merge_fields(judging, err)) || verdict->whole) {
        return status;
    }
    if (lacks_existence(judging)) { /* a refused creation takes the other fields along */
        verdict->whole = true;
    } else if (!dln_fields_any(judging->winning)) {
        return DUNLIN_OK;
    } else if (is_too_large(&judging->merged)) {
        dln_verdict_whole(verdict, DUNLIN_TOO_LARGE, "the record is larger than a page can be");
    } else {
        status = check_quota(judging, err);
    }
    return status;
}

static void take(struct judging *judging) {
    struct dln_push *push = judging->push;
    struct dln_push_draft *draft = judging->item->draft;
    draft->record = judging->merged;
    draft->held = true;
    if (!draft->changed) {
        draft->changed = true;
        draft->entry = push->entry_count++;
        push->entries[draft->entry] =
            (struct dln_entry){.key = push->keys[judging->item->key], .record = &draft->record};
    }
}

dunlin_status dln_push_judge(struct dln_push *push, struct dln_push_item *item, dunlin_error *err) {
    dunlin_status status;
    item->acked = false;
    item->draft = NULL;
    item->verdict = item->invalid;
    if (item->invalid.whole) {
        return DUNLIN_OK;
    }
    if (!push->reads && !is_leaving(push, item)) {
        /* Nor may he learn from a refusal what stands there. That he has left he may say twice. */
        dln_verdict_whole(&item->verdict, DUNLIN_NOT_ALLOWED, "this user may not read the group");
        return DUNLIN_OK;
    }
    item->draft = &push->drafts[item->key];
    struct judging judging = {.push = push, .item = item, .before = held(item->draft)};
    judging.fields = dln_fields_without(dln_fields_of(item->sent), item->invalid.refused);
    struct dln_fields ahead = ahead_of(push, item, judging.fields);
    if (dln_fields_any(ahead)) {
        item->verdict = (struct dln_verdict){0};
        dln_verdict_fields(&item->verdict, ahead, DUNLIN_AHEAD,
                           "a stamp is too far ahead of central's clock");
        return DUNLIN_OK;
    }
    if ((status = judge_fields(&judging, err)) || item->verdict.whole) {
        return status;
    }
    if (dln_fields_any(judging.winning)) {
        take(&judging);
    }
    item->acked = dln_fields_any(judging.fields);
    return DUNLIN_OK;
}
