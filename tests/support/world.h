/* A small world for tests: one clock, one central (in a file, or over MongoDB, as
 * mongo_is_chosen() says), devices of several people, and a way
 * between them that loses answers, doubles requests and cuts bodies when told to. All randomness
 * comes from one seed, all time from one number. */
#ifndef DLN_TESTS_WORLD_H
#define DLN_TESTS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include <dunlin/central.h>
#include <dunlin/dunlin.h>

enum { WORLD_DEVICES = 8 };

#define WORLD_START_MS INT64_C(1767225600000) /* 2026-01-01 */

enum world_fault {
    FAULT_NONE,
    FAULT_OFFLINE,      /* no connection */
    FAULT_LOST_REQUEST, /* the connection breaks before central has the request */
    FAULT_LOST_ANSWER,  /* central applies it, the answer does not come */
    FAULT_DOUBLED,      /* central gets it twice, the second answer comes */
    FAULT_CUT_ANSWER,   /* half of the answer comes, as if it were whole */
    FAULT_STALE_ANSWER, /* the answer to an earlier request comes */
    FAULT_MEANWHILE,    /* no fault: device->meanwhile is called while the answer is on its way */
    FAULT_COUNT
};

struct world;

struct device {
    struct world *world;
    char owner[32];
    char path[512];
    int64_t skew_ms; /* of its clock against the world's */
    uint64_t random; /* of its own: devices may be used by several threads */
    dunlin_ports ports;
    dunlin_store *store;
    dunlin_remote remote; /* what the device talks to: the faulty way */
    dunlin_remote *way;   /* what that talks to: central's remote for the owner */
    /* Faults of the coming exchanges, the first in the lowest nibble (enum world_fault). */
    uint64_t faults;
    uint64_t exchanges; /* that reached central */
    void (*meanwhile)(struct device *device);
    void *payload; /* of meanwhile */
    char *last_answer;
    size_t last_answer_len;
};

struct world {
    char *dir;
    int64_t now_ms;
    uint64_t random; /* of the test */
    uint64_t
        central_random; /* apart, so that devices do the same whatever carries their requests */
    dunlin_ports ports;
    dunlin_central_options central_options;
    dunlin_central *central;
    char *mongo;           /* the url of its database; NULL: it is in a file */
    struct inside *bridge; /* between the devices and central; NULL: there is none */
    struct device devices[WORLD_DEVICES];
    int device_count;
};

/* How devices reach central: DUNLIN_TEST_REMOTE is "http" (through a bridge's server inside the
 * process), "driver" (over MongoDB's driver, with a connection each), or unset (central's own
 * remote). options may be NULL; its ports are replaced by the world's. */
void world_open(struct world *world, uint64_t seed, const dunlin_central_options *options);
void world_close(struct world *world);
/* Closes central and opens it again; the devices' ways follow. */
void world_central_reopen(struct world *world);
/* A new device with an empty store. */
struct device *world_device(struct world *world, const char *owner, int64_t skew_ms);
/* The newest device goes, with its file. */
void world_device_remove(struct world *world);
uint64_t world_random(struct world *world);

/* Closes the store (as the end of the process does) and opens it again. */
void device_reopen(struct device *device);
/* Opens a store in that device's place after its file was changed by other means. */
void device_open(struct device *device);
void device_close(struct device *device);
/* One dunlin_sync(). */
dunlin_status device_sync(struct device *device, dunlin_sync_result *result);
/* Syncs and fails the test unless it is OK. */
void device_sync_ok(struct device *device);
/* dunlin_dump(), dunlin_dump_remote(): zero-ended, the caller frees. */
char *device_dump(struct device *device);
char *device_dump_remote(struct device *device);
/* The subscriptions as text, a line each: "userB !,groupX\n"; the caller frees. */
char *device_subscriptions(struct device *device);
/* Items v000, v001, … of the list l1 in one transaction; data, which may be NULL, for the one with
 * that number. */
void device_add_items(struct device *device, int from, int count, int number, const char *data);
int64_t device_pending(struct device *device);
int64_t device_rejected(struct device *device);

/* The device's process ends just before its n-th commit from now on (1: the next): that commit and
 * every later one are rolled back until device_reopen(). Since an uncommitted transaction leaves
 * nothing in the file, an end between any two statements leaves the same file as one of these. */
void device_kill_at(struct device *device, int64_t commit);
/* Whether that has happened. */
bool device_was_killed(const struct device *device);

#endif
