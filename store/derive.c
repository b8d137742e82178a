/* What derives from a record follows it at once.
 *
 * Origins. A group counts (`granted`) while the owner follows it, it is known and not deleted, and
 * it is open to him; then each of its members, but the owner, has it as an origin. Three kinds of
 * rows decide whether it counts: the follow, the group, the owner's own membership. When one of
 * them changes, `granted` is worked out anew, and where it flips, the members' origins go in or out
 * by one statement, O(members). Any other member's row moves one origin, and so does the follow of
 * a user.
 *
 * The number of subscriptions (users with an origin) is kept: whoever gets a first origin or loses
 * the last moves it.
 *
 * Lists. A list's present items are counted whether or not it is known or deleted, so that neither
 * its coming nor deleting nor restoring it counts. */
#include "store/derive.h"

#include <assert.h>

#include "store/counts.h"
#include "store/derive_parts.h"
#include "store/ends.h"
#include "store/row.h"

static bool exists(const struct dln_row *row) {
    return row->stored && dln_record_exists(&row->record);
}

static dunlin_status count_subscriptions(struct dln_store *store, int64_t more, dunlin_error *err) {
    return more == 0 ? DUNLIN_OK : dln_count_add(store, DLN_COUNT_SUBSCRIPTIONS, more, err);
}

/* Whether the user has any origin. */
static dunlin_status is_seen(struct dln_store *store, int64_t user, bool *out, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_ORIGIN_ANY);
    int64_t any = 0;
    dln_bind_int(&statement, user);
    dunlin_status status = dln_get_int(&statement, &any, err);
    *out = any != 0;
    return status;
}

/* One origin in or out; doing what is done already changes nothing. seen: whether the user had any
 * origin before, where that is to be added. */
static dunlin_status move_origin(struct dln_store *store, bool add, bool seen, int64_t user,
                                 int64_t origin, dunlin_error *err) {
    struct dln_statement statement =
        dln_use(store, add ? DLN_STORE_ORIGIN_ADD : DLN_STORE_ORIGIN_REMOVE);
    dln_bind_int(&statement, user);
    dln_bind_int(&statement, origin);
    dunlin_status status = dln_run(&statement, err);
    if (status != DUNLIN_OK || dln_changed(store) == 0) {
        return status;
    }
    if (!add) {
        status = is_seen(store, user, &seen, err);
    }
    return status != DUNLIN_OK || seen ? status : count_subscriptions(store, add ? 1 : -1, err);
}

static dunlin_status unseen_members(struct dln_store *store, int64_t group, int64_t *out,
                                    dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_GROUP_UNSEEN);
    dln_bind_int(&statement, group);
    dln_bind_int(&statement, store->owner_name);
    return dln_get_int(&statement, out, err);
}

static dunlin_status grant(struct dln_store *store, int64_t group, dunlin_error *err) {
    int64_t unseen = 0;
    dunlin_status status = unseen_members(store, group, &unseen, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_GROUP_ORIGINS_ADD);
    dln_bind_int(&statement, group);
    dln_bind_int(&statement, store->owner_name);
    status = dln_run(&statement, err);
    return status != DUNLIN_OK ? status : count_subscriptions(store, unseen, err);
}

/* Members without any origin afterwards are those who had this one only, if it went at all. */
static dunlin_status revoke(struct dln_store *store, int64_t group, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_GROUP_ORIGINS_REMOVE);
    dln_bind_int(&statement, group);
    dunlin_status status = dln_run(&statement, err);
    if (status != DUNLIN_OK || dln_changed(store) == 0) {
        return status;
    }
    int64_t unseen = 0;
    status = unseen_members(store, group, &unseen, err);
    return status != DUNLIN_OK ? status : count_subscriptions(store, -unseen, err);
}

dunlin_status dln_group_grants(struct dln_store *store, int64_t group, bool *known, bool *kept,
                               bool *granted, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_GROUP_GRANTS);
    dln_bind_int(&statement, group);
    dln_bind_int(&statement, store->owner_name);
    dln_bind_text(&statement, dln_text_of(store->owner));
    *kept = false;
    *granted = false;
    dunlin_status status = dln_step(&statement, known, err);
    if (status == DUNLIN_OK && *known) {
        *kept = dln_column_int(&statement, 0) != 0;
        *granted = dln_column_int(&statement, 1) != 0;
        dln_done(&statement);
    }
    return status;
}

/* Something that decides whether the group counts has changed. */
static dunlin_status derive_grant(struct dln_store *store, int64_t group, dunlin_error *err) {
    bool known, kept, granted;
    dunlin_status status = dln_group_grants(store, group, &known, &kept, &granted, err);
    if (status != DUNLIN_OK || (known && kept == granted)) {
        return status;
    }
    if (known) {
        struct dln_statement statement = dln_use(store, DLN_STORE_GROUP_GRANTED_SET);
        dln_bind_int(&statement, group);
        dln_bind_int(&statement, granted);
        status = dln_run(&statement, err);
        if (status != DUNLIN_OK) {
            return status;
        }
    }
    return granted ? grant(store, group, err) : revoke(store, group, err);
}

static dunlin_status derive_follow(struct dln_store *store, const struct dln_row *before,
                                   const struct dln_row *after, dunlin_error *err) {
    int64_t target = 0;
    bool seen = false;
    if (exists(before) == exists(after)) {
        return DUNLIN_OK;
    }
    dunlin_status status = dln_name_find(store, after->record.key.parts[1], &target, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (dln_text_equal(after->record.key.parts[0], DLN_TEXT("group"))) {
        return derive_grant(store, target, err);
    }
    if (target == store->owner_name) {
        return DUNLIN_OK;
    }
    if (exists(after)) {
        status = is_seen(store, target, &seen, err);
    }
    return status != DUNLIN_OK ? status : move_origin(store, exists(after), seen, target, 0, err);
}

/* Where the group does not count there is no origin to add, and none to remove either. */
static dunlin_status add_member(struct dln_store *store, int64_t group, int64_t user,
                                dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_GROUP_GRANTED);
    bool known, granted = false, seen = false;
    dln_bind_int(&statement, group);
    dln_bind_int(&statement, user);
    dunlin_status status = dln_step(&statement, &known, err);
    if (status == DUNLIN_OK && known) {
        granted = dln_column_int(&statement, 0) != 0;
        seen = dln_column_int(&statement, 1) != 0;
        dln_done(&statement);
    }
    return granted ? move_origin(store, true, seen, user, group, err) : status;
}

static dunlin_status derive_member(struct dln_store *store, const struct dln_row *before,
                                   const struct dln_row *after, dunlin_error *err) {
    struct dln_key_values key;
    if (exists(before) == exists(after)) {
        return DUNLIN_OK;
    }
    dunlin_status status = dln_key_values_of(store, &after->record.key, false, &key, err);
    int64_t group = key.at[0].number;
    int64_t user = key.at[1].number;
    if (status != DUNLIN_OK) {
        return status;
    }
    if (user == store->owner_name) {
        return derive_grant(store, group, err);
    }
    return exists(after) ? add_member(store, group, user, err)
                         : move_origin(store, false, false, user, group, err);
}

static dunlin_status derive_group(struct dln_store *store, const struct dln_row *after,
                                  dunlin_error *err) {
    struct dln_key_values key;
    dunlin_status status = dln_key_values_of(store, &after->record.key, false, &key, err);
    return status != DUNLIN_OK ? status : derive_grant(store, key.at[0].number, err);
}

static dunlin_status derive_list(struct dln_store *store, const struct dln_row *after,
                                 dunlin_error *err) {
    int64_t list = 0;
    dunlin_status status = dln_name_find(store, after->record.key.parts[0], &list, err);
    dln_end_forget(store, list);
    return status;
}

static dunlin_status derive_item(struct dln_store *store, const struct dln_row *before,
                                 const struct dln_row *after, dunlin_error *err) {
    int64_t list = 0;
    dunlin_status status = dln_name_find(store, after->record.key.parts[0], &list, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    dln_end_item(store, list, before, after);
    int more = exists(after) - exists(before);
    return more == 0 ? DUNLIN_OK : dln_count_add(store, list, more, err);
}

dunlin_status dln_derive(struct dln_store *store, const struct dln_row *before,
                         const struct dln_row *after, dunlin_error *err) {
    const struct dln_collection *collection = after->record.key.collection;
    dunlin_status status = DUNLIN_OK;
    assert(store->in_transaction);
    if (!collection) {
        return DUNLIN_OK;
    }
    switch (collection->id) {
    case DLN_FOLLOW:
        return derive_follow(store, before, after, err);
    case DLN_GROUP:
        return derive_group(store, after, err);
    case DLN_MEMBER:
        return derive_member(store, before, after, err);
    case DLN_LIST:
        status = derive_list(store, after, err);
        break;
    case DLN_ITEM:
        status = derive_item(store, before, after, err);
        break;
    case DLN_MYGROUP:
    case DLN_OTHER:
        return DUNLIN_OK;
    }
    return status == DUNLIN_OK && store->search ? dln_search_derive(store, before, after, err)
                                                : status;
}

dunlin_status dln_derive_make_search(struct dln_store *store, dunlin_error *err) {
    return dln_search_make(store, err);
}

dunlin_status dln_derive_clear(struct dln_store *store, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_ORIGINS_CLEAR);
    dunlin_status status = dln_run(&statement, err);
    return status == DUNLIN_OK && store->search ? dln_search_clear(store, err) : status;
}
