/* The store as the engine's store port, and exchanges with a remote. */
#ifndef DLN_CLIENT_SYNC_PORT_H
#define DLN_CLIENT_SYNC_PORT_H

#include <dunlin/sys/remote.h>

#include "base/buf.h"
#include "store/store.h"
#include "sync/engine.h"

struct dln_sync_store dln_sync_port(struct dln_store *store);

/* Carries one request to the remote; the answer's body goes into `answer`, which is cleared first.
 * What the remote returns, or TOO_LARGE or OUT_OF_MEMORY for an answer that could not be taken. */
DUNLIN_MUST_USE dunlin_status dln_exchange(dunlin_remote *remote, const char *kind,
                                           struct dln_text request, struct dln_buf *answer,
                                           int64_t *retry_after_ms, dunlin_error *err);

/* Runs the engine against the remote until it is done or has to wait; `action` receives its last
 * action. Returns that action's status. */
DUNLIN_MUST_USE dunlin_status dln_run_engine(struct dln_store *store, struct dln_engine *engine,
                                             dunlin_remote *remote, struct dln_action *action,
                                             dunlin_error *err);
/* The same with an engine of its own that only pulls. */
DUNLIN_MUST_USE dunlin_status dln_pull_store(struct dln_store *store, dunlin_remote *remote,
                                             dunlin_error *err);

int64_t dln_monotonic_now_ms(void); /* real time, whatever the store's clock says */

/* MISUSE where it is no remote. */
DUNLIN_MUST_USE dunlin_status dln_check_remote(const dunlin_remote *remote, dunlin_error *err);

#endif
