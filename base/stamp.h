/* Stamps: a 64-bit hybrid logical clock, 48 bits of Unix milliseconds and 16 bits of counter
 * (S. Kulkarni et al., "Logical Physical Clocks", 2014). Stamps above INT64_MAX are illegal, so
 * that SQLite's and BSON's signed integers hold them in order. */
#ifndef DLN_BASE_STAMP_H
#define DLN_BASE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t dln_stamp; /* 0: never written */

#define DLN_STAMP_MAX ((dln_stamp)INT64_MAX)
#define DLN_MAX_AHEAD_MS ((int64_t)300000) /* how far ahead of central's clock a stamp may be */

/* A device's clock. `bound` is what is saved: no stamp above it may be given out before a higher
 * bound was saved, so that `last` after a restart (= bound) is above all that were given out. */
struct dln_clock {
    dln_stamp last;
    dln_stamp bound;
    int64_t offset_ms; /* central's clock minus the device's, as last seen */
};

int64_t dln_stamp_ms(dln_stamp stamp);
dln_stamp dln_stamp_of_ms(int64_t ms); /* clamps to [0, DLN_STAMP_MAX] */

/* The next stamp: max(corrected ms << 16, last + 1, above + 1), where `above` is the greatest stamp
 * of the fields that are edited. Sets last. device_ms is the device's uncorrected clock, any value.
 * At DLN_STAMP_MAX it stays there. */
dln_stamp dln_clock_next(struct dln_clock *clock, int64_t device_ms, dln_stamp above);
/* Whether `last` has passed the saved bound; the caller then saves bound = dln_clock_raise_bound()
 * in the transaction that uses the stamp. */
bool dln_clock_needs_bound(const struct dln_clock *clock);
dln_stamp dln_clock_raise_bound(struct dln_clock *clock); /* last + one second */
/* A stamp arrived: raises last, unless it is more than DLN_MAX_AHEAD_MS ahead of corrected now. */
void dln_clock_saw(struct dln_clock *clock, int64_t device_ms, dln_stamp stamp);
/* Central would not take a stamp but that one: lowers last to it (never raises). The bound is
 * lowered too, and must be saved. */
void dln_clock_lower(struct dln_clock *clock, dln_stamp stamp);

#endif
