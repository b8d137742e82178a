/* Hashes of records, the digest of a scope, and the canonical line of a dump. */
#ifndef DLN_SYNC_DIGEST_H
#define DLN_SYNC_DIGEST_H

#include <stdint.h>

#include "base/buf.h"
#include "base/record.h"

/* First 8 bytes of SHA-256 over scope, collection, key text, then fields by name (name, stamp as 8
 * bytes, encoded value), each length-prefixed (u32 big-endian). Fields of stamp 0 are left out. */
uint64_t dln_record_hash(const struct dln_record *record);
/* First 8 bytes of SHA-256 of the key text: a record's place in the digest tree. */
uint64_t dln_key_hash(const struct dln_key *key);

/* One leaf of the tree; the digest of a prefix (first `nibbles` hex digits of the place) is the sum,
 * modulo 2^64, of the hashes below it. */
struct dln_leaf {
    uint64_t place;
    uint64_t hash;
};

/* Appends {"scope":…,"collection":…,"key":[…],"fields":{name:["stamp",value],…}} and a newline: field
 * names sorted by bytes, values as on the wire, no white space. Equal dumps are equal states. */
void dln_record_dump_line(struct dln_buf *out, const struct dln_record *record);

#endif
