#include "bench/device.h"

#include <stdio.h>

const char device_owner[] = "65a1b2c3d4e5f6a7b8c90000";

static void must(dunlin_status status, const dunlin_error *err) {
    if (status != DUNLIN_OK) {
        bench_fail(dunlin_status_name(status), err->message);
    }
}

dunlin_store *device_open(const char *path, dunlin_durability durability, bool search) {
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_store *store = NULL;
    dunlin_error err;
    options.durability = durability;
    options.without_search = !search;
    must(dunlin_store_open(&store, path, device_owner, &options, &err), &err);
    return store;
}

void device_begin(dunlin_store *store) {
    dunlin_error err;
    must(dunlin_begin(store, &err), &err);
}

void device_commit(dunlin_store *store) {
    dunlin_error err;
    must(dunlin_commit(store, &err), &err);
}

/* ---- lists */

void device_list_make(dunlin_store *store, const char *list) {
    dunlin_error err;
    must(dunlin_list_create(store, NULL, list, "A list", &err), &err);
}

void device_item_add(dunlin_store *store, const char *list, const char *type, const char *id,
                     const char *title, int64_t created_at) {
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    dunlin_error err;
    options.title = title;
    options.created_at = &created_at;
    must(dunlin_list_add(store, list, type, id, &options, &err), &err);
}

int device_items_newest(dunlin_store *store, const char *list, size_t limit) {
    dunlin_range range = DUNLIN_RANGE_INIT;
    dunlin_iter *iter = NULL;
    const dunlin_item *item = NULL;
    dunlin_error err;
    int count = 0;
    range.limit = limit;
    range.backwards = 1;
    must(dunlin_items(store, &iter, list, &range, &err), &err);
    for (;;) {
        must(dunlin_items_next(iter, &item, &err), &err);
        if (!item) {
            break;
        }
        count += item->id && item->title && item->created_at > 0;
    }
    dunlin_iter_free(iter);
    return count;
}

/* ---- graph */

void device_follow(dunlin_store *store, dunlin_kind kind, const char *id) {
    dunlin_error err;
    must(dunlin_follow(store, kind, id, &err), &err);
}

void device_group_make(dunlin_store *store, const char *group) {
    dunlin_error err;
    must(dunlin_group_create(store, group, "A group", DUNLIN_JOIN_OPEN, &err), &err);
}

void device_member_add(dunlin_store *store, const char *group, const char *user) {
    dunlin_error err;
    must(dunlin_group_add(store, group, user, DUNLIN_ROLE_MEMBER, &err), &err);
}

void device_member_remove(dunlin_store *store, const char *group, const char *user) {
    dunlin_error err;
    must(dunlin_group_remove(store, group, user, &err), &err);
}

int64_t device_subscriptions(dunlin_store *store) {
    dunlin_store_status status;
    dunlin_error err;
    must(dunlin_store_get_status(store, &status, &err), &err);
    return status.subscriptions;
}

/* ---- sync */

/* A remote that measures the one behind it. */
struct stopwatch {
    dunlin_remote remote;
    dunlin_remote *behind;
    struct bench_time away;
};

static dunlin_status exchange(void *self, const char *kind, const void *request, size_t request_len,
                              const dunlin_sink *answer, int64_t *retry_after_ms,
                              dunlin_error *err) {
    struct stopwatch *stopwatch = self;
    dunlin_remote *behind = stopwatch->behind;
    struct bench_time start = bench_now();
    dunlin_status status =
        behind->exchange(behind->self, kind, request, request_len, answer, retry_after_ms, err);
    bench_add_since(&stopwatch->away, start);
    return status;
}

void device_sync(dunlin_store *store, dunlin_central *central, struct bench_time *time) {
    struct stopwatch stopwatch = {.remote = {.exchange = exchange}};
    struct bench_time all = {0};
    dunlin_error err;
    must(dunlin_central_remote(central, &stopwatch.behind, device_owner, &err), &err);
    stopwatch.remote.self = &stopwatch;
    struct bench_time start = bench_now();
    must(dunlin_sync(store, &stopwatch.remote, NULL, &err), &err);
    bench_add_since(&all, start);
    dunlin_remote_close(stopwatch.behind);
    if (time) {
        time->wall_s += all.wall_s - stopwatch.away.wall_s;
        time->cpu_s += all.cpu_s - stopwatch.away.cpu_s;
    }
}

dunlin_central *device_central_open(const char *path) {
    dunlin_central *central = NULL;
    char url[4200];
    dunlin_error err;
    (void)snprintf(url, sizeof(url), "sqlite:%s", path);
    must(dunlin_central_open(&central, url, NULL, &err), &err);
    return central;
}

void device_copy(dunlin_store *store, const char *path) {
    dunlin_error err;
    must(dunlin_store_backup(store, path, &err), &err);
}
