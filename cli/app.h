/* What every part of the command shares: one run's state, and how it fails. */
#ifndef DLN_CLI_APP_H
#define DLN_CLI_APP_H

#include <dunlin/dunlin.h>

/* Exit codes, the ones of sysexits.h that the command uses. */
enum {
    DLN_EXIT_DONE = 0,
    DLN_EXIT_USAGE = 64,
    DLN_EXIT_DATA = 65,
    DLN_EXIT_REJECTED = 69,
    DLN_EXIT_BUG = 70,
    DLN_EXIT_LATER = 75,
    DLN_EXIT_NOT_ALLOWED = 77
};

struct dln_app {
    const char *db_path;
    int json;
    int colour_out;      /* stdout is a terminal that wants colour */
    int colour_err;      /* the same of stderr */
    dunlin_store *store; /* open for every command but init */
    dunlin_error err;    /* of the call that failed last */
    int exit_code;       /* not 0: how the run ends although its status is OK, or whatever it is */
    long long line;      /* of the batch line that failed; 0: none */
    long long committed; /* lines of the batch that are durable; -1: no batch ran */
};

/* Decides from terminals and NO_COLOR. */
void dln_app_init(struct dln_app *app);

/* Notes a failure of the command's own and returns its status. */
DUNLIN_PRINTF(3, 4)
DUNLIN_MUST_USE dunlin_status dln_fail(struct dln_app *app, dunlin_status status,
                                       const char *format, ...);

/* The one line on stderr, or with --json the one object, for app->err under that status. */
void dln_fail_print(const struct dln_app *app, dunlin_status status);

int dln_exit_code(const struct dln_app *app, dunlin_status status);

#endif
