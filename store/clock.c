/* The device's clock: `last` in memory, a bound in the file that no stamp given out exceeds.
 *
 * Several connections may have one file open. Each keeps a `last` of its own; when another one has
 * written, it is raised to one second below the saved bound, which somebody had really reached when
 * he saved it (raised to the bound itself, two writers that take turns would drive each other a
 * second ahead with every edit). So the stamps of two connections agree to a second; for one record
 * they are strict, since a new stamp is above those of the fields that stand in the row.
 *
 * After a rollback the bound is read anew: what the transaction saved is gone. `last` stays, it may
 * only be too high. */
#include "store/clock.h"

#include <time.h>

static const char bound_name[] = "clock_bound";
static const char offset_name[] = "clock_offset_ms";

int64_t dln_store_now_ms(struct dln_store *store) {
    struct timespec now;
    if (store->ports.now_ms) {
        return store->ports.now_ms(store->ports.self);
    }
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t dln_store_corrected_ms(struct dln_store *store) {
    int64_t now_ms = dln_store_now_ms(store);
    int64_t offset_ms = store->clock.offset_ms;
    if (offset_ms > 0 ? now_ms > INT64_MAX - offset_ms : now_ms < INT64_MIN - offset_ms) {
        return now_ms;
    }
    return now_ms + offset_ms;
}

dunlin_status dln_clock_load(struct dln_store *store, bool first, dunlin_error *err) {
    const dln_stamp second = dln_stamp_of_ms(1000);
    int64_t bound;
    int64_t offset_ms;
    dunlin_status status = dln_store_setting_get(store, bound_name, &bound, err);
    if (status == DUNLIN_OK) {
        status = dln_store_setting_get(store, offset_name, &offset_ms, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    dln_stamp saved = bound < 0 ? 0 : (dln_stamp)bound;
    dln_stamp reached = first || saved < second ? saved : saved - second;
    if (store->clock.last < reached) {
        store->clock.last = reached;
    }
    store->clock.bound = saved;
    store->clock.offset_ms = offset_ms;
    return DUNLIN_OK;
}

dunlin_status dln_clock_save(struct dln_store *store, dunlin_error *err) {
    if (!dln_clock_needs_bound(&store->clock)) {
        return DUNLIN_OK;
    }
    dln_stamp bound = dln_clock_raise_bound(&store->clock);
    store->raised_bound = true;
    return dln_store_setting_put(store, bound_name, (int64_t)bound, err);
}

void dln_clock_settle(struct dln_store *store) {
    if (!store->raised_bound || store->in_transaction || store->clock.last >= store->clock.bound) {
        return;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_SETTING_LOWER);
    dln_bind_text(&statement, dln_text_of(bound_name));
    dln_bind_int(&statement, (int64_t)store->clock.last);
    dln_bind_int(&statement, (int64_t)store->clock.bound);
    (void)!dln_run(&statement, NULL);
}

dunlin_status dln_clock_store_saw(struct dln_store *store, dln_stamp stamp, dunlin_error *err) {
    dln_clock_saw(&store->clock, dln_store_now_ms(store), stamp);
    return dln_clock_save(store, err);
}

dunlin_status dln_clock_store_lower(struct dln_store *store, dln_stamp stamp, dunlin_error *err) {
    dln_clock_lower(&store->clock, stamp);
    return dln_store_setting_put(store, bound_name, (int64_t)store->clock.bound, err);
}

dunlin_status dln_clock_store_offset(struct dln_store *store, int64_t offset_ms,
                                     dunlin_error *err) {
    if (store->clock.offset_ms == offset_ms) {
        return DUNLIN_OK;
    }
    store->clock.offset_ms = offset_ms;
    return dln_store_setting_put(store, offset_name, offset_ms, err);
}
