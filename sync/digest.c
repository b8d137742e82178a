/* Hashes and dump lines. What is hashed: each of scope, collection, key text, then of each field
 * name, stamp (8 bytes, big-endian) and encoded value, behind its length as 4 bytes, big-endian. */
#include "sync/digest.h"

#include <assert.h>
#include <sys/types.h>

#include <sha2.h>

#include "sync/fields.h"
#include "sync/json.h"

static uint64_t first_8_bytes(SHA2_CTX *sha) {
    uint8_t digest[SHA256_DIGEST_LENGTH];
    uint64_t number = 0;

    SHA256Final(digest, sha);
    for (int i = 0; i < 8; i++) {
        number = number << 8 | digest[i];
    }
    return number;
}

static void hash_piece(SHA2_CTX *sha, const void *data, size_t len) {
    uint8_t prefix[4] = {(uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8),
                         (uint8_t)len};

    assert(len <= UINT32_MAX);
    SHA256Update(sha, prefix, sizeof(prefix));
    if (len > 0) {
        SHA256Update(sha, data, len);
    }
}

static void hash_stamp(SHA2_CTX *sha, dln_stamp stamp) {
    uint8_t bytes[8];

    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(stamp >> (56 - 8 * i));
    }
    hash_piece(sha, bytes, sizeof(bytes));
}

uint64_t dln_record_hash(const struct dln_record *record) {
    struct dln_buf buf = DLN_BUF_INIT(DLN_DATA_MAX + 4096);
    struct dln_field_walk walk;
    struct dln_text name;
    const struct dln_field *field;
    uint64_t hash = 0;
    SHA2_CTX sha;

    SHA256Init(&sha);
    hash_piece(&sha, record->key.scope.data, record->key.scope.len);
    hash_piece(&sha, record->key.name.data, record->key.name.len);
    dln_key_text(&buf, &record->key);
    hash_piece(&sha, buf.data, buf.len);
    dln_field_walk_begin(&walk, record);
    while ((field = dln_field_walk_next(&walk, &name)) != NULL) {
        hash_piece(&sha, name.data, name.len);
        hash_stamp(&sha, field->stamp);
        buf.len = 0;
        dln_value_encode(&buf, &field->value);
        hash_piece(&sha, buf.data, buf.len);
    }
    if (dln_buf_status(&buf, NULL) == DUNLIN_OK) {
        hash = first_8_bytes(&sha);
    }
    dln_buf_free(&buf);
    return hash;
}

uint64_t dln_key_hash(const struct dln_key *key) {
    struct dln_buf buf = DLN_BUF_INIT(DLN_DATA_MAX);
    uint64_t hash = 0;
    SHA2_CTX sha;

    dln_key_text(&buf, key);
    if (dln_buf_status(&buf, NULL) == DUNLIN_OK) {
        SHA256Init(&sha);
        if (buf.len > 0) {
            SHA256Update(&sha, (const uint8_t *)buf.data, buf.len);
        }
        hash = first_8_bytes(&sha);
    }
    dln_buf_free(&buf);
    return hash;
}

/* The first leaf at or above a place. */
static size_t leaf_at(const struct dln_leaf *leaves, size_t count, uint64_t place) {
    size_t low = 0;

    while (count > 0) {
        size_t half = count / 2;
        if (leaves[low + half].place < place) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

void dln_leaves_range(const struct dln_leaf *leaves, size_t count, uint64_t prefix, int nibbles,
                      size_t *first, size_t *end) {
    assert(nibbles >= 0 && nibbles <= 16);
    uint64_t below = nibbles < 16 ? UINT64_MAX >> (4 * nibbles) : 0; /* bits behind the prefix */
    assert((prefix & below) == 0);
    *first = leaf_at(leaves, count, prefix);
    *end = (prefix | below) == UINT64_MAX ? count : leaf_at(leaves, count, (prefix | below) + 1);
}

uint64_t dln_leaves_digest(const struct dln_leaf *leaves, size_t count, uint64_t prefix,
                           int nibbles) {
    size_t first, end;
    uint64_t sum = 0;

    dln_leaves_range(leaves, count, prefix, nibbles, &first, &end);
    for (size_t i = first; i < end; i++) {
        sum += leaves[i].hash;
    }
    return sum;
}

void dln_record_dump_line(struct dln_buf *out, const struct dln_record *record) {
    dln_buf_append_text(out, "{\"scope\":");
    dln_json_string(out, record->key.scope);
    dln_buf_append_text(out, ",\"collection\":");
    dln_json_string(out, record->key.name);
    dln_buf_append_text(out, ",\"key\":");
    dln_json_key(out, &record->key);
    dln_buf_append_text(out, ",\"fields\":");
    dln_json_fields(out, record);
    dln_buf_append_text(out, "}\n");
}
