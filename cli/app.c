/* Failures: one line on stderr for people, one object for programs, one exit code for scripts.
 *
 * The exit code follows from the status, so a script needs no list of its own: the usage class is
 * 64 where the command line was wrong and 65 where a batch's line was; the retryable class is 75.
 * Only a sync that went through, with refusals, has one of its own: 69.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/app.h"
#include "cli/text.h"

static int wants_colour(int descriptor) {
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    if (no_colour && *no_colour) {
        return 0;
    }
    return isatty(descriptor) && (!terminal || strcmp(terminal, "dumb") != 0);
}

void dln_app_init(struct dln_app *app) {
    memset(app, 0, sizeof(*app));
    app->colour_out = wants_colour(STDOUT_FILENO);
    app->colour_err = wants_colour(STDERR_FILENO);
    app->committed = -1;
}

dunlin_status dln_fail(struct dln_app *app, dunlin_status status, const char *format, ...) {
    va_list arguments;

    app->err.code = status;
    app->err.domain = DUNLIN_DOMAIN_API;
    va_start(arguments, format);
    (void)vsnprintf(app->err.message, sizeof(app->err.message), format, arguments);
    va_end(arguments);
    dln_text_cut(app->err.message);
    return status;
}

static void print_object(const struct dln_app *app, const char *name, const char *message) {
    json_t *object = json_pack("{s:s, s:s}", "error", name, "message", message);

    if (!object) { /* the message is not UTF-8, or there is no memory */
        (void)fprintf(stderr, "{\"error\":\"%s\",\"message\":\"\"}\n", name);
        return;
    }
    if (app->line > 0) {
        (void)json_object_set_new(object, "line", json_integer(app->line));
    }
    if (app->committed >= 0) {
        (void)json_object_set_new(object, "committed", json_integer(app->committed));
    }
    (void)json_dumpf(object, stderr, JSON_COMPACT);
    (void)fputc('\n', stderr);
    json_decref(object);
}

void dln_fail_print(const struct dln_app *app, dunlin_status status) {
    const char *name = dunlin_status_name(status);
    const char *message = app->err.message;

    if (app->err.code != status || !*message) {
        message = dunlin_status_text(status);
    }
    if (app->json) {
        print_object(app, name, message);
        return;
    }
    (void)fprintf(stderr, "%sdunlin:%s %s: ", app->colour_err ? "\033[31m" : "",
                  app->colour_err ? "\033[0m" : "", name);
    if (app->line > 0) {
        (void)fprintf(stderr, "line %lld: ", app->line);
    }
    dln_text_print(stderr, message);
    if (app->committed >= 0) {
        (void)fprintf(stderr, "; %lld lines are committed", app->committed);
    }
    (void)fputc('\n', stderr);
}

int dln_exit_code(const struct dln_app *app, dunlin_status status) {
    if (app->exit_code) {
        return app->exit_code;
    }
    switch (status) {
    case DUNLIN_OK:
        return DLN_EXIT_DONE;
    case DUNLIN_WRONG_OWNER:
    case DUNLIN_NOT_ALLOWED:
    case DUNLIN_READ_ONLY:
    case DUNLIN_NEED_LOGIN:
    case DUNLIN_UNSENT:
        return DLN_EXIT_NOT_ALLOWED;
    case DUNLIN_GONE:
    case DUNLIN_NO_LIST:
    case DUNLIN_NO_GROUP:
    case DUNLIN_QUOTA:
        return DLN_EXIT_REJECTED;
    case DUNLIN_UNSUPPORTED:
        return DLN_EXIT_USAGE;
    case DUNLIN_NOT_A_STORE:
    case DUNLIN_NEWER_SCHEMA:
    case DUNLIN_TOO_LARGE:
    case DUNLIN_CORRUPT:
    case DUNLIN_BAD_MESSAGE:
        return DLN_EXIT_DATA;
    default:
        break;
    }
    if (dunlin_status_is_retryable(status)) {
        return DLN_EXIT_LATER;
    }
    if (status < 0 && status > -100) {
        return app->line > 0 ? DLN_EXIT_DATA : DLN_EXIT_USAGE;
    }
    return DLN_EXIT_BUG;
}
