/* ctest: labels=long timeout=1800 engines
 *
 * 1,000 random histories (fewer under a sanitizer): two to five devices of one to three people
 * edit, sync over a faulty way, are killed, and lose tombstones to the horizon; then everybody
 * syncs twice. Over MongoDB there are 15. DUNLIN_SEED runs a single one, DUNLIN_HISTORIES says how
 * many. A failing one is
 * shrunk and printed. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/history.h"
#include "tests/support/mongo.h"

enum { HISTORIES_OVER_MONGO = 15 };

#if defined(__SANITIZE_THREAD__)
#define HISTORIES 50
#elif defined(__SANITIZE_ADDRESS__)
#define HISTORIES 100
#else
#define HISTORIES 1000
#endif

static int run_one(uint64_t seed) {
    struct history history;
    char why[HISTORY_WHY_BYTES];
    history_generate(&history, seed);
    if (history_run(&history, why, NULL) == 0) {
        return 0;
    }
    printf("seed %llu fails after %zu steps: %s\nshrinking…\n", (unsigned long long)seed,
           history.step_count, why);
    (void)fflush(stdout);
    history_shrink(&history, why);
    history_print(&history);
    printf("%s\n", why);
    return 1;
}

int main(void) {
    const char *single = getenv("DUNLIN_SEED");
    const char *many = getenv("DUNLIN_HISTORIES");
    if (single != NULL) {
        return run_one(strtoull(single, NULL, 10));
    }
    uint64_t standard = mongo_is_chosen() ? HISTORIES_OVER_MONGO : HISTORIES;
    uint64_t count = many == NULL ? standard : strtoull(many, NULL, 10);
    for (uint64_t seed = 1; seed <= count; seed++) {
        if (run_one(seed) != 0) {
            return 1;
        }
    }
    printf("%llu histories, all agree\n", (unsigned long long)count);
    return 0;
}
