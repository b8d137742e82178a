#include "bench/recompute.h"

#include <stdlib.h>

#include "store/derive.h"

struct recompute {
    struct dln_store *store;
};

static void must(dunlin_status status, const dunlin_error *err) {
    if (status != DUNLIN_OK) {
        bench_fail(dunlin_status_name(status), err->message);
    }
}

struct recompute *recompute_open(const char *path) {
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    struct recompute *recompute = calloc(1, sizeof(*recompute));
    dunlin_error err;
    if (!recompute) {
        bench_fail(path, "out of memory");
    }
    options.must_exist = 1;
    options.durability = DUNLIN_DURABILITY_NORMAL;
    must(dln_store_open(&recompute->store, path, NULL, &options, &err), &err);
    return recompute;
}

void recompute_close(struct recompute *recompute) {
    dln_store_close(recompute->store);
    free(recompute);
}

void recompute_clear(struct recompute *recompute) {
    dunlin_error err;
    must(dln_store_begin(recompute->store, &err), &err);
    must(dln_derive_clear(recompute->store, &err), &err);
    must(dln_store_commit(recompute->store, &err), &err);
}

int64_t recompute_run(struct recompute *recompute) {
    dunlin_check check;
    dunlin_error err;
    must(dln_store_begin(recompute->store, &err), &err);
    must(dln_derive_recompute(recompute->store, &check, &err), &err);
    must(dln_store_commit(recompute->store, &err), &err);
    return check.subscriptions_off;
}
