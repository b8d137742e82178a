/* Threads that talk to the store, each with a central of its own, and the bounded queue before
 * them. */
#ifndef DLN_BRIDGE_POOL_H
#define DLN_BRIDGE_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "bridge/source.h"

/* What one of the threads runs. Embedded in whatever waits for it. */
struct dln_job {
    struct dln_job *next;
    void (*run)(struct dln_job *job, dunlin_central *central);
};

struct dln_pool;

struct dln_pool_state {
    size_t waiting, queue_max;
    size_t busy, threads;
};

/* Opens all centrals before it returns, so that a store that cannot be opened is known at once. */
DUNLIN_MUST_USE dunlin_status dln_pool_start(struct dln_pool **out, struct dln_source *source,
                                             size_t threads, size_t queue_max, dunlin_error *err);
/* False when the queue is full: the job was not taken. The job belongs to the pool until it runs,
 * and it may be gone when `run` returns. Any thread. */
bool dln_pool_push(struct dln_pool *pool, struct dln_job *job);
void dln_pool_state_get(struct dln_pool *pool, struct dln_pool_state *out);
/* Runs what is queued, ends the threads. NULL is allowed. Nobody pushes any more. */
void dln_pool_stop(struct dln_pool *pool);

#endif
