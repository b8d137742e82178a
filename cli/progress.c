/* Progress. The state is the process's, as its stderr is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/progress.h"

enum { BAR_WIDTH = 30, SILENT_MS = 1000, REDRAW_MS = 100 };

static struct {
    int decided; /* whether stderr is a terminal was asked */
    int terminal;
    int shown;
    int64_t started_ms;
    int64_t drawn_ms;
} line;

static int64_t monotonic_ms(void) {
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
        return 0;
    }
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void draw(const char *what, uint64_t done, uint64_t total) {
    char bar[BAR_WIDTH + 1];
    uint64_t filled = 0;

    if (total == 0) {
        (void)fprintf(stderr, "\r\033[K%s: %" PRIu64, what, done);
        return;
    }
    done = done < total ? done : total;
    filled = (uint64_t)((double)done / (double)total * BAR_WIDTH);
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', filled < BAR_WIDTH ? filled : BAR_WIDTH);
    bar[BAR_WIDTH] = '\0';
    (void)fprintf(stderr, "\r\033[K%s: [%s] %3.0f %%", what, bar,
                  (double)done * 100 / (double)total);
}

void dln_progress_show(const char *what, uint64_t done, uint64_t total) {
    int64_t now_ms;

    if (!line.decided) {
        line.decided = 1;
        line.terminal = isatty(STDERR_FILENO);
        line.started_ms = monotonic_ms();
    }
    if (!line.terminal) {
        return;
    }
    now_ms = monotonic_ms();
    if (now_ms - line.started_ms < SILENT_MS || now_ms - line.drawn_ms < REDRAW_MS) {
        return;
    }
    line.drawn_ms = now_ms;
    line.shown = 1;
    draw(what, done, total);
    (void)fflush(stderr);
}

void dln_progress_end(void) {
    if (line.shown) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        line.shown = 0;
    }
}
