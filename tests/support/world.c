#include "tests/support/world.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dunlin/mongo.h>

#include "base/buf.h"
#include "client/handle.h"
#include "store/internal.h"
#include "tests/support/inside.h"
#include "tests/support/mongo.h"
#include "tests/support/random.h"
#include "tests/support/temp.h"

enum { DUMP_BYTES_MAX = 256 * 1024 * 1024 };

/* ---- ports */

static uint64_t next_of(uint64_t *state) {
    struct test_random random = {*state};
    uint64_t bits = test_random_next(&random);
    *state = random.state;
    return bits;
}

uint64_t world_random(struct world *world) {
    return next_of(&world->random);
}

static void fill_random(uint64_t *state, void *out, size_t len) {
    unsigned char *bytes = out;
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (unsigned char)next_of(state);
    }
}

static int64_t world_now(void *self) {
    return ((struct world *)self)->now_ms;
}

static void world_fill(void *self, void *out, size_t len) {
    fill_random(&((struct world *)self)->central_random, out, len);
}

static int64_t device_now(void *self) {
    const struct device *device = self;
    return device->world->now_ms + device->skew_ms;
}

static void device_fill(void *self, void *out, size_t len) {
    fill_random(&((struct device *)self)->random, out, len);
}

static void must(dunlin_status status, const dunlin_error *err, const char *what) {
    if (status != DUNLIN_OK) {
        fail_msg("%s: %s: %s", what, dunlin_status_name(status), err->message);
    }
}

/* ---- the way between a device and central */

static dunlin_status keep_answer(void *self, const void *data, size_t len) {
    struct dln_buf *buf = self;
    dln_buf_append(buf, data, len);
    return dln_buf_status(buf, NULL);
}

static dunlin_status deliver(struct device *device, const char *kind, const void *request,
                             size_t len, struct dln_buf *answer, dunlin_error *err) {
    dunlin_sink sink = {answer, keep_answer};
    int64_t retry_after_ms = 0;
    dln_buf_clear(answer);
    if (device->world->bridge != NULL) {
        inside_set_now(device->world->bridge, device->world->now_ms);
    }
    device->exchanges++;
    return device->way->exchange(device->way->self, kind, request, len, &sink, &retry_after_ms,
                                 err);
}

static dunlin_status broken(dunlin_error *err, dunlin_status status) {
    return dln_fail(err, status, DUNLIN_DOMAIN_REMOTE, "the test broke the connection");
}

static dunlin_status faulty_exchange(void *self, const char *kind, const void *request, size_t len,
                                     const dunlin_sink *sink, int64_t *retry_after_ms,
                                     dunlin_error *err) {
    struct device *device = self;
    enum world_fault fault = (enum world_fault)(device->faults & 15);
    (void)retry_after_ms;
    device->faults >>= 4;
    if (fault == FAULT_OFFLINE || device->way == NULL) {
        return broken(err, DUNLIN_OFFLINE);
    }
    if (fault == FAULT_LOST_REQUEST) {
        return broken(err, DUNLIN_CONN_CLOSED);
    }
    struct dln_buf answer = DLN_BUF_INIT(DUMP_BYTES_MAX);
    dunlin_status status = deliver(device, kind, request, len, &answer, err);
    if (status == DUNLIN_OK && fault == FAULT_DOUBLED) {
        status = deliver(device, kind, request, len, &answer, err);
    }
    if (fault == FAULT_MEANWHILE && device->meanwhile != NULL) {
        device->meanwhile(device);
    }
    if (status == DUNLIN_OK && fault == FAULT_LOST_ANSWER) {
        status = broken(err, DUNLIN_CONN_CLOSED);
    }
    if (status == DUNLIN_OK && fault == FAULT_STALE_ANSWER && device->last_answer != NULL) {
        status = sink->write(sink->self, device->last_answer, device->last_answer_len);
    } else if (status == DUNLIN_OK) {
        size_t sent = fault == FAULT_CUT_ANSWER ? answer.len / 2 : answer.len;
        status = sink->write(sink->self, answer.data, sent);
    }
    if (status == DUNLIN_OK) {
        free(device->last_answer);
        device->last_answer = answer.data;
        device->last_answer_len = answer.len;
        return DUNLIN_OK;
    }
    dln_buf_free(&answer);
    return status;
}

/* ---- the world */

static bool remote_is(const char *name) {
    const char *chosen = getenv("DUNLIN_TEST_REMOTE");
    return chosen != NULL && strcmp(chosen, name) == 0;
}

static void open_central(struct world *world) {
    dunlin_error err;
    char url[600];
    if (mongo_is_chosen()) {
        world->mongo = world->mongo != NULL ? world->mongo : mongo_new();
        world->central = mongo_central(world->mongo, &world->central_options);
    } else {
        (void)snprintf(url, sizeof(url), "sqlite:%s/central.db", world->dir);
        must(dunlin_central_open(&world->central, url, &world->central_options, &err), &err,
             "opening central");
    }
    if (remote_is("http")) {
        world->bridge = inside_start(world->mongo != NULL ? world->mongo : url,
                                     &world->central_options, world->now_ms);
    }
}

static void open_way(struct device *device) {
    struct world *world = device->world;
    dunlin_error err;
    if (world->bridge != NULL) {
        device->way = inside_remote(world->bridge, device->owner);
    } else if (remote_is("driver")) {
        must(dunlin_mongo_remote(&device->way, world->mongo, device->owner, &world->central_options,
                                 &err),
             &err, "a remote");
    } else {
        must(dunlin_central_remote(world->central, &device->way, device->owner, &err), &err,
             "a remote");
    }
}

static void close_central(struct world *world) {
    inside_stop(world->bridge);
    world->bridge = NULL;
    dunlin_central_close(world->central);
}

void world_open(struct world *world, uint64_t seed, const dunlin_central_options *options) {
    static const dunlin_central_options defaults = DUNLIN_CENTRAL_OPTIONS_INIT;
    *world = (struct world){
        .dir = temp_new(), .now_ms = WORLD_START_MS, .random = seed, .central_random = ~seed};
    world->ports = (dunlin_ports){world, world_now, world_fill};
    world->central_options = options == NULL ? defaults : *options;
    world->central_options.ports = &world->ports;
    open_central(world);
}

void world_central_reopen(struct world *world) {
    for (int i = 0; i < world->device_count; i++) {
        dunlin_remote_close(world->devices[i].way);
    }
    close_central(world);
    open_central(world);
    for (int i = 0; i < world->device_count; i++) {
        open_way(&world->devices[i]);
    }
}

static void close_device(struct device *device) {
    dunlin_store_close(device->store);
    dunlin_remote_close(device->way);
    free(device->last_answer);
}

void world_device_remove(struct world *world) {
    assert(world->device_count > 0);
    struct device *device = &world->devices[--world->device_count];
    close_device(device);
    (void)unlink(device->path); /* SQLite has removed the log with the last connection */
}

void world_close(struct world *world) {
    for (int i = 0; i < world->device_count; i++) {
        close_device(&world->devices[i]);
    }
    close_central(world);
    mongo_drop(world->mongo);
    temp_remove(world->dir);
}

struct device *world_device(struct world *world, const char *owner, int64_t skew_ms) {
    assert(world->device_count < WORLD_DEVICES);
    struct device *device = &world->devices[world->device_count];
    *device = (struct device){.world = world, .skew_ms = skew_ms, .random = world_random(world)};
    (void)snprintf(device->owner, sizeof(device->owner), "%s", owner);
    (void)snprintf(device->path, sizeof(device->path), "%s/device%d.db", world->dir,
                   world->device_count);
    world->device_count++;
    device->ports = (dunlin_ports){device, device_now, device_fill};
    device->remote = (dunlin_remote){.self = device, .exchange = faulty_exchange};
    open_way(device);
    device_open(device);
    return device;
}

/* ---- devices */

void device_open(struct device *device) {
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_error err;
    options.durability = DUNLIN_DURABILITY_NORMAL;
    options.ports = &device->ports;
    must(dunlin_store_open(&device->store, device->path, device->owner, &options, &err), &err,
         "opening a store");
}

void device_close(struct device *device) {
    dunlin_store_close(device->store);
    device->store = NULL;
}

void device_reopen(struct device *device) {
    device_close(device);
    device_open(device);
}

dunlin_status device_sync(struct device *device, dunlin_sync_result *result) {
    dunlin_error err;
    return dunlin_sync(device->store, &device->remote, result, &err);
}

void device_sync_ok(struct device *device) {
    dunlin_error err;
    must(dunlin_sync(device->store, &device->remote, NULL, &err), &err, "sync");
}

static dunlin_status keep_line(const char *line, size_t len, void *payload) {
    struct dln_buf *buf = payload;
    dln_buf_append(buf, line, len);
    return dln_buf_status(buf, NULL);
}

static char *finish_text(struct dln_buf *buf) {
    dln_buf_append(buf, "", 0);
    must(dln_buf_status(buf, NULL), &(dunlin_error){.message = "text"}, "a text");
    return buf->data == NULL ? calloc(1, 1) : buf->data;
}

char *device_dump(struct device *device) {
    struct dln_buf buf = DLN_BUF_INIT(DUMP_BYTES_MAX);
    dunlin_error err;
    must(dunlin_dump(device->store, keep_line, &buf, &err), &err, "dump");
    return finish_text(&buf);
}

char *device_dump_remote(struct device *device) {
    struct dln_buf buf = DLN_BUF_INIT(DUMP_BYTES_MAX);
    dunlin_error err;
    must(dunlin_dump_remote(device->store, &device->remote, keep_line, &buf, &err), &err,
         "dump of central");
    return finish_text(&buf);
}

char *device_subscriptions(struct device *device) {
    struct dln_buf buf = DLN_BUF_INIT(DUMP_BYTES_MAX);
    const dunlin_subscription *row = NULL;
    dunlin_iter *iter = NULL;
    dunlin_error err;
    must(dunlin_subscriptions(device->store, &iter, NULL, &err), &err, "subscriptions");
    for (;;) {
        must(dunlin_subscriptions_next(iter, &row, &err), &err, "a subscription");
        if (row == NULL) {
            break;
        }
        dln_buf_append_text(&buf, row->user);
        for (size_t i = 0; i < row->origin_count; i++) {
            dln_buf_append_byte(&buf, i == 0 ? ' ' : ',');
            dln_buf_append_text(&buf, row->origins[i]);
        }
        dln_buf_append_byte(&buf, '\n');
    }
    dunlin_iter_free(iter);
    return finish_text(&buf);
}

static dunlin_store_status status_of(struct device *device) {
    dunlin_store_status status = {0};
    dunlin_error err;
    must(dunlin_store_get_status(device->store, &status, &err), &err, "status");
    return status;
}

void device_add_items(struct device *device, int from, int count, int number, const char *data) {
    dunlin_error err;
    must(dunlin_begin(device->store, &err), &err, "begin");
    for (int i = from; i < from + count; i++) {
        dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
        char id[24];
        (void)snprintf(id, sizeof(id), "v%03d", i);
        options.data = i == number ? data : NULL;
        options.title = "a video";
        must(dunlin_list_add(device->store, "l1", "video", id, &options, &err), &err, "add");
    }
    must(dunlin_commit(device->store, &err), &err, "commit");
}

int64_t device_pending(struct device *device) {
    return status_of(device).pending;
}

int64_t device_rejected(struct device *device) {
    return status_of(device).rejected;
}

/* ---- the end of a process */

struct kill {
    int64_t left; /* commits until it ends; 0: it has ended */
};

static struct kill kills[WORLD_DEVICES];

static int on_commit(void *context) {
    struct kill *kill = context;
    kill->left -= kill->left > 0 ? 1 : 0;
    return kill->left == 0; /* turns the commit into a rollback */
}

void device_kill_at(struct device *device, int64_t commit) {
    struct kill *kill = &kills[device - device->world->devices];
    kill->left = commit;
    (void)sqlite3_commit_hook(device->store->store->db, on_commit, kill);
}

bool device_was_killed(const struct device *device) {
    return kills[device - device->world->devices].left == 0;
}
