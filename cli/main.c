/* dunlin, the command: takes the command line apart, opens the store, runs one command, and turns
 * what became of it into an exit code. */
#include <assert.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"

static dunlin_status open_store(struct dln_app *app) {
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;

    options.must_exist = 1;
    return dunlin_store_open(&app->store, app->db_path, NULL, &options, &app->err);
}

static dunlin_status run(struct dln_app *app, int argc, char *const *argv) {
    const struct dln_command *command = NULL;
    struct dln_args args;
    dunlin_status status = dln_arguments_read(app, &command, &args, argc, argv);

    if (status) {
        return status;
    }
    if (args.version) {
        (void)printf("%s%s%s\n", app->json ? "{\"version\":\"" : "dunlin ", DUNLIN_VERSION,
                     app->json ? "\"}" : "");
    } else if (args.help) {
        dln_help_print(app, command, args.count ? args.words[0] : NULL);
    } else {
        assert(command);
        if (!command->without_store) {
            status = open_store(app);
        }
        if (!status) {
            status = command->run(app, &args);
        }
    }
    return status;
}

int main(int argc, char **argv) {
    struct dln_app app;
    dunlin_status status, output;
    int exit_code;

    dln_app_init(&app);
    status = run(&app, argc, argv);
    dln_progress_end();
    output = status ? DUNLIN_OK : dln_output_flush(&app);
    if (status) {
        (void)fflush(stdout);
        dln_fail_print(&app, status);
    } else if (output) {
        dln_fail_print(&app, output);
        status = output;
        app.exit_code = 0;
    }
    exit_code = dln_exit_code(&app, status);
    dunlin_store_close(app.store);
    return exit_code;
}
