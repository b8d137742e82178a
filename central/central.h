/* An open central, as the files of this folder see it. */
#ifndef DLN_CENTRAL_CENTRAL_H
#define DLN_CENTRAL_CENTRAL_H

#include <stdbool.h>
#include <stdint.h>

#include <dunlin/central.h>

#include "base/arena.h"
#include "base/error.h"
#include "central/engine.h"
#include "central/quota.h"
#include "sync/message.h"

enum {
    DLN_WRITER_MAX_AGE_MS = 60 * 1000,      /* a writer whose first read is older starts over */
    DLN_TOUCHED_SETTLED_MS = 2 * 60 * 1000, /* a head that was touched before is what it will be */
    DLN_GRACE_MIN_MS = 24 * 60 * 60 * 1000, /* no slot is freed earlier */
    DLN_RECORD_BYTES_MAX = 256 * 1024,      /* names and values of one record, as merged */
    DLN_EXCHANGE_BYTES_MAX = 64 * 1024 * 1024 /* memory of one exchange, and of one append */
};

/* Where time and chance come from. The wall clock is "the server's" of an embedded central; the
 * steady one never jumps and counts suspend. */
struct dln_central_ports {
    dunlin_ports app;
    int64_t (*steady_ms)(void *self);
    void *steady_self;
};

struct dln_central_limits {
    int64_t horizon_ms;
    int64_t grace_ms;
    int64_t quota[DLN_QUOTA_KINDS];
};

/* What a central did since it was opened, for metrics. */
struct dln_central_counts {
    uint64_t appended;  /* versions */
    uint64_t conflicts; /* appends that another process was faster than */
    uint64_t scopes;    /* of requests */
    uint64_t held;      /* scopes whose history was found lost */
};

struct dln_gate;

struct dunlin_central {
    struct dln_central_engine engine;
    struct dln_gate *gate; /* shared by the centrals of a process; NULL: it has only this one */
    struct dln_central_ports ports;
    struct dln_central_limits limits;
    struct dln_arena arena;   /* what an exchange needs until its answer is written */
    struct dln_arena attempt; /* what one attempt of an append needs */
    struct dln_quota_cache quotas;
    struct dln_central_counts counts;
};

/* The system's clocks and random, or the app's over them. */
void dln_central_ports_init(struct dln_central_ports *out, const dunlin_ports *app);
uint32_t dln_central_salt(const struct dln_central_ports *ports);
/* A random id: 32 hex digits and a zero. */
void dln_central_random_id(const struct dln_central_ports *ports, char out[33]);

/* Whether the arena cannot give so much, found out by taking it: asked where what failed may have
 * failed for that. */
bool dln_central_is_short(struct dln_arena *arena, size_t bytes);
/* OUT_OF_MEMORY, said in one place. */
static inline dunlin_status dln_central_no_memory(dunlin_error *err) {
    return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_CENTRAL,
                    "out of memory, or over an exchange's ceiling");
}

/* The text of a key of a known collection. No text when out of memory. */
struct dln_text dln_central_key(struct dln_arena *arena, enum dln_collection_id id,
                                const struct dln_text *parts);
struct dln_text dln_central_key_text(struct dln_arena *arena, const struct dln_key *key);

/* The epoch that stands; the first one is made where there is none. */
DUNLIN_MUST_USE dunlin_status dln_central_epoch(struct dunlin_central *central,
                                                struct dln_arena *arena, struct dln_epoch *out,
                                                dunlin_error *err);
/* UNAVAILABLE where central was restored since the exchange began: it has no answer then. */
DUNLIN_MUST_USE dunlin_status dln_central_epoch_stands(struct dunlin_central *central,
                                                       const struct dln_epoch *begun,
                                                       dunlin_error *err);

/* MISUSE for options of another version or out of range; they may be NULL. */
DUNLIN_MUST_USE dunlin_status dln_central_check_options(const dunlin_central_options *options,
                                                        dunlin_error *err);

/* Central without an engine yet: whoever opens one puts it into `engine` before anything else is
 * done. Close with dunlin_central_close(). options may be NULL. */
DUNLIN_MUST_USE dunlin_status dln_central_new(dunlin_central **out,
                                              const dunlin_central_options *options,
                                              dunlin_error *err);

#endif
