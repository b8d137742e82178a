/* One JSON line a request: what operators ask about, no token, no content. */
#ifndef DLN_BRIDGE_ACCESS_LOG_H
#define DLN_BRIDGE_ACCESS_LOG_H

#include <pthread.h>
#include <stdint.h>

#include "base/buf.h"

struct dln_access {
    int64_t time_ms; /* Unix, at its end */
    const char *id;
    const char *method;
    const char *path; /* as it was asked for; cut at 128 bytes */
    const char *user; /* "": none */
    const char *code; /* name of a status; NULL: none */
    int http_status;
    uint64_t bytes_in, bytes_out;
    int64_t duration_us;
};

struct dln_access_log {
    pthread_mutex_t lock;
    const char *path; /* NULL: stderr */
    int fd;
};

/* Appends the line, newline included. Whatever is no UTF-8 stands there as '?'. */
void dln_access_line(struct dln_buf *out, const struct dln_access *access);

/* IO where the file cannot be opened for appending. */
DUNLIN_MUST_USE dunlin_status dln_access_log_open(struct dln_access_log *log, const char *path,
                                                  dunlin_error *err);
/* Opens the file anew (it was rotated); where that fails, the old one goes on. */
void dln_access_log_reopen(struct dln_access_log *log);
/* Writes a line; where that fails it is lost. Any thread. */
void dln_access_log_write(struct dln_access_log *log, const struct dln_access *access);
void dln_access_log_close(struct dln_access_log *log);

#endif
