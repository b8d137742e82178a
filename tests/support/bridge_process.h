/* A real dunlind on a free port of 127.0.0.1, over a central in a file, and a faulty way to it. */
#ifndef DLN_TESTS_BRIDGE_PROCESS_H
#define DLN_TESTS_BRIDGE_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "tests/support/web.h"

struct bridge {
    pid_t pid;
    int port;
    char url[64];
    int output; /* what it says on stderr */
};

/* Starts `dunlind --insecure` over sqlite:DIR/central.db; port 0: any. Fails the test when it does
 * not come up. */
void bridge_start(struct bridge *bridge, const char *dir, int port);
/* kill -9, at any moment. */
void bridge_kill(struct bridge *bridge);
void bridge_stop(struct bridge *bridge); /* SIGTERM; must end with 0 */

enum way_fault {
    WAY_CLEAR,
    WAY_REFUSES,      /* the connection is closed before a byte is read on it */
    WAY_CUTS_REQUEST, /* half of the request reaches the bridge, then both sides are cut */
    WAY_LOSES_ANSWER, /* the bridge has done it, not a byte of the answer comes */
    WAY_CUTS_ANSWER,  /* some of the answer comes */
    WAY_DOUBLES,      /* the bridge gets the request twice, the second answer comes */
    WAY_DELAYS,       /* the answer comes late */
    WAY_REPEATS,      /* the answer to the request before comes */
    WAY_ANSWERS,      /* a login page, not the bridge */
    WAY_FAULTS
};

/* A proxy between a remote and a bridge, which deals with each request as it is told. A stream of
 * news goes through as it comes. */
struct way {
    struct web web; /* its url is the remote's */
    const struct bridge *bridge;
    /* What to do with a request, by its number from 1. */
    enum way_fault (*choose)(void *payload, int number);
    void *payload;
    size_t cut_at; /* of WAY_CUTS_ANSWER: bytes that come */
    char *last;    /* the answer before */
    size_t last_len;
};

void way_open(struct way *way, const struct bridge *bridge,
              enum way_fault (*choose)(void *payload, int number), void *payload);
void way_close(struct way *way);

#endif
