/* The bridge's server inside the test's process: real sockets, and the test's clock. */
#ifndef DLN_TESTS_INSIDE_H
#define DLN_TESTS_INSIDE_H

#include <dunlin/central.h>
#include <dunlin/sys/remote.h>

struct inside;

/* Listens on a free port of 127.0.0.1. The clock is the test's to move (inside_set_now()); the
 * bridge's threads see it no earlier. */
struct inside *inside_start(const char *store_url, const dunlin_central_options *options,
                            int64_t now_ms);
void inside_set_now(struct inside *inside, int64_t now_ms);
/* A remote that speaks for that user over HTTP. */
dunlin_remote *inside_remote(struct inside *inside, const char *user);
/* Its remotes must have been closed. NULL is allowed. */
void inside_stop(struct inside *inside);

#endif
