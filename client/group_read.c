/* Reading groups and their members. */
#include <stdlib.h>

#include <dunlin/graph.h>

#include "client/edit.h"
#include "client/handle.h"
#include "client/iter.h"
#include "store/graph.h"

enum { GROUP_BYTES_MAX = 1 << 20 };

/* The public struct and what its texts stand in. */
struct owned_group {
    dunlin_group_info info;
    struct dln_arena arena;
};

/* A struct that reads rows without being an edit. */
static struct dln_edit reader(dunlin_store *store) {
    return (struct dln_edit){.store = store->store, .arena = DLN_ARENA_INIT(GROUP_BYTES_MAX)};
}

static dunlin_status read_group(struct dln_edit *edit, struct dln_text group, struct dln_row *out,
                                dunlin_error *err) {
    dunlin_status status = dln_edit_row(edit, out, DLN_GROUP, group, NULL, err);
    if (status == DUNLIN_OK && !dln_row_exists(out)) {
        status = dln_fail(err, DUNLIN_NOT_FOUND, DUNLIN_DOMAIN_API,
                          "the group is not known here, or deleted");
    }
    return status;
}

static const char *copy(struct owned_group *out, struct dln_text text, bool *failed) {
    if (!text.data) {
        return NULL;
    }
    const char *copied = dln_arena_text(&out->arena, text).data;
    *failed = *failed || !copied;
    return copied;
}

static dunlin_status fill_group(struct dln_edit *edit, struct dln_text group,
                                struct owned_group *out, dunlin_error *err) {
    struct dln_text me = dln_text_of(dln_store_owner(edit->store));
    struct dln_text followed[] = {DLN_TEXT("group"), group};
    struct dln_row row, follow, own;
    bool failed = false;
    dunlin_status status = read_group(edit, group, &row, err);
    if (status == DUNLIN_OK) {
        status = dln_edit_row(edit, &follow, DLN_FOLLOW, group, followed, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_edit_row(edit, &own, DLN_MEMBER, group, &me, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_member_count(edit->store, group, &out->info.members, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    out->info.id = copy(out, group, &failed);
    out->info.name = copy(out, dln_row_text(&row, DLN_GROUP_NAME), &failed);
    out->info.owner = copy(out, dln_row_text(&row, DLN_GROUP_OWNER), &failed);
    bool closed = dln_text_equal(dln_row_text(&row, DLN_GROUP_JOIN), DLN_TEXT("closed"));
    bool admin = dln_text_equal(dln_row_text(&own, DLN_MEMBER_ROLE), DLN_TEXT("admin"));
    out->info.join = closed ? DUNLIN_JOIN_CLOSED : DUNLIN_JOIN_OPEN;
    out->info.followed = dln_row_exists(&follow);
    out->info.member = dln_row_exists(&own);
    out->info.role = out->info.member && admin ? DUNLIN_ROLE_ADMIN : DUNLIN_ROLE_MEMBER;
    return failed ? dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_STORE, "out of memory")
                  : DUNLIN_OK;
}

dunlin_status dunlin_group_get(dunlin_store *store, dunlin_group_info **out, const char *group,
                               dunlin_error *err) {
    if (!out) {
        return dln_misuse(err, "there is no place for the group");
    }
    *out = NULL;
    dunlin_status status = dln_handle_check(store, err);
    if (status == DUNLIN_OK) {
        status = dln_check_group_argument(group, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    struct owned_group *owned = calloc(1, sizeof(*owned));
    if (!owned) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_STORE, "out of memory");
    }
    struct dln_edit edit = reader(store);
    owned->arena = DLN_ARENA_INIT(GROUP_BYTES_MAX);
    status = fill_group(&edit, dln_text_of(group), owned, err);
    dln_arena_free(&edit.arena);
    if (status == DUNLIN_OK) {
        *out = &owned->info;
    } else {
        dunlin_group_free(&owned->info);
    }
    return status;
}

void dunlin_group_free(dunlin_group_info *group) {
    if (group) {
        struct owned_group *owned = (struct owned_group *)group; /* its first member */
        dln_arena_free(&owned->arena);
        free(owned);
    }
}

static const struct dln_iter_kind members_kind = {
    DLN_ROWS_MEMBER, sizeof(dunlin_member), "members", 1, 1, dln_page_members};

dunlin_status dunlin_members(dunlin_store *store, dunlin_iter **out, const char *group,
                             const dunlin_range *range, dunlin_error *err) {
    struct dln_text argument = dln_text_of(group);
    struct dln_row row;
    dunlin_status status = dln_handle_check(store, err);
    if (status == DUNLIN_OK) {
        status = dln_check_group_argument(group, err);
    }
    if (status == DUNLIN_OK) {
        struct dln_edit edit = reader(store);
        status = read_group(&edit, argument, &row, err);
        dln_arena_free(&edit.arena);
    }
    return status != DUNLIN_OK ? dln_iter_refuse(out, status)
                               : dln_iter_open(out, store, &members_kind, &argument, range, err);
}

dunlin_status dunlin_members_next(dunlin_iter *iter, const dunlin_member **row, dunlin_error *err) {
    DLN_ITER_NEXT(iter, DLN_ROWS_MEMBER, row, err);
}
