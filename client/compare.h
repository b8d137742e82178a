/* Comparing one scope with central's, node by node of the digest tree. */
#ifndef DLN_CLIENT_COMPARE_H
#define DLN_CLIENT_COMPARE_H

#include <dunlin/sys/remote.h>

#include "base/buf.h"
#include "store/store.h"
#include "sync/verify.h"

/* Sends asks and reads the nodes of the answer, which lie in the arena. */
DUNLIN_MUST_USE dunlin_status dln_verify_exchange(struct dln_store *store, dunlin_remote *remote,
                                                  struct dln_arena *arena,
                                                  struct dln_verify_ask *asks, size_t count,
                                                  struct dln_verify_answer *out, dunlin_error *err);

/* What a comparison of one scope found. */
struct dln_differences {
    int64_t count;
    struct dln_buf lines; /* a JSON object a line */
    bool moved;           /* central's scope went on meanwhile: the rest is worth nothing */
};

/* Walks down where digests differ. `seq`: the device's cursor in the scope. Records that wait in
 * the outbox are left out. */
DUNLIN_MUST_USE dunlin_status dln_compare_scope(struct dln_store *store, dunlin_remote *remote,
                                                struct dln_text scope, int64_t seq,
                                                struct dln_differences *out, dunlin_error *err);

#endif
