/* What has to be done now and then: maintenance of the store, and telling the operator of history
 * that was lost. */
#ifndef DLN_BRIDGE_UPKEEP_H
#define DLN_BRIDGE_UPKEEP_H

#include <stdatomic.h>

#include "bridge/metrics.h"
#include "bridge/pool.h"

struct dln_upkeep {
    struct dln_job job; /* must stay first; the pool's while `running` */
    atomic_bool running;
    int64_t every_ms;
    int64_t next_ms; /* steady clock */
    uint64_t held;   /* as the operator was told last */
    int64_t told_ms;
};

/* The first round starts somewhere within the first interval, so that several dunlinds over one
 * store, started together, do not come together. */
void dln_upkeep_init(struct dln_upkeep *upkeep, int64_t every_ms, int64_t now_ms, uint32_t random);
/* Once a second. */
void dln_upkeep_tick(struct dln_upkeep *upkeep, struct dln_pool *pool, struct dln_metrics *metrics,
                     int64_t now_ms);

#endif
