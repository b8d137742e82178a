/* Scopes: what the device knows of each one's log, which are synced, and their rows by key.
 *
 * The order of scopes is by group, then the owner's own; the order of rows within a scope is that
 * of the tables' primary keys, where interned ids stand as their numbers. Both are total and do not
 * change while rows come and go, which is all that a walk needs. */
#include <assert.h>

#include "store/outbox.h"

enum { STAGES_MAX = 5 };

static const enum dln_collection_id own_stages[STAGES_MAX] = {DLN_FOLLOW, DLN_MYGROUP, DLN_LIST,
                                                              DLN_ITEM, DLN_OTHER};
static const enum dln_collection_id group_stages[] = {DLN_GROUP, DLN_MEMBER, DLN_OTHER};

/* ---- what is known of a scope */

static dunlin_status read_rights(struct dln_store *store, struct dln_scope_row *out,
                                 dunlin_error *err) {
    int64_t group;
    bool row;
    dunlin_status status = dln_scope_number(store, out->scope, false, &group, err);
    if (status != DUNLIN_OK || group <= 0) {
        out->wanted = out->writable = status == DUNLIN_OK && group == 0;
        return status;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_SCOPE_RIGHTS);
    dln_bind_int(&statement, group);
    dln_bind_text(&statement, dln_text_of(store->owner));
    dln_bind_int(&statement, store->owner_name);
    status = dln_step(&statement, &row, err);
    if (row) {
        out->wanted = dln_column_int(&statement, 0) != 0;
        out->writable = dln_column_int(&statement, 1) != 0;
        dln_done(&statement);
    }
    return status;
}

static dunlin_status read_scope(struct dln_arena *arena, const struct dln_statement *statement,
                                struct dln_scope_row *out, dunlin_error *err) {
    if (!dln_column_is_null(statement, 0)) {
        out->epoch = dln_arena_text(arena, dln_column_text(statement, 0));
        if (!out->epoch.data) {
            return dln_no_memory(err);
        }
    }
    out->cursor.seq = dln_column_int(statement, 1);
    out->cursor.salt = (uint32_t)dln_column_int(statement, 2);
    out->rebuilding = dln_column_int(statement, 3) != 0;
    out->offering = dln_column_int(statement, 4) != 0;
    out->held = dln_column_int(statement, 5) != 0;
    out->rebuild_since_ms = dln_column_int(statement, 6);
    out->complete_ms = dln_column_int(statement, 7);
    out->head = dln_column_int(statement, 8);
    return DUNLIN_OK;
}

dunlin_status dln_scope_get(struct dln_store *store, struct dln_arena *arena, struct dln_text scope,
                            struct dln_scope_row *out, dunlin_error *err) {
    bool row;
    *out = (struct dln_scope_row){.scope = dln_arena_text(arena, scope)};
    if (!out->scope.data) {
        return dln_no_memory(err);
    }
    dunlin_status status = read_rights(store, out, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_SCOPE_GET);
    dln_bind_text(&statement, scope);
    status = dln_step(&statement, &row, err);
    if (row) {
        status = read_scope(arena, &statement, out, err);
        dln_done(&statement);
    }
    return status;
}

dunlin_status dln_scope_put(struct dln_store *store, const struct dln_scope_row *row,
                            dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_SCOPE_PUT);
    assert(store->in_transaction);
    dln_bind_text(&statement, row->scope);
    dln_bind_text(&statement, row->epoch.len > 0 ? row->epoch : (struct dln_text){NULL, 0});
    dln_bind_int(&statement, row->cursor.seq);
    dln_bind_int(&statement, row->cursor.salt);
    dln_bind_int(&statement, row->rebuilding);
    dln_bind_int(&statement, row->offering);
    dln_bind_int(&statement, row->held);
    dln_bind_int(&statement, row->rebuild_since_ms);
    dln_bind_int(&statement, row->complete_ms);
    dln_bind_int(&statement, row->head);
    return dln_run(&statement, err);
}

dunlin_status dln_scope_drop(struct dln_store *store, struct dln_text scope, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_SCOPE_DROP);
    assert(store->in_transaction);
    dln_bind_text(&statement, scope);
    return dln_run(&statement, err);
}

/* The tables in which a scope has rows. */
static dunlin_status stages_of(struct dln_store *store, struct dln_text scope,
                               const enum dln_collection_id **stages, int *count, int64_t *group,
                               dunlin_error *err) {
    dunlin_status status = dln_scope_number(store, scope, false, group, err);
    *stages = *group == 0 ? own_stages : group_stages;
    *count = *group == 0 ? STAGES_MAX : (int)(sizeof(group_stages) / sizeof(group_stages[0]));
    if (*group < 0) {
        *count = 0;
    }
    return status;
}

dunlin_status dln_scope_forget_seqs(struct dln_store *store, struct dln_text scope,
                                    dunlin_error *err) {
    const enum dln_collection_id *stages;
    int count;
    int64_t group;
    assert(store->in_transaction);
    dunlin_status status = stages_of(store, scope, &stages, &count, &group, err);
    for (int i = 0; i < count && status == DUNLIN_OK; i++) {
        struct dln_statement statement = dln_use(store, dln_table_by_id(stages[i])->forget);
        if (group != 0 || stages[i] == DLN_OTHER) {
            dln_bind_int(&statement, group);
        }
        status = dln_run(&statement, err);
    }
    return status;
}

/* ---- which are synced */

/* Group scopes behind `after` (a group's id). */
static dunlin_status read_groups(struct dln_store *store, struct dln_arena *arena,
                                 struct dln_text after, size_t limit, struct dln_scope_row *out,
                                 size_t *count, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_SCOPE_GROUPS);
    dln_bind_text(&statement, after);
    dln_bind_int(&statement, (int64_t)limit);
    dln_bind_int(&statement, INT64_C(2) * DLN_STAGE_GROUP << DLN_RANGE_BITS);
    dln_bind_int(&statement, INT64_C(2) * DLN_STAGE_COUNT << DLN_RANGE_BITS);
    for (bool row = true; row;) {
        dunlin_status status = dln_step(&statement, &row, err);
        if (row) {
            struct dln_text scope = dln_scope_group(arena, dln_column_text(&statement, 0));
            status = scope.data ? dln_scope_get(store, arena, scope, &out[*count], err)
                                : dln_no_memory(err);
            ++*count;
        }
        if (status != DUNLIN_OK) {
            dln_done(&statement);
            return status;
        }
    }
    return DUNLIN_OK;
}

dunlin_status dln_scopes(struct dln_store *store, struct dln_arena *arena, struct dln_text after,
                         size_t limit, struct dln_scope_row **out, size_t *count,
                         dunlin_error *err) {
    enum dln_scope_kind kind = DLN_SCOPE_GROUP;
    struct dln_text group = DLN_TEXT("");
    dunlin_status status = DUNLIN_OK;
    assert(limit > 0);
    *count = 0;
    *out = dln_arena_alloc(arena, limit * sizeof(**out));
    if (!*out) {
        return dln_no_memory(err);
    }
    if (after.len > 0 && !dln_scope_parse(arena, after, &kind, &group)) {
        return dln_fail(err, DUNLIN_BAD_MESSAGE, DUNLIN_DOMAIN_STORE, "a scope has no such name");
    }
    if (kind == DLN_SCOPE_USER) {
        return DUNLIN_OK; /* it was the last */
    }
    status = read_groups(store, arena, group, limit, *out, count, err);
    if (status == DUNLIN_OK && *count < limit) {
        status = dln_scope_get(store, arena, store->own_scope, &(*out)[*count], err);
        ++*count;
    }
    return status;
}

/* ---- marks of a rebuild */

static struct dln_text key_text(struct dln_store *store, const struct dln_key *key) {
    dln_buf_clear(&store->key_text);
    dln_key_text(&store->key_text, key);
    return (struct dln_text){store->key_text.data, store->key_text.len};
}

dunlin_status dln_seen_add(struct dln_store *store, const struct dln_key *key, dunlin_error *err) {
    struct dln_text text = key_text(store, key);
    dunlin_status status = dln_buf_status(&store->key_text, err);
    assert(store->in_transaction);
    if (status != DUNLIN_OK) {
        return dln_poison(store, status, err);
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_SEEN_ADD);
    dln_bind_text(&statement, key->scope);
    dln_bind_text(&statement, text);
    return dln_run(&statement, err);
}

dunlin_status dln_seen_clear(struct dln_store *store, struct dln_text scope, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_SEEN_CLEAR);
    assert(store->in_transaction);
    dln_bind_text(&statement, scope);
    return dln_run(&statement, err);
}

/* Keeps those of `count` rows that are not marked; *count becomes how many. */
static dunlin_status drop_seen(struct dln_store *store, struct dln_row *rows, size_t *count,
                               dunlin_error *err) {
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        int64_t seen;
        struct dln_text text = key_text(store, &rows[i].record.key);
        dunlin_status status = dln_buf_status(&store->key_text, err);
        if (status == DUNLIN_OK) {
            struct dln_statement statement = dln_use(store, DLN_STORE_SEEN_HAS);
            dln_bind_text(&statement, rows[i].record.key.scope);
            dln_bind_text(&statement, text);
            status = dln_get_int(&statement, &seen, err);
        }
        if (status != DUNLIN_OK) {
            return status;
        }
        if (!seen) {
            rows[kept++] = rows[i];
        }
    }
    *count = kept;
    return DUNLIN_OK;
}

/* ---- rows by key */

struct walk {
    struct dln_store *store;
    struct dln_arena *arena;
    const enum dln_collection_id *stages;
    int stage_count;
    int64_t group;
    int stage;
    struct dln_key_values after;
};

static const struct dln_table *table_of(const struct walk *walk) {
    return dln_table_by_id(walk->stages[walk->stage]);
}

static void next_stage(struct walk *walk) {
    if (++walk->stage < walk->stage_count) {
        walk->after = dln_key_values_first(table_of(walk), walk->group);
    }
}

/* Puts the walk behind a row. */
static dunlin_status go_behind(struct walk *walk, const struct dln_key *key, dunlin_error *err) {
    dunlin_status status = dln_key_values_of(walk->store, key, false, &walk->after, err);
    if (status == DUNLIN_OK && !walk->after.known) {
        status = dln_fail(err, DUNLIN_BAD_MESSAGE, DUNLIN_DOMAIN_STORE, "there was no such row");
    }
    if (status == DUNLIN_OK && walk->stages[walk->stage] == DLN_GROUP) {
        next_stage(walk); /* there is one such row in a scope */
    }
    return status;
}

static dunlin_status start_walk(struct walk *walk, struct dln_text scope, struct dln_text after,
                                dunlin_error *err) {
    struct dln_key key = {.scope = scope};
    dunlin_status status =
        stages_of(walk->store, scope, &walk->stages, &walk->stage_count, &walk->group, err);
    walk->stage = -1;
    next_stage(walk);
    if (status != DUNLIN_OK || after.len == 0) {
        return status;
    }
    if (!dln_key_parse(walk->arena, &key, after)) {
        return dln_fail(err, DUNLIN_BAD_MESSAGE, DUNLIN_DOMAIN_STORE, "a key cannot be read");
    }
    const struct dln_table *table = dln_table_of(&key);
    while (walk->stage < walk->stage_count && table_of(walk) != table) {
        walk->stage++;
    }
    return walk->stage < walk->stage_count ? go_behind(walk, &key, err) : DUNLIN_OK;
}

/* Reads on in one table, into `room` rows; moves the walk behind what was read. */
static dunlin_status walk_on(struct walk *walk, struct dln_row *rows, size_t room, size_t *count,
                             dunlin_error *err) {
    struct dln_row_reader reader = {
        .store = walk->store, .arena = walk->arena, .table = table_of(walk)};
    struct dln_statement statement = dln_use(walk->store, reader.table->walk);
    dln_bind_key(&statement, reader.table, &walk->after);
    dln_bind_int(&statement, (int64_t)room);
    *count = 0;
    dunlin_status status = dln_read_rows(&reader, &statement, rows, room, count, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (*count < room) {
        next_stage(walk);
        return DUNLIN_OK;
    }
    return go_behind(walk, &rows[*count - 1].record.key, err);
}

dunlin_status dln_scope_rows(struct dln_store *store, struct dln_arena *arena,
                             struct dln_text scope, struct dln_text after, bool unseen,
                             size_t limit, struct dln_row **out, size_t *count, dunlin_error *err) {
    struct walk walk = {.store = store, .arena = arena};
    assert(limit > 0);
    *count = 0;
    *out = dln_arena_alloc(arena, limit * sizeof(**out));
    if (!*out) {
        return dln_no_memory(err);
    }
    dunlin_status status = start_walk(&walk, scope, after, err);
    while (status == DUNLIN_OK && *count < limit && walk.stage < walk.stage_count) {
        size_t more;
        status = walk_on(&walk, *out + *count, limit - *count, &more, err);
        if (status == DUNLIN_OK && unseen) {
            status = drop_seen(store, *out + *count, &more, err);
        }
        *count += more;
    }
    return status;
}
