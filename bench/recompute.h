/* The one thing that the public API does not offer by itself: dunlin_store_verify() checks the
 * whole file before it recomputes. */
#ifndef DUNLIN_BENCH_RECOMPUTE_H
#define DUNLIN_BENCH_RECOMPUTE_H

#include <stdint.h>

#include "bench/measure.h"

struct recompute;

/* Opens a file that no dunlin_store has open. */
struct recompute *recompute_open(const char *path);
void recompute_close(struct recompute *recompute);
/* Empties what derives, in a transaction of its own. */
void recompute_clear(struct recompute *recompute);
/* Recomputes it, in a transaction of its own; returns how many origins were missing. */
int64_t recompute_run(struct recompute *recompute);

#endif
