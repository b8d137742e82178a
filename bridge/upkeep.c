/* A round runs on a thread of the pool. It may take long, and it may be cut off anywhere: dunlind
 * does not wait for it to end. Of several dunlinds over one store one at a time does it, by a
 * lease. */
#include "bridge/upkeep.h"

#include <stdio.h>

enum { TELL_EVERY_MS = 60 * 1000 };

static void maintain(struct dln_job *job, dunlin_central *central) {
    struct dln_upkeep *upkeep = (struct dln_upkeep *)job;
    dunlin_error why;

    if (dunlin_central_maintain(central, NULL, &why)) {
        (void)fprintf(stderr, "dunlind: maintenance failed: %s\n", why.message);
    }
    atomic_store(&upkeep->running, false);
}

void dln_upkeep_init(struct dln_upkeep *upkeep, int64_t every_ms, int64_t now_ms, uint32_t random) {
    upkeep->job.run = maintain;
    upkeep->every_ms = every_ms;
    upkeep->next_ms = now_ms + (int64_t)(random % (uint64_t)every_ms);
    upkeep->told_ms = now_ms - TELL_EVERY_MS;
}

void dln_upkeep_tick(struct dln_upkeep *upkeep, struct dln_pool *pool, struct dln_metrics *metrics,
                     int64_t now_ms) {
    uint64_t held = atomic_load(&metrics->held);

    if (held != upkeep->held && now_ms - upkeep->told_ms >= TELL_EVERY_MS) {
        upkeep->held = held;
        upkeep->told_ms = now_ms;
        (void)fprintf(stderr, "dunlind: the store has lost history that devices have seen; "
                              "run `dunlind restored`\n");
    }
    if (now_ms >= upkeep->next_ms && !atomic_load(&upkeep->running)) {
        upkeep->next_ms = now_ms + upkeep->every_ms;
        atomic_store(&upkeep->running, true);
        if (!dln_pool_push(pool, &upkeep->job)) {
            atomic_store(&upkeep->running, false);
        }
    }
}
