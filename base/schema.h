/* The descriptor table: every collection with its scope, key and fields. Store, wire, validation
 * and central all read it. A new collection is one descriptor here and one migration in the store.
 */
#ifndef DLN_BASE_SCHEMA_H
#define DLN_BASE_SCHEMA_H

#include <stdbool.h>

#include "base/error.h"
#include "base/value.h"

enum { DLN_KEY_MAX = 3, DLN_FIELD_MAX = 8 };

/* In the order in which a device sends them: a list before items, a group before members. The
 * numbers are stored in the device's outbox: they never change, new ones are added. */
enum dln_collection_id {
    DLN_FOLLOW = 1,
    DLN_MYGROUP = 2,
    DLN_LIST = 3,
    DLN_ITEM = 4,
    DLN_GROUP = 5,
    DLN_MEMBER = 6,
    DLN_OTHER = 100 /* collections that this version does not know */
};

enum dln_scope_kind { DLN_SCOPE_USER, DLN_SCOPE_GROUP };

enum dln_field_kind {
    DLN_KIND_BOOL,  /* true or false */
    DLN_KIND_TEXT,  /* null or UTF-8 up to limit bytes */
    DLN_KIND_ID,    /* null or a legal id */
    DLN_KIND_TIME,  /* null or integer, Unix milliseconds */
    DLN_KIND_RANK,  /* a rank, see base/rank.h */
    DLN_KIND_JSON,  /* null or JSON text up to limit bytes */
    DLN_KIND_CHOICE /* null or one of choices */
};

struct dln_field_spec {
    const char *name;
    enum dln_field_kind kind;
    size_t limit_bytes;
    const char *const *choices; /* NULL-ended, for DLN_KIND_CHOICE */
};

struct dln_key_spec {
    const char *name;
    const char *const *choices; /* NULL: any id; else NULL-ended */
    bool group;                 /* the id is a group's: "!" is illegal */
};

struct dln_collection {
    enum dln_collection_id id;
    const char *name;
    enum dln_scope_kind scope;
    int key_count;
    struct dln_key_spec keys[DLN_KEY_MAX];
    int field_count;
    struct dln_field_spec fields[DLN_FIELD_MAX];
    int existence;    /* index of `present` or `deleted` */
    bool exists_when; /* value of that field for which the record exists */
};

/* Indexes of fields, by collection. */
enum { DLN_FOLLOW_PRESENT };
enum { DLN_MYGROUP_PRESENT, DLN_MYGROUP_ROLE };
enum { DLN_LIST_NAME, DLN_LIST_RANK, DLN_LIST_DELETED };
enum {
    DLN_ITEM_PRESENT,
    DLN_ITEM_CREATED_AT,
    DLN_ITEM_RANK,
    DLN_ITEM_TITLE,
    DLN_ITEM_DATA,
    DLN_ITEM_ATTACHMENTS
};
enum { DLN_GROUP_NAME, DLN_GROUP_OWNER, DLN_GROUP_JOIN, DLN_GROUP_DELETED };
enum { DLN_MEMBER_PRESENT, DLN_MEMBER_ROLE };

const struct dln_collection *dln_collection_by_id(enum dln_collection_id id); /* NULL: unknown */
const struct dln_collection *dln_collection_by_name(struct dln_text name);    /* NULL: unknown */
/* Walks all known collections: index 0, 1, … until NULL. */
const struct dln_collection *dln_collection_at(int index);
int dln_field_by_name(const struct dln_collection *collection, struct dln_text name); /* -1: none */

/* Whether a value may stand in that field: INVALID_VALUE, TOO_LONG, INVALID_TEXT, INVALID_ID. That
 * JSON text parses is checked by sync/json.h, since it needs a parser. */
DUNLIN_MUST_USE dunlin_status dln_check_field(const struct dln_field_spec *spec,
                                              const struct dln_value *value, dunlin_error *err);
/* Whether key parts are legal for the collection (ids, choices). */
DUNLIN_MUST_USE dunlin_status dln_check_key(const struct dln_collection *collection,
                                            const struct dln_text *parts, dunlin_error *err);

#endif
