/* Versions of records as a scripted remote sends them, in the owner's scope; memory from the arena.
 */
#ifndef DLN_TESTS_VERSIONS_H
#define DLN_TESTS_VERSIONS_H

#include "tests/support/scripted.h"

#define VERSIONS_OWN DLN_TEXT("user/aoi")

/* The n-th stamp of the scripted remote's present. */
dln_stamp version_stamp(int n);
struct dln_version version_follow(struct dln_arena *arena, int64_t seq, const char *user, int stamp,
                                  bool present);
struct dln_version version_list(struct dln_arena *arena, int64_t seq, const char *list, int stamp,
                                const char *name, bool deleted);
struct dln_version version_item(struct dln_arena *arena, int64_t seq, const char *list,
                                const char *id, int stamp, bool present);

/* The answer for a scope of the request: NULL when it was not asked for or no page was wanted. */
struct dln_scope_answer *version_page_of(struct dln_sync_answer *answer, struct dln_text scope);
/* Puts the versions into a page, with that cursor behind them. */
void version_page(struct dln_arena *arena, struct dln_scope_answer *page,
                  const struct dln_version *versions, size_t count, int64_t cursor, bool more);

#endif
