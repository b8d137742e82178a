/* Turns at the scopes' ends, for the threads of one process: two that append to one scope at the
 * same time would only race for the same slot. */
#ifndef DLN_CENTRAL_GATE_H
#define DLN_CENTRAL_GATE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"

enum {
    DLN_GATE_JOINED_MAX = 16, /* appends that become one */
    DLN_GATE_WEIGHT_MAX = 4000
};

struct dln_gate;

/* One append on its way; on its thread's stack. */
struct dln_waiter {
    struct dln_text scope;
    size_t weight; /* keys that it reads */
    bool joins;    /* may become one with others of the scope */
    void *payload;
    struct dln_waiter *next; /* the others that whoever leads does too */
    bool waited;             /* somebody of this process may have appended since the caller came */
    struct dln_waiter *behind;
    int state;
};

DUNLIN_MUST_USE dunlin_status dln_gate_new(struct dln_gate **out, dunlin_error *err);
/* Nobody may be inside. NULL is allowed. */
void dln_gate_free(struct dln_gate *gate);

/* Waits for the scope's turn. True: the caller has it, does what hangs on waiter->next as well, and
 * leaves. False: another thread did the append with its own. Any thread. */
bool dln_gate_enter(struct dln_gate *gate, struct dln_waiter *waiter);
void dln_gate_leave(struct dln_gate *gate, struct dln_waiter *waiter);
/* How many appends lead or wait, for metrics; those that were joined do not count. Any thread. */
size_t dln_gate_count(struct dln_gate *gate);

#endif
