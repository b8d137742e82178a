/* Groups and their members.
 *
 * What this device knows decides whether an edit is refused here; central judges it again. The role
 * of whoever is not added by the group's owner starts as member, or central would refuse it. */
#include <stdlib.h>

#include <dunlin/graph.h>

#include "client/edit.h"
#include "client/handle.h"
#include "client/iter.h"
#include "store/graph.h"

/* A group and what the store's owner is to it. */
struct standing {
    struct dln_text group;
    struct dln_row row;
    struct dln_row own; /* his member record; not read of the group's owner */
    bool known;
    bool owner;
    bool admin; /* by his role; not worked out of the group's owner */
};

static dunlin_status no_group(dunlin_error *err) {
    return dln_fail(err, DUNLIN_NOT_FOUND, DUNLIN_DOMAIN_API,
                    "the group is not known here, or deleted");
}

static dunlin_status not_allowed(dunlin_error *err) {
    return dln_fail(err, DUNLIN_NOT_ALLOWED, DUNLIN_DOMAIN_API,
                    "only the group's owner or an admin may do this");
}

static struct dln_text me(const struct dln_edit *edit) {
    return dln_text_of(dln_store_owner(edit->store));
}

static bool has_role(const struct dln_row *member, const char *role) {
    return dln_text_equal(dln_row_text(member, DLN_MEMBER_ROLE), dln_text_of(role));
}

static dunlin_status read_member(struct dln_edit *edit, struct dln_text group, struct dln_text user,
                                 struct dln_row *out, dunlin_error *err) {
    return dln_edit_row(edit, out, DLN_MEMBER, group, &user, err);
}

/* NOT_FOUND for a deleted group, and for one that is unknown unless may_be_unknown. */
static dunlin_status read_standing(struct dln_edit *edit, const char *group, bool may_be_unknown,
                                   struct standing *out, dunlin_error *err) {
    *out = (struct standing){.group = dln_text_of(group)};
    dunlin_status status = dln_edit_row(edit, &out->row, DLN_GROUP, out->group, NULL, err);
    out->owner = dln_text_equal(dln_row_text(&out->row, DLN_GROUP_OWNER), me(edit));
    if (status == DUNLIN_OK && !out->owner) {
        status = read_member(edit, out->group, me(edit), &out->own, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    out->known = out->row.stored;
    if (out->known ? !dln_row_exists(&out->row) : !may_be_unknown) {
        return no_group(err);
    }
    out->admin = !out->owner && dln_row_exists(&out->own) && has_role(&out->own, "admin");
    return DUNLIN_OK;
}

static struct dln_value text_value(const char *text) {
    return dln_value_string(dln_text_of(text));
}

static struct dln_value join_value(dunlin_join join) {
    return text_value(join == DUNLIN_JOIN_CLOSED ? "closed" : "open");
}

static struct dln_value role_value(dunlin_role role) {
    return text_value(role == DUNLIN_ROLE_ADMIN ? "admin" : "member");
}

/* The groups that one has to do with beyond following: a role, or NULL to leave them. */
static dunlin_status set_mygroup(struct dln_edit *edit, struct dln_text group, const char *role,
                                 dunlin_error *err) {
    struct dln_row row;
    uint32_t fields = 0;
    dunlin_status status = dln_edit_row(edit, &row, DLN_MYGROUP, group, &group, err);
    if (status != DUNLIN_OK || (!role && !dln_row_exists(&row))) {
        return status;
    }
    if (!role) {
        dln_row_set(&row, &fields, DLN_MYGROUP_PRESENT, dln_value_bool(false));
    } else if (!dln_row_exists(&row)) {
        dln_row_set(&row, &fields, DLN_MYGROUP_PRESENT, dln_value_bool(true));
        dln_row_set(&row, &fields, DLN_MYGROUP_ROLE, text_value(role));
    } else {
        dln_row_change(&row, &fields, DLN_MYGROUP_ROLE, text_value(role));
    }
    return dln_edit_write(edit, &row, fields, err);
}

/* ---- the group itself */

static bool is_join(dunlin_join join) {
    return join == DUNLIN_JOIN_OPEN || join == DUNLIN_JOIN_CLOSED;
}

static dunlin_status create(struct dln_edit *edit, struct dln_text group, const char *name,
                            dunlin_join join, dunlin_error *err) {
    struct dln_row row;
    uint32_t fields = 0;
    dunlin_status status = dln_edit_row(edit, &row, DLN_GROUP, group, NULL, err);
    if (status == DUNLIN_OK && row.stored) {
        return dln_fail(err, DUNLIN_EXISTS, DUNLIN_DOMAIN_API, "there is or was such a group");
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    dln_row_set(&row, &fields, DLN_GROUP_NAME, text_value(name));
    dln_row_set(&row, &fields, DLN_GROUP_OWNER, dln_value_string(me(edit)));
    dln_row_set(&row, &fields, DLN_GROUP_JOIN, join_value(join));
    dln_row_set(&row, &fields, DLN_GROUP_DELETED, dln_value_bool(false));
    status = dln_edit_write(edit, &row, fields, err);
    return status != DUNLIN_OK ? status : set_mygroup(edit, group, "owner", err);
}

dunlin_status dunlin_group_create(dunlin_store *store, const char *group, const char *name,
                                  dunlin_join join, dunlin_error *err) {
    struct dln_edit edit;
    dunlin_status status = dln_check_group_argument(group, err);
    if (status == DUNLIN_OK) {
        status = dln_check_name_argument(name, "name", err);
    }
    if (status == DUNLIN_OK && !is_join(join)) {
        status = dln_misuse(err, "there is no such way to join");
    }
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = create(&edit, dln_text_of(group), name, join, err);
    return dln_edit_end(&edit, status, err);
}

dunlin_status dunlin_group_set(dunlin_store *store, const char *group, const char *name,
                               const dunlin_join *join, dunlin_error *err) {
    struct dln_edit edit;
    struct standing standing;
    uint32_t fields = 0;
    dunlin_status status = dln_check_group_argument(group, err);
    if (status == DUNLIN_OK) {
        status = dln_check_name_argument(name, "name", err);
    }
    if (status == DUNLIN_OK && join && !is_join(*join)) {
        status = dln_misuse(err, "there is no such way to join");
    }
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = read_standing(&edit, group, false, &standing, err);
    if (status == DUNLIN_OK && !standing.owner && !standing.admin) {
        status = not_allowed(err);
    }
    if (status == DUNLIN_OK) {
        if (name) {
            dln_row_change(&standing.row, &fields, DLN_GROUP_NAME, text_value(name));
        }
        if (join) {
            dln_row_change(&standing.row, &fields, DLN_GROUP_JOIN, join_value(*join));
        }
        status = dln_edit_write(&edit, &standing.row, fields, err);
    }
    return dln_edit_end(&edit, status, err);
}

/* Additions that never left this device have nowhere to go when their group is deleted. */
static dunlin_status take_back_members(struct dln_edit *edit, struct dln_text group,
                                       dunlin_error *err) {
    for (;;) {
        struct dln_row row;
        struct dln_text user;
        uint32_t fields = 0;
        dunlin_status status = dln_unsent_member(edit->store, &edit->arena, group, &user, err);
        if (status != DUNLIN_OK || !user.data) {
            return status;
        }
        status = read_member(edit, group, user, &row, err);
        if (status == DUNLIN_OK) {
            dln_row_set(&row, &fields, DLN_MEMBER_PRESENT, dln_value_bool(false));
            status = dln_edit_write(edit, &row, fields, err);
        }
        if (status != DUNLIN_OK) {
            return status;
        }
    }
}

dunlin_status dunlin_group_delete(dunlin_store *store, const char *group, dunlin_error *err) {
    struct dln_edit edit;
    struct standing standing;
    uint32_t fields = 0;
    dunlin_status status = dln_check_group_argument(group, err);
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = read_standing(&edit, group, false, &standing, err);
    if (status == DUNLIN_OK && !standing.owner) {
        status = not_allowed(err);
    }
    if (status == DUNLIN_OK) {
        status = take_back_members(&edit, standing.group, err);
    }
    if (status == DUNLIN_OK) {
        dln_row_set(&standing.row, &fields, DLN_GROUP_DELETED, dln_value_bool(true));
        status = dln_edit_write(&edit, &standing.row, fields, err);
    }
    if (status == DUNLIN_OK) {
        status = set_mygroup(&edit, standing.group, NULL, err);
    }
    return dln_edit_end(&edit, status, err);
}

/* ---- members */

static dunlin_status may_add(const struct standing *standing, const struct dln_row *member,
                             dunlin_role role, bool self, dunlin_error *err) {
    bool closed = dln_text_equal(dln_row_text(&standing->row, DLN_GROUP_JOIN), DLN_TEXT("closed"));
    if (!standing->known || standing->owner) {
        return DUNLIN_OK;
    }
    if (dln_row_exists(member)) { /* then it is his role that may change */
        bool same = has_role(member, "admin") == (role == DUNLIN_ROLE_ADMIN);
        return same ? DUNLIN_OK : not_allowed(err);
    }
    return standing->admin || (self && !closed) ? DUNLIN_OK : not_allowed(err);
}

static dunlin_status add(struct dln_edit *edit, const char *group, struct dln_text user,
                         dunlin_role role, dunlin_error *err) {
    struct standing standing;
    struct dln_row row;
    uint32_t fields = 0;
    bool self = dln_text_equal(user, me(edit));
    dunlin_status status = read_standing(edit, group, self, &standing, err);
    if (status == DUNLIN_OK) {
        status = read_member(edit, standing.group, user, &row, err);
    }
    if (status == DUNLIN_OK) {
        status = may_add(&standing, &row, role, self, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    if (!dln_row_exists(&row)) {
        role = standing.owner ? role : DUNLIN_ROLE_MEMBER;
        dln_row_set(&row, &fields, DLN_MEMBER_PRESENT, dln_value_bool(true));
        dln_row_set(&row, &fields, DLN_MEMBER_ROLE, role_value(role));
    } else if (has_role(&row, "admin") != (role == DUNLIN_ROLE_ADMIN)) {
        dln_row_set(&row, &fields, DLN_MEMBER_ROLE, role_value(role));
    }
    status = dln_edit_write(edit, &row, fields, err);
    if (status != DUNLIN_OK || !self) {
        return status;
    }
    const char *mine = standing.owner ? "owner" : has_role(&row, "admin") ? "admin" : "member";
    return set_mygroup(edit, standing.group, mine, err);
}

dunlin_status dunlin_group_add(dunlin_store *store, const char *group, const char *user,
                               dunlin_role role, dunlin_error *err) {
    struct dln_edit edit;
    dunlin_status status = dln_check_group_argument(group, err);
    if (status == DUNLIN_OK) {
        status = dln_check_id_argument(user, "user", err);
    }
    if (status == DUNLIN_OK && role != DUNLIN_ROLE_MEMBER && role != DUNLIN_ROLE_ADMIN) {
        status = dln_misuse(err, "there is no such role");
    }
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = add(&edit, group, dln_text_of(user), role, err);
    return dln_edit_end(&edit, status, err);
}

static dunlin_status take_out(struct dln_edit *edit, const char *group, struct dln_text user,
                              dunlin_error *err) {
    struct standing standing;
    struct dln_row row;
    uint32_t fields = 0;
    bool self = dln_text_equal(user, me(edit));
    dunlin_status status = read_standing(edit, group, self, &standing, err);
    if (status == DUNLIN_OK && !standing.known && !standing.own.stored) {
        status = no_group(err);
    }
    if (status == DUNLIN_OK && !self && !standing.owner && !standing.admin) {
        status = not_allowed(err);
    }
    if (status == DUNLIN_OK) {
        status = read_member(edit, standing.group, user, &row, err);
    }
    if (status == DUNLIN_OK && dln_row_exists(&row)) {
        dln_row_set(&row, &fields, DLN_MEMBER_PRESENT, dln_value_bool(false));
        status = dln_edit_write(edit, &row, fields, err);
    }
    if (status != DUNLIN_OK || !self) {
        return status;
    }
    return set_mygroup(edit, standing.group, standing.owner ? "owner" : NULL, err);
}

dunlin_status dunlin_group_remove(dunlin_store *store, const char *group, const char *user,
                                  dunlin_error *err) {
    struct dln_edit edit;
    dunlin_status status = dln_check_group_argument(group, err);
    if (status == DUNLIN_OK) {
        status = dln_check_id_argument(user, "user", err);
    }
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = take_out(&edit, group, dln_text_of(user), err);
    return dln_edit_end(&edit, status, err);
}
