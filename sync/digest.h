/* Hashes of records, the digest of a scope, and the canonical line of a dump. */
#ifndef DLN_SYNC_DIGEST_H
#define DLN_SYNC_DIGEST_H

#include <stdint.h>

#include "base/buf.h"
#include "base/record.h"

/* Both hashes are 0 where memory ran out: a record then seems to differ, and is looked at again. */

/* First 8 bytes of SHA-256 over scope, collection, key text, then fields by name (name, stamp as 8
 * bytes, encoded value), each length-prefixed (u32 big-endian). Fields of stamp 0 are left out. */
uint64_t dln_record_hash(const struct dln_record *record);
/* First 8 bytes of SHA-256 of the key text: a record's place in the digest tree. */
uint64_t dln_key_hash(const struct dln_key *key);

/* One leaf of the tree; the digest of a prefix (first `nibbles` hex digits of the place) is the
 * sum, modulo 2^64, of the hashes below it. */
struct dln_leaf {
    uint64_t place;
    uint64_t hash;
};

/* The leaves below a prefix, of an array sorted by place: [*first, *end). The bits of `prefix`
 * behind its nibbles (0 to 16) are 0. */
void dln_leaves_range(const struct dln_leaf *leaves, size_t count, uint64_t prefix, int nibbles,
                      size_t *first, size_t *end);
uint64_t dln_leaves_digest(const struct dln_leaf *leaves, size_t count, uint64_t prefix,
                           int nibbles);

/* Appends {"scope":…,"collection":…,"key":[…],"fields":{name:["stamp",value],…}} and a newline:
 * field names sorted by bytes, values as on the wire, no white space. Equal dumps are equal states.
 */
void dln_record_dump_line(struct dln_buf *out, const struct dln_record *record);

#endif
