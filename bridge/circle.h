/* Which scopes a user cares for, and which users may read a scope, as central knows it now. */
#ifndef DLN_BRIDGE_CIRCLE_H
#define DLN_BRIDGE_CIRCLE_H

#include "central/central.h"

/* The own scope first, then the inbox's three, then the groups that he follows and those that he
 * has to do with (mygroup), whether he may read them or not: at most DLN_INTEREST_MAX in all, some
 * twice. They live in the arena. */
DUNLIN_MUST_USE dunlin_status dln_circle_scopes(dunlin_central *central, struct dln_arena *arena,
                                                const char *user, struct dln_text **out,
                                                size_t *count, dunlin_error *err);
/* may[i]: whether users[i], who cares for it, may read the scope. */
DUNLIN_MUST_USE dunlin_status dln_circle_readers(dunlin_central *central, struct dln_arena *arena,
                                                 struct dln_text scope, const char *const *users,
                                                 size_t count, bool *may, dunlin_error *err);

#endif
