/* The descriptor table and the checks that it implies. Nothing else in dunlin may know a field's
 * type or limit. */
#include "base/schema.h"

#include <assert.h>

#include "base/rank.h"

static const char *const follow_kinds[] = {"user", "group", NULL};
static const char *const group_roles[] = {"owner", "admin", "member", NULL};
static const char *const member_roles[] = {"member", "admin", NULL};
static const char *const join_modes[] = {"open", "closed", NULL};

static const struct dln_collection collections[] = {
    {
        .id = DLN_FOLLOW,
        .name = "follow",
        .scope = DLN_SCOPE_USER,
        .key_count = 2,
        .keys = {{"kind", follow_kinds, false}, {"target", NULL, false}},
        .field_count = 1,
        .fields = {[DLN_FOLLOW_PRESENT] = {"present", DLN_KIND_BOOL, 0, NULL}},
        .existence = DLN_FOLLOW_PRESENT,
        .exists_when = true,
    },
    {
        .id = DLN_MYGROUP,
        .name = "mygroup",
        .scope = DLN_SCOPE_USER,
        .key_count = 1,
        .keys = {{"group", NULL, true}},
        .field_count = 2,
        .fields = {[DLN_MYGROUP_PRESENT] = {"present", DLN_KIND_BOOL, 0, NULL},
                   [DLN_MYGROUP_ROLE] = {"role", DLN_KIND_CHOICE, 0, group_roles}},
        .existence = DLN_MYGROUP_PRESENT,
        .exists_when = true,
    },
    {
        .id = DLN_LIST,
        .name = "list",
        .scope = DLN_SCOPE_USER,
        .key_count = 1,
        .keys = {{"list", NULL, false}},
        .field_count = 3,
        .fields = {[DLN_LIST_NAME] = {"name", DLN_KIND_TEXT, DLN_NAME_MAX, NULL},
                   [DLN_LIST_RANK] = {"rank", DLN_KIND_RANK, DLN_RANK_MAX, NULL},
                   [DLN_LIST_DELETED] = {"deleted", DLN_KIND_BOOL, 0, NULL}},
        .existence = DLN_LIST_DELETED,
        .exists_when = false,
    },
    {
        .id = DLN_ITEM,
        .name = "item",
        .scope = DLN_SCOPE_USER,
        .key_count = 3,
        .keys = {{"list", NULL, false}, {"type", NULL, false}, {"id", NULL, false}},
        .field_count = 6,
        .fields = {[DLN_ITEM_PRESENT] = {"present", DLN_KIND_BOOL, 0, NULL},
                   [DLN_ITEM_CREATED_AT] = {"created_at", DLN_KIND_TIME, 0, NULL},
                   [DLN_ITEM_RANK] = {"rank", DLN_KIND_RANK, DLN_RANK_MAX, NULL},
                   [DLN_ITEM_TITLE] = {"title", DLN_KIND_TEXT, DLN_NAME_MAX, NULL},
                   [DLN_ITEM_DATA] = {"data", DLN_KIND_JSON, DLN_DATA_MAX, NULL},
                   [DLN_ITEM_ATTACHMENTS] = {"attachments", DLN_KIND_JSON, DLN_DATA_MAX, NULL}},
        .existence = DLN_ITEM_PRESENT,
        .exists_when = true,
    },
    {
        .id = DLN_GROUP,
        .name = "group",
        .scope = DLN_SCOPE_GROUP,
        .key_count = 0,
        .field_count = 4,
        .fields = {[DLN_GROUP_NAME] = {"name", DLN_KIND_TEXT, DLN_NAME_MAX, NULL},
                   [DLN_GROUP_OWNER] = {"owner", DLN_KIND_ID, DLN_ID_MAX, NULL},
                   [DLN_GROUP_JOIN] = {"join", DLN_KIND_CHOICE, 0, join_modes},
                   [DLN_GROUP_DELETED] = {"deleted", DLN_KIND_BOOL, 0, NULL}},
        .existence = DLN_GROUP_DELETED,
        .exists_when = false,
    },
    {
        .id = DLN_MEMBER,
        .name = "member",
        .scope = DLN_SCOPE_GROUP,
        .key_count = 1,
        .keys = {{"user", NULL, false}},
        .field_count = 2,
        .fields = {[DLN_MEMBER_PRESENT] = {"present", DLN_KIND_BOOL, 0, NULL},
                   [DLN_MEMBER_ROLE] = {"role", DLN_KIND_CHOICE, 0, member_roles}},
        .existence = DLN_MEMBER_PRESENT,
        .exists_when = true,
    },
};

enum { COLLECTION_COUNT = sizeof(collections) / sizeof(collections[0]) };

const struct dln_collection *dln_collection_at(int index) {
    return index >= 0 && index < COLLECTION_COUNT ? &collections[index] : NULL;
}

const struct dln_collection *dln_collection_by_id(enum dln_collection_id id) {
    for (int i = 0; i < COLLECTION_COUNT; i++) {
        if (collections[i].id == id) {
            return &collections[i];
        }
    }
    return NULL;
}

const struct dln_collection *dln_collection_by_name(struct dln_text name) {
    for (int i = 0; i < COLLECTION_COUNT; i++) {
        if (dln_text_equal(dln_text_of(collections[i].name), name)) {
            return &collections[i];
        }
    }
    return NULL;
}

int dln_field_by_name(const struct dln_collection *collection, struct dln_text name) {
    for (int i = 0; i < collection->field_count; i++) {
        if (dln_text_equal(dln_text_of(collection->fields[i].name), name)) {
            return i;
        }
    }
    return -1;
}

static bool is_choice(const char *const *choices, struct dln_text text) {
    for (; *choices != NULL; choices++) {
        if (dln_text_equal(dln_text_of(*choices), text)) {
            return true;
        }
    }
    return false;
}

static bool has_right_type(enum dln_field_kind kind, enum dln_type type) {
    switch (kind) {
    case DLN_KIND_BOOL:
        return type == DLN_TRUE || type == DLN_FALSE;
    case DLN_KIND_RANK:
        return type == DLN_STRING;
    case DLN_KIND_TEXT:
    case DLN_KIND_ID:
    case DLN_KIND_CHOICE:
        return type == DLN_STRING || type == DLN_NULL;
    case DLN_KIND_TIME:
        return type == DLN_INTEGER || type == DLN_NULL;
    case DLN_KIND_JSON:
        return type == DLN_JSON || type == DLN_NULL;
    }
    return false;
}

static dunlin_status invalid_value(const char *name, const char *why, dunlin_error *err) {
    return dln_fail(err, DUNLIN_INVALID_VALUE, DUNLIN_DOMAIN_API, "%s %s", name, why);
}

dunlin_status dln_check_field(const struct dln_field_spec *spec, const struct dln_value *value,
                              dunlin_error *err) {
    if (!has_right_type(spec->kind, value->type)) {
        return invalid_value(spec->name, "has a value of the wrong type", err);
    }
    if (value->type != DLN_STRING && value->type != DLN_JSON) {
        return DUNLIN_OK;
    }
    switch (spec->kind) {
    case DLN_KIND_TEXT:
    case DLN_KIND_JSON:
        return dln_check_text(value->as.text, spec->limit_bytes, spec->name, err);
    case DLN_KIND_ID:
        return dln_check_id(value->as.text, spec->name, err);
    case DLN_KIND_RANK:
        if (value->as.text.len > spec->limit_bytes) {
            return dln_check_text(value->as.text, spec->limit_bytes, spec->name, err);
        }
        if (!dln_rank_is_valid(value->as.text)) {
            return invalid_value(spec->name, "is not a rank", err);
        }
        return DUNLIN_OK;
    case DLN_KIND_CHOICE:
        if (!is_choice(spec->choices, value->as.text)) {
            return invalid_value(spec->name, "has a value that is no choice", err);
        }
        return DUNLIN_OK;
    case DLN_KIND_BOOL:
    case DLN_KIND_TIME:
        break;
    }
    assert(!"a kind without text has the right type and a text");
    return DUNLIN_INVALID_VALUE;
}

/* The target of a follow is a group's id or a user's, by the part before it. */
static bool is_group_part(const struct dln_collection *collection, const struct dln_text *parts,
                          int index) {
    if (collection->id == DLN_FOLLOW && index == 1) {
        return dln_text_equal(parts[0], DLN_TEXT("group"));
    }
    return collection->keys[index].group;
}

dunlin_status dln_check_key(const struct dln_collection *collection, const struct dln_text *parts,
                            dunlin_error *err) {
    for (int i = 0; i < collection->key_count; i++) {
        const struct dln_key_spec *spec = &collection->keys[i];
        dunlin_status status = DUNLIN_OK;
        if (spec->choices != NULL) {
            if (!is_choice(spec->choices, parts[i])) {
                status = invalid_value(spec->name, "has a value that is no choice", err);
            }
        } else if (is_group_part(collection, parts, i)) {
            status = dln_check_group_id(parts[i], err);
        } else {
            status = dln_check_id(parts[i], spec->name, err);
        }
        if (status != DUNLIN_OK) {
            return status;
        }
    }
    return DUNLIN_OK;
}
