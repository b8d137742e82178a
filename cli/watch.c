/* Keeping a store in step with central. A signal lets the sync that runs come to its end; the
 * second one ends the process at once, which loses nothing either.
 *
 * What moves nothing is not printed, and a failure that lasts is printed once. */
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/watch.h"

enum { SLICE_MS = 1000 };

static volatile sig_atomic_t stopped;

static void on_signal(int number) {
    (void)number;
    stopped = 1;
}

static void catch_signals(void) {
    struct sigaction action = {0};

    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

static int64_t now_ms(void) {
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* In short slices: the clock may be set meanwhile, and a signal shall be noticed. */
static void sleep_until(int64_t wake_ms) {
    for (int64_t left_ms = wake_ms - now_ms(); left_ms > 0 && !stopped;
         left_ms = wake_ms - now_ms()) {
        const long slice_ms = (long)(left_ms < SLICE_MS ? left_ms : SLICE_MS);
        const struct timespec slice = {slice_ms / 1000, slice_ms % 1000 * 1000000};

        (void)nanosleep(&slice, NULL);
    }
}

/* Whether to go on after that. */
static int passes(dunlin_status status, int renewable) {
    if (status == DUNLIN_NEED_LOGIN) {
        return renewable;
    }
    return dunlin_status_is_retryable(status);
}

static dunlin_status print_moved(const struct dln_app *app, const dunlin_sync_result *result) {
    dunlin_status status;

    dln_progress_end();
    if (!result->pushed && !result->pulled && !result->rejected && !result->quarantined) {
        return DUNLIN_OK;
    }
    status = dln_sync_result_print(app, result);
    (void)fflush(stdout);
    return status;
}

static dunlin_status wait_for_reason(struct dln_app *app, dunlin_remote *remote) {
    dunlin_wakeup wakeup = {0};
    dunlin_status status = DUNLIN_OK;

    while (!status && !stopped && !wakeup.news && !wakeup.edits) {
        status = dunlin_sync_wait(app->store, remote, SLICE_MS, &wakeup, &app->err);
    }
    return status;
}

dunlin_status dln_watch(struct dln_app *app, dunlin_remote *remote, int renewable) {
    dunlin_status status = DUNLIN_OK, printed = DUNLIN_OK, said = DUNLIN_OK;

    catch_signals();
    while (!stopped && !printed) {
        dunlin_sync_result result = {0};

        status = dunlin_sync(app->store, remote, &result, &app->err);
        printed = print_moved(app, &result);
        if (result.rejected > 0) {
            app->exit_code = DLN_EXIT_REJECTED;
        }
        if (!status && !printed) {
            status = wait_for_reason(app, remote);
            said = DUNLIN_OK;
        } else if (status && !passes(status, renewable)) {
            return status;
        }
        if (status) {
            if (status != said) {
                dln_fail_print(app, status);
                said = status;
            }
            sleep_until(result.retry_at_ms ? result.retry_at_ms : now_ms() + SLICE_MS);
        }
    }
    return printed;
}
