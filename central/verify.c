/* A scope's leaves (place and hash of each live record) are made from the log for each request;
 * what is named by key is looked up in a second walk, so that memory holds 16 bytes a record. Both
 * walks must be of one moment: where the scope's last seq moved meanwhile, they start over, and
 * after some tries the scope is left out, to be asked for again. */
#include "central/verify.h"

#include <stdlib.h>
#include <string.h>

#include "central/exchange.h"
#include "central/live.h"
#include "sync/verify.h"

enum { TRIES = 3, LEAVES_MAX = 8 * 1024 * 1024 };

/* One scope of the request, and all that is asked about it. */
struct subject {
    struct dunlin_central *central;
    struct dln_text scope;
    const struct dln_verify_request *request;
    struct dln_verify_node *nodes; /* by ask */
    const size_t *asks;
    size_t ask_count;
    struct dln_leaf *leaves; /* sorted by place */
    size_t leaf_count;
    size_t leaf_size;
};

static bool add_leaf(struct subject *subject, const struct dln_record *record) {
    if (subject->leaf_count == subject->leaf_size) {
        size_t size = subject->leaf_size == 0 ? 256 : subject->leaf_size * 2;
        struct dln_leaf *larger =
            size <= LEAVES_MAX ? realloc(subject->leaves, size * sizeof(*larger)) : NULL;
        if (larger == NULL) {
            return false;
        }
        subject->leaves = larger;
        subject->leaf_size = size;
    }
    subject->leaves[subject->leaf_count++] =
        (struct dln_leaf){dln_key_hash(&record->key), dln_record_hash(record)};
    return true;
}

static int compare_leaves(const void *a, const void *b) {
    const struct dln_leaf *left = a;
    const struct dln_leaf *right = b;
    return (left->place > right->place) - (left->place < right->place);
}

static dunlin_status read_leaves(struct subject *subject, dunlin_error *err) {
    struct dln_live live = {.walk = {.central = subject->central, .scope = subject->scope}};
    const struct dln_record *record;
    struct dln_text key;
    dunlin_status status;
    subject->leaf_count = 0;
    while ((status = dln_live_next(&live, &record, &key, err)) == DUNLIN_OK && record != NULL) {
        if (!add_leaf(subject, record)) {
            status = dln_central_no_memory(err);
            break;
        }
    }
    dln_live_free(&live);
    if (subject->leaf_count > 0) {
        qsort(subject->leaves, subject->leaf_count, sizeof(*subject->leaves), compare_leaves);
    }
    return status;
}

/* Fills in the nodes; *named tells whether keys are missing. */
static dunlin_status fill_nodes(struct subject *subject, bool *named, dunlin_error *err) {
    *named = false;
    for (size_t i = 0; i < subject->ask_count; i++) {
        const struct dln_verify_ask *ask = &subject->request->asks[subject->asks[i]];
        struct dln_verify_node *node = &subject->nodes[subject->asks[i]];
        size_t first;
        size_t end;
        dln_leaves_range(subject->leaves, subject->leaf_count, ask->prefix, ask->nibbles, &first,
                         &end);
        *node = (struct dln_verify_node){.ask = subject->asks[i]};
        const struct dln_leaf *leaves = end > first ? subject->leaves + first : NULL;
        if (!dln_verify_fill(node, ask, leaves, end - first)) {
            continue;
        }
        node->leaf_count =
            end - first < DLN_VERIFY_LEAVES_MAX ? end - first : DLN_VERIFY_LEAVES_MAX;
        node->leaves =
            dln_arena_alloc(&subject->central->arena, node->leaf_count * sizeof(*node->leaves));
        if (node->leaves == NULL) {
            return dln_central_no_memory(err);
        }
        for (size_t k = 0; k < node->leaf_count; k++) {
            node->leaves[k].hash = subject->leaves[first + k].hash;
        }
        *named = *named || node->leaf_count > 0;
    }
    return DUNLIN_OK;
}

/* Names the record wherever it is among a node's leaves. */
static bool name_leaf(struct subject *subject, const struct dln_record *record,
                      struct dln_text key) {
    uint64_t place = dln_key_hash(&record->key);
    for (size_t i = 0; i < subject->ask_count; i++) {
        const struct dln_verify_ask *ask = &subject->request->asks[subject->asks[i]];
        struct dln_verify_node *node = &subject->nodes[subject->asks[i]];
        size_t first;
        size_t from;
        size_t end;
        if (node->state != DLN_VERIFY_LEAVES) {
            continue;
        }
        dln_leaves_range(subject->leaves, subject->leaf_count, ask->prefix, ask->nibbles, &first,
                         &end);
        dln_leaves_range(subject->leaves, subject->leaf_count, place, 16, &from, &end);
        if (from < first || from - first >= node->leaf_count || from == end) {
            continue;
        }
        struct dln_verify_leaf *leaf = &node->leaves[from - first];
        leaf->key = dln_arena_text(&subject->central->arena, key);
        if (leaf->key.data == NULL) {
            return false;
        }
    }
    return true;
}

static dunlin_status name_leaves(struct subject *subject, dunlin_error *err) {
    struct dln_live live = {.walk = {.central = subject->central, .scope = subject->scope}};
    const struct dln_record *record;
    struct dln_text key;
    dunlin_status status;
    while ((status = dln_live_next(&live, &record, &key, err)) == DUNLIN_OK && record != NULL) {
        if (!name_leaf(subject, record, key)) {
            status = dln_central_no_memory(err);
            break;
        }
    }
    dln_live_free(&live);
    return status;
}

/* *done stays false where the scope did not keep still. */
static dunlin_status compare_scope(struct subject *subject, bool *done, dunlin_error *err) {
    const struct dln_central_engine *engine = &subject->central->engine;
    dunlin_status status = DUNLIN_OK;
    for (int i = 0; i < TRIES && !*done; i++) {
        struct dln_cursor before;
        struct dln_cursor after;
        bool named;
        if ((status = engine->last(engine->self, subject->scope, &before, err)) ||
            (status = read_leaves(subject, err)) || (status = fill_nodes(subject, &named, err)) ||
            (named && (status = name_leaves(subject, err))) ||
            (status = engine->last(engine->self, subject->scope, &after, err))) {
            return status;
        }
        *done = before.seq == after.seq;
        for (size_t k = 0; k < subject->ask_count; k++) {
            subject->nodes[subject->asks[k]].seq = after.seq;
        }
    }
    return status;
}

static dunlin_status may_read(struct dunlin_central *central, struct dln_text user,
                              struct dln_text scope, bool *may, dunlin_error *err) {
    struct dln_standing standing = {.user = user};
    dunlin_status status = DUNLIN_OK;
    *may = false;
    if (dln_scope_parse(&central->arena, scope, &standing.kind, &standing.id)) {
        status = dln_standing_read(central, &central->arena, scope, &standing, err);
        *may = status == DUNLIN_OK && dln_may_read(&standing);
    } else if (dln_central_is_short(&central->arena, DLN_SCOPE_MAX)) {
        status = dln_central_no_memory(err);
    }
    return status;
}

/* Everything that is asked about the scope of the first ask that has no node yet. */
static dunlin_status answer_scope(struct subject *subject, struct dln_text user, bool *answered,
                                  dunlin_error *err) {
    dunlin_status status;
    bool may;
    bool done = false;
    if ((status = may_read(subject->central, user, subject->scope, &may, err))) {
        return status;
    }
    for (size_t i = 0; !may && i < subject->ask_count; i++) {
        subject->nodes[subject->asks[i]] =
            (struct dln_verify_node){.ask = subject->asks[i], .state = DLN_VERIFY_DENIED};
    }
    if (may && (status = compare_scope(subject, &done, err))) {
        return status;
    }
    for (size_t i = 0; i < subject->ask_count; i++) {
        answered[subject->asks[i]] = !may || done;
    }
    return DUNLIN_OK;
}

/* Scope by scope: the asks of one are answered together. */
static dunlin_status answer_all(struct dunlin_central *central, struct dln_text user,
                                const struct dln_verify_request *request,
                                struct dln_verify_node *nodes, bool *answered, dunlin_error *err) {
    struct dln_arena *arena = &central->arena;
    bool *seen = dln_arena_alloc(arena, request->ask_count * sizeof(*seen));
    size_t *asks = dln_arena_alloc(arena, request->ask_count * sizeof(*asks));
    dunlin_status status = DUNLIN_OK;
    if (seen == NULL || asks == NULL) {
        return dln_central_no_memory(err);
    }
    for (size_t i = 0; status == DUNLIN_OK && i < request->ask_count; i++) {
        struct subject subject = {.central = central,
                                  .scope = request->asks[i].scope,
                                  .request = request,
                                  .nodes = nodes,
                                  .asks = asks};
        if (seen[i]) {
            continue;
        }
        for (size_t k = i; k < request->ask_count; k++) {
            if (dln_text_equal(request->asks[k].scope, subject.scope)) {
                asks[subject.ask_count++] = k;
                seen[k] = true;
            }
        }
        status = answer_scope(&subject, user, answered, err);
        free(subject.leaves);
    }
    return status;
}

dunlin_status dln_verify_body(struct dunlin_central *central, struct dln_text user,
                              struct dln_text body, struct dln_buf *out, dunlin_error *err) {
    const struct dln_central_engine *engine = &central->engine;
    struct dln_arena *arena = &central->arena;
    struct dln_verify_request request;
    struct dln_verify_answer answer = {.node_count = 0};
    struct dln_epoch epoch;
    dunlin_status status;
    if ((status = dln_verify_request_decode(arena, &request, body, err)) ||
        (status = dln_central_epoch(central, arena, &epoch, err))) {
        return status;
    }
    bool *answered = dln_arena_alloc(arena, request.ask_count * sizeof(*answered));
    answer.nodes = dln_arena_alloc(arena, request.ask_count * sizeof(*answer.nodes));
    if (answered == NULL || answer.nodes == NULL) {
        return dln_central_no_memory(err);
    }
    if ((status = answer_all(central, user, &request, answer.nodes, answered, err)) ||
        (status = dln_central_epoch_stands(central, &epoch, err)) ||
        (status = engine->now(engine->self, &answer.now_ms, err))) {
        return status;
    }
    for (size_t i = 0; i < request.ask_count; i++) {
        if (answered[i]) {
            answer.nodes[answer.node_count++] = answer.nodes[i];
        }
    }
    memcpy(answer.nonce, request.nonce, sizeof(answer.nonce));
    answer.epoch = epoch.id;
    return dln_verify_answer_encode(out, &answer, err);
}
