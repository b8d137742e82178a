/* What every central has, whichever engine keeps its data. */
#include <limits.h>
#include <stdlib.h>

#include "central/central.h"

static const int64_t default_horizon_ms = INT64_C(90) * 24 * 60 * 60 * 1000;
static const int64_t default_quota[DLN_QUOTA_KINDS] = {
    [DLN_QUOTA_LISTS] = 10000, [DLN_QUOTA_ITEMS] = 1000000, [DLN_QUOTA_GROUPS] = 10000};

static bool are_legal(const dunlin_central_options *options) {
    bool grace = options->grace_ms == 0 || options->grace_ms >= DLN_GRACE_MIN_MS;
    bool ports = options->ports == NULL ||
                 (options->ports->now_ms != NULL && options->ports->random != NULL);
    return options->version == DUNLIN_CENTRAL_OPTIONS_VERSION && grace && ports &&
           options->horizon_ms >= 0 && options->quota_lists >= 0 && options->quota_items >= 0 &&
           options->quota_groups >= 0 && options->busy_timeout_ms >= 0;
}

static int64_t or_default(int64_t given, int64_t standard) {
    return given != 0 ? given : standard;
}

/* A tombstone's slot is a slot: it is kept as long as any other, however short the horizon. */
static void set_limits(struct dln_central_limits *limits, const dunlin_central_options *options) {
    limits->grace_ms = or_default(options->grace_ms, DLN_GRACE_MIN_MS);
    limits->horizon_ms = or_default(options->horizon_ms, default_horizon_ms);
    if (limits->horizon_ms < limits->grace_ms) {
        limits->horizon_ms = limits->grace_ms;
    }
    limits->quota[DLN_QUOTA_LISTS] =
        or_default(options->quota_lists, default_quota[DLN_QUOTA_LISTS]);
    limits->quota[DLN_QUOTA_ITEMS] =
        or_default(options->quota_items, default_quota[DLN_QUOTA_ITEMS]);
    limits->quota[DLN_QUOTA_GROUPS] =
        or_default(options->quota_groups, default_quota[DLN_QUOTA_GROUPS]);
}

dunlin_status dln_central_check_options(const dunlin_central_options *options, dunlin_error *err) {
    if (options != NULL && !are_legal(options)) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API,
                        "an option of central is of another version or out of range");
    }
    return DUNLIN_OK;
}

dunlin_status dln_central_new(dunlin_central **out, const dunlin_central_options *options,
                              dunlin_error *err) {
    static const dunlin_central_options defaults = DUNLIN_CENTRAL_OPTIONS_INIT;
    dunlin_status status = dln_central_check_options(options, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    options = options != NULL ? options : &defaults;
    dunlin_central *central = calloc(1, sizeof(*central));
    if (central == NULL) {
        return dln_central_no_memory(err);
    }
    dln_central_ports_init(&central->ports, options->ports);
    set_limits(&central->limits, options);
    central->arena = DLN_ARENA_INIT(DLN_EXCHANGE_BYTES_MAX);
    central->attempt = DLN_ARENA_INIT(DLN_EXCHANGE_BYTES_MAX);
    *out = central;
    return DUNLIN_OK;
}

void dunlin_central_close(dunlin_central *central) {
    if (central == NULL) {
        return;
    }
    if (central->engine.close != NULL) {
        central->engine.close(central->engine.self);
    }
    dln_arena_free(&central->arena);
    dln_arena_free(&central->attempt);
    free(central);
}
