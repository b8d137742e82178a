/* The rules, field by field that changes, judged against the record as merged.
 *
 * user/: its user only, whatever he writes (collections that this version does not know included).
 *
 * group/: `group` and `member` only. A group is made by a record that names its sender as owner,
 * once; `owner` never changes, `deleted` never goes back. A deleted group has no members: nobody is
 * added, nobody is an admin; its owner may still edit it and take out who stands in it, and whoever
 * stands in it may take himself out. An absent role is "member", an absent join is "open".
 *
 * Reading: a deletion neither opens nor closes a scope. Who could read a closed group before (its
 * owner, and whoever still stands in it as a member) reads it afterwards, and so learns of the
 * deletion; who had lost access before learns nothing. */
#include "central/authorize.h"

enum {
    OWNER = 1, /* of the group */
    ADMIN = 2, /* a member with that role, of a group that is not deleted */
    NOBODY = 0
};

/* By field of `group`: who may change it. `deleted` has a rule of its own on top. */
static const int group_rights[DLN_FIELD_MAX] = {
    [DLN_GROUP_NAME] = OWNER | ADMIN,
    [DLN_GROUP_OWNER] = NOBODY,
    [DLN_GROUP_JOIN] = OWNER | ADMIN,
    [DLN_GROUP_DELETED] = OWNER,
};
static const int unknown_field_rights = OWNER | ADMIN;

static bool is_text(const struct dln_field *field, struct dln_text text) {
    return field->stamp != 0 && field->value.type == DLN_STRING &&
           dln_text_equal(field->value.as.text, text);
}

static bool is_true(const struct dln_field *field) {
    return field->stamp != 0 && field->value.type == DLN_TRUE;
}

static bool is_deleted(const struct dln_record *group) {
    return is_true(&group->fields[DLN_GROUP_DELETED]);
}

static bool is_open(const struct dln_record *group) {
    return !is_text(&group->fields[DLN_GROUP_JOIN], DLN_TEXT("closed"));
}

static bool is_present(const struct dln_record *member) {
    return member != NULL && is_true(&member->fields[DLN_MEMBER_PRESENT]);
}

static bool is_admin_role(const struct dln_record *member) {
    return member != NULL && is_text(&member->fields[DLN_MEMBER_ROLE], DLN_TEXT("admin"));
}

/* What the sender is to the group. */
static int rights_of(const struct dln_standing *standing, const struct dln_record *group) {
    int rights = 0;
    if (is_text(&group->fields[DLN_GROUP_OWNER], standing->user)) {
        rights |= OWNER;
    }
    if (!is_deleted(group) && is_present(standing->own) && is_admin_role(standing->own)) {
        rights |= ADMIN;
    }
    return rights;
}

static struct dln_fields known_field(int field) {
    return (struct dln_fields){UINT32_C(1) << field, 0};
}

static void refuse_extras(struct dln_verdict *verdict, const struct dln_change *change,
                          int rights) {
    if (!(rights & unknown_field_rights)) {
        dln_verdict_fields(verdict, (struct dln_fields){0, change->fields.extras},
                           DUNLIN_NOT_ALLOWED,
                           "fields unknown to central need the group's owner or an admin");
    }
}

static void authorize_user(struct dln_verdict *verdict, const struct dln_standing *standing,
                           const struct dln_change *change) {
    const struct dln_key *key = &change->sent->key;
    if (!dln_text_equal(standing->user, standing->id)) {
        dln_verdict_whole(verdict, DUNLIN_NOT_ALLOWED, "the scope belongs to another user");
        return;
    }
    if (key->collection != NULL && key->collection->id == DLN_FOLLOW &&
        dln_text_equal(key->parts[0], DLN_TEXT("user")) &&
        dln_text_equal(key->parts[1], standing->user) &&
        is_true(&change->after->fields[DLN_FOLLOW_PRESENT])) {
        dln_verdict_whole(verdict, DUNLIN_SELF, "nobody follows himself");
    }
}

/* A group that central does not hold. */
static void authorize_creation(struct dln_verdict *verdict, const struct dln_standing *standing,
                               const struct dln_change *change) {
    if (!is_text(&change->after->fields[DLN_GROUP_OWNER], standing->user)) {
        dln_verdict_whole(verdict, DUNLIN_NOT_ALLOWED,
                          "a group is made by a record that names its sender as owner");
    }
}

static void authorize_group(struct dln_verdict *verdict, const struct dln_standing *standing,
                            const struct dln_change *change) {
    const struct dln_record *before = change->before;
    if (before == NULL) {
        authorize_creation(verdict, standing, change);
        return;
    }
    int rights = rights_of(standing, before);
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        if ((change->fields.known >> i & 1) == 0 || (group_rights[i] & rights) != 0) {
            continue;
        }
        /* Its owner may name himself again, as every creation of the same group does. */
        bool same_owner = i == DLN_GROUP_OWNER && (rights & OWNER) != 0 &&
                          is_text(&change->after->fields[DLN_GROUP_OWNER], standing->user);
        if (!same_owner) {
            dln_verdict_fields(verdict, known_field(i), DUNLIN_NOT_ALLOWED,
                               i == DLN_GROUP_OWNER ? "a group's owner never changes"
                                                    : "the group's owner or an admin may do this");
        }
    }
    if ((change->fields.known >> DLN_GROUP_DELETED & 1) != 0 && is_deleted(before) &&
        !is_deleted(change->after)) {
        dln_verdict_fields(verdict, known_field(DLN_GROUP_DELETED), DUNLIN_NOT_ALLOWED,
                           "a deleted group stays deleted");
    }
    refuse_extras(verdict, change, rights);
}

/* `present` changes, and ends as true. */
static void authorize_adding(struct dln_verdict *verdict, const struct dln_standing *standing,
                             const struct dln_change *change, int rights, bool self) {
    const struct dln_record *group = standing->group;
    struct dln_fields both = {
        change->fields.known & (UINT32_C(1) << DLN_MEMBER_PRESENT | UINT32_C(1) << DLN_MEMBER_ROLE),
        0};
    if (is_deleted(group)) {
        dln_verdict_fields(verdict, both, DUNLIN_NOT_ALLOWED, "a deleted group has no members");
    } else if (rights & OWNER) {
        return;
    } else if (!(rights & ADMIN) && !(self && is_open(group))) {
        dln_verdict_fields(verdict, both, DUNLIN_NOT_ALLOWED,
                           self ? "the group is closed: its owner or an admin adds members"
                                : "only the group's owner or an admin adds others");
    } else if (is_present(change->before)) { /* again: he stays what he is */
        if (is_admin_role(change->before) != is_admin_role(change->after)) {
            dln_verdict_fields(verdict, known_field(DLN_MEMBER_ROLE), DUNLIN_NOT_ALLOWED,
                               "only the group's owner changes roles");
        }
    } else if (is_admin_role(change->after)) {
        dln_verdict_fields(verdict, both, DUNLIN_NOT_ALLOWED,
                           "who is not added by the group's owner starts with the role \"member\"");
    }
}

/* Leaving twice, or an open group that one never entered, is no news, and no offence. */
static bool may_leave(const struct dln_standing *standing, const struct dln_change *change,
                      bool self) {
    return self && (change->before != NULL || is_open(standing->group));
}

static void authorize_member(struct dln_verdict *verdict, const struct dln_standing *standing,
                             const struct dln_change *change) {
    if (standing->group == NULL) {
        dln_verdict_whole(verdict, DUNLIN_NO_GROUP, "central does not know the group");
        return;
    }
    int rights = rights_of(standing, standing->group);
    bool self = dln_text_equal(change->sent->key.parts[0], standing->user);
    bool presence = (change->fields.known >> DLN_MEMBER_PRESENT & 1) != 0;
    bool role = (change->fields.known >> DLN_MEMBER_ROLE & 1) != 0;
    if (presence && is_present(change->after)) {
        authorize_adding(verdict, standing, change, rights, self);
    } else {
        if (presence && rights == 0 && !may_leave(standing, change, self)) {
            dln_verdict_fields(verdict, known_field(DLN_MEMBER_PRESENT), DUNLIN_NOT_ALLOWED,
                               self ? "who never was in a closed group cannot leave it"
                                    : "only the group's owner or an admin removes others");
        }
        if (role && !(rights & OWNER)) {
            dln_verdict_fields(verdict, known_field(DLN_MEMBER_ROLE), DUNLIN_NOT_ALLOWED,
                               "only the group's owner changes roles");
        }
    }
    refuse_extras(verdict, change, rights);
}

void dln_authorize(struct dln_verdict *verdict, const struct dln_standing *standing,
                   const struct dln_change *change) {
    const struct dln_collection *collection = change->sent->key.collection;
    if (standing->kind == DLN_SCOPE_USER) {
        authorize_user(verdict, standing, change);
    } else if (collection == NULL) {
        dln_verdict_whole(verdict, DUNLIN_NOT_ALLOWED,
                          "collections unknown to central belong into their sender's own scope");
    } else if (collection->id == DLN_GROUP) {
        authorize_group(verdict, standing, change);
    } else {
        authorize_member(verdict, standing, change);
    }
}

bool dln_may_read(const struct dln_standing *standing) {
    const struct dln_record *group = standing->group;
    if (standing->kind == DLN_SCOPE_USER) {
        return dln_text_equal(standing->user, standing->id);
    }
    if (group == NULL || is_open(group)) {
        return true;
    }
    return is_text(&group->fields[DLN_GROUP_OWNER], standing->user) || is_present(standing->own);
}
