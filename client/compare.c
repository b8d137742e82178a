/* A scope's leaves on this side are read once and sorted by place; what is to be asked of the other
 * side stands on a stack of prefixes, taken from its top in batches, so that it stays small however
 * much differs. */
#include "client/compare.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "client/sync_port.h"
#include "sync/digest.h"
#include "sync/json.h"

enum {
    CHILDREN = 16,
    PLACE_NIBBLES = 16,
    LINES_BYTES_MAX = 64 * 1024 * 1024,
    KEYS_BYTES_MAX = 512 * 1024 * 1024,
    ANSWER_BYTES_MAX = 64 * 1024 * 1024,
    ROW_BYTES_MAX = 4 * 1024 * 1024
};

static dunlin_status no_memory(dunlin_error *err) {
    return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_SYNC, "out of memory");
}

dunlin_status dln_verify_exchange(struct dln_store *store, dunlin_remote *remote,
                                  struct dln_arena *arena, struct dln_verify_ask *asks,
                                  size_t count, struct dln_verify_answer *out, dunlin_error *err) {
    struct dln_verify_request request = {.asks = asks, .ask_count = count};
    struct dln_buf body = DLN_BUF_INIT(DLN_REQUEST_BYTES_MAX);
    struct dln_buf answer = {0};
    int64_t retry_after_ms;
    (void)snprintf(request.nonce, sizeof(request.nonce), "%016" PRIx64 "%016" PRIx64,
                   dln_store_random(store), dln_store_random(store));
    dunlin_status status = dln_verify_request_encode(&body, &request, err);
    if (status == DUNLIN_OK) {
        status = dln_exchange(remote, "verify", (struct dln_text){body.data, body.len}, &answer,
                              &retry_after_ms, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_verify_answer_decode(arena, out, request.nonce,
                                          (struct dln_text){answer.data, answer.len}, err);
    }
    dln_buf_free(&body);
    dln_buf_free(&answer);
    return status;
}

/* ---- this side's leaves */

struct named_leaf {
    struct dln_leaf leaf;
    struct dln_text key;
};

struct compare {
    struct dln_store *store;
    dunlin_remote *remote;
    struct dln_text scope;
    int64_t seq;
    struct dln_differences *out;
    struct dln_arena keys;
    struct dln_buf key; /* scratch */
    struct named_leaf *named;
    struct dln_leaf *leaves; /* the same, without keys */
    size_t count;
    size_t size;
    struct dln_verify_ask *stack;
    size_t stack_count;
    size_t stack_size;
};

static dunlin_status add_leaf(void *self, const struct dln_row *row, dunlin_error *err) {
    struct compare *compare = self;
    if (compare->count == compare->size) {
        size_t size = compare->size ? compare->size * 2 : 256;
        struct named_leaf *grown = realloc(compare->named, size * sizeof(*grown));
        if (!grown) {
            return no_memory(err);
        }
        compare->named = grown;
        compare->size = size;
    }
    dln_buf_clear(&compare->key);
    dln_key_text(&compare->key, &row->record.key);
    dunlin_status status = dln_buf_status(&compare->key, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    struct named_leaf *leaf = &compare->named[compare->count];
    leaf->leaf = (struct dln_leaf){dln_key_hash(&row->record.key), dln_record_hash(&row->record)};
    leaf->key =
        dln_arena_text(&compare->keys, (struct dln_text){compare->key.data, compare->key.len});
    if (!leaf->key.data) {
        return no_memory(err);
    }
    compare->count++;
    return DUNLIN_OK;
}

static int by_place(const void *a, const void *b) {
    const struct named_leaf *left = a;
    const struct named_leaf *right = b;
    return (left->leaf.place > right->leaf.place) - (left->leaf.place < right->leaf.place);
}

static dunlin_status read_leaves(struct compare *compare, dunlin_error *err) {
    dunlin_status status = dln_scope_live(compare->store, compare->scope, add_leaf, compare, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    compare->leaves = calloc(compare->count + 1, sizeof(*compare->leaves));
    if (!compare->leaves) {
        return no_memory(err);
    }
    if (compare->count > 0) {
        qsort(compare->named, compare->count, sizeof(*compare->named), by_place);
    }
    for (size_t i = 0; i < compare->count; i++) {
        compare->leaves[i] = compare->named[i].leaf;
    }
    return DUNLIN_OK;
}

/* ---- what differs */

/* Whether the record waits in the outbox, or the list or group does that makes it live. */
static dunlin_status waits(struct compare *compare, const struct dln_key *key, bool *out,
                           dunlin_error *err) {
    struct dln_arena arena = DLN_ARENA_INIT(ROW_BYTES_MAX);
    struct dln_row row;
    enum dln_collection_id parent = 0;
    dunlin_status status = dln_row_get(compare->store, &arena, key, &row, err);
    *out = status == DUNLIN_OK && row.pending != 0;
    if (key->collection && key->collection->id == DLN_ITEM) {
        parent = DLN_LIST;
    } else if (key->collection && key->collection->id == DLN_MEMBER) {
        parent = DLN_GROUP;
    }
    if (status == DUNLIN_OK && !*out && parent != 0) {
        struct dln_key above = {.collection = dln_collection_by_id(parent), .scope = key->scope};
        above.name = dln_text_of(above.collection->name);
        above.part_count = above.collection->key_count;
        above.parts[0] = key->parts[0]; /* a group has none */
        status = dln_row_get(compare->store, &arena, &above, &row, err);
        *out = status == DUNLIN_OK && row.pending != 0;
    }
    dln_arena_free(&arena);
    return status;
}

static void write_line(struct dln_buf *out, const struct dln_key *key, const char *side) {
    dln_buf_append_text(out, "{\"scope\":");
    dln_json_string(out, key->scope);
    dln_buf_append_text(out, ",\"collection\":");
    dln_json_string(out, key->name);
    dln_buf_append_text(out, ",\"key\":[");
    for (int i = 0; i < key->part_count; i++) {
        dln_buf_append_text(out, i ? "," : "");
        dln_json_string(out, key->parts[i]);
    }
    dln_buf_printf(out, "],\"side\":\"%s\"}\n", side);
}

static dunlin_status note(struct compare *compare, struct dln_text text, const char *side,
                          dunlin_error *err) {
    struct dln_arena arena = DLN_ARENA_INIT(ROW_BYTES_MAX);
    struct dln_key key = {.scope = compare->scope};
    bool waiting = false;
    dunlin_status status = DUNLIN_OK;
    if (!dln_key_parse(&arena, &key, text)) {
        status = dln_fail(err, DUNLIN_BAD_MESSAGE, DUNLIN_DOMAIN_SYNC, "a key cannot be read");
    }
    if (status == DUNLIN_OK) {
        status = waits(compare, &key, &waiting, err);
    }
    if (status == DUNLIN_OK && !waiting) {
        compare->out->count++;
        write_line(&compare->out->lines, &key, side);
        status = dln_buf_status(&compare->out->lines, err);
    }
    dln_arena_free(&arena);
    return status;
}

/* Central names all its records below a prefix: each against this side's, both ways. */
static dunlin_status compare_leaves(struct compare *compare, const struct dln_verify_ask *ask,
                                    const struct dln_verify_node *node, dunlin_error *err) {
    size_t first, end;
    dunlin_status status = DUNLIN_OK;
    dln_leaves_range(compare->leaves, compare->count, ask->prefix, ask->nibbles, &first, &end);
    for (size_t i = 0; i < node->leaf_count && status == DUNLIN_OK; i++) {
        const struct dln_verify_leaf *theirs = &node->leaves[i];
        size_t at = first;
        while (at < end && !dln_text_equal(compare->named[at].key, theirs->key)) {
            at++;
        }
        if (at == end) {
            status = note(compare, theirs->key, "central", err);
        } else if (compare->named[at].leaf.hash != theirs->hash) {
            status = note(compare, theirs->key, "both", err);
        }
    }
    for (size_t at = first; at < end && status == DUNLIN_OK; at++) {
        size_t i = 0;
        while (i < node->leaf_count &&
               !dln_text_equal(compare->named[at].key, node->leaves[i].key)) {
            i++;
        }
        if (i == node->leaf_count) {
            status = note(compare, compare->named[at].key, "device", err);
        }
    }
    return status;
}

/* ---- the walk */

static dunlin_status push(struct compare *compare, uint64_t prefix, int nibbles,
                          dunlin_error *err) {
    if (compare->stack_count == compare->stack_size) {
        size_t size = compare->stack_size ? compare->stack_size * 2 : 64;
        struct dln_verify_ask *grown = realloc(compare->stack, size * sizeof(*grown));
        if (!grown) {
            return no_memory(err);
        }
        compare->stack = grown;
        compare->stack_size = size;
    }
    compare->stack[compare->stack_count++] =
        (struct dln_verify_ask){.scope = compare->scope, .prefix = prefix, .nibbles = nibbles};
    return DUNLIN_OK;
}

static dunlin_status take_node(struct compare *compare, const struct dln_verify_ask *ask,
                               const struct dln_verify_node *node, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    if (node->state == DLN_VERIFY_DENIED || node->seq != compare->seq) {
        compare->out->moved = true;
        return DUNLIN_OK;
    }
    if (node->state == DLN_VERIFY_LEAVES) {
        return compare_leaves(compare, ask, node, err);
    }
    for (uint64_t i = 0; i < CHILDREN && status == DUNLIN_OK; i++) {
        assert(ask->nibbles < PLACE_NIBBLES);
        uint64_t prefix = ask->prefix | i << (4 * (PLACE_NIBBLES - 1 - ask->nibbles));
        uint64_t digest =
            dln_leaves_digest(compare->leaves, compare->count, prefix, ask->nibbles + 1);
        if (digest != node->children[i].digest) {
            status = push(compare, prefix, ask->nibbles + 1, err);
        }
    }
    return status;
}

static dunlin_status walk(struct compare *compare, dunlin_error *err) {
    struct dln_arena arena = DLN_ARENA_INIT(ANSWER_BYTES_MAX);
    dunlin_status status = push(compare, 0, 0, err);
    while (status == DUNLIN_OK && compare->stack_count > 0 && !compare->out->moved) {
        struct dln_verify_ask asks[DLN_VERIFY_ASKS_MAX];
        struct dln_verify_answer answer;
        bool answered[DLN_VERIFY_ASKS_MAX] = {false};
        size_t count =
            compare->stack_count < DLN_VERIFY_ASKS_MAX ? compare->stack_count : DLN_VERIFY_ASKS_MAX;
        compare->stack_count -= count;
        memcpy(asks, compare->stack + compare->stack_count, count * sizeof(*asks));
        dln_arena_clear(&arena);
        status =
            dln_verify_exchange(compare->store, compare->remote, &arena, asks, count, &answer, err);
        if (status == DUNLIN_OK && answer.node_count == 0) {
            status = dln_fail(err, DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_SYNC,
                              "central answered no question");
        }
        for (size_t i = 0; status == DUNLIN_OK && i < answer.node_count; i++) {
            answered[answer.nodes[i].ask] = true;
            status = take_node(compare, &asks[answer.nodes[i].ask], &answer.nodes[i], err);
        }
        for (size_t i = 0; status == DUNLIN_OK && i < count; i++) {
            if (!answered[i]) {
                status = push(compare, asks[i].prefix, asks[i].nibbles, err);
            }
        }
    }
    dln_arena_free(&arena);
    return status;
}

dunlin_status dln_compare_scope(struct dln_store *store, dunlin_remote *remote,
                                struct dln_text scope, int64_t seq, struct dln_differences *out,
                                dunlin_error *err) {
    struct compare compare = {.store = store,
                              .remote = remote,
                              .scope = scope,
                              .seq = seq,
                              .out = out,
                              .keys = DLN_ARENA_INIT(KEYS_BYTES_MAX),
                              .key = DLN_BUF_INIT(ROW_BYTES_MAX)};
    *out = (struct dln_differences){.lines = DLN_BUF_INIT(LINES_BYTES_MAX)};
    dunlin_status status = read_leaves(&compare, err);
    if (status == DUNLIN_OK) {
        status = walk(&compare, err);
    }
    free(compare.named);
    free(compare.leaves);
    free(compare.stack);
    dln_buf_free(&compare.key);
    dln_arena_free(&compare.keys);
    return status;
}
