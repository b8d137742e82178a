#include "tests/support/history.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tests/support/random.h"
#include "tests/support/witness.h"
#include "tests/support/world.h"

#define DAY_MS INT64_C(86400000)
#define HORIZON_MS (30 * DAY_MS)

enum { DUMPS_BYTES_MAX = 64 * 1024 * 1024 };

static const char *const people[] = {"aoi", "ben", "chika"};
static const char *const users[] = {"aoi", "ben", "chika", "dai", "emi", "a.b", "$ben"};
static const char *const groups[] = {"tea", "run", "tea.v2"};
static const char *const lists[] = {"l1", "l2", "l/3"};
static const char *const items[] = {"v1", "v2", "v3", "a.b", "__proto__"};
static const char *const types[] = {"video", "case"};

#define PICK(array, random) ((array)[test_random_below((random), sizeof(array) / sizeof(*(array)))])

/* ---- running one */

struct run {
    const struct history *history;
    struct world world;
    char *why;
    bool failed;
    struct step last_edit[WORLD_DEVICES];
    struct witness witnesses[WORLD_DEVICES];
};

DUNLIN_PRINTF(2, 3) static void complain(struct run *run, const char *format, ...) {
    if (!run->failed) {
        va_list values;
        va_start(values, format);
        (void)vsnprintf(run->why, HISTORY_WHY_BYTES, format, values);
        va_end(values);
        run->failed = true;
    }
}

/* What an edit may come to, whatever went before it. */
static void expect_edit(struct run *run, const struct device *device, const struct step *step,
                        dunlin_status status, const dunlin_error *err) {
    bool fine = status == DUNLIN_OK || status == DUNLIN_NOT_FOUND || status == DUNLIN_EXISTS ||
                status == DUNLIN_SELF || status == DUNLIN_NOT_ALLOWED;
    if (!fine && !device_was_killed(device)) {
        complain(run, "%s on %s came to %s: %s", history_step_name(step->kind), device->path,
                 dunlin_status_name(status), err->message);
    }
}

static dunlin_status edit_graph(dunlin_store *store, enum step_kind kind,
                                struct test_random *random, dunlin_error *err) {
    const char *group = PICK(groups, random);
    const char *user = PICK(users, random);
    bool of_group = test_random_below(random, 2) == 0;
    dunlin_join join = test_random_below(random, 2) == 0 ? DUNLIN_JOIN_OPEN : DUNLIN_JOIN_CLOSED;
    dunlin_role role = test_random_below(random, 3) == 0 ? DUNLIN_ROLE_ADMIN : DUNLIN_ROLE_MEMBER;
    char name[32];
    (void)snprintf(name, sizeof(name), "name %u", (unsigned)test_random_below(random, 1000));
    switch (kind) {
    case STEP_FOLLOW:
        return dunlin_follow(store, of_group ? DUNLIN_GROUP : DUNLIN_USER, of_group ? group : user,
                             err);
    case STEP_UNFOLLOW:
        return dunlin_unfollow(store, of_group ? DUNLIN_GROUP : DUNLIN_USER,
                               of_group ? group : user, err);
    case STEP_GROUP_CREATE:
        return dunlin_group_create(store, group, name, join, err);
    case STEP_GROUP_SET:
        return dunlin_group_set(store, group, of_group ? name : NULL, of_group ? NULL : &join, err);
    case STEP_GROUP_DELETE:
        return dunlin_group_delete(store, group, err);
    case STEP_GROUP_ADD:
        return dunlin_group_add(store, group, user, role, err);
    default:
        return dunlin_group_remove(store, group, user, err);
    }
}

static dunlin_status edit_list(dunlin_store *store, enum step_kind kind, struct test_random *random,
                               dunlin_error *err) {
    const char *list = PICK(lists, random);
    const char *other = PICK(lists, random);
    char name[32];
    (void)snprintf(name, sizeof(name), "見逃し %u", (unsigned)test_random_below(random, 1000));
    switch (kind) {
    case STEP_LIST_CREATE:
        return dunlin_list_create(store, NULL, list, name, err);
    case STEP_LIST_RENAME:
        return dunlin_list_rename(store, list, name, err);
    case STEP_LIST_RANK:
        return dunlin_list_rank(store, list, DUNLIN_PLACE_BEFORE, other, err);
    case STEP_LIST_DELETE:
        return dunlin_list_delete(store, list, err);
    default:
        return dunlin_list_restore(store, list, err);
    }
}

static dunlin_status edit_item(dunlin_store *store, enum step_kind kind, struct test_random *random,
                               dunlin_error *err) {
    const char *list = PICK(lists, random);
    const char *type = PICK(types, random);
    const char *id = PICK(items, random);
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    dunlin_item_place place = DUNLIN_ITEM_PLACE_INIT;
    int64_t created_at = (int64_t)test_random_below(random, 1000000);
    char title[32];
    (void)snprintf(title, sizeof(title), "title %u", (unsigned)test_random_below(random, 1000));
    options.title = test_random_below(random, 2) == 0 ? title : NULL;
    options.data = test_random_below(random, 3) == 0 ? "{\"b\":1.5, \"a\":[]}" : NULL;
    options.created_at = test_random_below(random, 3) == 0 ? &created_at : NULL;
    switch (kind) {
    case STEP_ITEM_ADD:
        return dunlin_list_add(store, list, type, id, &options, err);
    case STEP_ITEM_SET:
        return dunlin_item_set(store, list, type, id, &options, err);
    case STEP_ITEM_REMOVE:
        return dunlin_list_remove(store, list, type, id, err);
    default:
        place.to_list = test_random_below(random, 2) == 0 ? PICK(lists, random) : NULL;
        place.place = (dunlin_place_kind)test_random_below(random, 3);
        place.before_type = place.place == DUNLIN_PLACE_BEFORE ? PICK(types, random) : NULL;
        place.before_id = place.place == DUNLIN_PLACE_BEFORE ? PICK(items, random) : NULL;
        return dunlin_list_move(store, list, type, id, &place, err);
    }
}

static dunlin_status edit(dunlin_store *store, enum step_kind kind, struct test_random *random,
                          dunlin_error *err) {
    if (kind <= STEP_GROUP_REMOVE) {
        return edit_graph(store, kind, random, err);
    }
    return kind <= STEP_LIST_RESTORE ? edit_list(store, kind, random, err)
                                     : edit_item(store, kind, random, err);
}

static void run_batch(struct run *run, struct device *device, const struct step *step,
                      struct test_random *random) {
    dunlin_error err = {0};
    if (dunlin_begin(device->store, &err) != DUNLIN_OK) {
        complain(run, "begin: %s", err.message);
        return;
    }
    for (uint64_t i = 1 + test_random_below(random, 5); i > 0; i--) {
        enum step_kind kind = (enum step_kind)test_random_below(random, STEP_BATCH);
        expect_edit(run, device, step, edit(device->store, kind, random, &err), &err);
    }
    if (test_random_below(random, 4) == 0) {
        dunlin_rollback(device->store);
    } else if (dunlin_commit(device->store, &err) != DUNLIN_OK && !device_was_killed(device)) {
        complain(run, "commit: %s", err.message);
    }
}

/* Writes what must be there at the end, whatever else happens. */
static void testify(struct run *run, struct device *device, dunlin_store *store) {
    struct witness *witness = &run->witnesses[device - run->world.devices];
    dunlin_error err = {0};
    dunlin_status status = witness_write(witness, device, store, &err);
    if (status != DUNLIN_OK && !device_was_killed(device)) {
        complain(run, "a witness came to %s: %s", dunlin_status_name(status), err.message);
    }
}

static void run_retry(struct run *run, struct device *device, const struct step *step,
                      struct test_random *random) {
    dunlin_iter *iter = NULL;
    const dunlin_rejection *row = NULL;
    dunlin_error err = {0};
    if (dunlin_rejected(device->store, &iter, NULL, &err) != DUNLIN_OK ||
        dunlin_rejected_next(iter, &row, &err) != DUNLIN_OK) {
        complain(run, "rejected: %s", err.message);
    }
    int64_t id = row == NULL ? 0 : row->id;
    dunlin_iter_free(iter);
    if (id != 0 && test_random_below(random, 2) == 0) {
        expect_edit(run, device, step, dunlin_rejected_retry(device->store, id, NULL, &err), &err);
    }
}

/* A sync may fail only as the faults explain. */
static void run_sync(struct run *run, struct device *device, bool faulty) {
    dunlin_error err = {0};
    dunlin_status status = dunlin_sync(device->store, &device->remote, NULL, &err);
    bool explained = device_was_killed(device) ||
                     (faulty && (status == DUNLIN_OFFLINE || status == DUNLIN_CONN_CLOSED ||
                                 status == DUNLIN_NOT_OUR_SERVER || status == DUNLIN_STALE_REPLY));
    if (status != DUNLIN_OK && !explained) {
        complain(run, "sync of %s came to %s: %s", device->path, dunlin_status_name(status),
                 err.message);
    }
    device->faults = 0;
    if (device_was_killed(device)) {
        device_reopen(device);
        device_kill_at(device, -1);
    }
}

/* An edit of what the given one has edited: steps of one family draw the same record from the same
 * random number. */
static struct step edit_again(const struct step *edit, struct test_random *random) {
    static const enum step_kind ends[] = {STEP_UNFOLLOW, STEP_GROUP_REMOVE, STEP_LIST_RESTORE,
                                          STEP_ITEM_MOVE};
    struct step step = *edit;
    enum step_kind first = STEP_FOLLOW;
    for (int i = 0; ends[i] < edit->kind; i++) {
        first = (enum step_kind)(ends[i] + 1);
        step.kind = ends[i + 1];
    }
    step.kind = edit->kind <= STEP_UNFOLLOW ? STEP_UNFOLLOW : step.kind;
    uint64_t count = (uint64_t)step.kind - (uint64_t)first + 1;
    step.kind = (enum step_kind)((uint64_t)first + test_random_below(random, count));
    return step;
}

/* Another process has the same file open, and edits while an answer is on its way: mostly the
 * record that was edited last, which that answer may be about. */
static void edit_meanwhile(struct device *device) {
    struct run *run = device->payload;
    struct test_random random = {world_random(&run->world)};
    struct step step = run->last_edit[device - run->world.devices];
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_store *other = NULL;
    dunlin_error err = {0};
    options.durability = DUNLIN_DURABILITY_NORMAL;
    options.ports = &device->ports;
    dunlin_status status = dunlin_store_open(&other, device->path, device->owner, &options, &err);
    expect_edit(run, device, &step, status, &err);
    if (other != NULL) {
        testify(run, device, other);
    }
    bool syncs = test_random_below(&random, 3) == 0;
    if (other != NULL && syncs) { /* then the answer on its way is an old one */
        status = dunlin_sync(other, device->way, NULL, &err);
        if (status != DUNLIN_OK) {
            complain(run, "sync meanwhile: %s", err.message);
        }
    }
    for (int i = 0; other != NULL && i < 2; i++) {
        struct step next = edit_again(&step, &random);
        struct test_random same = {next.random};
        status = edit(other, next.kind, &same, &err);
        expect_edit(run, device, &next, status, &err);
    }
    dunlin_store_close(other);
}

static void run_step(struct run *run, const struct step *step) {
    struct world *world = &run->world;
    struct device *device = &world->devices[step->device];
    struct test_random random = {step->random};
    static const int64_t spans[] = {
        60000, 600000, 3600000, 25 * DAY_MS / 24, 9 * DAY_MS, HORIZON_MS + DAY_MS};
    static const int64_t skews[] = {0, 0, 3 * DAY_MS, -3 * DAY_MS, -WORLD_START_MS, 400000};
    dunlin_error err = {0};
    world->now_ms += 1 + (int64_t)test_random_below(&random, 5000);
    switch (step->kind) {
    case STEP_BATCH:
        run_batch(run, device, step, &random);
        break;
    case STEP_RETRY:
        run_retry(run, device, step, &random);
        break;
    case STEP_SYNC_FAULTY:
        for (int i = 0; i < 16; i++) {
            device->faults = device->faults << 4 | test_random_below(&random, FAULT_COUNT);
        }
        if (test_random_below(&random, 3) == 0) {
            device_kill_at(device, 1 + (int64_t)test_random_below(&random, 8));
        }
        run_sync(run, device, true);
        break;
    case STEP_SYNC:
        run_sync(run, device, false);
        break;
    case STEP_KILL:
        device_kill_at(device, 1 + (int64_t)test_random_below(&random, 4));
        break;
    case STEP_REOPEN:
        device_reopen(device);
        device_kill_at(device, -1);
        break;
    case STEP_CLOCK:
        device->skew_ms = PICK(skews, &random);
        break;
    case STEP_TIME:
        world->now_ms += PICK(spans, &random);
        break;
    case STEP_MAINTAIN:
    case STEP_EXPIRE:
        world->now_ms += step->kind == STEP_EXPIRE ? HORIZON_MS + DAY_MS : 0;
        if (dunlin_central_maintain(world->central, &(dunlin_maintenance){0}, &err) != DUNLIN_OK) {
            complain(run, "maintain: %s", err.message);
        }
        break;
    default:
        testify(run, device, device->store);
        run->last_edit[step->device] = *step;
        expect_edit(run, device, step, edit(device->store, step->kind, &random, &err), &err);
        break;
    }
    if (device_was_killed(device)) {
        device_reopen(device);
        device_kill_at(device, -1);
    }
}

/* ---- what must hold at the end */

static void check_derived(struct run *run, struct device *device) {
    dunlin_check check = {0};
    dunlin_error err = {0};
    dunlin_status status = dunlin_store_verify(device->store, 0, &check, &err);
    if (status != DUNLIN_OK || check.file_damaged || check.subscriptions_off != 0 ||
        check.counts_off != 0 || check.search_off != 0) {
        complain(run, "verify of %s: %s, damaged %d, subscriptions %lld, counts %lld, search %lld",
                 device->path, dunlin_status_name(status), check.file_damaged,
                 (long long)check.subscriptions_off, (long long)check.counts_off,
                 (long long)check.search_off);
    }
}

static void check_witnesses(struct run *run) {
    char why[256];
    for (int i = 0; i < run->world.device_count; i++) {
        if (!witness_check(&run->witnesses[i], &run->world.devices[i], why, sizeof(why))) {
            complain(run, "%s", why);
        }
    }
}

/* The first line in which two dumps differ. */
static void complain_difference(struct run *run, const char *what, const char *a, const char *b) {
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    complain(run, "%s differ: …%.300s\n  and …%.300s", what, a, b);
}

static void check_dumps(struct run *run) {
    char *dumps[WORLD_DEVICES] = {0};
    for (int i = 0; i < run->world.device_count && !run->failed; i++) {
        struct device *device = &run->world.devices[i];
        dumps[i] = device_dump(device);
        char *central = device_dump_remote(device);
        if (strcmp(dumps[i], central) != 0) {
            complain_difference(run, "device and central", dumps[i], central);
        }
        free(central);
        for (int k = 0; k < i; k++) {
            if (strcmp(run->world.devices[k].owner, device->owner) == 0 &&
                strcmp(dumps[k], dumps[i]) != 0) {
                complain_difference(run, "devices of one person", dumps[k], dumps[i]);
            }
        }
        if (device_pending(device) != 0) {
            complain(run, "%s still has %lld pending", device->path,
                     (long long)device_pending(device));
        }
    }
    for (int i = 0; i < WORLD_DEVICES; i++) {
        free(dumps[i]);
    }
}

static char *all_dumps(struct world *world) {
    struct dln_buf all = DLN_BUF_INIT(DUMPS_BYTES_MAX);
    for (int i = 0; i < world->device_count; i++) {
        char *dump = device_dump(&world->devices[i]);
        dln_buf_append_text(&all, dump);
        dln_buf_append_byte(&all, '\n');
        free(dump);
    }
    dln_buf_append_byte(&all, '\0');
    return all.data;
}

int history_run(const struct history *history, char why[HISTORY_WHY_BYTES], char **dumps) {
    static const int64_t skews[] = {0, 5000, -90000, 3 * DAY_MS, -WORLD_START_MS};
    struct run run = {.history = history, .why = why};
    dunlin_central_options options = DUNLIN_CENTRAL_OPTIONS_INIT;
    struct test_random random = {history->seed ^ UINT64_C(0x5eed)};
    options.horizon_ms = HORIZON_MS;
    world_open(&run.world, history->seed, &options);
    for (int i = 0; i < history->devices; i++) {
        struct device *device =
            world_device(&run.world, people[i % history->people], PICK(skews, &random));
        device->meanwhile = edit_meanwhile;
        device->payload = &run;
        device_kill_at(device, -1);
    }
    for (size_t i = 0; i < history->step_count && !run.failed; i++) {
        run_step(&run, &history->steps[i]);
    }
    for (int round = 0; round < 2 && !run.failed; round++) {
        for (int i = 0; i < history->devices; i++) {
            device_kill_at(&run.world.devices[i], -1);
            run_sync(&run, &run.world.devices[i], false);
        }
    }
    for (int i = 0; i < history->devices && !run.failed; i++) {
        check_derived(&run, &run.world.devices[i]);
    }
    if (!run.failed) {
        check_dumps(&run);
        check_witnesses(&run);
    }
    if (dumps != NULL) {
        *dumps = all_dumps(&run.world);
    }
    world_close(&run.world);
    return run.failed;
}

static void choose(const char *name, const char *value) {
    if (value != NULL) {
        (void)setenv(name, value, 1);
    } else {
        (void)unsetenv(name);
    }
}

char *history_run_over(const struct history *history, const char *engine, const char *remote) {
    char why[HISTORY_WHY_BYTES];
    char *dumps = NULL;
    choose("DUNLIN_TEST_ENGINE", engine);
    choose("DUNLIN_TEST_REMOTE", remote);
    if (history_run(history, why, &dumps) != 0) {
        printf("seed %llu over %s, %s: %s\n", (unsigned long long)history->seed,
               engine != NULL ? engine : "SQLite", remote != NULL ? remote : "in the process", why);
        free(dumps);
        return NULL;
    }
    return dumps;
}

void history_shrink(struct history *history, char why[HISTORY_WHY_BYTES]) {
    for (size_t chunk = history->step_count / 2; chunk > 0; chunk /= 2) {
        for (size_t at = 0; at + chunk <= history->step_count;) {
            struct history less = *history;
            char other[HISTORY_WHY_BYTES];
            memmove(&less.steps[at], &less.steps[at + chunk],
                    (less.step_count - at - chunk) * sizeof(*less.steps));
            less.step_count -= chunk;
            if (history_run(&less, other, NULL) != 0) {
                *history = less;
                memcpy(why, other, HISTORY_WHY_BYTES);
            } else {
                at += chunk;
            }
        }
    }
}
