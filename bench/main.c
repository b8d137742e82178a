/* dunlin_bench [--json] [--folder FOLDER] [W1|W2|W5|W6|W7]…: see README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/workload.h"

enum { W1 = 1, W2 = 2, W5 = 4, W6 = 8, W7 = 16, ALL = 31 };

static unsigned workload_of(const char *name) {
    static const struct {
        const char *name;
        unsigned bit;
    } workloads[] = {{"W1", W1}, {"W2", W2}, {"W5", W5}, {"W6", W6}, {"W7", W7}};
    for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
        if (strcmp(name, workloads[i].name) == 0) {
            return workloads[i].bit;
        }
    }
    bench_fail(name, "there is no such workload; there are: W1 W2 W5 W6 W7");
    return 0;
}

static void run(const struct bench_options *options, unsigned chosen) {
    bench_print_head(options);
    if (chosen & W1) {
        bench_w1(options);
    }
    if (chosen & (W2 | W5 | W6)) {
        bench_w2_w5_w6(options, (chosen & W2) != 0, (chosen & W5) != 0, (chosen & W6) != 0);
    }
    if (chosen & W7) {
        bench_w7(options);
    }
}

int main(int count, char **words) {
    struct bench_options options = {0};
    const char *parent = getenv("TMPDIR");
    char folder[2048];
    unsigned chosen = 0;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--json") == 0) {
            options.json = true;
        } else if (strcmp(words[i], "--folder") == 0 && i + 1 < count) {
            parent = words[++i];
        } else {
            chosen |= workload_of(words[i]);
        }
    }
    bench_path(folder, sizeof(folder), parent ? parent : "/tmp", "dunlin-bench-XXXXXX");
    if (!mkdtemp(folder)) {
        bench_fail(folder, "cannot be made");
    }
    options.folder = folder;
    run(&options, chosen ? chosen : ALL);
    return rmdir(folder) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
