/* sync. What only remotes over a network need is refused by name until there is one. */
#include "cli/command.h"
#include "cli/output.h"
#include "cli/remote.h"

static dunlin_status check_options(struct dln_app *app, const struct dln_args *args) {
    if (args->options[DLN_OPTION_TOKEN] || args->options[DLN_OPTION_TOKEN_FILE]) {
        return dln_fail(app, DUNLIN_UNSUPPORTED,
                        "this build has no remote that takes a token; sqlite:PATH needs none");
    }
    if (args->options[DLN_OPTION_WATCH]) {
        return dln_fail(app, DUNLIN_UNSUPPORTED,
                        "this build cannot watch a remote; run sync again instead");
    }
    return DUNLIN_OK;
}

static dunlin_status print_result(const struct dln_app *app, const dunlin_sync_result *result) {
    static const struct dln_column columns[] = {{"exchanges", "round trips", 0},
                                                {"pushed", "changes acknowledged", 0},
                                                {"pulled", "changes received", 0},
                                                {"rejected", "changes rejected", 0},
                                                {"quarantined", "lines that could not be read", 0},
                                                {"bytes_sent", "bytes sent", 0},
                                                {"bytes_received", "bytes received", 0},
                                                {"retry_at_ms", NULL, 0}};
    const struct dln_cell cells[] = {dln_cell_number((int64_t)result->exchanges),
                                     dln_cell_number((int64_t)result->pushed),
                                     dln_cell_number((int64_t)result->pulled),
                                     dln_cell_number((int64_t)result->rejected),
                                     dln_cell_number((int64_t)result->quarantined),
                                     dln_cell_number((int64_t)result->bytes_sent),
                                     dln_cell_number((int64_t)result->bytes_received),
                                     dln_cell_number(result->retry_at_ms)};

    return dln_print_object(app, columns, cells, sizeof(cells) / sizeof(cells[0]));
}

static dunlin_status run_sync(struct dln_app *app, const struct dln_args *args) {
    dunlin_remote *remote = NULL;
    dunlin_sync_result result = {0};
    dunlin_status status = check_options(app, args);
    dunlin_status printed = DUNLIN_OK;

    if (!status) {
        status = dln_remote_open(app, &remote, args);
    }
    if (!status) {
        status = dunlin_sync(app->store, remote, &result, &app->err);
        printed = print_result(app, &result);
    }
    dunlin_remote_close(remote);
    if (!status && result.rejected > 0) {
        app->exit_code = DLN_EXIT_REJECTED;
    }
    return status ? status : printed;
}

const struct dln_command dln_sync_commands[] = {
    {"sync", NULL, "--remote URL",
     "brings this store and central together; 69 when central refused something",
     DLN_TAKES(DLN_OPTION_REMOTE) | DLN_TAKES(DLN_OPTION_TOKEN) | DLN_TAKES(DLN_OPTION_TOKEN_FILE) |
         DLN_TAKES(DLN_OPTION_WATCH),
     0, 0, 0, run_sync},
    {NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL}};
