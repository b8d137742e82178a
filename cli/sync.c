/* sync, once or for as long as it is let. */
#include "cli/command.h"
#include "cli/output.h"
#include "cli/remote.h"
#include "cli/watch.h"

dunlin_status dln_sync_result_print(const struct dln_app *app, const dunlin_sync_result *result) {
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

static dunlin_status sync_once(struct dln_app *app, dunlin_remote *remote) {
    dunlin_sync_result result = {0};
    dunlin_status status = dunlin_sync(app->store, remote, &result, &app->err);
    dunlin_status printed = dln_sync_result_print(app, &result);

    if (!status && result.rejected > 0) {
        app->exit_code = DLN_EXIT_REJECTED;
    }
    return status ? status : printed;
}

static dunlin_status run_sync(struct dln_app *app, const struct dln_args *args) {
    dunlin_remote *remote = NULL;
    dunlin_status status = dln_remote_open(app, &remote, args);

    if (!status) {
        status = args->options[DLN_OPTION_WATCH]
                     ? dln_watch(app, remote, args->options[DLN_OPTION_TOKEN_FILE] != NULL)
                     : sync_once(app, remote);
    }
    dunlin_remote_close(remote);
    return status;
}

const struct dln_command dln_sync_commands[] = {
    {"sync", NULL, "--remote URL [--token TOKEN | --token-file FILE] [--watch]",
     "brings this store and central together, with --watch until it is interrupted; 69 when "
     "central "
     "refused something",
     DLN_TAKES(DLN_OPTION_REMOTE) | DLN_TAKES(DLN_OPTION_TOKEN) | DLN_TAKES(DLN_OPTION_TOKEN_FILE) |
         DLN_TAKES(DLN_OPTION_WATCH),
     0, 0, 0, run_sync},
    {NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL}};
