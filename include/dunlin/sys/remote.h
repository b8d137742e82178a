/* The remote as a port: how a request reaches central. Apps take a ready remote
 * (dunlin/http.h, dunlin/central.h, dunlin/mongo.h); whoever writes a transport of his own fills in
 * this struct. */
#ifndef DUNLIN_SYS_REMOTE_H
#define DUNLIN_SYS_REMOTE_H

#include <stddef.h>
#include <stdint.h>

#include <dunlin/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a remote writes an answer: hand over the body's bytes, in order, in pieces of any size.
 * Returns DUNLIN_TOO_LARGE when the answer grows over the receiver's ceiling (8 MiB); the remote
 * then stops and returns that. */
typedef struct dunlin_sink {
    void *self;
    dunlin_status (*write)(void *self, const void *data, size_t len);
} dunlin_sink;

typedef struct dunlin_remote dunlin_remote;
struct dunlin_remote {
    void *self;
    /* Carries one request to central and its answer back. `kind` is "sync" or "verify". Blocks.
     * Returns OFFLINE where no connection was made (and only then: nothing can have reached
     * central), another retryable status where the answer did not come, TOO_LARGE where central
     * would not take so large a request, NEED_LOGIN, NOT_OUR_SERVER. *retry_after_ms is what the
     * other side asked to wait, and stays as it is (0) when it said nothing. */
    dunlin_status (*exchange)(void *self, const char *kind, const void *request, size_t request_len,
                              const dunlin_sink *answer, int64_t *retry_after_ms,
                              dunlin_error *err);
    /* Waits until central has news for this user, for timeout_ms (0 or more) at most; *news says
     * whether there is some (it may say so too often, never too seldom). May be NULL, where central
     * cannot tell; so may a status other than OK: then the caller polls. */
    dunlin_status (*wait)(void *self, int64_t timeout_ms, int *news, dunlin_error *err);
    /* Frees self and the struct; called by dunlin_remote_close(). */
    void (*close)(dunlin_remote *remote);
};

/* Closes a remote of any kind; NULL is allowed. No call may be using it. */
DUNLIN_API void dunlin_remote_close(dunlin_remote *remote);

#ifdef __cplusplus
}
#endif
#endif
