/* Pages of the graph.
 *
 * Rows are keyed by numbers, listings are ordered by ids. While a listing has no more than
 * SORTED_MAX rows, each page sorts them; above that, a page walks the names in their order and
 * takes those that the rows have. Either way a page costs some thousands of steps at most, and a
 * whole listing never more than one walk over all names. */
#include "store/graph.h"

#include "store/page_rows.h"

enum { SORTED_MAX = 2000 };

static bool is_many(int64_t rows) {
    return rows > SORTED_MAX;
}

static enum dln_page_take fill_followed(struct dln_page *page,
                                        const struct dln_statement *statement, void *out,
                                        struct dln_page_key *key) {
    struct dunlin_followed *row = out;
    bool group = dln_column_int(statement, 0) != 0;
    struct dln_text id = dln_arena_text(page->arena, dln_column_text(statement, 1));
    row->kind = group ? DUNLIN_GROUP : DUNLIN_USER;
    row->id = id.data;
    *key = (struct dln_page_key){2, {group ? DLN_TEXT("1") : DLN_TEXT("0"), id}};
    return id.data ? DLN_PAGE_TAKEN : DLN_PAGE_NO_MEMORY;
}

/* One kind's part of a page: the key to go on from is an id of that kind, or none. */
static dunlin_status read_kind(struct dln_store *store, struct dln_page *page, bool many,
                               bool group, dunlin_error *err) {
    struct dln_statement statement =
        dln_use(store, !many             ? DLN_STORE_FOLLOWING_SORTED
                       : page->backwards ? DLN_STORE_FOLLOWING_BACKWARD
                                         : DLN_STORE_FOLLOWING_FORWARD);
    dln_bind_int(&statement, group);
    dln_page_bind_from(&statement, page, 1);
    if (!many) {
        dln_bind_int(&statement, page->backwards);
    }
    dln_bind_int(&statement, (int64_t)page->limit);
    return dln_page_run(page, &statement, sizeof(dunlin_followed), fill_followed, err);
}

dunlin_status dln_page_following(struct dln_store *store, struct dln_page *page,
                                 dunlin_error *err) {
    bool group = page->from ? dln_text_equal(page->from->parts[0], DLN_TEXT("1")) : page->backwards;
    bool last = group != page->backwards;
    int64_t rows = 0;
    struct dln_statement statement = dln_use(store, DLN_STORE_FOLLOWING_FEW);
    dln_bind_int(&statement, SORTED_MAX + 1);
    dunlin_status status = dln_get_int(&statement, &rows, err);
    if (status == DUNLIN_OK) {
        status = read_kind(store, page, is_many(rows), group, err);
    }
    if (status == DUNLIN_OK && page->count == 0 && !last) {
        struct dln_page other = *page;
        other.from = NULL;
        status = read_kind(store, &other, is_many(rows), !group, err);
        other.from = page->from;
        *page = other;
        return status;
    }
    page->more = page->more || (!last && page->count > 0);
    return status;
}

static enum dln_page_take fill_member(struct dln_page *page, const struct dln_statement *statement,
                                      void *out, struct dln_page_key *key) {
    struct dunlin_member *row = out;
    struct dln_text user = dln_arena_text(page->arena, dln_column_text(statement, 1));
    bool admin = dln_text_equal(dln_column_text(statement, 0), DLN_TEXT("admin"));
    row->user = user.data;
    row->role = admin ? DUNLIN_ROLE_ADMIN : DUNLIN_ROLE_MEMBER;
    *key = (struct dln_page_key){1, {user}};
    return user.data ? DLN_PAGE_TAKEN : DLN_PAGE_NO_MEMORY;
}

dunlin_status dln_page_members(struct dln_store *store, struct dln_page *page, dunlin_error *err) {
    int64_t group = 0;
    int64_t rows = 0;
    dunlin_status status = dln_name_find(store, page->arguments[0], &group, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_MEMBERS_FEW);
    dln_bind_int(&statement, group);
    dln_bind_int(&statement, SORTED_MAX + 1);
    status = dln_get_int(&statement, &rows, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    statement = dln_use(store, !is_many(rows)    ? DLN_STORE_MEMBERS_SORTED
                               : page->backwards ? DLN_STORE_MEMBERS_BACKWARD
                                                 : DLN_STORE_MEMBERS_FORWARD);
    dln_bind_int(&statement, group);
    dln_page_bind_from(&statement, page, 0);
    if (!is_many(rows)) {
        dln_bind_int(&statement, page->backwards);
    }
    dln_bind_int(&statement, (int64_t)page->limit);
    return dln_page_run(page, &statement, sizeof(dunlin_member), fill_member, err);
}

dunlin_status dln_member_count(struct dln_store *store, struct dln_text group, int64_t *out,
                               dunlin_error *err) {
    int64_t number = 0;
    dunlin_status status = dln_name_find(store, group, &number, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_MEMBER_COUNT);
    dln_bind_int(&statement, number);
    return dln_get_int(&statement, out, err);
}

dunlin_status dln_unsent_member(struct dln_store *store, struct dln_arena *arena,
                                struct dln_text group, struct dln_text *out, dunlin_error *err) {
    int64_t number = 0;
    bool row;
    *out = (struct dln_text){NULL, 0};
    dunlin_status status = dln_name_find(store, group, &number, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_MEMBER_UNSENT);
    dln_bind_int(&statement, number);
    status = dln_step(&statement, &row, err);
    if (status == DUNLIN_OK && row) {
        *out = dln_arena_text(arena, dln_column_text(&statement, 0));
        dln_done(&statement);
        status = out->data ? DUNLIN_OK : dln_no_memory(err);
    }
    return status;
}

/* The user's number is kept in origin_count until his origins are read. */
static enum dln_page_take fill_user(struct dln_page *page, const struct dln_statement *statement,
                                    void *out, struct dln_page_key *key) {
    struct dunlin_subscription *row = out;
    struct dln_text user = dln_arena_text(page->arena, dln_column_text(statement, 1));
    row->user = user.data;
    row->origin_count = (size_t)dln_column_int(statement, 0);
    *key = (struct dln_page_key){1, {user}};
    return user.data ? DLN_PAGE_TAKEN : DLN_PAGE_NO_MEMORY;
}

/* An array that doubles inside the arena. */
static bool append_origin(struct dln_arena *arena, const char ***origins, size_t count,
                          struct dln_text origin) {
    if ((count & (count - 1)) == 0) { /* a power of two, or the first */
        const char **grown = dln_arena_alloc(arena, (count ? 2 * count : 1) * sizeof(*grown));
        if (!grown) {
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            grown[i] = (*origins)[i];
        }
        *origins = grown;
    }
    (*origins)[count] = dln_arena_text(arena, origin).data;
    return (*origins)[count] != NULL;
}

static dunlin_status read_origins(struct dln_store *store, struct dln_arena *arena,
                                  struct dunlin_subscription *row, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_ORIGINS_OF);
    const char **origins = NULL;
    size_t count = 0;
    dunlin_status status;
    bool more;
    dln_bind_int(&statement, (int64_t)row->origin_count);
    while ((status = dln_step(&statement, &more, err)) == DUNLIN_OK && more) {
        if (!append_origin(arena, &origins, count, dln_column_text(&statement, 0))) {
            dln_done(&statement);
            return dln_no_memory(err);
        }
        count++;
    }
    row->origins = origins;
    row->origin_count = count;
    return status;
}

/* Users and origins are read at one moment, so that nobody is found without any. */
static dunlin_status read_subscriptions(struct dln_store *store, struct dln_page *page,
                                        struct dln_statement *statement, dunlin_error *err) {
    dunlin_status status =
        dln_page_run(page, statement, sizeof(dunlin_subscription), fill_user, err);
    struct dunlin_subscription *rows = page->rows;
    for (size_t i = 0; i < page->count && status == DUNLIN_OK; i++) {
        status = read_origins(store, page->arena, &rows[i], err);
        if (page->arena->used_bytes > DLN_PAGE_BYTES && i + 1 < page->count) {
            page->count = i + 1;
            page->more = true;
        }
    }
    return status;
}

dunlin_status dln_page_subscriptions(struct dln_store *store, struct dln_page *page,
                                     dunlin_error *err) {
    int64_t rows = 0;
    bool own;
    dunlin_status status = dln_read_begin(store, &own, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_SUBSCRIPTIONS_FEW);
    dln_bind_int(&statement, SORTED_MAX + 1);
    status = dln_get_int(&statement, &rows, err);
    if (status == DUNLIN_OK) {
        statement = dln_use(store, !is_many(rows)    ? DLN_STORE_SUBSCRIPTIONS_SORTED
                                   : page->backwards ? DLN_STORE_SUBSCRIPTIONS_BACKWARD
                                                     : DLN_STORE_SUBSCRIPTIONS_FORWARD);
        dln_page_bind_from(&statement, page, 0);
        if (!is_many(rows)) {
            dln_bind_int(&statement, page->backwards);
        }
        dln_bind_int(&statement, (int64_t)page->limit);
        status = read_subscriptions(store, page, &statement, err);
    }
    dln_read_end(store, own);
    return status;
}

dunlin_status dln_page_subscription(struct dln_store *store, struct dln_page *page,
                                    dunlin_error *err) {
    bool own;
    if (page->from) {
        return dln_page_start(page, sizeof(dunlin_subscription), err);
    }
    dunlin_status status = dln_read_begin(store, &own, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_SUBSCRIPTION_ONE);
    dln_bind_text(&statement, page->arguments[0]);
    status = read_subscriptions(store, page, &statement, err);
    dln_read_end(store, own);
    return status;
}
