/* Clocks, random bits, keys, the epoch: what several files of this folder need. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "central/central.h"

static int64_t clock_ms(clockid_t clock) {
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t system_now_ms(void *self) {
    (void)self;
    return clock_ms(CLOCK_REALTIME);
}

/* Linux's monotonic clock stands still while the machine sleeps, and a writer must not. Where there
 * is no CLOCK_BOOTTIME (macOS, BSD), the monotonic clock goes on. */
static int64_t system_steady_ms(void *self) {
    (void)self;
#ifdef CLOCK_BOOTTIME
    return clock_ms(CLOCK_BOOTTIME);
#else
    return clock_ms(CLOCK_MONOTONIC);
#endif
}

static void system_random(void *self, void *out, size_t len) {
    (void)self;
    unsigned char *bytes = out;
    size_t done = 0;
    while (done < len) {
        ssize_t got = getrandom(bytes + done, len - done, 0);
        if (got > 0) {
            done += (size_t)got;
        }
    }
}

void dln_central_ports_init(struct dln_central_ports *out, const dunlin_ports *app) {
    *out = (struct dln_central_ports){.app = {NULL, system_now_ms, system_random},
                                      .steady_ms = system_steady_ms};
    if (app != NULL) {
        out->app = *app;
    }
}

uint32_t dln_central_salt(const struct dln_central_ports *ports) {
    uint32_t salt = 0;
    ports->app.random(ports->app.self, &salt, sizeof(salt));
    return salt;
}

void dln_central_random_id(const struct dln_central_ports *ports, char out[33]) {
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[16];
    ports->app.random(ports->app.self, bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[32] = '\0';
}

bool dln_central_is_short(struct dln_arena *arena, size_t bytes) {
    return dln_arena_alloc(arena, bytes) == NULL;
}

struct dln_text dln_central_key_text(struct dln_arena *arena, const struct dln_key *key) {
    struct dln_text made = {NULL, 0};
    struct dln_buf buf = DLN_BUF_INIT((DLN_KEY_MAX + 1) * (3 * DLN_ID_MAX + 1));
    dln_key_text(&buf, key);
    if (buf.status == DUNLIN_OK) {
        made = dln_arena_text(arena, (struct dln_text){buf.data, buf.len});
    }
    dln_buf_free(&buf);
    return made;
}

struct dln_text dln_central_key(struct dln_arena *arena, enum dln_collection_id id,
                                const struct dln_text *parts) {
    struct dln_key key = {.collection = dln_collection_by_id(id)};
    key.name = dln_text_of(key.collection->name);
    key.part_count = key.collection->key_count;
    for (int i = 0; i < key.part_count; i++) {
        key.parts[i] = parts[i];
    }
    return dln_central_key_text(arena, &key);
}

dunlin_status dln_central_epoch(struct dunlin_central *central, struct dln_arena *arena,
                                struct dln_epoch *out, dunlin_error *err) {
    const struct dln_central_engine *engine = &central->engine;
    dunlin_status status;
    char id[33];
    bool inserted;
    if ((status = engine->epoch(engine->self, arena, out, err)) || out->number != 0) {
        return status;
    }
    dln_central_random_id(&central->ports, id);
    struct dln_epoch first = {1, dln_text_of(id)};
    if ((status = engine->insert_epoch(engine->self, &first, &inserted, err))) {
        return status;
    }
    return engine->epoch(engine->self, arena, out, err); /* somebody else's, if he was faster */
}

dunlin_status dln_central_epoch_stands(struct dunlin_central *central,
                                       const struct dln_epoch *begun, dunlin_error *err) {
    struct dln_epoch ended;
    dunlin_status status = dln_central_epoch(central, &central->arena, &ended, err);
    if (status == DUNLIN_OK && ended.number != begun->number) {
        status = dln_fail(err, DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_CENTRAL,
                          "central was restored in the middle of the exchange");
    }
    return status;
}
