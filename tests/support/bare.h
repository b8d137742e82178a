/* A device's file for one test, below the public interface: a fresh folder, a clock that only the
 * test moves, random numbers of one seed. */
#ifndef DLN_TESTS_BARE_H
#define DLN_TESTS_BARE_H

#include <stdbool.h>

#include "base/arena.h"
#include "store/store.h"
#include "tests/support/random.h"

#define BARE_START_MS INT64_C(1767225600000) /* 2026-01-01 */

struct bare {
    char *dir;
    const char *path; /* of the file */
    dunlin_ports ports;
    dunlin_open_options options;
    struct dln_store *store;
    int64_t now_ms;
    struct test_random random;
    struct dln_arena arena;
};

/* cmocka's setup and teardown: *state is a struct bare, with a store of "alice", without search.
 */
int bare_set_up(void **state);
int bare_tear_down(void **state);
/* Closes and opens the file again. */
void bare_reopen(struct bare *bare);

void bare_begin(struct bare *bare);
void bare_commit(struct bare *bare);

/* A key; parts end with NULL. group: of the scope, for `group` and `member`. */
struct dln_key bare_key(struct bare *bare, enum dln_collection_id id, const char *group,
                        const char *const *parts);
/* The row of an item, a follow or a list, read in the arena. */
struct dln_row bare_row(struct bare *bare, const struct dln_key *key);
struct dln_key bare_item(struct bare *bare, const char *list, const char *id);
struct dln_key bare_follow(struct bare *bare, const char *kind, const char *target);
struct dln_key bare_list(struct bare *bare, const char *list);
/* Makes or changes records as the person would: every field is written. */
void bare_put_item(struct bare *bare, const char *list, const char *id, const char *title);
void bare_put_follow(struct bare *bare, const char *kind, const char *target, bool present);
void bare_put_list(struct bare *bare, const char *list, const char *name);
/* As if central had acknowledged the row with that seq. */
void bare_settle(struct bare *bare, const struct dln_key *key, int64_t seq);

/* The bytes of a file; *len 0 and NULL where there is none. The caller frees them. */
char *bare_read_file(const char *path, size_t *len);

#endif
