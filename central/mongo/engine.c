/* The engine over MongoDB: its client, and the server's clock. The log: log.c; the rest: scopes.c.
 *
 * The clock comes from hello.localTime, asked for once a minute and carried on by the steady clock
 * meanwhile, so that a device's own clock never matters. Behind a router it is the router's. */
#include "central/mongo/engine.h"

#include <stdlib.h>

enum { OFFSET_MAX_AGE_MS = 60 * 1000 };

static int64_t steady_ms(const struct dln_mongo_engine *engine) {
    return engine->ports->steady_ms(engine->ports->steady_self);
}

static dunlin_status take_offset(struct dln_mongo_engine *engine, dunlin_error *err) {
    bson_t reply;
    int64_t asked_ms = steady_ms(engine);
    dunlin_status status = dln_mongo_hello(&engine->link, &reply, err);
    int64_t answered_ms = steady_ms(engine);
    int64_t server_ms = status == DUNLIN_OK ? dln_mongo_time(&reply, "localTime") : 0;
    bson_destroy(&reply);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (server_ms == 0) {
        return dln_fail(err, DUNLIN_UNAVAILABLE, DUNLIN_DOMAIN_CENTRAL,
                        "MongoDB: hello does not tell the server's time");
    }
    engine->offset_ms = server_ms - (asked_ms + (answered_ms - asked_ms) / 2);
    engine->offset_taken_ms = answered_ms;
    engine->offset_known = true;
    return DUNLIN_OK;
}

dunlin_status dln_mongo_now(void *self, int64_t *now_ms, dunlin_error *err) {
    struct dln_mongo_engine *engine = self;
    dunlin_status status = DUNLIN_OK;
    if (engine->app_clock) {
        *now_ms = engine->ports->app.now_ms(engine->ports->app.self);
        return DUNLIN_OK;
    }
    int64_t age_ms = steady_ms(engine) - engine->offset_taken_ms;
    if (!engine->offset_known || age_ms < 0 || age_ms >= OFFSET_MAX_AGE_MS) {
        status = take_offset(engine, err);
    }
    *now_ms = engine->offset_ms + steady_ms(engine);
    return status;
}

/* Any write will do, if it changes something: what a majority has then includes all that was there
 * before it, and what this session reads behind it is not older. */
static dunlin_status engine_settle(void *self, dunlin_error *err) {
    struct dln_mongo_engine *engine = self;
    bson_t change = BSON_INITIALIZER;
    bson_t set;
    bson_append_document_begin(&change, "$set", -1, &set);
    bson_append_int64(&set, "salt", -1, (int64_t)dln_central_salt(engine->ports));
    bson_append_document_end(&change, &set);
    dunlin_status status =
        dln_mongo_update(&engine->link, "scopes", DLN_TEXT("settle"), &change, true, err);
    bson_destroy(&change);
    return status;
}

/* Every prefix of what is written between the two is legal, and nothing locks anybody out. */
static dunlin_status engine_begin(void *self, dunlin_error *err) {
    (void)self;
    (void)err;
    return DUNLIN_OK;
}

static dunlin_status engine_end(void *self, bool keep, dunlin_error *err) {
    (void)self;
    (void)keep;
    (void)err;
    return DUNLIN_OK;
}

static void engine_close(void *self) {
    struct dln_mongo_engine *engine = self;
    struct dln_mongo *mongo = engine->link.mongo;
    dln_mongo_link_close(&engine->link);
    dln_mongo_close(mongo);
    free(engine);
}

dunlin_status dln_mongo_engine_open(struct dln_central_engine *out, struct dln_mongo *mongo,
                                    bool app_clock, const struct dln_central_ports *ports,
                                    dunlin_error *err) {
    dunlin_status status;
    struct dln_mongo_engine *engine = calloc(1, sizeof(*engine));
    if (engine == NULL) {
        return dln_central_no_memory(err);
    }
    if ((status = dln_mongo_link_open(&engine->link, mongo, err))) {
        free(engine);
        return status;
    }
    (void)atomic_fetch_add(&mongo->holders, 1);
    engine->ports = ports;
    engine->app_clock = app_clock;
    *out = (struct dln_central_engine){.self = engine,
                                       .close = engine_close,
                                       .now = dln_mongo_now,
                                       .settle = engine_settle,
                                       .begin = engine_begin,
                                       .end = engine_end};
    dln_mongo_log(out);
    dln_mongo_scopes(out);
    return DUNLIN_OK;
}
