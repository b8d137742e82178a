/* W7: one owner who follows 200 users and 200 groups of 500 members out of 20,000 users.
 *
 * Two devices of the owner and one central are made once, and copied for every run. The first
 * device makes the edits, and sends them; the second one receives them; raw SQLite does the same
 * edits, in transactions of the same size. */
#include "bench/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/device.h"
#include "bench/raw.h"
#include "bench/recompute.h"

enum {
    GROUPS = 200,
    MEMBERS = 500,
    USERS = 20000,
    FOLLOW_EVERY = 100, /* user */
    BATCHED = 3000,     /* edits in one direction */
    BATCH = 1000,
    SINGLE = 1000,
    SINGLE_SLICE = 50,
    RECOMPUTES = 5, /* in a run */
    ID_SIZE = 25
};

/* Groups and users count from 1. */
struct edit {
    int group;
    int user;
};

struct edits {
    struct edit add[BATCHED];    /* pairs that are not there */
    struct edit remove[BATCHED]; /* pairs that are */
};

static unsigned char *pairs; /* [GROUPS][USERS + 1]: 1 a member, 2 chosen for an edit */
static struct edits edits;

static unsigned char *pair_at(int group, int user) {
    return &pairs[(size_t)(group - 1) * (USERS + 1) + (size_t)user];
}

/* xorshift64: the same numbers in every run, everywhere. */
static int below(uint64_t *state, int limit) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (int)(*state % (uint64_t)limit);
}

static struct edit choose(uint64_t *state, unsigned char wanted) {
    for (;;) {
        struct edit edit = {1 + below(state, GROUPS), 1 + below(state, USERS)};
        unsigned char *pair = pair_at(edit.group, edit.user);
        if (*pair == wanted) {
            *pair = wanted + 2;
            return edit;
        }
    }
}

static void choose_all(void) {
    uint64_t state = UINT64_C(88172645463325252);
    pairs = calloc(GROUPS, USERS + 1);
    if (!pairs) {
        bench_fail("W7", "out of memory");
    }
    for (int group = 1; group <= GROUPS; group++) {
        for (int count = 0; count < MEMBERS;) {
            unsigned char *pair = pair_at(group, 1 + below(&state, USERS));
            count += *pair == 0;
            *pair = 1;
        }
    }
    for (int i = 0; i < BATCHED; i++) {
        edits.add[i] = choose(&state, 0);
        edits.remove[i] = choose(&state, 1);
    }
}

static char user_ids[USERS + 1][ID_SIZE];
static char group_ids[GROUPS + 1][ID_SIZE];

/* Numbers spread over the ids, as random ones are. */
static void make_ids(char (*ids)[ID_SIZE], int count, const char *prefix) {
    for (int i = 1; i <= count; i++) {
        (void)snprintf(ids[i], ID_SIZE, "%.8s%08x%08x", prefix, (unsigned)i * 2654435761u,
                       (unsigned)i);
    }
}

/* ---- the files */

struct paths {
    char sender[4096];
    char receiver[4096];
    char central[4096];
    char raw[4096];
};

static void name_paths(struct paths *paths, const char *folder, const char *prefix) {
    static const char *const names[] = {"sender", "receiver", "central", "raw"};
    char *const places[] = {paths->sender, paths->receiver, paths->central, paths->raw};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "graph-%s-%s.db", prefix, names[i]);
        bench_path(places[i], sizeof(paths->sender), folder, name);
        bench_remove(places[i]);
    }
}

static void remove_paths(const struct paths *paths) {
    bench_remove(paths->sender);
    bench_remove(paths->receiver);
    bench_remove(paths->central);
    bench_remove(paths->raw);
}

static void copy_paths(const struct paths *from, const struct paths *to) {
    bench_copy(from->sender, to->sender);
    bench_copy(from->receiver, to->receiver);
    bench_copy(from->central, to->central);
    bench_copy(from->raw, to->raw);
}

static void fill_raw(const char *path, const char *compact_path) {
    struct raw *raw = raw_open(path, false);
    raw_graph_make(raw);
    raw_graph_prepare(raw);
    raw_begin(raw);
    for (int user = FOLLOW_EVERY; user <= USERS; user += FOLLOW_EVERY) {
        raw_follow(raw, 0, user);
    }
    for (int group = 1; group <= GROUPS; group++) {
        raw_follow(raw, 1, group);
        for (int user = 1; user <= USERS; user++) {
            if (*pair_at(group, user) & 1) {
                raw_member_row(raw, group, user);
            }
        }
    }
    raw_commit(raw);
    raw_recompute(raw);
    raw_compact(raw, compact_path);
    raw_close(raw);
}

static void fill_device(dunlin_store *store) {
    device_begin(store);
    for (int user = FOLLOW_EVERY; user <= USERS; user += FOLLOW_EVERY) {
        device_follow(store, DUNLIN_USER, user_ids[user]);
    }
    for (int group = 1; group <= GROUPS; group++) {
        device_group_make(store, group_ids[group]);
        device_follow(store, DUNLIN_GROUP, group_ids[group]);
        for (int user = 1; user <= USERS; user++) {
            if (*pair_at(group, user) & 1) {
                device_member_add(store, group_ids[group], user_ids[user]);
            }
        }
    }
    device_commit(store);
}

static void fill(const struct paths *work, const struct paths *to) {
    dunlin_central *central = device_central_open(work->central);
    dunlin_store *sender = device_open(work->sender, DUNLIN_DURABILITY_NORMAL, false);
    dunlin_store *receiver = device_open(work->receiver, DUNLIN_DURABILITY_NORMAL, false);
    fill_device(sender);
    device_sync(sender, central, NULL);
    device_sync(receiver, central, NULL);
    device_copy(sender, to->sender);
    device_copy(receiver, to->receiver);
    dunlin_store_close(sender);
    dunlin_store_close(receiver);
    dunlin_central_close(central);
    raw_checkpoint(work->central);
    bench_copy(work->central, to->central);
    fill_raw(work->raw, to->raw);
}

/* ---- one run */

struct run {
    dunlin_central *central;
    dunlin_store *sender;
    dunlin_store *receiver;
    struct raw *raw;
    struct bench_log sender_log;
    struct bench_log raw_log;
};

static void run_open(struct run *run, const struct paths *paths) {
    run->central = device_central_open(paths->central);
    run->sender = device_open(paths->sender, DUNLIN_DURABILITY_NORMAL, false);
    run->receiver = device_open(paths->receiver, DUNLIN_DURABILITY_NORMAL, false);
    run->raw = raw_open(paths->raw, false);
    raw_graph_prepare(run->raw);
    (void)device_subscriptions(run->sender); /* so that there is a log */
    (void)raw_subscriptions(run->raw);
    run->sender_log = bench_log_open(paths->sender);
    run->raw_log = bench_log_open(paths->raw);
}

static void run_close(struct run *run) {
    dunlin_store_close(run->sender);
    dunlin_store_close(run->receiver);
    dunlin_central_close(run->central);
    raw_close(run->raw);
    bench_log_close(&run->sender_log);
    bench_log_close(&run->raw_log);
}

static void check_equal(struct run *run, bool synced) {
    int64_t raw = raw_subscriptions(run->raw);
    if (device_subscriptions(run->sender) != raw ||
        (synced && device_subscriptions(run->receiver) != raw)) {
        bench_fail("W7", "the subscriptions are not those of raw SQLite");
    }
}

static void edit_dunlin(dunlin_store *store, const struct edit *list, int count, int batch,
                        bool add) {
    for (int i = 0; i < count; i++) {
        const char *group = group_ids[list[i].group];
        const char *user = user_ids[list[i].user];
        if (batch > 1 && i % batch == 0) {
            device_begin(store);
        }
        if (add) {
            device_member_add(store, group, user);
        } else {
            device_member_remove(store, group, user);
        }
        if (batch > 1 && i % batch == batch - 1) {
            device_commit(store);
        }
    }
}

static void edit_raw(struct raw *raw, const struct edit *list, int count, int batch, bool add) {
    for (int i = 0; i < count; i++) {
        if (i % batch == 0) {
            raw_begin(raw);
        }
        if (add) {
            raw_member_add(raw, list[i].group, list[i].user);
        } else {
            raw_member_remove(raw, list[i].group, list[i].user);
        }
        if (i % batch == batch - 1) {
            raw_commit(raw);
        }
    }
}

/* ---- one member more or less */

static void dunlin_slice(struct run *run, const struct edit *list, int count, int batch, bool add,
                         struct bench_side *side) {
    bench_log_start(&run->sender_log);
    struct bench_time start = bench_now();
    edit_dunlin(run->sender, list, count, batch, add);
    bench_add_since(&side->time, start);
    bench_log_count(&run->sender_log, side, (uint64_t)(count / batch));
}

static void raw_slice(struct run *run, const struct edit *list, int count, int batch, bool add,
                      struct bench_side *side) {
    bench_log_start(&run->raw_log);
    struct bench_time start = bench_now();
    edit_raw(run->raw, list, count, batch, add);
    bench_add_since(&side->time, start);
    bench_log_count(&run->raw_log, side, (uint64_t)(count / batch));
}

static void batched(struct run *run, bool add, struct bench_pair *local,
                    struct bench_pair *received) {
    const struct edit *list = add ? edits.add : edits.remove;
    for (int i = 0; i < BATCHED; i += BATCH) {
        dunlin_slice(run, list + i, BATCH, BATCH, add, &local->dunlin);
        raw_slice(run, list + i, BATCH, BATCH, add, &local->raw);
        device_sync(run->sender, run->central, NULL);
        device_sync(run->receiver, run->central, &received->dunlin.time);
    }
    received->raw.time = local->raw.time;
    local->operations = BATCHED;
    received->operations = BATCHED;
}

static void single(struct run *run, bool add, struct bench_pair *pair) {
    const struct edit *list = add ? edits.add : edits.remove;
    for (int i = 0; i < SINGLE; i += SINGLE_SLICE) {
        dunlin_slice(run, list + i, SINGLE_SLICE, 1, add, &pair->dunlin);
        raw_slice(run, list + i, SINGLE_SLICE, 1, add, &pair->raw);
    }
    pair->operations = SINGLE;
}

enum { ADD, REMOVE, DIRECTIONS };

struct member_results {
    struct bench_result local[DIRECTIONS];
    struct bench_result received[DIRECTIONS];
    struct bench_result single[DIRECTIONS];
};

static void members(const struct paths *from, const struct paths *work,
                    struct member_results *results, size_t at) {
    struct run run;
    copy_paths(from, work);
    run_open(&run, work);
    batched(&run, true, &results->local[ADD].runs[at], &results->received[ADD].runs[at]);
    batched(&run, false, &results->local[REMOVE].runs[at], &results->received[REMOVE].runs[at]);
    check_equal(&run, true);
    run_close(&run);
    remove_paths(work);
    copy_paths(from, work);
    run_open(&run, work);
    single(&run, true, &results->single[ADD].runs[at]);
    single(&run, false, &results->single[REMOVE].runs[at]);
    check_equal(&run, false);
    run_close(&run);
    remove_paths(work);
}

static void bench_members(const struct bench_options *options, const struct paths *from,
                          const struct paths *work) {
    static struct member_results results = {
        .local = {{.name = "W7 one member more, 1,000 a commit"},
                  {.name = "W7 one member less, 1,000 a commit"}},
        .received = {{.name = "W7 one member more, received in pages"},
                     {.name = "W7 one member less, received in pages"}},
        .single = {{.name = "W7 one member more, a commit each"},
                   {.name = "W7 one member less, a commit each"}}};
    for (int i = 0; i < BENCH_RUNS; i++) {
        members(from, work, &results, (size_t)i);
    }
    struct bench_result *all[] = {results.local, results.received, results.single};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        for (int direction = ADD; direction < DIRECTIONS; direction++) {
            struct bench_result *result = &all[i][direction];
            result->unit = "us";
            result->per_second = 1e6;
            result->target = all[i] == results.received ? 0 : 1.5;
            result->run_count = BENCH_RUNS;
            bench_print(options, result);
        }
    }
}

/* ---- the full recompute */

static void recompute_dunlin(struct recompute *recompute, struct bench_side *side) {
    recompute_clear(recompute);
    struct bench_time start = bench_now();
    int64_t origins = recompute_run(recompute);
    bench_add_since(&side->time, start);
    if (origins != GROUPS * MEMBERS + USERS / FOLLOW_EVERY) {
        bench_fail("W7", "the recompute has not made all origins");
    }
}

static void recompute_raw(struct raw *raw, struct bench_side *side) {
    raw_execute(raw, "DELETE FROM origin");
    struct bench_time start = bench_now();
    raw_recompute(raw);
    bench_add_since(&side->time, start);
}

static void bench_recompute(const struct bench_options *options, const struct paths *from,
                            const struct paths *work) {
    struct bench_result result = {
        .name = "W7 full recompute", .unit = "ms", .per_second = 1e3, .target = 1.3};
    for (; result.run_count < BENCH_RUNS; result.run_count++) {
        struct bench_pair *pair = &result.runs[result.run_count];
        copy_paths(from, work);
        struct recompute *recompute = recompute_open(work->sender);
        struct raw *raw = raw_open(work->raw, false);
        raw_graph_prepare(raw);
        for (int i = 0; i < RECOMPUTES; i++) {
            recompute_dunlin(recompute, &pair->dunlin);
            recompute_raw(raw, &pair->raw);
        }
        pair->operations = RECOMPUTES;
        recompute_close(recompute);
        raw_close(raw);
        remove_paths(work);
    }
    bench_print(options, &result);
}

void bench_w7(const struct bench_options *options) {
    struct paths first;
    struct paths from;
    struct paths work;
    choose_all();
    make_ids(user_ids, USERS, "65a1b2c3");
    make_ids(group_ids, GROUPS, "65a1b2c4");
    name_paths(&first, options->folder, "first");
    name_paths(&from, options->folder, "from");
    name_paths(&work, options->folder, "work");
    fill(&first, &from);
    remove_paths(&first);
    bench_recompute(options, &from, &work);
    bench_members(options, &from, &work);
    remove_paths(&from);
    free(pairs);
}
