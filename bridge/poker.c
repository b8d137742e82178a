/* One thread for all listeners, however many: what it asks costs the store the same for one as for
 * thousands, four times a second.
 *
 * Each look goes back some seconds, since a write shows itself later than at the time that it
 * notes. What the look before has seen with the same head and the same time is not told again. A
 * head is raised before its entries are there, and the time once more after, so a listener that was
 * told too early is told twice.
 *
 * What a look could not deliver is forgotten, so that the next one finds it new. After looks that
 * failed the next goes back to the last that did not. */
#include "bridge/poker.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bridge/circle.h"

enum { LOOK_UP_BUDGET_MS = 200, ARENA_BYTES_MAX = 64 * 1024 * 1024 };

struct dln_poker {
    struct dln_listeners *listeners;
    dunlin_central *central;
    pthread_t thread;
    bool stopping;
    struct dln_arena arenas[2]; /* of the last look and the one before */
    int turn;
    struct dln_touched *seen; /* by the last look, sorted by scope */
    size_t seen_count;
    int64_t looked_ms; /* the server's time of the last look that was not in vain */
    struct dln_arena scratch;
    struct dln_audience **found; /* of one scope */
    size_t found_count, found_size;
};

static int64_t steady_ms(const struct dln_poker *poker) {
    return poker->central->ports.steady_ms(poker->central->ports.steady_self);
}

static int compare_touched(const void *a, const void *b) {
    return dln_text_compare(((const struct dln_touched *)a)->scope,
                            ((const struct dln_touched *)b)->scope);
}

/* ---- whom a scope interests */

static void note_found(void *self, struct dln_watcher *watcher) {
    struct dln_poker *poker = self;

    if (poker->found_count == poker->found_size) {
        size_t size = poker->found_size == 0 ? 64 : poker->found_size * 2;
        void *larger = realloc(poker->found, size * sizeof(struct dln_audience *));
        if (larger == NULL) {
            return;
        }
        poker->found = larger;
        poker->found_size = size;
    }
    poker->found[poker->found_count++] = (struct dln_audience *)watcher;
}

static dunlin_status readers_find(struct dln_poker *poker, struct dln_text scope, bool **may,
                                  dunlin_error *err) {
    size_t count = poker->found_count;
    const char **users;

    dln_arena_clear(&poker->scratch);
    users = dln_arena_alloc(&poker->scratch, count * sizeof(char *));
    *may = dln_arena_alloc(&poker->scratch, count * sizeof(**may));
    if (users == NULL || *may == NULL) {
        return dln_central_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        users[i] = poker->found[i]->user;
    }
    return dln_circle_readers(poker->central, &poker->scratch, scope, users, count, *may, err);
}

/* A user's own scope says whom he follows. */
static bool is_own(struct dln_text scope) {
    static const char user[] = "user/";

    return scope.len >= sizeof(user) && memcmp(scope.data, user, sizeof(user) - 1) == 0;
}

static dunlin_status deliver(struct dln_poker *poker, struct dln_text scope, dunlin_error *err) {
    struct dln_listeners *listeners = poker->listeners;
    dunlin_status status;
    bool *may;

    poker->found_count = 0;
    (void)pthread_mutex_lock(&listeners->lock);
    dln_interest_visit(&listeners->interest, scope, note_found, poker);
    (void)pthread_mutex_unlock(&listeners->lock);
    if (poker->found_count == 0) {
        return DUNLIN_OK;
    }
    if ((status = readers_find(poker, scope, &may, err))) {
        return status;
    }
    (void)pthread_mutex_lock(&listeners->lock);
    for (size_t i = 0; i < poker->found_count; i++) {
        if (may[i]) {
            dln_audience_tell(poker->found[i], scope);
            poker->found[i]->stale |= is_own(scope);
        }
    }
    (void)pthread_mutex_unlock(&listeners->lock);
    return DUNLIN_OK;
}

/* ---- what was touched */

static bool was_seen(const struct dln_poker *poker, const struct dln_touched *touched) {
    const struct dln_touched *found = NULL;

    if (poker->seen_count > 0) {
        found = bsearch(touched, poker->seen, poker->seen_count, sizeof(*touched), compare_touched);
    }
    return found != NULL && found->hint.head == touched->hint.head &&
           found->hint.touched_ms == touched->hint.touched_ms;
}

/* Too much happened to be told one by one. */
static void tell_everybody(struct dln_poker *poker) {
    struct dln_listeners *listeners = poker->listeners;

    (void)pthread_mutex_lock(&listeners->lock);
    for (struct dln_audience *at = listeners->audiences; at != NULL; at = at->next) {
        dln_arena_clear(&poker->scratch);
        struct dln_text own = dln_scope_user(&poker->scratch, dln_text_of(at->user));
        if (own.data != NULL) {
            dln_audience_tell(at, own);
        }
        at->stale = true;
    }
    (void)pthread_mutex_unlock(&listeners->lock);
}

static dunlin_status look(struct dln_poker *poker, dunlin_error *err) {
    const struct dln_central_engine *engine = &poker->central->engine;
    struct dln_arena *arena = &poker->arenas[poker->turn ^= 1];
    struct dln_touched *touched;
    dunlin_status status;
    size_t count;
    int64_t now_ms;

    dln_arena_clear(arena);
    if ((status = engine->now(engine->self, &now_ms, err))) {
        return status;
    }
    int64_t since_ms =
        (poker->looked_ms != 0 && poker->looked_ms < now_ms ? poker->looked_ms : now_ms) -
        DLN_LOOK_BACK_MS;
    if ((status = engine->touched(engine->self, arena, since_ms, DLN_TOUCHED_MAX, &touched, &count,
                                  err))) {
        return status;
    }
    if (count > 0) {
        qsort(touched, count, sizeof(*touched), compare_touched);
    }
    for (size_t i = 0; i < count; i++) {
        if (!was_seen(poker, &touched[i]) && deliver(poker, touched[i].scope, err)) {
            touched[i].hint.touched_ms = -1; /* is not seen yet */
        }
    }
    if (count == DLN_TOUCHED_MAX) {
        tell_everybody(poker);
    }
    poker->seen = touched;
    poker->seen_count = count;
    poker->looked_ms = now_ms;
    return DUNLIN_OK;
}

/* ---- what listeners care for */

/* One whose scopes must be looked up; NULL: none. */
static struct dln_audience *next_stale(struct dln_poker *poker) {
    int64_t old_ms = steady_ms(poker) - DLN_LOOK_UP_EVERY_MS;
    struct dln_audience *at;

    (void)pthread_mutex_lock(&poker->listeners->lock);
    at = poker->listeners->audiences;
    while (at != NULL && !at->stale && at->looked_up_ms > old_ms) {
        at = at->next;
    }
    if (at != NULL) {
        at->stale = false; /* what changes from here on makes it stale again */
    }
    (void)pthread_mutex_unlock(&poker->listeners->lock);
    return at;
}

static bool cares_for(struct dln_poker *poker, const struct dln_audience *audience,
                      struct dln_text scope) {
    (void)pthread_mutex_lock(&poker->listeners->lock);
    bool does = dln_interest_has(&poker->listeners->interest, &audience->watcher, scope);
    (void)pthread_mutex_unlock(&poker->listeners->lock);
    return does;
}

/* What was touched between his coming and now is news to him; of his own scope he was told. */
static dunlin_status tell_recent(struct dln_poker *poker, struct dln_audience *audience,
                                 dunlin_error *err) {
    const char *user = audience->user;
    dunlin_status status = DUNLIN_OK;

    for (size_t i = 0; status == DUNLIN_OK && i < poker->seen_count; i++) {
        struct dln_text scope = poker->seen[i].scope;
        bool may = false;
        if (is_own(scope) || !cares_for(poker, audience, scope)) {
            continue;
        }
        dln_arena_clear(&poker->scratch);
        status = dln_circle_readers(poker->central, &poker->scratch, scope, &user, 1, &may, err);
        if (status == DUNLIN_OK && may) {
            (void)pthread_mutex_lock(&poker->listeners->lock);
            dln_audience_tell(audience, scope);
            (void)pthread_mutex_unlock(&poker->listeners->lock);
        }
    }
    return status;
}

static dunlin_status look_up(struct dln_poker *poker, struct dln_audience *audience,
                             dunlin_error *err) {
    struct dln_text *scopes;
    size_t count;
    dunlin_status status;

    dln_arena_clear(&poker->scratch);
    status =
        dln_circle_scopes(poker->central, &poker->scratch, audience->user, &scopes, &count, err);
    if (status == DUNLIN_OK) {
        (void)pthread_mutex_lock(&poker->listeners->lock);
        dln_interest_set(&poker->listeners->interest, &audience->watcher, scopes, count);
        (void)pthread_mutex_unlock(&poker->listeners->lock);
        audience->looked_up_ms = steady_ms(poker);
        status = audience->known ? DUNLIN_OK : tell_recent(poker, audience, err);
        audience->known = true;
    }
    if (status != DUNLIN_OK) {
        (void)pthread_mutex_lock(&poker->listeners->lock);
        audience->stale = true;
        (void)pthread_mutex_unlock(&poker->listeners->lock);
    }
    return status;
}

static void look_up_some(struct dln_poker *poker) {
    int64_t until_ms = steady_ms(poker) + LOOK_UP_BUDGET_MS;
    struct dln_audience *audience;
    dunlin_status status = DUNLIN_OK;

    while (status == DUNLIN_OK && steady_ms(poker) < until_ms &&
           (audience = next_stale(poker)) != NULL) {
        status = look_up(poker, audience, NULL);
    }
}

/* ---- the thread */

/* Sleeps, or is woken by somebody who came; false: it ends. */
static bool sleep_on(struct dln_poker *poker) {
    struct dln_listeners *listeners = poker->listeners;
    struct timespec until;
    bool goes_on;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += DLN_POKE_EVERY_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_mutex_lock(&listeners->lock);
    if (!poker->stopping) {
        (void)pthread_cond_timedwait(&listeners->changed, &listeners->lock, &until);
    }
    dln_listeners_tidy(listeners);
    goes_on = !poker->stopping;
    (void)pthread_mutex_unlock(&listeners->lock);
    return goes_on;
}

static void speak(struct dln_poker *poker) {
    const dunlin_ports *ports = &poker->central->ports.app;

    (void)pthread_mutex_lock(&poker->listeners->lock);
    dln_listeners_speak(poker->listeners, ports->now_ms(ports->self), steady_ms(poker));
    (void)pthread_mutex_unlock(&poker->listeners->lock);
}

static void *poker_run(void *argument) {
    struct dln_poker *poker = argument;
    dunlin_status status;

    while (sleep_on(poker)) {
        look_up_some(poker);
        status = look(poker, NULL);
        (void)status; /* the next look goes back as far as this one did */
        speak(poker);
    }
    return NULL;
}

dunlin_status dln_poker_start(struct dln_poker **out, struct dln_source *source,
                              struct dln_listeners *listeners, dunlin_error *err) {
    struct dln_poker *poker = calloc(1, sizeof(*poker));
    dunlin_status status;

    if (poker == NULL) {
        return dln_central_no_memory(err);
    }
    poker->listeners = listeners;
    poker->arenas[0] = poker->arenas[1] = poker->scratch = DLN_ARENA_INIT(ARENA_BYTES_MAX);
    if ((status = dln_source_central(source, &poker->central, err))) {
        free(poker);
        return status;
    }
    if (pthread_create(&poker->thread, NULL, poker_run, poker) != 0) {
        dunlin_central_close(poker->central);
        free(poker);
        return dln_central_no_memory(err);
    }
    *out = poker;
    return DUNLIN_OK;
}

void dln_poker_stop(struct dln_poker *poker) {
    if (poker == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&poker->listeners->lock);
    poker->stopping = true;
    (void)pthread_cond_signal(&poker->listeners->changed);
    (void)pthread_mutex_unlock(&poker->listeners->lock);
    (void)pthread_join(poker->thread, NULL);
    dunlin_central_close(poker->central);
    dln_arena_free(&poker->arenas[0]);
    dln_arena_free(&poker->arenas[1]);
    dln_arena_free(&poker->scratch);
    free(poker->found);
    free(poker);
}
