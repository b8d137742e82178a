/* Who may change what. */
#ifndef DLN_CENTRAL_AUTHORIZE_H
#define DLN_CENTRAL_AUTHORIZE_H

#include "central/verdict.h"

/* The sender and the scope. In a group's scope, the group and the sender's own member record as
 * they stand when the change is judged; NULL: central holds none. */
struct dln_standing {
    struct dln_text user;
    enum dln_scope_kind kind;
    struct dln_text id; /* of the scope: a user's, a group's */
    const struct dln_record *group;
    const struct dln_record *own;
};

/* One record of a push. */
struct dln_change {
    const struct dln_record *before; /* NULL: central holds none */
    const struct dln_record *sent;
    const struct dln_record *after; /* both merged */
    struct dln_fields fields;       /* of `sent`, those that change something */
};

/* Adds to the verdict what the sender may not do. */
void dln_authorize(struct dln_verdict *verdict, const struct dln_standing *standing,
                   const struct dln_change *change);

/* Whether the sender may read the scope. */
bool dln_may_read(const struct dln_standing *standing);

#endif
