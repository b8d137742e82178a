/* ctest: labels=mongo timeout=1200
 *
 * One suite over every remote and every engine: the same random histories, which must end in the
 * same dumps, whatever carried them: central's own remote, the bridge over HTTP, MongoDB's driver.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/history.h"

enum { HISTORIES = 5 };

static const struct deployment {
    const char *name;
    const char *engine; /* NULL: SQLite */
    const char *remote; /* NULL: central's own */
} deployments[] = {
    {"SQLite, in the process", NULL, NULL},     {"SQLite, over HTTP", NULL, "http"},
    {"MongoDB, in the process", "mongo", NULL}, {"MongoDB, over the driver", "mongo", "driver"},
    {"MongoDB, over HTTP", "mongo", "http"},
};

enum { DEPLOYMENTS = sizeof(deployments) / sizeof(*deployments) };

static int compare(const struct history *history) {
    char *expected = history_run_over(history, deployments[0].engine, deployments[0].remote);
    int failed = expected == NULL;
    for (int i = 1; i < DEPLOYMENTS && !failed; i++) {
        char *dumps = history_run_over(history, deployments[i].engine, deployments[i].remote);
        failed = dumps == NULL;
        if (dumps != NULL && strcmp(dumps, expected) != 0) {
            printf("seed %llu ends otherwise over %s:\n%s\nthan over %s:\n%s\n",
                   (unsigned long long)history->seed, deployments[i].name, dumps,
                   deployments[0].name, expected);
            failed = 1;
        }
        free(dumps);
    }
    free(expected);
    return failed;
}

int main(void) {
    const char *single = getenv("DUNLIN_SEED");
    const char *many = getenv("DUNLIN_HISTORIES");
    uint64_t first = single != NULL ? strtoull(single, NULL, 10) : 1;
    uint64_t count = single != NULL ? 1 : many != NULL ? strtoull(many, NULL, 10) : HISTORIES;
    struct history history;
    for (uint64_t seed = first; seed < first + count; seed++) {
        history_generate(&history, seed);
        if (compare(&history) != 0) {
            history_print(&history);
            return 1;
        }
    }
    printf("%llu histories over %d deployments, the same dumps\n", (unsigned long long)count,
           DEPLOYMENTS);
    return 0;
}
