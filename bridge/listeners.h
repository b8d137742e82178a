/* Who listens to /v1/live, and what each of them is still to be told. Server-sent events:
 *
 *     event: hello
 *     data: {"protocol":1}
 *
 *     event: news
 *     data: {"scopes":["user/alice"]}
 *
 *     :                                   now and then, so that both ends know that the other lives
 *
 * A listener that has nothing to be told is suspended: it costs memory, and no thread looks at it.
 */
#ifndef DLN_BRIDGE_LISTENERS_H
#define DLN_BRIDGE_LISTENERS_H

#include <pthread.h>
#include <stdatomic.h>

#include <microhttpd.h>

#include "bridge/interest.h"
#include "bridge/metrics.h"

enum {
    DLN_PENDING_MAX = 16, /* scopes that one listener is to be told of; what comes on top is left
                             out: he pulls all of his anyway */
    DLN_PING_MS = 15 * 1000
};

struct dln_listener;

/* The listeners of one user. Freed by the poker only, which may therefore look at it unlocked. */
struct dln_audience {
    struct dln_watcher watcher; /* must stay first */
    struct dln_audience *next;
    struct dln_listener *listeners;
    bool stale; /* what he cares for may have changed */
    bool known; /* it was looked up once; the poker's own, like the next */
    int64_t looked_up_ms;
    char user[];
};

struct dln_listeners {
    pthread_mutex_t lock;   /* of everything here; never held while the store is asked */
    pthread_cond_t changed; /* the poker ends */
    struct dln_interest interest;
    struct dln_audience *audiences;
    size_t count, max;
    size_t reserved; /* joined or about to */
    bool closing;
    struct dln_metrics *metrics;
};

void dln_listeners_init(struct dln_listeners *listeners, size_t max, struct dln_metrics *metrics);
/* Nobody listens any more. */
void dln_listeners_free(struct dln_listeners *listeners);

/* A place for one more; false at the ceiling. Given back by dln_listeners_leave(), which comes
 * after the response is gone. */
bool dln_listeners_reserve(struct dln_listeners *listeners);
void dln_listeners_leave(struct dln_listeners *listeners);
/* The stream for that user, until until_ms (Unix; INT64_MAX: no end). NULL when out of memory. */
struct MHD_Response *dln_listeners_join(struct dln_listeners *listeners,
                                        struct MHD_Connection *connection, const char *user,
                                        int64_t until_ms, int64_t steady_ms);
/* Ends all streams, also those that come later. */
void dln_listeners_close(struct dln_listeners *listeners);
size_t dln_listeners_count(struct dln_listeners *listeners);

/* For the poker; locked: */

/* Tells all listeners of the audience. */
void dln_audience_tell(struct dln_audience *audience, struct dln_text scope);
/* Comments for those that heard nothing for long, the end for those whose token ran out. */
void dln_listeners_speak(struct dln_listeners *listeners, int64_t now_ms, int64_t steady_ms);
/* Frees the audiences that have no listeners. */
void dln_listeners_tidy(struct dln_listeners *listeners);

#endif
