/* The workloads; each prints its results. */
#ifndef DUNLIN_BENCH_WORKLOAD_H
#define DUNLIN_BENCH_WORKLOAD_H

#include "bench/measure.h"

void bench_w1(const struct bench_options *options);
void bench_w2_w5_w6(const struct bench_options *options, bool w2, bool w5, bool w6);
void bench_w7(const struct bench_options *options);

#endif
