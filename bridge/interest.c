/* A chained hash table of pairs (scope, watcher); each pair stands in a bucket's chain, doubly
 * linked, and in its watcher's. */
#include "bridge/interest.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct dln_watch {
    struct dln_watch *next;  /* of the bucket */
    struct dln_watch **link; /* that leads here */
    struct dln_watch *other; /* of the watcher */
    struct dln_watcher *watcher;
    size_t len;
    char scope[];
};

/* FNV-1a. */
static size_t bucket_of(struct dln_text scope) {
    uint32_t hash = UINT32_C(2166136261);

    for (size_t i = 0; i < scope.len; i++) {
        hash = (hash ^ (unsigned char)scope.data[i]) * UINT32_C(16777619);
    }
    return hash % DLN_INTEREST_BUCKETS;
}

static bool is_of(const struct dln_watch *watch, struct dln_text scope) {
    return dln_text_equal((struct dln_text){watch->scope, watch->len}, scope);
}

static void watch_add(struct dln_interest *interest, struct dln_watcher *watcher,
                      struct dln_text scope) {
    struct dln_watch **bucket = &interest->buckets[bucket_of(scope)];
    struct dln_watch *watch = malloc(sizeof(*watch) + scope.len);

    if (watch == NULL) {
        return;
    }
    *watch = (struct dln_watch){.next = *bucket,
                                .link = bucket,
                                .other = watcher->watches,
                                .watcher = watcher,
                                .len = scope.len};
    memcpy(watch->scope, scope.data, scope.len);
    if (watch->next != NULL) {
        watch->next->link = &watch->next;
    }
    *bucket = watch;
    watcher->watches = watch;
    interest->count++;
}

bool dln_interest_has(const struct dln_interest *interest, const struct dln_watcher *watcher,
                      struct dln_text scope) {
    const struct dln_watch *watch = interest->buckets[bucket_of(scope)];

    while (watch != NULL && (watch->watcher != watcher || !is_of(watch, scope))) {
        watch = watch->next;
    }
    return watch != NULL;
}

void dln_interest_set(struct dln_interest *interest, struct dln_watcher *watcher,
                      const struct dln_text *scopes, size_t count) {
    dln_interest_clear(interest, watcher);
    for (size_t i = 0; i < count && i < DLN_INTEREST_MAX; i++) {
        if (interest->count < DLN_INTEREST_ALL_MAX &&
            !dln_interest_has(interest, watcher, scopes[i])) {
            watch_add(interest, watcher, scopes[i]);
        }
    }
}

void dln_interest_clear(struct dln_interest *interest, struct dln_watcher *watcher) {
    struct dln_watch *watch = watcher->watches;

    while (watch != NULL) {
        struct dln_watch *other = watch->other;
        *watch->link = watch->next;
        if (watch->next != NULL) {
            watch->next->link = watch->link;
        }
        free(watch);
        interest->count--;
        watch = other;
    }
    watcher->watches = NULL;
}

void dln_interest_visit(const struct dln_interest *interest, struct dln_text scope,
                        void (*visit)(void *self, struct dln_watcher *watcher), void *self) {
    for (struct dln_watch *watch = interest->buckets[bucket_of(scope)]; watch != NULL;
         watch = watch->next) {
        if (is_of(watch, scope)) {
            visit(self, watch->watcher);
        }
    }
}
