/* What a device keeps of a record, of a scope and of a refused change: the words that the store and
 * the engine share. Everything in these structs is borrowed, usually from an arena. */
#ifndef DLN_BASE_ROW_H
#define DLN_BASE_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"

/* Fields as a bit set: bit i is field i of the descriptor, DLN_EXTRAS_BIT all unknown fields. */
#define DLN_EXTRAS_BIT (UINT32_C(1) << 31)

enum { DLN_SEQ_NEVER = 0, DLN_SEQ_FORGOTTEN = -1 };

/* A device's row: the record and what the outbox says of it. */
struct dln_row {
    struct dln_record record;
    bool stored; /* the device holds it */
    int64_t seq; /* version held: > 0; DLN_SEQ_NEVER: central never had it, as far as this device
                    knows; DLN_SEQ_FORGOTTEN: it had one before the epoch changed */
    uint32_t pending; /* fields edited here and not yet settled; 0: not in the outbox */
    uint32_t offered; /* subset of pending: there only because a rebuild offers them */
    bool tried; /* in the outbox: a request with it may have reached central, or central had it */
};

/* A place in a scope's log. seq 0, salt 0: before its first entry. */
struct dln_cursor {
    int64_t seq;
    uint32_t salt;
};

/* A scope as the device keeps it. */
struct dln_scope_row {
    struct dln_text scope;
    struct dln_text epoch; /* no text: never read */
    struct dln_cursor cursor;
    bool rebuilding;
    bool offering; /* this rebuild offers again what the device holds */
    bool held;
    int64_t rebuild_since_ms; /* corrected time */
    int64_t complete_ms;      /* corrected time of the last complete pull, 0: never */
    int64_t head;             /* remembered, 0: none */
    bool wanted;              /* synced now: the own user scope, groups followed or in mygroup */
    bool writable; /* this user may write in it in general: user/ own, group/ as owner or admin */
};

/* A change that was refused for good; its values are kept with it. */
struct dln_reject {
    dunlin_status code;
    struct dln_text reason;
    const struct dln_record *record; /* the fields that were refused, with the person's values */
};

/* How far a pass over the outbox came; zero is its start. Opaque to the engine. */
struct dln_outbox_place {
    int stage;
    struct dln_text last; /* arena of the caller's choice */
};

#endif
