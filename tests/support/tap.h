/* A way in front of another: sees every request, decides whether it gets through, and acts while it
 * is out. */
#ifndef DLN_TESTS_TAP_H
#define DLN_TESTS_TAP_H

#include <dunlin/sys/remote.h>

#include "sync/message.h"

struct tap {
    dunlin_remote remote; /* give its address to dunlin_sync() */
    dunlin_remote *behind;
    /* Sees the request before anybody has it; a status other than OK is what the exchange comes to.
     * May be NULL. */
    dunlin_status (*before)(void *payload, const struct dln_sync_request *request, size_t bytes,
                            dunlin_error *err);
    /* The other side has done it, the device knows nothing of that yet. May be NULL. */
    dunlin_status (*after)(void *payload, dunlin_error *err);
    void *payload;
    const char *replace; /* what stands in an answer as this text … */
    const char *with;    /* … arrives as that one */
    uint64_t exchanges;
    uint64_t records;   /* of all requests */
    size_t bytes_last;  /* of the last request */
    size_t bytes_first; /* of the first request since this was set to 0 */
    size_t bytes_greatest;
    struct dln_buf body;   /* the last request */
    struct dln_buf answer; /* the last answer, as it arrived */
    struct dln_arena arena;
};

void tap_init(struct tap *tap, dunlin_remote *behind, void *payload);
void tap_free(struct tap *tap);
/* Whether the last request has that text in its body. */
int tap_sent(const struct tap *tap, const char *text);

#endif
