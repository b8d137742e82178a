/* The outbox: rows with something pending, in the order in which they are sent.
 *
 * By collection, a list before items and a group before members, and behind all of them the owner's
 * own member records: leaving a group, or no longer being its admin, takes away what the other
 * changes in it need. A place is never given to another row while it is remembered in memory, so
 * that a pass that goes from place to place skips nothing.
 *
 * The next place of each range is cached; see internal.h for when that is dropped. */
#include "store/outbox.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

enum { RANGES = 2 * DLN_STAGE_COUNT, PLACE_DIGITS = 24 };

static const struct {
    enum dln_collection_id collection;
    enum dln_store_query forwards, backwards;
} stages[] = {
    {DLN_FOLLOW, DLN_STORE_FOLLOW_WAITING, DLN_STORE_FOLLOW_WAITING_BACK},
    {DLN_MYGROUP, DLN_STORE_MYGROUP_WAITING, DLN_STORE_MYGROUP_WAITING_BACK},
    {DLN_LIST, DLN_STORE_LIST_WAITING, DLN_STORE_LIST_WAITING_BACK},
    {DLN_ITEM, DLN_STORE_ITEM_WAITING, DLN_STORE_ITEM_WAITING_BACK},
    {DLN_GROUP, DLN_STORE_GRP_WAITING, DLN_STORE_GRP_WAITING_BACK},
    {DLN_MEMBER, DLN_STORE_MEMBER_WAITING, DLN_STORE_MEMBER_WAITING_BACK},
    {DLN_MEMBER, DLN_STORE_MEMBER_WAITING, DLN_STORE_MEMBER_WAITING_BACK},
    {DLN_OTHER, DLN_STORE_OTHER_WAITING, DLN_STORE_OTHER_WAITING_BACK},
};

static int64_t start_of(int range) {
    return (int64_t)range << DLN_RANGE_BITS; /* itself no place */
}

static int range_of(int64_t place) {
    return (int)(place >> DLN_RANGE_BITS);
}

/* ---- writing */

static int stage_of(const struct dln_store *store, const struct dln_table *table,
                    const struct dln_key_values *values) {
    int stage = 0;
    if (table->id == DLN_MEMBER) {
        return values->at[1].number == store->owner_name ? DLN_STAGE_OWN_MEMBER : DLN_STAGE_MEMBER;
    }
    while (stages[stage].collection != table->id) {
        stage++;
    }
    return stage;
}

static dunlin_status next_in_range(struct dln_store *store, int range, int64_t *out,
                                   dunlin_error *err) {
    int64_t last = store->last_places[range];
    if (last == 0) {
        struct dln_statement statement = dln_use(store, DLN_STORE_OUTBOX_LAST);
        dln_bind_int(&statement, start_of(range));
        dln_bind_int(&statement, start_of(range + 1));
        dunlin_status status = dln_get_int(&statement, &last, err);
        if (status != DUNLIN_OK) {
            return status;
        }
        last = last == 0 ? start_of(range) : last;
    }
    *out = store->last_places[range] = last + 1;
    assert(range_of(*out) == range);
    return DUNLIN_OK;
}

static int range_for(const struct dln_store *store, const struct dln_row *row,
                     const struct dln_table *table, const struct dln_key_values *values) {
    bool offered = (row->pending & ~row->offered) == 0;
    return 2 * stage_of(store, table, values) + offered;
}

dunlin_status dln_outbox_place(struct dln_store *store, const struct dln_row *row,
                               const struct dln_table *table, const struct dln_key_values *values,
                               int64_t *out, dunlin_error *err) {
    return next_in_range(store, range_for(store, row, table, values), out, err);
}

dunlin_status dln_outbox_enter(struct dln_store *store, const struct dln_table *table,
                               const struct dln_key_values *values, int64_t place,
                               dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_OUTBOX_INSERT);
    dln_bind_int(&statement, place);
    dln_bind_key(&statement, table, values);
    for (int i = table->key_count; i < DLN_KEY_COLUMNS_MAX; i++) {
        dln_bind_null(&statement);
    }
    return dln_run(&statement, err);
}

dunlin_status dln_outbox_leave(struct dln_store *store, int64_t place, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_OUTBOX_REMOVE);
    dln_bind_int(&statement, place);
    return dln_run(&statement, err);
}

dunlin_status dln_outbox_move(struct dln_store *store, const struct dln_row *row,
                              const struct dln_table *table, const struct dln_key_values *values,
                              int64_t *place, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    int range = range_for(store, row, table, values);
    if (*place != 0 && row->pending != 0 && range_of(*place) == range) {
        return DUNLIN_OK;
    }
    if (*place != 0) {
        status = dln_outbox_leave(store, *place, err);
        *place = 0;
    }
    if (status == DUNLIN_OK && row->pending != 0) {
        status = next_in_range(store, range, place, err);
        if (status == DUNLIN_OK) {
            status = dln_outbox_enter(store, table, values, *place, err);
        }
    }
    return status;
}

/* ---- reading */

/* Reads on in one range; moves *place behind what was read, or to the range's end. */
static dunlin_status read_range(struct dln_store *store, struct dln_arena *arena, int64_t *place,
                                bool backwards, int range, struct dln_row *rows, int64_t *places,
                                size_t room, size_t *count, dunlin_error *err) {
    int stage = range / 2;
    struct dln_row_reader reader = {.store = store,
                                    .arena = arena,
                                    .table = dln_table_by_id(stages[stage].collection),
                                    .places = places};
    struct dln_statement statement =
        dln_use(store, backwards ? stages[stage].backwards : stages[stage].forwards);
    dln_bind_int(&statement, backwards ? start_of(range) : *place);
    dln_bind_int(&statement, backwards ? *place : start_of(range + 1));
    dln_bind_int(&statement, (int64_t)room);
    *count = 0;
    dunlin_status status = dln_read_rows(&reader, &statement, rows, room, count, err);
    if (status == DUNLIN_OK && *count == room) {
        *place = places[*count - 1];
    } else {
        *place = backwards ? start_of(range) : start_of(range + 1);
    }
    return status;
}

dunlin_status dln_outbox_read(struct dln_store *store, struct dln_arena *arena, int64_t *place,
                              bool backwards, bool edited, struct dln_row *rows, int64_t *places,
                              size_t limit, size_t *count, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    *count = 0;
    while (status == DUNLIN_OK && *count < limit) {
        /* The start of a range is no place: backwards it belongs to the range before. */
        int range = range_of(backwards ? *place - 1 : *place);
        if (range < 0 || range >= RANGES) {
            break;
        }
        if (edited && range % 2 == 1) {
            *place = backwards ? start_of(range) : start_of(range + 1);
            continue;
        }
        size_t more;
        status = read_range(store, arena, place, backwards, range, rows + *count, places + *count,
                            limit - *count, &more, err);
        *count += more;
    }
    return status;
}

static bool parse_place(struct dln_text text, int64_t *out) {
    *out = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = text.data[i] - '0';
        if (digit < 0 || digit > 9 || *out > (DLN_COUNTS_FROM - digit) / 10) {
            return false;
        }
        *out = *out * 10 + digit;
    }
    return true;
}

/* Of struct dln_outbox_place only `last` is used: the number of the place as text. */
dunlin_status dln_outbox_next(struct dln_store *store, struct dln_arena *arena,
                              struct dln_outbox_place *place, size_t limit, struct dln_row **out,
                              size_t *count, dunlin_error *err) {
    int64_t at;
    char digits[PLACE_DIGITS];
    assert(limit > 0);
    *count = 0;
    *out = dln_arena_alloc(arena, limit * sizeof(**out));
    int64_t *places = dln_arena_alloc(arena, limit * sizeof(*places));
    if (!*out || !places) {
        return dln_no_memory(err);
    }
    if (!parse_place(place->last, &at)) {
        return dln_fail(err, DUNLIN_INVALID_CURSOR, DUNLIN_DOMAIN_STORE,
                        "this is no place in the outbox");
    }
    dunlin_status status =
        dln_outbox_read(store, arena, &at, false, false, *out, places, limit, count, err);
    if (status == DUNLIN_OK) {
        (void)snprintf(digits, sizeof(digits), "%" PRId64, at);
        place->last = dln_arena_text(arena, dln_text_of(digits));
        status = place->last.data ? DUNLIN_OK : dln_no_memory(err);
    }
    return status;
}
