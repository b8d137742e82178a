/* A bridge in the test's hands: the world's central behind a web server, and a look at each request
 * before central has it. What the real one does is tested beside it (bridge_process.h). */
#ifndef DLN_TESTS_HUB_H
#define DLN_TESTS_HUB_H

#include <dunlin/http.h>

#include "base/buf.h"
#include "tests/support/web.h"
#include "tests/support/world.h"

struct hub {
    struct web web;
    struct world *world;
    /* Sees a request first; true: it has answered by itself, and *keep says whether the connection
     * is kept. May be NULL. */
    bool (*before)(struct hub *hub, const struct web_request *request, struct web_client *client,
                   bool *keep);
    void *payload;
    bool packed;          /* answers in gzip */
    bool silent;          /* after the answer the connection is closed, without a word before */
    int exchanges;        /* that central has done */
    size_t body_max;      /* 413 above that many bytes, unpacked; 0: none */
    size_t greatest_line; /* of request lines */
};

void hub_start(struct hub *hub, struct world *world, const struct certificate *certificate);
void hub_stop(struct hub *hub);
/* A remote of that user's, to be closed; options may be NULL, and need not name the user. */
dunlin_remote *hub_remote(struct hub *hub, const char *user, const dunlin_http_options *options);
/* Central's answer to a request. False: the client is gone. */
bool hub_answer(struct hub *hub, const struct web_request *request, struct web_client *client);
/* The same, not sent: the caller frees it. */
void hub_exchange(struct hub *hub, const struct web_request *request, struct dln_buf *answer);
/* The request's body, unpacked; the caller frees it. */
void hub_body(const struct web_request *request, struct dln_buf *out);

#endif
