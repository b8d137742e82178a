/* A device's file for one test, below the public interface: a fresh folder, a clock that only the
 * test moves, random numbers of one seed. */
#ifndef DLN_TESTS_DEVICE_H
#define DLN_TESTS_DEVICE_H

#include <stdbool.h>

#include "base/arena.h"
#include "store/store.h"
#include "tests/support/random.h"

#define DEVICE_START_MS INT64_C(1767225600000) /* 2026-01-01 */

struct device {
    char *dir;
    const char *path; /* of the file */
    dunlin_ports ports;
    dunlin_open_options options;
    struct dln_store *store;
    int64_t now_ms;
    struct test_random random;
    struct dln_arena arena;
};

/* cmocka's setup and teardown: *state is a struct device, with a store of "alice", without search.
 */
int device_set_up(void **state);
int device_tear_down(void **state);
/* Closes and opens the file again. */
void device_reopen(struct device *device);

void device_begin(struct device *device);
void device_commit(struct device *device);

/* A key; parts end with NULL. group: of the scope, for `group` and `member`. */
struct dln_key device_key(struct device *device, enum dln_collection_id id, const char *group,
                          const char *const *parts);
/* The row of an item, a follow or a list, read in the arena. */
struct dln_row device_row(struct device *device, const struct dln_key *key);
struct dln_key device_item(struct device *device, const char *list, const char *id);
struct dln_key device_follow(struct device *device, const char *kind, const char *target);
struct dln_key device_list(struct device *device, const char *list);
/* Makes or changes records as the person would: every field is written. */
void device_put_item(struct device *device, const char *list, const char *id, const char *title);
void device_put_follow(struct device *device, const char *kind, const char *target, bool present);
void device_put_list(struct device *device, const char *list, const char *name);
/* As if central had acknowledged the row with that seq. */
void device_settle(struct device *device, const struct dln_key *key, int64_t seq);

/* The bytes of a file; *len 0 and NULL where there is none. The caller frees them. */
char *device_read_file(const char *path, size_t *len);

#endif
