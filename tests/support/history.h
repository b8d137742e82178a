/* Random histories: what several people do on several devices, as a list of steps that a seed
 * gives, that can be run again, and shortened while they still fail. */
#ifndef DLN_TESTS_HISTORY_H
#define DLN_TESTS_HISTORY_H

#include <stddef.h>
#include <stdint.h>

enum { HISTORY_STEPS_MAX = 96, HISTORY_WHY_BYTES = 2048 };

enum step_kind {
    STEP_FOLLOW,
    STEP_UNFOLLOW,
    STEP_GROUP_CREATE,
    STEP_GROUP_SET,
    STEP_GROUP_DELETE,
    STEP_GROUP_ADD,
    STEP_GROUP_REMOVE,
    STEP_LIST_CREATE,
    STEP_LIST_RENAME,
    STEP_LIST_RANK,
    STEP_LIST_DELETE,
    STEP_LIST_RESTORE,
    STEP_ITEM_ADD,
    STEP_ITEM_SET,
    STEP_ITEM_REMOVE,
    STEP_ITEM_MOVE,
    STEP_BATCH, /* several edits in a transaction, committed or rolled back */
    STEP_RETRY, /* the oldest dead letter is tried again, or discarded */
    STEP_SYNC,
    STEP_SYNC_FAULTY, /* with faults on the way, and maybe a kill */
    STEP_KILL,        /* the process ends at a coming commit */
    STEP_REOPEN,
    STEP_CLOCK,    /* the device's clock jumps */
    STEP_TIME,     /* time passes: minutes, a day, more than the horizon */
    STEP_MAINTAIN, /* central compacts and expires */
    STEP_EXPIRE,   /* the horizon passes, and then central expires */
    STEP_KIND_COUNT
};

struct step {
    enum step_kind kind;
    int device;
    uint64_t random; /* everything else that the step chooses */
};

struct history {
    uint64_t seed;
    int people;
    int devices;
    size_t step_count;
    struct step steps[HISTORY_STEPS_MAX];
};

void history_generate(struct history *history, uint64_t seed);
/* Runs it and then syncs everybody twice. 0: devices and central agree, nothing is lost, what
 * derives is what a recompute gives; else `why` says what was found. dumps, which may be NULL, gets
 * what all devices hold at the end; the caller frees it. */
int history_run(const struct history *history, char why[HISTORY_WHY_BYTES], char **dumps);
/* history_run() over that engine ("mongo"; NULL: SQLite) and that remote ("driver", "http"; NULL:
 * central's own). What all devices hold at the end, the caller's to free; NULL, and the reason
 * printed: it failed. */
char *history_run_over(const struct history *history, const char *engine, const char *remote);
/* Leaves out steps as long as it still fails. */
void history_shrink(struct history *history, char why[HISTORY_WHY_BYTES]);
const char *history_step_name(enum step_kind kind);
void history_print(const struct history *history);

#endif
