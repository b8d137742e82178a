/* Why a user is seen or not: one reason for the direct follow, and one for every group that is
 * followed or has him. */
#include "store/graph.h"

#include "store/page_rows.h"

static const char *sentence_of(dunlin_reason_state state, bool direct) {
    switch (state) {
    case DUNLIN_REASON_COUNTS:
        return direct ? "You follow this user."
                      : "You follow this group, and the user is a member of it.";
    case DUNLIN_REASON_NOT_FOLLOWED:
        return direct ? "You do not follow this user directly."
                      : "The user is a member of this group, but you do not follow it.";
    case DUNLIN_REASON_NOT_MEMBER:
        return "You follow this group, but the user is no member of it.";
    case DUNLIN_REASON_GROUP_UNKNOWN:
        return "You follow this group, but nothing of it has arrived on this device.";
    case DUNLIN_REASON_GROUP_DELETED:
        return "This group was deleted.";
    case DUNLIN_REASON_CLOSED:
        return "This group is closed to you: you are neither its owner nor a member.";
    case DUNLIN_REASON_SELF:
        return "This is you: nobody is subscribed to himself.";
    }
    return "";
}

enum {
    COLUMN_GROUP,
    COLUMN_FOLLOWED,
    COLUMN_KNOWN,
    COLUMN_DELETED,
    COLUMN_MEMBER,
    COLUMN_CLOSED,
    COLUMN_PENDING
};

static dunlin_reason_state group_state(const struct dln_statement *statement) {
    if (!dln_column_int(statement, COLUMN_FOLLOWED)) {
        return DUNLIN_REASON_NOT_FOLLOWED;
    }
    if (!dln_column_int(statement, COLUMN_KNOWN)) {
        return DUNLIN_REASON_GROUP_UNKNOWN;
    }
    if (dln_column_int(statement, COLUMN_DELETED)) {
        return DUNLIN_REASON_GROUP_DELETED;
    }
    if (!dln_column_int(statement, COLUMN_MEMBER)) {
        return DUNLIN_REASON_NOT_MEMBER;
    }
    return dln_column_int(statement, COLUMN_CLOSED) ? DUNLIN_REASON_CLOSED : DUNLIN_REASON_COUNTS;
}

static enum dln_page_take fill_group(struct dln_page *page, const struct dln_statement *statement,
                                     void *out, struct dln_page_key *key) {
    struct dunlin_reason *row = out;
    struct dln_text group = dln_arena_text(page->arena, dln_column_text(statement, COLUMN_GROUP));
    row->origin = group.data;
    row->state = group_state(statement);
    row->pending = dln_column_int(statement, COLUMN_PENDING) != 0;
    *key = (struct dln_page_key){2, {DLN_TEXT("1"), group}};
    return group.data ? DLN_PAGE_TAKEN : DLN_PAGE_NO_MEMORY;
}

static dunlin_status read_groups(struct dln_store *store, struct dln_page *page, int64_t user,
                                 dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_REASONS);
    bool after_direct = page->from && dln_text_equal(page->from->parts[0], DLN_TEXT("0"));
    dln_bind_int(&statement, user);
    dln_bind_int(&statement, store->owner_name);
    dln_bind_text(&statement, dln_text_of(store->owner));
    if (after_direct) {
        dln_bind_text(&statement, DLN_TEXT(""));
    } else {
        dln_page_bind_from(&statement, page, 1);
    }
    dln_bind_int(&statement, page->backwards);
    dln_bind_int(&statement, (int64_t)page->limit);
    return dln_page_run(page, &statement, sizeof(dunlin_reason), fill_group, err);
}

static dunlin_status read_direct(struct dln_store *store, int64_t user, struct dunlin_reason *row,
                                 dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_REASON_DIRECT);
    bool known;
    row->origin = "!";
    row->state = DUNLIN_REASON_NOT_FOLLOWED;
    dln_bind_int(&statement, user);
    dunlin_status status = dln_step(&statement, &known, err);
    if (status == DUNLIN_OK && known) {
        row->state = dln_column_int(&statement, 0) ? DUNLIN_REASON_COUNTS : row->state;
        row->pending = dln_column_int(&statement, 1) != 0;
        dln_done(&statement);
    }
    return status;
}

/* Puts the direct follow before (backwards: behind) the groups of a page; the last of them gives
 * way to it where the page is full. */
static dunlin_status add_direct(struct dln_store *store, struct dln_page *page, int64_t user,
                                dunlin_error *err) {
    struct dunlin_reason *rows = page->rows;
    size_t place = page->backwards ? page->count : 0;
    if (page->backwards && page->more) {
        return DUNLIN_OK;
    }
    if (page->backwards && page->count == page->limit) {
        page->more = true;
        return DUNLIN_OK;
    }
    if (page->count == page->limit) {
        page->count--;
        page->more = true;
    }
    for (size_t i = page->count; i > place; i--) {
        rows[i] = rows[i - 1];
        page->keys[i] = page->keys[i - 1];
    }
    rows[place] = (struct dunlin_reason){0};
    page->keys[place] = (struct dln_page_key){2, {DLN_TEXT("0"), DLN_TEXT("!")}};
    page->count++;
    return read_direct(store, user, &rows[place], err);
}

static dunlin_status has_letter(struct dln_store *store, struct dln_arena *arena,
                                enum dln_collection_id id, struct dln_text group,
                                const struct dln_text *parts, int *out, dunlin_error *err) {
    const struct dln_collection *collection = dln_collection_by_id(id);
    struct dln_key key = {.collection = collection,
                          .name = dln_text_of(collection->name),
                          .part_count = collection->key_count};
    bool has = false;
    key.scope =
        collection->scope == DLN_SCOPE_USER ? store->own_scope : dln_scope_group(arena, group);
    for (int i = 0; i < collection->key_count; i++) {
        key.parts[i] = parts[i];
    }
    dunlin_status status =
        key.scope.data ? dln_reject_has(store, &key, &has, err) : dln_no_memory(err);
    *out = *out || has;
    return status;
}

static dunlin_status read_rejected(struct dln_store *store, struct dln_page *page,
                                   struct dunlin_reason *row, dunlin_error *err) {
    struct dln_text user = page->arguments[0];
    struct dln_text group = dln_text_of(row->origin);
    struct dln_text direct[] = {DLN_TEXT("user"), user};
    struct dln_text followed[] = {DLN_TEXT("group"), group};
    if (dln_text_equal(group, DLN_TEXT("!"))) {
        return has_letter(store, page->arena, DLN_FOLLOW, group, direct, &row->rejected, err);
    }
    dunlin_status status =
        has_letter(store, page->arena, DLN_FOLLOW, group, followed, &row->rejected, err);
    if (status == DUNLIN_OK) {
        status = has_letter(store, page->arena, DLN_GROUP, group, &group, &row->rejected, err);
    }
    if (status == DUNLIN_OK) {
        status = has_letter(store, page->arena, DLN_MEMBER, group, &user, &row->rejected, err);
    }
    return status;
}

static dunlin_status read_reasons(struct dln_store *store, struct dln_page *page,
                                  dunlin_error *err) {
    bool at_direct = page->from && dln_text_equal(page->from->parts[0], DLN_TEXT("0"));
    bool self = dln_text_equal(page->arguments[0], dln_text_of(store->owner));
    int64_t user = 0;
    if (at_direct && page->backwards) {
        return dln_page_start(page, sizeof(dunlin_reason), err);
    }
    dunlin_status status = dln_name_find(store, page->arguments[0], &user, err);
    if (status == DUNLIN_OK) {
        status = read_groups(store, page, user, err);
    }
    if (status == DUNLIN_OK && (page->backwards || !page->from)) {
        status = add_direct(store, page, user, err);
    }
    struct dunlin_reason *rows = page->rows;
    for (size_t i = 0; status == DUNLIN_OK && i < page->count; i++) {
        bool direct = dln_text_equal(page->keys[i].parts[0], DLN_TEXT("0"));
        rows[i].state = self ? DUNLIN_REASON_SELF : rows[i].state;
        rows[i].sentence = sentence_of(rows[i].state, direct);
        status = read_rejected(store, page, &rows[i], err);
    }
    return status;
}

dunlin_status dln_page_reasons(struct dln_store *store, struct dln_page *page, dunlin_error *err) {
    bool own;
    dunlin_status status = dln_read_begin(store, &own, err);
    if (status == DUNLIN_OK) {
        status = read_reasons(store, page, err);
        dln_read_end(store, own);
    }
    return status;
}
