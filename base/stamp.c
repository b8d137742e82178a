/* A hybrid logical clock. Three promises hold whatever the device's clock shows (1970, the year
 * 9999, a jump back):
 *   - a new stamp is above every stamp that this device gave out before (`last`), also across a
 *     restart: what is saved is not `last` but a bound a second ahead of it, and no stamp above the
 *     bound leaves before a higher bound is saved with it; after a restart last = bound;
 *   - a new stamp is above those of the fields that it replaces (`above`), so that an edit beats
 * what its author saw;
 *   - one broken clock elsewhere does not drag this one along: a stamp that arrives raises `last`
 *     only if it is not too far ahead of now.
 *
 * A clock that is far ahead has its stamps refused by central (AHEAD), which names the stamp that
 * it would take; `last` and the bound are lowered to that, else every later edit would be refused
 * too. Stamps may then be given out twice, but only after central refused the first.
 *
 * Sums saturate: offset and clock may have any value. When the milliseconds stand still or are
 * behind, the counter runs over into them, which only makes the stamp a little newer than the
 * clock. */
#include "base/stamp.h"

#include <assert.h>

enum { COUNTER_BITS = 16, BOUND_AHEAD_MS = 1000 };

static int64_t add_ms(int64_t a, int64_t b) {
    if (b > 0 && a > INT64_MAX - b) {
        return INT64_MAX;
    }
    if (b < 0 && a < INT64_MIN - b) {
        return INT64_MIN;
    }
    return a + b;
}

static dln_stamp after(dln_stamp stamp) {
    return stamp < DLN_STAMP_MAX ? stamp + 1 : DLN_STAMP_MAX;
}

int64_t dln_stamp_ms(dln_stamp stamp) {
    return (int64_t)(stamp >> COUNTER_BITS);
}

dln_stamp dln_stamp_of_ms(int64_t ms) {
    if (ms < 0) {
        return 0;
    }
    if (ms > dln_stamp_ms(DLN_STAMP_MAX)) {
        return DLN_STAMP_MAX;
    }
    return (dln_stamp)ms << COUNTER_BITS;
}

dln_stamp dln_clock_next(struct dln_clock *clock, int64_t device_ms, dln_stamp above) {
    dln_stamp stamp = dln_stamp_of_ms(add_ms(device_ms, clock->offset_ms));
    if (stamp < after(clock->last)) {
        stamp = after(clock->last);
    }
    if (stamp < after(above)) {
        stamp = after(above);
    }
    assert(stamp > 0 && stamp <= DLN_STAMP_MAX);
    clock->last = stamp;
    return stamp;
}

bool dln_clock_needs_bound(const struct dln_clock *clock) {
    return clock->last > clock->bound;
}

dln_stamp dln_clock_raise_bound(struct dln_clock *clock) {
    const dln_stamp ahead = (dln_stamp)BOUND_AHEAD_MS << COUNTER_BITS;
    clock->bound = clock->last < DLN_STAMP_MAX - ahead ? clock->last + ahead : DLN_STAMP_MAX;
    return clock->bound;
}

void dln_clock_saw(struct dln_clock *clock, int64_t device_ms, dln_stamp stamp) {
    int64_t now_ms = add_ms(device_ms, clock->offset_ms);
    if (stamp > clock->last && stamp <= dln_stamp_of_ms(add_ms(now_ms, DLN_MAX_AHEAD_MS))) {
        clock->last = stamp;
    }
}

void dln_clock_lower(struct dln_clock *clock, dln_stamp stamp) {
    if (stamp < clock->last) {
        clock->last = stamp;
    }
    if (clock->last < clock->bound) {
        clock->bound = clock->last;
    }
}
