/* The outbox: rows with something pending, in the order in which they are sent.
 *
 * By collection, a list before items and a group before members, and behind all of them the owner's
 * own member records: leaving a group, or no longer being its admin, takes away what the other
 * changes in it need. A pass remembers its place as stage and key, so that rows that come and go
 * meanwhile cost nothing and skip nothing. */
#include <assert.h>
#include <string.h>

#include "store/outbox.h"

struct stage {
    enum dln_collection_id collection;
    enum dln_store_query forwards, backwards;
    bool owner; /* the queries take the owner's number too */
};

#define WAITING(upper) DLN_STORE_##upper##_WAITING, DLN_STORE_##upper##_WAITING_BACK

static const struct stage stages[] = {
    {DLN_FOLLOW, WAITING(FOLLOW), false},
    {DLN_MYGROUP, WAITING(MYGROUP), false},
    {DLN_LIST, WAITING(LIST), false},
    {DLN_ITEM, WAITING(ITEM), false},
    {DLN_GROUP, WAITING(GRP), false},
    {DLN_MEMBER, WAITING(MEMBER), true},
    {DLN_MEMBER, DLN_STORE_MEMBER_WAITING_OWN, DLN_STORE_MEMBER_WAITING_OWN_BACK, true},
    {DLN_OTHER, DLN_STORE_OTHER_WAITING, DLN_STORE_OTHER_WAITING, false}, /* never backwards */
};

enum { STAGE_COUNT = sizeof(stages) / sizeof(stages[0]) };

static dunlin_status no_place(dunlin_error *err) {
    return dln_fail(err, DUNLIN_INVALID_CURSOR, DUNLIN_DOMAIN_STORE,
                    "this is no place in the outbox");
}

/* place->last is "SCOPE#KEY" of the last row given; a '#' in an id stands encoded in both. */
static dunlin_status place_after(struct dln_store *store, struct dln_arena *arena,
                                 const struct dln_outbox_place *place, bool backwards,
                                 const struct dln_table *table, struct dln_key_values *out,
                                 dunlin_error *err) {
    struct dln_key key = {0};
    if (place->last.len == 0) {
        *out = dln_key_values_first(table, 0);
        if (backwards) {
            out->at[0].number = INT64_MAX;
        }
        return DUNLIN_OK;
    }
    const char *mark = memchr(place->last.data, '#', place->last.len);
    size_t scope_len = mark ? (size_t)(mark - place->last.data) : 0;
    key.scope = (struct dln_text){place->last.data, scope_len};
    if (!mark ||
        !dln_key_parse(arena, &key, (struct dln_text){mark + 1, place->last.len - scope_len - 1})) {
        return no_place(err);
    }
    dunlin_status status = dln_key_values_of(store, &key, false, out, err);
    if (status == DUNLIN_OK && (dln_table_of(&key) != table || !out->known)) {
        status = no_place(err);
    }
    return status;
}

dunlin_status dln_outbox_remember(struct dln_store *store, struct dln_arena *arena,
                                  struct dln_outbox_place *place, const struct dln_key *last,
                                  dunlin_error *err) {
    dln_buf_clear(&store->key_text);
    dln_buf_append(&store->key_text, last->scope.data, last->scope.len);
    dln_buf_append_byte(&store->key_text, '#');
    dln_key_text(&store->key_text, last);
    dunlin_status status = dln_buf_status(&store->key_text, err);
    if (status == DUNLIN_OK) {
        place->last =
            dln_arena_text(arena, (struct dln_text){store->key_text.data, store->key_text.len});
        status = place->last.data ? DUNLIN_OK : dln_no_memory(err);
    }
    return status;
}

/* Reads on in one stage; moves place behind what was read, or to the next stage. */
static dunlin_status read_stage(struct dln_store *store, struct dln_arena *arena,
                                struct dln_outbox_place *place, bool backwards,
                                struct dln_row *rows, size_t room, size_t *count,
                                dunlin_error *err) {
    const struct stage *stage = &stages[place->stage];
    struct dln_row_reader reader = {
        .store = store, .arena = arena, .table = dln_table_by_id(stage->collection)};
    struct dln_key_values after;
    *count = 0;
    dunlin_status status = place_after(store, arena, place, backwards, reader.table, &after, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_statement statement = dln_use(store, backwards ? stage->backwards : stage->forwards);
    dln_bind_key(&statement, reader.table, &after);
    dln_bind_int(&statement, (int64_t)room);
    if (stage->owner) {
        dln_bind_int(&statement, store->owner_name);
    }
    status = dln_read_rows(&reader, &statement, rows, room, count, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (*count < room) {
        place->stage += backwards ? -1 : 1;
        place->last = (struct dln_text){NULL, 0};
        return DUNLIN_OK;
    }
    return dln_outbox_remember(store, arena, place, &rows[*count - 1].record.key, err);
}

dunlin_status dln_outbox_read(struct dln_store *store, struct dln_arena *arena,
                              struct dln_outbox_place *place, bool backwards, size_t limit,
                              struct dln_row **out, size_t *count, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    assert(limit > 0 && place->stage <= STAGE_COUNT);
    *count = 0;
    *out = dln_arena_alloc(arena, limit * sizeof(**out));
    if (!*out) {
        return dln_no_memory(err);
    }
    while (status == DUNLIN_OK && *count < limit && place->stage >= 0 &&
           place->stage < STAGE_COUNT) {
        size_t more;
        status =
            read_stage(store, arena, place, backwards, *out + *count, limit - *count, &more, err);
        *count += more;
    }
    return status;
}

dunlin_status dln_outbox_next(struct dln_store *store, struct dln_arena *arena,
                              struct dln_outbox_place *place, size_t limit, struct dln_row **out,
                              size_t *count, dunlin_error *err) {
    if (place->stage < 0 || place->stage > STAGE_COUNT) {
        return no_place(err);
    }
    return dln_outbox_read(store, arena, place, false, limit, out, count, err);
}

int dln_outbox_stage(const struct dln_store *store, const struct dln_key *key) {
    enum dln_collection_id id = dln_table_of(key)->id;
    bool own = id == DLN_MEMBER && dln_text_equal(key->parts[0], dln_text_of(store->owner));
    int stage = 0;
    while (stages[stage].collection != id) {
        stage++;
    }
    return own ? stage + 1 : stage;
}

const struct dln_collection *dln_outbox_collection(int stage) {
    return stage >= 0 && stage < STAGE_COUNT ? dln_collection_by_id(stages[stage].collection)
                                             : NULL;
}

int dln_outbox_last_stage(void) {
    return STAGE_COUNT - 2;
}
