/* A line is one write, so that lines of several processes in one file do not mix. */
#include "bridge/access_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "sync/json.h"

enum { PATH_SHOWN_MAX = 128, LINE_MAX_BYTES = 8192 };

/* A request line may hold any bytes; a log must stay JSON. */
static void put_text(struct dln_buf *out, const char *name, const char *text, size_t max) {
    char shown[512];
    size_t len = strlen(text);

    len = len < max ? len : max;
    len = len < sizeof(shown) ? len : sizeof(shown);
    memcpy(shown, text, len);
    if (!dln_text_is_utf8((struct dln_text){shown, len})) {
        for (size_t i = 0; i < len; i++) {
            shown[i] = (unsigned char)shown[i] < 0x80 ? shown[i] : '?';
        }
    }
    dln_buf_printf(out, ",\"%s\":", name);
    dln_json_string(out, (struct dln_text){shown, len});
}

void dln_access_line(struct dln_buf *out, const struct dln_access *access) {
    time_t seconds = (time_t)(access->time_ms / 1000);
    struct tm utc = {0};
    char time_text[32];

    (void)gmtime_r(&seconds, &utc);
    (void)strftime(time_text, sizeof(time_text), "%Y-%m-%dT%H:%M:%S", &utc);
    dln_buf_printf(out, "{\"time\":\"%s.%03dZ\"", time_text, (int)(access->time_ms % 1000));
    put_text(out, "request", access->id, SIZE_MAX);
    put_text(out, "method", access->method, 16);
    put_text(out, "path", access->path, PATH_SHOWN_MAX);
    dln_buf_printf(out, ",\"status\":%d", access->http_status);
    if (access->code != NULL) {
        put_text(out, "code", access->code, SIZE_MAX);
    }
    if (access->user[0] != '\0') {
        put_text(out, "user", access->user, DLN_ID_MAX);
    }
    dln_buf_printf(out,
                   ",\"bytes_in\":%" PRIu64 ",\"bytes_out\":%" PRIu64 ",\"duration_ms\":%" PRId64
                   ".%03" PRId64 "}\n",
                   access->bytes_in, access->bytes_out, access->duration_us / 1000,
                   access->duration_us % 1000);
}

static int file_open(const char *path) {
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
}

dunlin_status dln_access_log_open(struct dln_access_log *log, const char *path, dunlin_error *err) {
    *log = (struct dln_access_log){.path = path, .fd = STDERR_FILENO};
    if (path != NULL && (log->fd = file_open(path)) < 0) {
        return dln_fail(err, DUNLIN_IO, DUNLIN_DOMAIN_API, "--log: %.150s: %s", path,
                        strerror(errno));
    }
    (void)pthread_mutex_init(&log->lock, NULL);
    return DUNLIN_OK;
}

void dln_access_log_reopen(struct dln_access_log *log) {
    int fd = log->path != NULL ? file_open(log->path) : -1;

    if (fd < 0) {
        return;
    }
    (void)pthread_mutex_lock(&log->lock);
    (void)close(log->fd);
    log->fd = fd;
    (void)pthread_mutex_unlock(&log->lock);
}

void dln_access_log_write(struct dln_access_log *log, const struct dln_access *access) {
    struct dln_buf line = DLN_BUF_INIT(LINE_MAX_BYTES);

    dln_access_line(&line, access);
    if (line.status == DUNLIN_OK) {
        (void)pthread_mutex_lock(&log->lock);
        for (size_t done = 0; done < line.len;) {
            ssize_t wrote = write(log->fd, line.data + done, line.len - done);
            if (wrote < 0 && errno != EINTR) {
                break;
            }
            done += wrote > 0 ? (size_t)wrote : 0;
        }
        (void)pthread_mutex_unlock(&log->lock);
    }
    dln_buf_free(&line);
}

void dln_access_log_close(struct dln_access_log *log) {
    if (log->path != NULL) {
        (void)close(log->fd);
    }
    (void)pthread_mutex_destroy(&log->lock);
}
