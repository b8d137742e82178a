/* A record in memory: the unit of replication. Everything in it is borrowed, usually from an arena.
 */
#ifndef DLN_BASE_RECORD_H
#define DLN_BASE_RECORD_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/schema.h"
#include "base/stamp.h"

/* scope: a scope's name, "user/alice", "group/climbers", ids percent-encoded.
 * parts: the key's parts in plain (not encoded) form; the group of `group` and `member` stands in
 * the scope, not here. For an unknown collection `collection` is NULL and any 0 to DLN_KEY_MAX
 * parts are kept. */
struct dln_key {
    const struct dln_collection *collection;
    struct dln_text name; /* of the collection */
    struct dln_text scope;
    int part_count;
    struct dln_text parts[DLN_KEY_MAX];
};

struct dln_field {
    dln_stamp stamp; /* 0: the record has no such field */
    struct dln_value value;
};

/* A field that this version does not know. */
struct dln_extra {
    struct dln_text name;
    struct dln_field field;
};

struct dln_record {
    struct dln_key key;
    struct dln_field fields[DLN_FIELD_MAX]; /* by descriptor */
    struct dln_extra *extras;               /* sorted by name, by bytes; all fields of an unknown
                                               collection stand here */
    size_t extra_count;
};

enum { DLN_EXTRA_MAX = 32, DLN_FIELD_NAME_MAX = 64 };

/* Builds "user/U" or "group/G" into the arena; .data is NULL when out of memory. */
struct dln_text dln_scope_user(struct dln_arena *arena, struct dln_text user);
struct dln_text dln_scope_group(struct dln_arena *arena, struct dln_text group);
/* Splits a scope's name. False when it is not of a known kind or not canonical. The id is decoded
 * into the arena. */
bool dln_scope_parse(struct dln_arena *arena, struct dln_text scope, enum dln_scope_kind *kind,
                     struct dln_text *id);

/* The key in central's form: collection, then each part behind a '/', percent-encoded:
 * "item/l1/video/a%2Fb". Unique within a scope. Appends. */
void dln_key_text(struct dln_buf *out, const struct dln_key *key);
/* The inverse, into an arena; scope is left alone. False when malformed. */
bool dln_key_parse(struct dln_arena *arena, struct dln_key *out, struct dln_text text);
bool dln_key_equal(const struct dln_key *a, const struct dln_key *b);
/* By scope, collection name, parts: bytes. The order of dumps. */
int dln_key_compare(const struct dln_key *a, const struct dln_key *b);

/* The field that says whether the record exists (also in an unknown collection: `present` or
 * `deleted` among the extras); NULL when it has none. */
const struct dln_field *dln_record_existence(const struct dln_record *record);
/* Whether the record itself says that it exists (the rules that look at its list or group come on
 * top): existence field set and of the existing value. A record of an unknown collection that has
 * none exists; one of a known collection that lacks it does not: it is only part of a record. */
bool dln_record_exists(const struct dln_record *record);
/* The greatest stamp of all its fields. */
dln_stamp dln_record_newest(const struct dln_record *record);
/* A deep copy into the arena; false when out of memory. */
bool dln_record_copy(struct dln_arena *arena, struct dln_record *out, const struct dln_record *in);

/* Extras as bytes for storage: for each, sorted: u16 name length, name, u64 stamp, u32 value
 * length, encoded value; all big-endian. Decode borrows from `bytes`. */
void dln_extras_encode(struct dln_buf *out, const struct dln_record *record);
bool dln_extras_decode(struct dln_arena *arena, struct dln_record *out, struct dln_text bytes);

#endif
