/* Divergence: whether every synced scope is what central has.
 *
 * Only what is of one moment can be compared: the device pulls first, and a scope that went on at
 * central meanwhile is looked at again after another pull, at most ATTEMPTS times. Roots are asked
 * for many scopes at once; only scopes whose root differs are walked (client/compare.c). */
#include <stdlib.h>
#include <string.h>

#include <dunlin/sync.h>

#include "base/error.h"
#include "client/compare.h"
#include "client/handle.h"
#include "client/sync_port.h"
#include "sync/apply.h"

enum { ATTEMPTS = 3, SCOPES_AT_ONCE = 200, ARENA_BYTES_MAX = 64 * 1024 * 1024 };

struct verify {
    struct dln_store *store;
    dunlin_remote *remote;
    bool repair;
    dunlin_divergence *out;
    dunlin_line_callback callback;
    void *payload;
    struct dln_arena names;  /* of scopes that moved, of this attempt and of the last one */
    struct dln_arena scopes; /* of a page of scopes */
    struct dln_arena answer;
    struct dln_text *moved;
    size_t moved_count;
    size_t moved_size;
    int64_t differ_before; /* differences in scopes that are being repaired */
};

static dunlin_status no_memory(dunlin_error *err) {
    return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_SYNC, "out of memory");
}

static dunlin_status add_moved(struct verify *verify, struct dln_text scope, dunlin_error *err) {
    if (verify->moved_count == verify->moved_size) {
        size_t size = verify->moved_size ? verify->moved_size * 2 : 16;
        struct dln_text *grown = realloc(verify->moved, size * sizeof(*grown));
        if (!grown) {
            return no_memory(err);
        }
        verify->moved = grown;
        verify->moved_size = size;
    }
    struct dln_text name = dln_arena_text(&verify->names, scope);
    if (!name.data) {
        return no_memory(err);
    }
    verify->moved[verify->moved_count++] = name;
    return DUNLIN_OK;
}

/* ---- one scope */

/* The lines, one callback each. */
static dunlin_status tell(struct verify *verify, const struct dln_buf *lines, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    size_t at = 0;
    while (verify->callback && at < lines->len && status == DUNLIN_OK) {
        const char *end = memchr(lines->data + at, '\n', lines->len - at);
        size_t len = (size_t)(end - (lines->data + at)) + 1;
        status = verify->callback(lines->data + at, len, verify->payload);
        at += len;
        if (status != DUNLIN_OK) {
            (void)dln_fail(err, status, DUNLIN_DOMAIN_API, "the callback stopped the call");
        }
    }
    return status;
}

static dunlin_status start_over(struct verify *verify, struct dln_text scope, dunlin_error *err) {
    const struct dln_sync_store port = dln_sync_port(verify->store);
    struct dln_apply apply = {.store = &port, .now_ms = dln_store_corrected_ms(verify->store)};
    struct dln_scope_row row;
    dunlin_status status = dln_store_begin(verify->store, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    status = dln_scope_get(verify->store, &verify->answer, scope, &row, err);
    if (status == DUNLIN_OK) {
        status = dln_apply_restart(&apply, &row, err);
    }
    if (status != DUNLIN_OK) {
        dln_store_rollback(verify->store);
        return status;
    }
    return dln_store_commit(verify->store, err);
}

static dunlin_status look_into(struct verify *verify, const struct dln_scope_row *scope,
                               dunlin_error *err) {
    struct dln_differences found;
    dunlin_status status = dln_compare_scope(verify->store, verify->remote, scope->scope,
                                             scope->cursor.seq, &found, err);
    if (status == DUNLIN_OK && found.moved) {
        status = add_moved(verify, scope->scope, err);
    } else if (status == DUNLIN_OK && found.count > 0) {
        verify->out->differ += found.count;
        status = tell(verify, &found.lines, err);
        if (status == DUNLIN_OK && verify->repair) {
            status = start_over(verify, scope->scope, err);
            verify->differ_before += found.count;
        }
    }
    dln_buf_free(&found.lines);
    return status;
}

/* ---- many scopes */

static uint64_t node_digest(const struct dln_verify_node *node) {
    uint64_t digest = 0;
    for (size_t i = 0; node->state == DLN_VERIFY_CHILDREN && i < 16; i++) {
        digest += node->children[i].digest;
    }
    for (size_t i = 0; node->state == DLN_VERIFY_LEAVES && i < node->leaf_count; i++) {
        digest += node->leaves[i].hash;
    }
    return digest;
}

static dunlin_status add_hash(void *self, const struct dln_row *row, dunlin_error *err) {
    uint64_t *digest = self;
    (void)err;
    *digest += dln_record_hash(&row->record);
    return DUNLIN_OK;
}

static dunlin_status judge_scope(struct verify *verify, const struct dln_scope_row *scope,
                                 const struct dln_verify_node *node, dunlin_error *err) {
    uint64_t digest = 0;
    if (node->state == DLN_VERIFY_DENIED) {
        return DUNLIN_OK; /* the next pull takes it away */
    }
    dunlin_status status = dln_scope_live(verify->store, scope->scope, add_hash, &digest, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    verify->out->scopes++;
    if (digest == node_digest(node)) {
        return DUNLIN_OK;
    }
    if (node->seq != scope->cursor.seq) {
        verify->out->scopes--; /* counted when it is looked at again */
        return add_moved(verify, scope->scope, err);
    }
    size_t moved = verify->moved_count;
    status = look_into(verify, scope, err);
    verify->out->scopes -= verify->moved_count > moved;
    return status;
}

/* Up to DLN_VERIFY_ASKS_MAX scopes. What did not fit the answer is asked for again. */
static dunlin_status compare_scopes(struct verify *verify, const struct dln_scope_row *scopes,
                                    size_t count, dunlin_error *err) {
    bool done[DLN_VERIFY_ASKS_MAX] = {false};
    size_t left = 0;
    dunlin_status status = DUNLIN_OK;
    for (size_t i = 0; i < count; i++) {
        done[i] = !scopes[i].wanted || scopes[i].held;
        left += !done[i];
    }
    while (left > 0 && status == DUNLIN_OK) {
        struct dln_verify_ask asks[DLN_VERIFY_ASKS_MAX];
        size_t index[DLN_VERIFY_ASKS_MAX] = {0};
        struct dln_verify_answer answer;
        size_t asked = 0;
        for (size_t i = 0; i < count; i++) {
            if (!done[i]) {
                index[asked] = i;
                asks[asked++] = (struct dln_verify_ask){.scope = scopes[i].scope};
            }
        }
        dln_arena_clear(&verify->answer);
        status = dln_verify_exchange(verify->store, verify->remote, &verify->answer, asks, asked,
                                     &answer, err);
        if (status == DUNLIN_OK && answer.node_count == 0) {
            status = dln_fail(err, DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_SYNC,
                              "central answered no question");
        }
        for (size_t i = 0; status == DUNLIN_OK && i < answer.node_count; i++) {
            size_t at = index[answer.nodes[i].ask];
            left -= !done[at];
            done[at] = true;
            status = judge_scope(verify, &scopes[at], &answer.nodes[i], err);
        }
    }
    return status;
}

/* All that are synced. */
static dunlin_status compare_all(struct verify *verify, dunlin_error *err) {
    struct dln_text after = {NULL, 0};
    dunlin_status status = DUNLIN_OK;
    for (size_t count = SCOPES_AT_ONCE; count == SCOPES_AT_ONCE && status == DUNLIN_OK;) {
        struct dln_scope_row *rows;
        struct dln_text last = dln_arena_text(&verify->answer, after);
        dln_arena_clear(&verify->scopes);
        status =
            dln_scopes(verify->store, &verify->scopes, last, SCOPES_AT_ONCE, &rows, &count, err);
        if (status == DUNLIN_OK) {
            status = compare_scopes(verify, rows, count, err);
        }
        if (status == DUNLIN_OK && count > 0) {
            after = rows[count - 1].scope;
        }
    }
    return status;
}

/* Those that moved when they were looked at. */
static dunlin_status compare_moved(struct verify *verify, dunlin_error *err) {
    size_t count = verify->moved_count;
    dunlin_status status = DUNLIN_OK;
    verify->moved_count = 0;
    for (size_t i = 0; i < count && status == DUNLIN_OK; i++) {
        struct dln_scope_row row;
        struct dln_text name = verify->moved[i]; /* read before its place may be taken again */
        dln_arena_clear(&verify->scopes);
        status = dln_scope_get(verify->store, &verify->scopes, name, &row, err);
        if (status == DUNLIN_OK) {
            status = compare_scopes(verify, &row, 1, err);
        }
    }
    return status;
}

static dunlin_status verify_scopes(struct verify *verify, dunlin_error *err) {
    dunlin_status status = dln_pull_store(verify->store, verify->remote, err);
    if (status == DUNLIN_OK) {
        status = compare_all(verify, err);
    }
    for (int i = 1; i < ATTEMPTS && status == DUNLIN_OK && verify->moved_count > 0; i++) {
        status = dln_pull_store(verify->store, verify->remote, err);
        if (status == DUNLIN_OK) {
            status = compare_moved(verify, err);
        }
    }
    if (status == DUNLIN_OK && verify->differ_before > 0) {
        status = dln_pull_store(verify->store, verify->remote, err); /* the rebuilds */
        verify->out->repaired = status == DUNLIN_OK ? verify->differ_before : 0;
    }
    if (status == DUNLIN_OK && verify->moved_count > 0) {
        status = dln_fail(err, DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_SYNC,
                          "%zu scopes change too quickly to be compared", verify->moved_count);
    }
    return status;
}

dunlin_status dunlin_verify_remote(dunlin_store *store, dunlin_remote *remote, int repair,
                                   dunlin_divergence *out, dunlin_line_callback callback,
                                   void *payload, dunlin_error *err) {
    dunlin_status status = dln_handle_check_idle(store, err);
    if (status == DUNLIN_OK) {
        status = dln_check_remote(remote, err);
    }
    if (status == DUNLIN_OK && !out) {
        status =
            dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "there is no place for the result");
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    memset(out, 0, sizeof(*out));
    struct verify verify = {.store = store->store,
                            .remote = remote,
                            .repair = repair != 0,
                            .out = out,
                            .callback = callback,
                            .payload = payload,
                            .names = DLN_ARENA_INIT(ARENA_BYTES_MAX),
                            .scopes = DLN_ARENA_INIT(ARENA_BYTES_MAX),
                            .answer = DLN_ARENA_INIT(ARENA_BYTES_MAX)};
    status = verify_scopes(&verify, err);
    free(verify.moved);
    dln_arena_free(&verify.names);
    dln_arena_free(&verify.scopes);
    dln_arena_free(&verify.answer);
    return status;
}
