/* What is measured and how it is printed. */
#ifndef DUNLIN_BENCH_MEASURE_H
#define DUNLIN_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_RUNS = 5 };

struct bench_options {
    const char *folder; /* where the files are made; on the file system that is to be measured */
    bool json;          /* one line a result */
};

/* A span of time, or a moment: what the clock shows, and what this thread has used of a processor.
 */
struct bench_time {
    double wall_s;
    double cpu_s;
};

struct bench_time bench_now(void);
/* Adds what has passed since `start`. */
void bench_add_since(struct bench_time *total, struct bench_time start);

/* One side of a comparison in one run. */
struct bench_side {
    struct bench_time time;
    uint64_t pages;   /* written to the log */
    uint64_t commits; /* for which these were counted */
};

struct bench_pair {
    struct bench_side dunlin;
    struct bench_side raw;
    uint64_t operations; /* that each side did */
};

struct bench_result {
    const char *name;
    const char *unit;  /* of one operation: "us", "ms", "MB" */
    double target;     /* greatest ratio that is wanted; 0: none */
    double per_second; /* units in a second; of sizes: in a byte */
    size_t run_count;
    struct bench_pair runs[BENCH_RUNS];
};

/* Prints the medians of the runs, and of their ratios: each run is a pair of its own, in which both
 * sides took turns. */
void bench_print_head(const struct bench_options *options);
void bench_print(const struct bench_options *options, const struct bench_result *result);

/* Sorts the values. quantile: 0 to 1. */
double bench_quantile(double *values, size_t count, double quantile);

/* ---- files; every failure ends the program with a sentence */

void bench_fail(const char *what, const char *why);
/* folder/name */
void bench_path(char *out, size_t size, const char *folder, const char *name);
/* A database and what stands beside it. */
void bench_remove(const char *path);
void bench_copy(const char *from, const char *to);
uint64_t bench_file_bytes(const char *path);

/* The log of an open database, for counting the pages that are written to it. Must be closed after
 * the database: closing it takes the process' locks on the log's index along. */
struct bench_log {
    int index; /* file descriptor */
    uint32_t before;
};

struct bench_log bench_log_open(const char *path);
void bench_log_close(struct bench_log *log);
void bench_log_start(struct bench_log *log);
/* The pages that `commits` transactions have added since bench_log_start(); counts neither when a
 * checkpoint made the log start anew meanwhile. */
void bench_log_count(struct bench_log *log, struct bench_side *side, uint64_t commits);

#endif
