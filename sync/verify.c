/* The exchange that compares digests:
 *
 *     {"dunlin":1,"kind":"verify","nonce":…}
 *     {"scope":"user/alice","prefix":""}
 *     {"scope":"user/alice","prefix":"a3"}          hex digits of the place
 *     {"end":2}
 *
 *     {"dunlin":1,"kind":"verify","nonce":…,"epoch":…,"now":…}
 *     {"ask":0,"seq":"812","digests":["…" × 16],"counts":[… × 16]}     children a30, a31, …, a3f
 *     {"ask":1,"seq":"812","leaves":[["item/l1/video/v1","0123456789abcdef"],…]}
 *     {"end":2,"epoch":…}
 *
 * or {"ask":1,"denied":true}. Digests and hashes are 16 hex digits. Lines of an answer stand in the
 * order of the asks; one that has no "ask" is a later version's and is ignored. A wrong comparison
 * is worth nothing, so that here a line that cannot be read spoils the answer. */
#include "sync/verify.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "sync/frame.h"
#include "sync/json.h"
#include "sync/record_line.h"

enum { CHILDREN = 16, HASH_DIGITS = 16, KEY_TEXT_MAX = 4096 };

bool dln_verify_fill(struct dln_verify_node *node, const struct dln_verify_ask *ask,
                     const struct dln_leaf *leaves, size_t count) {
    if (count <= DLN_VERIFY_NAMED_MAX || ask->nibbles == HASH_DIGITS) {
        node->state = DLN_VERIFY_LEAVES;
        return true;
    }
    node->state = DLN_VERIFY_CHILDREN;
    for (uint64_t i = 0; i < CHILDREN; i++) {
        uint64_t prefix = ask->prefix | i << (60 - 4 * ask->nibbles);
        size_t first, end;
        dln_leaves_range(leaves, count, prefix, ask->nibbles + 1, &first, &end);
        node->children[i].count = end - first;
        node->children[i].digest = 0;
        for (size_t at = first; at < end; at++) {
            node->children[i].digest += leaves[at].hash;
        }
    }
    return false;
}

dunlin_status dln_verify_request_encode(struct dln_buf *out,
                                        const struct dln_verify_request *request,
                                        dunlin_error *err) {
    assert(strlen(request->nonce) == DLN_NONCE_LEN);
    assert(request->ask_count <= DLN_VERIFY_ASKS_MAX);
    dln_put_head(out, "verify", request->nonce);
    dln_put_line_end(out);
    for (size_t i = 0; i < request->ask_count; i++) {
        const struct dln_verify_ask *ask = &request->asks[i];
        char prefix[HASH_DIGITS + 1];
        assert(ask->nibbles >= 0 && ask->nibbles <= HASH_DIGITS);
        (void)snprintf(prefix, sizeof(prefix), "%016" PRIx64, ask->prefix);
        dln_buf_append_text(out, "{\"scope\":");
        dln_json_string(out, ask->scope);
        dln_put_text(out, "prefix", (struct dln_text){prefix, (size_t)ask->nibbles});
        dln_put_line_end(out);
    }
    dln_put_end(out, request->ask_count, (struct dln_text){NULL, 0});
    return dln_buf_status(out, err);
}

static dunlin_status bad(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_BAD_MESSAGE, DUNLIN_DOMAIN_SYNC, "%s", what);
}

/* Hex digits to the upper end of a number. */
static bool hex_read(struct dln_text text, uint64_t *out) {
    static const char digits[] = "0123456789abcdef";
    uint64_t number = 0;

    if (!text.data || text.len > HASH_DIGITS) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = memchr(digits, text.data[i], CHILDREN);
        if (!digit) {
            return false;
        }
        number |= (uint64_t)(digit - digits) << (60 - 4 * i);
    }
    *out = number;
    return true;
}

static dunlin_status ask_read(struct dln_arena *arena, struct dln_verify_ask *out,
                              struct dln_text text, dunlin_error *err) {
    struct dln_text prefix = {NULL, 0};
    struct dln_line_scope scope;
    json_t *line = NULL;
    dunlin_status status;

    if ((status = dln_json_parse(&line, text, 0, err)) != DUNLIN_OK) {
        goto done;
    }
    if ((status = dln_line_scope_read(arena, &scope, line, err)) != DUNLIN_OK) {
        goto done;
    }
    out->scope = scope.name;
    if (dln_get_text(line, "prefix", HASH_DIGITS, &prefix) && hex_read(prefix, &out->prefix)) {
        out->nibbles = (int)prefix.len;
    } else {
        status = bad(err, "a prefix cannot be read");
    }
done:
    json_decref(line);
    return status;
}

dunlin_status dln_verify_request_decode(struct dln_arena *arena, struct dln_verify_request *out,
                                        struct dln_text body, dunlin_error *err) {
    struct dln_frame frame = {0};
    struct dln_text text;
    void *asks;
    dunlin_status status;

    *out = (struct dln_verify_request){0};
    if ((status = dln_request_open(&frame, "verify", out->nonce, body, err)) != DUNLIN_OK) {
        goto done;
    }
    if (frame.line_count > DLN_VERIFY_ASKS_MAX) {
        status = dln_fail(err, DUNLIN_TOO_LARGE, DUNLIN_DOMAIN_SYNC,
                          "a request has %zu prefixes; %d are the most", frame.line_count,
                          DLN_VERIFY_ASKS_MAX);
        goto done;
    }
    status = dln_take(arena, &asks, frame.line_count, sizeof(*out->asks), err);
    out->asks = asks;
    while (status == DUNLIN_OK && dln_frame_next(&frame, &text)) {
        status = ask_read(arena, &out->asks[out->ask_count++], text, err);
    }
    if (status != DUNLIN_OK && !dln_is_fatal(status)) {
        status = bad(err, "a prefix's line cannot be read");
    }
done:
    dln_frame_close(&frame);
    return status;
}

static void put_children(struct dln_buf *out, const struct dln_verify_node *node) {
    dln_put_name(out, "digests");
    for (int i = 0; i < CHILDREN; i++) {
        dln_buf_printf(out, "%c\"%016" PRIx64 "\"", i == 0 ? '[' : ',', node->children[i].digest);
    }
    dln_buf_append_byte(out, ']');
    dln_put_name(out, "counts");
    for (int i = 0; i < CHILDREN; i++) {
        dln_buf_printf(out, "%c%zu", i == 0 ? '[' : ',', node->children[i].count);
    }
    dln_buf_append_byte(out, ']');
}

static void put_leaves(struct dln_buf *out, const struct dln_verify_node *node) {
    dln_put_name(out, "leaves");
    dln_buf_append_byte(out, '[');
    for (size_t i = 0; i < node->leaf_count; i++) {
        dln_buf_append_text(out, i == 0 ? "[" : ",[");
        dln_json_string(out, node->leaves[i].key);
        dln_buf_printf(out, ",\"%016" PRIx64 "\"]", node->leaves[i].hash);
    }
    dln_buf_append_byte(out, ']');
}

dunlin_status dln_verify_answer_encode(struct dln_buf *out, const struct dln_verify_answer *answer,
                                       dunlin_error *err) {
    assert(strlen(answer->nonce) == DLN_NONCE_LEN && answer->epoch.len > 0);
    dln_put_answer_head(out, "verify", answer->nonce, answer->epoch, answer->now_ms);
    for (size_t i = 0; i < answer->node_count; i++) {
        const struct dln_verify_node *node = &answer->nodes[i];
        assert(node->leaf_count <= DLN_VERIFY_LEAVES_MAX);
        assert(i == 0 || node->ask > answer->nodes[i - 1].ask);
        dln_buf_printf(out, "{\"ask\":%zu", node->ask);
        if (node->state == DLN_VERIFY_DENIED) {
            dln_put_true(out, "denied");
        } else {
            dln_put_i64(out, "seq", node->seq);
            if (node->state == DLN_VERIFY_CHILDREN) {
                put_children(out, node);
            } else {
                put_leaves(out, node);
            }
        }
        dln_put_line_end(out);
    }
    dln_put_end(out, answer->node_count, answer->epoch);
    return dln_buf_status(out, err);
}

static bool children_read(struct dln_verify_node *out, const json_t *digests,
                          const json_t *counts) {
    if (json_array_size(digests) != CHILDREN || json_array_size(counts) != CHILDREN) {
        return false;
    }
    for (size_t i = 0; i < CHILDREN; i++) {
        const json_t *digest = json_array_get(digests, i);
        const json_t *count = json_array_get(counts, i);
        struct dln_text digits = dln_text_of_json(digest);
        if (digits.len != HASH_DIGITS || !hex_read(digits, &out->children[i].digest) ||
            !json_is_integer(count) || json_integer_value(count) < 0) {
            return false;
        }
        out->children[i].count = (size_t)json_integer_value(count);
    }
    return true;
}

static dunlin_status leaves_read(struct dln_arena *arena, struct dln_verify_node *out,
                                 const json_t *leaves, dunlin_error *err) {
    size_t count = json_array_size(leaves);
    void *taken;
    dunlin_status status;

    if (!json_is_array(leaves) || count > DLN_VERIFY_LEAVES_MAX) {
        return bad(err, "an answer's records cannot be read");
    }
    status = dln_take(arena, &taken, count, sizeof(*out->leaves), err);
    out->leaves = taken;
    for (size_t i = 0; status == DUNLIN_OK && i < count; i++) {
        const json_t *pair = json_array_get(leaves, i);
        struct dln_verify_leaf *leaf = &out->leaves[i];
        struct dln_text digits = dln_text_of_json(json_array_get(pair, 1));
        leaf->key = dln_text_of_json(json_array_get(pair, 0));
        if (leaf->key.len == 0 || leaf->key.len > KEY_TEXT_MAX || digits.len != HASH_DIGITS ||
            !hex_read(digits, &leaf->hash)) {
            return bad(err, "an answer's record cannot be read");
        }
        status = dln_keep(arena, &leaf->key, err);
    }
    out->leaf_count = count;
    return status;
}

static dunlin_status node_read(struct dln_arena *arena, struct dln_verify_node *out,
                               const json_t *line, dunlin_error *err) {
    const json_t *leaves = json_object_get(line, "leaves");
    bool denied = false;

    if (!dln_get_count(line, "ask", DLN_VERIFY_ASKS_MAX - 1, &out->ask) ||
        !dln_get_i64(line, "seq", 0, INT64_MAX, &out->seq) ||
        !dln_get_flag(line, "denied", &denied)) {
        return bad(err, "an answer's line cannot be read");
    }
    if (denied) {
        out->state = DLN_VERIFY_DENIED;
        return DUNLIN_OK;
    }
    if (leaves) {
        out->state = DLN_VERIFY_LEAVES;
        return leaves_read(arena, out, leaves, err);
    }
    out->state = DLN_VERIFY_CHILDREN;
    if (!children_read(out, json_object_get(line, "digests"), json_object_get(line, "counts"))) {
        return bad(err, "an answer's digests cannot be read");
    }
    return DUNLIN_OK;
}

static dunlin_status node_line_read(struct dln_arena *arena, struct dln_verify_answer *out,
                                    struct dln_text text, dunlin_error *err) {
    struct dln_verify_node *node = &out->nodes[out->node_count];
    json_t *line = NULL;
    dunlin_status status = dln_json_parse(&line, text, 0, err);

    if (status == DUNLIN_OK && !json_is_object(line)) {
        status = bad(err, "an answer's line cannot be read");
    } else if (status == DUNLIN_OK && json_object_get(line, "ask")) {
        status = node_read(arena, node, line, err);
        if (status == DUNLIN_OK && out->node_count > 0 && node->ask <= node[-1].ask) {
            status = bad(err, "an answer's lines are out of order");
        }
        out->node_count += status == DUNLIN_OK;
    }
    json_decref(line);
    return status;
}

dunlin_status dln_verify_answer_decode(struct dln_arena *arena, struct dln_verify_answer *out,
                                       const char *nonce, struct dln_text body, dunlin_error *err) {
    struct dln_frame frame = {0};
    struct dln_answer_head head;
    struct dln_text text;
    dunlin_error why;
    void *nodes;
    dunlin_status status;

    *out = (struct dln_verify_answer){0};
    status = dln_answer_open(&frame, &head, "verify", nonce, body, err);
    out->retry_after_ms = head.retry_after_ms;
    if (status != DUNLIN_OK) {
        goto done;
    }
    memcpy(out->nonce, nonce, DLN_NONCE_LEN + 1);
    out->now_ms = head.now_ms;
    out->epoch = head.epoch;
    status = dln_keep(arena, &out->epoch, &why);
    if (status == DUNLIN_OK && frame.line_count > DLN_VERIFY_ASKS_MAX) {
        status =
            dln_fail(&why, DUNLIN_TOO_LARGE, DUNLIN_DOMAIN_SYNC, "an answer has too many lines");
    }
    if (status == DUNLIN_OK) {
        status = dln_take(arena, &nodes, frame.line_count, sizeof(*out->nodes), &why);
    }
    if (status == DUNLIN_OK) {
        out->nodes = nodes;
    }
    while (status == DUNLIN_OK && dln_frame_next(&frame, &text)) {
        status = node_line_read(arena, out, text, &why);
    }
    if (status != DUNLIN_OK) {
        status = dln_fail(err, dln_is_fatal(status) ? status : DUNLIN_NOT_OUR_SERVER, why.domain,
                          "%s", why.message);
    }
done:
    dln_frame_close(&frame);
    return status;
}
