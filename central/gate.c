/* One list of everybody who is inside, in the order of arrival: there are never more than the
 * process has threads that serve requests. The first of a scope leads; while it does, those behind
 * it wait; the next that leads takes along what waits for the same scope and may be joined. */
#include "central/gate.h"

#include <pthread.h>
#include <stdlib.h>

#include "central/central.h"

enum { STATE_WAITS, STATE_LEADS, STATE_JOINED, STATE_DONE };

struct dln_gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct dln_waiter *first;
};

dunlin_status dln_gate_new(struct dln_gate **out, dunlin_error *err) {
    struct dln_gate *gate = calloc(1, sizeof(*gate));
    if (gate == NULL) {
        return dln_central_no_memory(err);
    }
    if (pthread_mutex_init(&gate->mutex, NULL) != 0) {
        goto err_after_gate;
    }
    if (pthread_cond_init(&gate->changed, NULL) != 0) {
        goto err_after_mutex;
    }
    *out = gate;
    return DUNLIN_OK;
err_after_mutex:
    (void)pthread_mutex_destroy(&gate->mutex);
err_after_gate:
    free(gate);
    return dln_central_no_memory(err);
}

void dln_gate_free(struct dln_gate *gate) {
    if (gate != NULL) {
        (void)pthread_cond_destroy(&gate->changed);
        (void)pthread_mutex_destroy(&gate->mutex);
        free(gate);
    }
}

static bool is_first(const struct dln_gate *gate, const struct dln_waiter *waiter) {
    const struct dln_waiter *other = gate->first;
    while (other != waiter && !dln_text_equal(other->scope, waiter->scope)) {
        other = other->behind;
    }
    return other == waiter;
}

/* Takes those who can be joined out of the list. */
static void take_along(struct dln_waiter *leader) {
    struct dln_waiter **last = &leader->next;
    struct dln_waiter **link = &leader->behind;
    size_t weight = leader->weight;
    int count = 1;
    while (leader->joins && *link != NULL && count < DLN_GATE_JOINED_MAX) {
        struct dln_waiter *other = *link;
        if (!dln_text_equal(other->scope, leader->scope)) {
            link = &other->behind;
            continue;
        }
        if (!other->joins || weight + other->weight > DLN_GATE_WEIGHT_MAX) {
            break; /* those behind it do not overtake it */
        }
        *link = other->behind;
        other->state = STATE_JOINED;
        other->next = NULL;
        *last = other;
        last = &other->next;
        weight += other->weight;
        count++;
    }
}

bool dln_gate_enter(struct dln_gate *gate, struct dln_waiter *waiter) {
    struct dln_waiter **link = &gate->first;
    waiter->next = waiter->behind = NULL;
    waiter->state = STATE_WAITS;
    waiter->waited = false;
    (void)pthread_mutex_lock(&gate->mutex);
    while (*link != NULL) {
        link = &(*link)->behind;
    }
    *link = waiter;
    while (waiter->state == STATE_JOINED ||
           (waiter->state == STATE_WAITS && !is_first(gate, waiter))) {
        waiter->waited = true;
        (void)pthread_cond_wait(&gate->changed, &gate->mutex);
    }
    bool leads = waiter->state == STATE_WAITS;
    if (leads) {
        waiter->state = STATE_LEADS;
        take_along(waiter);
    }
    (void)pthread_mutex_unlock(&gate->mutex);
    return leads;
}

void dln_gate_leave(struct dln_gate *gate, struct dln_waiter *waiter) {
    struct dln_waiter **link = &gate->first;
    (void)pthread_mutex_lock(&gate->mutex);
    while (*link != waiter) {
        link = &(*link)->behind;
    }
    *link = waiter->behind;
    for (struct dln_waiter *other = waiter->next; other != NULL;) {
        struct dln_waiter *next = other->next;
        other->state = STATE_DONE; /* its stack may be gone once the mutex is free */
        other = next;
    }
    (void)pthread_cond_broadcast(&gate->changed);
    (void)pthread_mutex_unlock(&gate->mutex);
}

size_t dln_gate_count(struct dln_gate *gate) {
    size_t count = 0;
    (void)pthread_mutex_lock(&gate->mutex);
    for (const struct dln_waiter *waiter = gate->first; waiter != NULL; waiter = waiter->behind) {
        count++;
    }
    (void)pthread_mutex_unlock(&gate->mutex);
    return count;
}
