/* The social graph: whom one follows, groups and their members, and the subscriptions that derive
 * from both. Edits are durable and visible when the call returns, online or not. */
#ifndef DUNLIN_GRAPH_H
#define DUNLIN_GRAPH_H

#include <dunlin/iter.h>
#include <dunlin/store.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dunlin_kind { DUNLIN_USER = 0, DUNLIN_GROUP = 1 } dunlin_kind;

/* Follows a user or a group, or stops. Doing what is done already succeeds and changes nothing.
 * The group need not be known yet. Returns MISUSE, INVALID_ID, INVALID_TEXT, TOO_LONG, SELF, BUSY,
 * IO, DISK_FULL. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_follow(dunlin_store *store, dunlin_kind kind,
                                                       const char *id, dunlin_error *err);
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_unfollow(dunlin_store *store, dunlin_kind kind,
                                                         const char *id, dunlin_error *err);

typedef struct dunlin_followed {
    dunlin_kind kind;
    const char *id;
} dunlin_followed;

/* Users first, then groups, each by id. Rows are borrowed until the next call on the iterator; at
 * the end *row is NULL and OK returned. Returns MISUSE, INVALID_CURSOR, BUSY, IO, CORRUPT. The same
 * holds for every …_next below. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_following(dunlin_store *store, dunlin_iter **out,
                                                          const dunlin_range *range,
                                                          dunlin_error *err);
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_following_next(dunlin_iter *iter,
                                                               const dunlin_followed **row,
                                                               dunlin_error *err);

typedef enum dunlin_join { DUNLIN_JOIN_OPEN = 0, DUNLIN_JOIN_CLOSED = 1 } dunlin_join;
typedef enum dunlin_role { DUNLIN_ROLE_MEMBER = 0, DUNLIN_ROLE_ADMIN = 1 } dunlin_role;

/* Creates a group owned by the store's owner, who is no member unless he adds himself.
 *   group  its id, chosen by the caller; not "!"
 *   name   up to DUNLIN_NAME_MAX bytes, or NULL
 * EXISTS when a group of that id is known here; central may know more and refuse it later. A
 * deleted group is never created again: EXISTS. Else as dunlin_follow. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_group_create(dunlin_store *store, const char *group,
                                                             const char *name, dunlin_join join,
                                                             dunlin_error *err);
/* Changes name and join; a NULL argument leaves what it stands for. NOT_FOUND: not known here or
 * deleted. NOT_ALLOWED when this device knows that its owner is neither owner nor admin. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_group_set(dunlin_store *store, const char *group,
                                                          const char *name, const dunlin_join *join,
                                                          dunlin_error *err);
/* Deletes for good; owner only. NOT_FOUND and NOT_ALLOWED as above. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_group_delete(dunlin_store *store, const char *group,
                                                             dunlin_error *err);
/* Adds a member, or changes the role of one. Whoever is not added by the group's owner starts as
 * member, whatever role is given; only the owner changes a role. One may add oneself to a group
 * that is not known here yet; central decides. NOT_ALLOWED and NOT_FOUND as for dunlin_group_set.
 */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_group_add(dunlin_store *store, const char *group,
                                                          const char *user, dunlin_role role,
                                                          dunlin_error *err);
/* Takes a member out, or oneself; nothing changes where he is none. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_group_remove(dunlin_store *store, const char *group,
                                                             const char *user, dunlin_error *err);

/* A group as this device knows it. Texts belong to the struct: free it with dunlin_group_free(). */
typedef struct dunlin_group_info {
    const char *id;
    const char *name; /* NULL: none */
    const char *owner;
    dunlin_join join;
    int64_t members;  /* live ones known here */
    int followed;     /* by the store's owner */
    int member;       /* the store's owner is one */
    dunlin_role role; /* his role then */
} dunlin_group_info;

/* NOT_FOUND: not known here, or deleted. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_group_get(dunlin_store *store,
                                                          dunlin_group_info **out,
                                                          const char *group, dunlin_error *err);
DUNLIN_API void dunlin_group_free(dunlin_group_info *group);

typedef struct dunlin_member {
    const char *user;
    dunlin_role role;
} dunlin_member;

/* Live members, by id. NOT_FOUND as above. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_members(dunlin_store *store, dunlin_iter **out,
                                                        const char *group,
                                                        const dunlin_range *range,
                                                        dunlin_error *err);
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_members_next(dunlin_iter *iter,
                                                             const dunlin_member **row,
                                                             dunlin_error *err);

/* One user whom the owner sees, and why: "!" (a direct follow) first, then group ids in byte order.
 * There is always at least one origin. */
typedef struct dunlin_subscription {
    const char *user;
    const char *const *origins;
    size_t origin_count;
} dunlin_subscription;

/* All subscriptions, by user id. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_subscriptions(dunlin_store *store,
                                                              dunlin_iter **out,
                                                              const dunlin_range *range,
                                                              dunlin_error *err);
/* The one of that user: an iterator of one row or none. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_subscription_of(dunlin_store *store,
                                                                dunlin_iter **out, const char *user,
                                                                dunlin_error *err);
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_subscriptions_next(dunlin_iter *iter,
                                                                   const dunlin_subscription **row,
                                                                   dunlin_error *err);

/* Why an origin counts or does not. */
typedef enum dunlin_reason_state {
    DUNLIN_REASON_COUNTS = 0,    /* it makes the subscription */
    DUNLIN_REASON_NOT_FOLLOWED,  /* the owner follows neither the user ("!") nor this group */
    DUNLIN_REASON_NOT_MEMBER,    /* the followed group does not have the user */
    DUNLIN_REASON_GROUP_UNKNOWN, /* followed, but nothing of it has arrived */
    DUNLIN_REASON_GROUP_DELETED,
    DUNLIN_REASON_CLOSED, /* closed to the owner, who is neither its owner nor a member */
    DUNLIN_REASON_SELF    /* nobody is subscribed to himself */
} dunlin_reason_state;

typedef struct dunlin_reason {
    const char *origin; /* "!" or a group's id */
    dunlin_reason_state state;
    int pending;          /* an edit behind it has not been acknowledged by central */
    int rejected;         /* an edit behind it was refused: see dunlin_rejected() */
    const char *sentence; /* in English */
} dunlin_reason;

/* Why a user is among the subscriptions or is not: "!" first, then every group that the owner
 * follows or that, as far as known here, has the user, by id. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_explain(dunlin_store *store, dunlin_iter **out,
                                                        const char *user, dunlin_error *err);
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_explain_next(dunlin_iter *iter,
                                                             const dunlin_reason **row,
                                                             dunlin_error *err);

#ifdef __cplusplus
}
#endif
#endif
