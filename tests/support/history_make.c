/* Histories as such: made from a seed, and printed. */
#include <stdio.h>

#include "tests/support/history.h"
#include "tests/support/random.h"
#include "tests/support/world.h"

static const char *const step_names[STEP_KIND_COUNT] = {
    "follow",       "unfollow",    "group-create", "group-set", "group-delete", "group-add",
    "group-remove", "list-create", "list-rename",  "list-rank", "list-delete",  "list-restore",
    "item-add",     "item-set",    "item-remove",  "item-move", "batch",        "retry",
    "sync",         "sync-faulty", "kill",         "reopen",    "clock",        "time",
    "maintain",     "expire"};

/* How often a step of each kind comes. */
static const int step_weights[STEP_KIND_COUNT] = {8, 5, 3, 3, 1, 6,  4,  4, 3, 2, 2, 2, 9,
                                                  4, 4, 4, 2, 2, 14, 10, 2, 2, 1, 3, 2, 4};

const char *history_step_name(enum step_kind kind) {
    return step_names[kind];
}

static enum step_kind choose_kind(struct test_random *random, int total) {
    int at = (int)test_random_below(random, (uint64_t)total);
    int kind = 0;
    while (at >= step_weights[kind]) {
        at -= step_weights[kind++];
    }
    return (enum step_kind)kind;
}

void history_generate(struct history *history, uint64_t seed) {
    struct test_random random = {seed};
    uint64_t online[WORLD_DEVICES]; /* of a hundred syncs that might be, so many are */
    int total = 0;
    for (int i = 0; i < STEP_KIND_COUNT; i++) {
        total += step_weights[i];
    }
    *history = (struct history){.seed = seed};
    history->people = 1 + (int)test_random_below(&random, 3);
    history->devices = 2 + (int)test_random_below(&random, 4);
    history->step_count = 20 + test_random_below(&random, HISTORY_STEPS_MAX - 20);
    for (int i = 0; i < history->devices; i++) {
        static const uint64_t percents[] = {100, 100, 40, 8};
        online[i] = percents[test_random_below(&random, sizeof(percents) / sizeof(*percents))];
    }
    for (size_t i = 0; i < history->step_count; i++) {
        struct step *step = &history->steps[i];
        step->device = (int)test_random_below(&random, (uint64_t)history->devices);
        do {
            step->kind = choose_kind(&random, total);
        } while ((step->kind == STEP_SYNC || step->kind == STEP_SYNC_FAULTY) &&
                 test_random_below(&random, 100) >= online[step->device]);
        step->random = test_random_next(&random);
    }
}

void history_print(const struct history *history) {
    printf("seed %llu: %d people, %d devices\n", (unsigned long long)history->seed, history->people,
           history->devices);
    for (size_t i = 0; i < history->step_count; i++) {
        const struct step *step = &history->steps[i];
        printf("  %2zu D%d %-12s %016llx\n", i, step->device, step_names[step->kind],
               (unsigned long long)step->random);
    }
}
