#include "bench/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of a number that is never below 0. */
static const double not_known = -1;

/* ---- time */

static double seconds(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct bench_time bench_now(void) {
    return (struct bench_time){seconds(CLOCK_MONOTONIC), seconds(CLOCK_THREAD_CPUTIME_ID)};
}

void bench_add_since(struct bench_time *total, struct bench_time start) {
    struct bench_time now = bench_now();
    total->wall_s += now.wall_s - start.wall_s;
    total->cpu_s += now.cpu_s - start.cpu_s;
}

/* ---- statistics */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_quantile(double *values, size_t count, double quantile) {
    if (count == 0) {
        return not_known;
    }
    qsort(values, count, sizeof(*values), compare);
    return values[(size_t)(quantile * (double)(count - 1) + 0.5)];
}

/* What is asked of a pair. */
typedef double (*measure)(const struct bench_pair *pair);

static double dunlin_wall(const struct bench_pair *pair) {
    return pair->dunlin.time.wall_s / (double)pair->operations;
}

static double raw_wall(const struct bench_pair *pair) {
    return pair->raw.time.wall_s / (double)pair->operations;
}

static double wall_ratio(const struct bench_pair *pair) {
    return pair->dunlin.time.wall_s / pair->raw.time.wall_s;
}

static double cpu_ratio(const struct bench_pair *pair) {
    return pair->raw.time.cpu_s > 0 ? pair->dunlin.time.cpu_s / pair->raw.time.cpu_s : not_known;
}

static double pages(const struct bench_side *side) {
    return side->commits > 0 ? (double)side->pages / (double)side->commits : not_known;
}

static double dunlin_pages(const struct bench_pair *pair) {
    return pages(&pair->dunlin);
}

static double raw_pages(const struct bench_pair *pair) {
    return pages(&pair->raw);
}

static double median(const struct bench_result *result, measure of) {
    double values[BENCH_RUNS];
    for (size_t i = 0; i < result->run_count; i++) {
        values[i] = of(&result->runs[i]);
    }
    return bench_quantile(values, result->run_count, 0.5);
}

/* ---- printing */

/* A number that is there, or a dash. */
static void print_number(int width, double value) {
    if (value < 0) {
        printf("%*s", width, "-");
    } else {
        printf("%*.2f", width, value);
    }
}

static void print_json(const char *name, double value) {
    if (value >= 0) {
        printf(",\"%s\":%.4f", name, value);
    }
}

void bench_print_head(const struct bench_options *options) {
    if (!options->json) {
        printf("%-40s %4s %10s %10s %7s %7s %7s %14s\n", "", "unit", "dunlin", "raw", "ratio",
               "cpu", "target", "pages/commit");
    }
}

void bench_print(const struct bench_options *options, const struct bench_result *result) {
    double dunlin = median(result, dunlin_wall) * result->per_second;
    double raw = median(result, raw_wall) * result->per_second;
    double ratio = median(result, wall_ratio);
    if (options->json) {
        printf("{\"name\":\"%s\",\"unit\":\"%s\",\"runs\":%zu", result->name, result->unit,
               result->run_count);
        print_json("dunlin", dunlin);
        print_json("raw", raw);
        print_json("ratio", ratio);
        print_json("cpu_ratio", median(result, cpu_ratio));
        print_json("target", result->target > 0 ? result->target : not_known);
        print_json("dunlin_pages", median(result, dunlin_pages));
        print_json("raw_pages", median(result, raw_pages));
        printf("}\n");
    } else {
        printf("%-40s %4s %10.2f %10.2f %7.2f", result->name, result->unit, dunlin, raw, ratio);
        print_number(8, median(result, cpu_ratio));
        print_number(8, result->target > 0 ? result->target : not_known);
        print_number(8, median(result, dunlin_pages));
        print_number(7, median(result, raw_pages));
        printf("%s\n", result->target > 0 && ratio > result->target ? "  over" : "");
    }
    (void)fflush(stdout);
}

/* ---- files */

void bench_fail(const char *what, const char *why) {
    fprintf(stderr, "dunlin_bench: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

void bench_path(char *out, size_t size, const char *folder, const char *name) {
    int len = snprintf(out, size, "%s/%s", folder, name);
    if (len < 0 || (size_t)len >= size) {
        bench_fail(name, "the folder's name is too long");
    }
}

void bench_remove(const char *path) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", "-lock"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char name[4096];
        (void)snprintf(name, sizeof(name), "%s%s", path, endings[i]);
        if (unlink(name) != 0 && errno != ENOENT) {
            bench_fail(name, strerror(errno));
        }
    }
}

void bench_copy(const char *from, const char *to) {
    static char block[1 << 16];
    FILE *in = fopen(from, "rb");
    FILE *out = in ? fopen(to, "wb") : NULL;
    size_t len = 0;
    if (!out) {
        bench_fail(in ? to : from, strerror(errno));
    }
    while ((len = fread(block, 1, sizeof(block), in)) > 0) {
        if (fwrite(block, 1, len, out) != len) {
            bench_fail(to, strerror(errno));
        }
    }
    if (ferror(in) || fclose(in) != 0 || fclose(out) != 0) {
        bench_fail(from, "could not be copied");
    }
}

uint64_t bench_file_bytes(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        bench_fail(path, strerror(errno));
    }
    long len = ftell(file);
    (void)fclose(file);
    return len < 0 ? 0 : (uint64_t)len;
}

struct bench_log bench_log_open(const char *path) {
    char name[4096];
    (void)snprintf(name, sizeof(name), "%s-shm", path);
    struct bench_log log = {.index = open(name, O_RDONLY | O_CLOEXEC)};
    if (log.index < 0) {
        bench_fail(name, strerror(errno));
    }
    return log;
}

void bench_log_close(struct bench_log *log) {
    (void)close(log->index);
}

/* SQLite's file format, "WAL-Index Format": the number of valid frames stands at byte 16. */
static uint32_t log_pages(const struct bench_log *log) {
    enum { PLACE = 16 };
    uint32_t frames = 0;
    if (pread(log->index, &frames, sizeof(frames), PLACE) != sizeof(frames)) {
        bench_fail("the log's index", "cannot be read");
    }
    return frames;
}

void bench_log_start(struct bench_log *log) {
    log->before = log_pages(log);
}

void bench_log_count(struct bench_log *log, struct bench_side *side, uint64_t commits) {
    uint32_t after = log_pages(log);
    if (after >= log->before) {
        side->pages += after - log->before;
        side->commits += commits;
    }
}
