/* A scope's part of a push. Records are judged in order: lists before what lies in them, `group`
 * before its members, the sender's own `member` last; each against what the earlier ones left. What
 * is taken is merged, what is not is refused with central's values, and the rest goes on.
 *
 * The order of the judgements of one record: legal at all; stamps too far ahead (then the record
 * waits as a whole, since its other fields mean nothing without them); nothing new (acknowledged,
 * so that a doubled request changes nothing); unknown to central and without its existence field;
 * its list or group unknown; not allowed; too large; over a quota.
 *
 * Nothing is taken for a scope whose cursor in this request is rebuilding, of another epoch, held
 * or below the floor. */
#include "central/push.h"

#include <string.h>

#include "central/keymap.h"
#include "central/log.h"
#include "sync/merge.h"

/* How far a record comes behind the others of its scope. */
static int pass_of(const struct dln_record *record, struct dln_text user) {
    const struct dln_collection *collection = record->key.collection;
    if (collection == NULL) {
        return 1;
    }
    switch (collection->id) {
    case DLN_LIST:
    case DLN_GROUP:
        return 0;
    case DLN_MEMBER:
        return dln_text_equal(record->key.parts[0], user) ? 2 : 1;
    default:
        return 1;
    }
}

static bool add_key(struct dln_push *push, struct dln_keymap *map, struct dln_text key,
                    size_t *at) {
    bool added;
    if (key.data == NULL) {
        return false;
    }
    *at = dln_keymap_put(map, key, push->key_count, &added);
    if (added) {
        push->keys[push->key_count++] = key;
    }
    return true;
}

/* The keys of what the records are judged by: an item's list; a group, and its sender as a member.
 */
static bool add_context(struct dln_push *push, struct dln_keymap *map) {
    struct dln_arena *arena = &push->exchange->central->arena;
    if (push->scope->kind == DLN_SCOPE_GROUP) {
        return add_key(push, map, dln_central_key(arena, DLN_GROUP, NULL), &push->group) &&
               add_key(push, map, dln_central_key(arena, DLN_MEMBER, &push->exchange->user),
                       &push->own);
    }
    for (size_t i = 0; i < push->item_count; i++) {
        struct dln_push_item *item = &push->items[i];
        const struct dln_key *key = &item->sent->key;
        if (!item->invalid.whole && key->collection != NULL && key->collection->id == DLN_ITEM &&
            !add_key(push, map, dln_central_key(arena, DLN_LIST, key->parts), &item->list)) {
            return false;
        }
    }
    return true;
}

static dunlin_status open_push(struct dln_push *push, dunlin_error *err) {
    const struct dln_exchange_scope *scope = push->scope;
    struct dln_arena *arena = &push->exchange->central->arena;
    struct dln_keymap map;
    push->item_count = scope->record_count;
    push->items = dln_arena_alloc(arena, scope->record_count * sizeof(*push->items));
    push->keys = dln_arena_alloc(arena, (2 * scope->record_count + 2) * sizeof(*push->keys));
    if (push->items == NULL || push->keys == NULL ||
        !dln_keymap_init(&map, arena, 2 * scope->record_count + 2)) {
        return dln_central_no_memory(err);
    }
    for (size_t i = 0; i < push->item_count; i++) {
        struct dln_push_item *item = &push->items[i];
        item->index = scope->records[i];
        item->sent = &push->exchange->request->records[item->index];
        item->pass = pass_of(item->sent, push->exchange->user);
        if (!dln_validate(&item->invalid, item->sent, scope->kind) ||
            (!item->invalid.whole &&
             !add_key(push, &map, dln_central_key_text(arena, &item->sent->key), &item->key))) {
            return dln_central_no_memory(err);
        }
    }
    return add_context(push, &map) ? DUNLIN_OK : dln_central_no_memory(err);
}

/* A request may refuse everything with central's values; see push_all(). */
static size_t refusal_bytes(const struct dln_push_item *item) {
    return item->verdict.code == DUNLIN_OK || item->draft == NULL
               ? 0
               : dln_record_wire_bytes(&item->draft->record);
}

static dunlin_status judge_all(void *self, const struct dln_log_view *view,
                               struct dln_entry **entries, size_t *count, dunlin_error *err) {
    struct dln_push *push = self;
    dunlin_status status = DUNLIN_OK;
    size_t bytes = push->exchange->refusal_bytes;
    push->arena = view->arena;
    push->last_seq = view->last.seq;
    push->now_ms = view->now_ms;
    push->entries = dln_arena_alloc(view->arena, push->key_count * sizeof(*push->entries));
    push->drafts = dln_arena_alloc(view->arena, push->key_count * sizeof(*push->drafts));
    push->entry_count = 0;
    memset(push->made, 0, sizeof(push->made));
    if (push->entries == NULL || push->drafts == NULL) {
        return dln_central_no_memory(err);
    }
    for (size_t i = 0; i < push->key_count; i++) {
        push->drafts[i] = (struct dln_push_draft){.record = view->stored[i].record,
                                                  .seq = view->stored[i].place.seq,
                                                  .held = view->stored[i].place.seq != 0};
    }
    push->reads = dln_push_may_read(push);
    for (size_t i = 0; i < push->item_count; i++) {
        push->items[i].judged = false;
    }
    for (int pass = 0; pass <= 2; pass++) {
        for (size_t i = 0; i < push->item_count && bytes < DLN_PAGE_BYTES_MAX; i++) {
            struct dln_push_item *item = &push->items[i];
            if (item->pass != pass) {
                continue;
            }
            if ((status = dln_push_judge(push, item, err))) {
                return status;
            }
            item->judged = true;
            bytes += refusal_bytes(item);
        }
    }
    *entries = push->entries;
    *count = push->entry_count;
    return DUNLIN_OK;
}

/* Makes a field of the attempt's arena the exchange's. */
static bool keep_field(struct dln_arena *arena, struct dln_refused_field *out,
                       const struct dln_field *now) {
    if (now == NULL || now->stamp == 0) {
        return true;
    }
    out->now = *now;
    if (now->value.type == DLN_STRING || now->value.type == DLN_JSON) {
        out->now.value.as.text = dln_arena_text(arena, now->value.as.text);
        return out->now.value.as.text.data != NULL;
    }
    return true;
}

static bool list_fields(struct dln_push *push, const struct dln_push_item *item,
                        struct dln_fields fields, struct dln_refusal *out) {
    struct dln_arena *arena = &push->exchange->central->arena;
    const struct dln_record *now = item->draft->held ? &item->draft->record : NULL;
    const struct dln_record *sent = item->sent;
    out->fields =
        dln_arena_alloc(arena, (DLN_FIELD_MAX + sent->extra_count) * sizeof(*out->fields));
    if (out->fields == NULL) {
        return false;
    }
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        if (fields.known >> i & 1) {
            struct dln_refused_field *field = &out->fields[out->field_count++];
            *field = (struct dln_refused_field){
                .field = i, .name = dln_text_of(sent->key.collection->fields[i].name)};
            if (!keep_field(arena, field, now != NULL ? &now->fields[i] : NULL)) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < sent->extra_count; i++) {
        if (fields.extras >> i & 1) {
            struct dln_refused_field *field = &out->fields[out->field_count++];
            *field = (struct dln_refused_field){.field = -1, .name = sent->extras[i].name};
            if (!keep_field(arena, field, dln_extra_of(now, field->name))) {
                return false;
            }
        }
    }
    if (item->verdict.code == DUNLIN_AHEAD) {
        for (size_t i = 0; i < out->field_count; i++) {
            out->fields[i].take = dln_push_take(push, out->fields[i].now.stamp);
        }
    }
    return true;
}

void dln_push_refuse(struct dln_exchange *exchange, size_t index, dunlin_status code,
                     const char *reason) {
    exchange->answer->refusals[exchange->answer->refusal_count++] =
        (struct dln_refusal){.index = index, .code = code, .reason = dln_text_of(reason)};
}

/* What the last attempt's judgement says of one record, into the answer. */
static dunlin_status report(struct dln_push *push, const struct dln_push_item *item,
                            int64_t first_seq, dunlin_error *err) {
    struct dln_exchange *exchange = push->exchange;
    const struct dln_push_draft *draft = item->draft;
    int64_t seq = draft != NULL && draft->changed ? first_seq + (int64_t)draft->entry
                  : draft != NULL                 ? draft->seq
                                                  : 0;
    if (item->acked) {
        exchange->answer->acks[exchange->answer->ack_count++] =
            (struct dln_ack){.index = item->index, .seq = seq};
    }
    if (item->verdict.code == DUNLIN_OK) {
        return DUNLIN_OK;
    }
    dln_push_refuse(exchange, item->index, item->verdict.code, item->verdict.reason);
    struct dln_refusal *refusal = &exchange->answer->refusals[exchange->answer->refusal_count - 1];
    if (draft == NULL) {
        return DUNLIN_OK;
    }
    exchange->refusal_bytes += refusal_bytes(item);
    refusal->held = draft->held;
    refusal->seq = seq;
    if (item->verdict.whole && !draft->held) {
        return DUNLIN_OK;
    }
    struct dln_fields fields =
        item->verdict.whole ? dln_fields_of(item->sent) : item->verdict.refused;
    return list_fields(push, item, fields, refusal) ? DUNLIN_OK : dln_central_no_memory(err);
}

/* Whether the scope takes records now; where not, it has its answer. */
static dunlin_status may_push(struct dln_exchange *exchange, struct dln_exchange_scope *scope,
                              struct dln_cursor *last, bool *may, dunlin_error *err) {
    dunlin_status status = dln_pull_check(exchange, scope, last, err);
    *may = status == DUNLIN_OK && scope->answer == NULL && !scope->ask->rebuilding;
    return status;
}

static void refuse_all(struct dln_exchange *exchange, const struct dln_exchange_scope *scope,
                       const char *reason) {
    for (size_t i = 0; i < scope->record_count; i++) {
        dln_push_refuse(exchange, scope->records[i], DUNLIN_NOT_ALLOWED, reason);
    }
}

dunlin_status dln_push_scope(struct dln_exchange *exchange, struct dln_exchange_scope *scope,
                             dunlin_error *err) {
    struct dln_push push = {.exchange = exchange, .scope = scope};
    const struct dln_central_ports *ports = &exchange->central->ports;
    struct dln_log_outcome outcome = {0};
    struct dln_cursor last;
    dunlin_status status;
    bool may;
    if (!scope->known) {
        refuse_all(exchange, scope, "nobody writes to a scope of this kind");
        return DUNLIN_OK;
    }
    int64_t last_read_ms = ports->steady_ms(ports->steady_self);
    if ((status = may_push(exchange, scope, &last, &may, err)) || !may) {
        return status;
    }
    if (scope->kind == DLN_SCOPE_USER && !dln_text_equal(scope->id, exchange->user)) {
        refuse_all(exchange, scope, "the scope belongs to another user");
        return DUNLIN_OK;
    }
    if ((status = open_push(&push, err))) {
        return status;
    }
    struct dln_log_append append = {.scope = scope->ask->scope,
                                    .epoch = exchange->epoch.number,
                                    .last = &last,
                                    .last_read_ms = last_read_ms,
                                    .cursor_seq = scope->ask->cursor.seq,
                                    .joins = scope->kind != DLN_SCOPE_USER, /* quotas count */
                                    .keys = push.keys,
                                    .key_count = push.key_count,
                                    .judge = judge_all,
                                    .self = &push};
    if ((status = dln_log_append(exchange->central, &append, &outcome, err))) {
        return status;
    }
    if (outcome.below_floor) {
        return dln_pull_reset(exchange, scope, &outcome.last, err);
    }
    for (size_t i = 0; status == DUNLIN_OK && i < push.item_count; i++) {
        if (push.items[i].judged) {
            status = report(&push, &push.items[i], outcome.first_seq, err);
        }
    }
    return status;
}
