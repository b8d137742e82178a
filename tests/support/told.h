/* A device, a hub, and a remote between them; the hub answers as it is told. For one test at a
 * time.
 */
#ifndef DLN_TESTS_TOLD_H
#define DLN_TESTS_TOLD_H

#include "tests/support/hub.h"

struct told {
    struct world world;
    struct device *device; /* aoi's: synced, and with an edit that waits */
    struct hub hub;
    dunlin_remote *remote; /* of aoi */

    /* What the hub answers to every request; status 0: central's answer. */
    int status;
    const char *headers;
    const char *body;
    size_t body_len;
    int times; /* so often; 0: always */
    int answered;

    char last_body[2][4096]; /* of requests, the newest first */
    size_t last_len[2];
    char authorization[128]; /* of the last request that had one */
};

extern struct told told;

int told_setup(void **state);
int told_teardown(void **state);
/* That hook of hub.h, for a test that had put another in its place. */
bool told_before(struct hub *hub, const struct web_request *request, struct web_client *client,
                 bool *keep);
void told_answers(int status, const char *headers, const void *body, size_t body_len);
/* The same with text. */
void told_says(int status, const char *headers, const char *text);
/* The sync gives that status, says why, and changes nothing. */
void told_comes_to(const char *expected);
/* Central answers again: the next sync is complete. */
void told_heals(void);

#endif
