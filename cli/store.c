/* The file itself: init, status, verify, dump, backup, wipe. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/remote.h"

static dunlin_status run_init(struct dln_app *app, const struct dln_args *args) {
    static const struct dln_column columns[] = {
        {"owner", "owner", 0}, {"device", "device", 0}, {"created", NULL, 0}};
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    const char *user = args->options[DLN_OPTION_USER];
    int created = 0;
    dunlin_status status;

    if (!user) {
        return dln_fail(app, DUNLIN_MISUSE, "init needs --user U");
    }
    options.must_exist = 1;
    status = dunlin_store_open(&app->store, app->db_path, user, &options, &app->err);
    if (status == DUNLIN_NOT_FOUND) {
        created = 1;
        options.must_exist = 0;
        options.without_search = args->options[DLN_OPTION_WITHOUT_SEARCH] != NULL;
        status = dunlin_store_open(&app->store, app->db_path, user, &options, &app->err);
    }
    if (!status) {
        const struct dln_cell cells[] = {dln_cell_text(dunlin_store_owner(app->store)),
                                         dln_cell_text(dunlin_store_device(app->store)),
                                         dln_cell_flag(created)};

        status = dln_print_object(app, columns, cells, 3);
    }
    return status;
}

static dunlin_status run_status(struct dln_app *app, const struct dln_args *args) {
    static const struct dln_column owner_columns[] = {{"owner", "owner", 0},
                                                      {"device", "device", 0},
                                                      {"pending", "changes not yet sent", 0},
                                                      {"rejected", "changes rejected", 0},
                                                      {"following", "following", 0},
                                                      {"subscriptions", "subscriptions", 0},
                                                      {"lists", "lists", 0},
                                                      {"items", "items", 0},
                                                      {"last_sync_ms", "last sync", 0},
                                                      {"held", "scopes that wait for central", 0},
                                                      {"file_bytes", "bytes of the file", 0}};
    dunlin_store_status now;
    dunlin_status status = dunlin_store_get_status(app->store, &now, &app->err);

    (void)args;
    if (!status) {
        const struct dln_cell cells[] = {dln_cell_text(dunlin_store_owner(app->store)),
                                         dln_cell_text(dunlin_store_device(app->store)),
                                         dln_cell_number(now.pending),
                                         dln_cell_number(now.rejected),
                                         dln_cell_number(now.following),
                                         dln_cell_number(now.subscriptions),
                                         dln_cell_number(now.lists),
                                         dln_cell_number(now.items),
                                         app->json || now.last_sync_ms
                                             ? dln_cell_time(now.last_sync_ms)
                                             : dln_cell_text("never"),
                                         dln_cell_number(now.held),
                                         dln_cell_number(now.file_bytes)};

        status = dln_print_object(app, owner_columns, cells, sizeof(cells) / sizeof(cells[0]));
    }
    return status;
}

/* What verify found, on the device and, where a remote was given, between device and central. */
static dunlin_status print_findings(const struct dln_app *app, const dunlin_check *check,
                                    const dunlin_divergence *divergence, int repair) {
    static const struct dln_column columns[] = {
        {"file_damaged", "file damaged", 0},
        {"subscriptions_off", "subscriptions that differ from a recompute", 0},
        {"counts_off", "counts that differ from a recount", 0},
        {"search_off", "search rows that are missing or too many", 0},
        {"repair", "repair asked for", 0},
        {"scopes", "scopes compared with central", 0},
        {"differ", "records that differ from central", 0},
        {"repaired", "records taken anew from central", 0}};
    const struct dln_cell cells[] = {dln_cell_flag(check->file_damaged),
                                     dln_cell_number(check->subscriptions_off),
                                     dln_cell_number(check->counts_off),
                                     dln_cell_number(check->search_off),
                                     dln_cell_flag(repair),
                                     dln_cell_number(divergence ? divergence->scopes : 0),
                                     dln_cell_number(divergence ? divergence->differ : 0),
                                     dln_cell_number(divergence ? divergence->repaired : 0)};

    return dln_print_object(app, columns, cells, divergence ? 8 : 5);
}

static dunlin_status run_verify(struct dln_app *app, const struct dln_args *args) {
    dunlin_remote *remote = NULL;
    dunlin_check check = {0};
    dunlin_divergence divergence = {0};
    int repair = args->options[DLN_OPTION_REPAIR] != NULL;
    int off = 0;
    dunlin_status status = DUNLIN_OK, printed;

    if (args->options[DLN_OPTION_REMOTE]) {
        status = dln_remote_open(app, &remote, args);
        if (status) {
            return status;
        }
    }
    status = dunlin_store_verify(app->store, repair, &check, &app->err);
    if (!status && remote) {
        status = dunlin_verify_remote(app->store, remote, repair, &divergence, dln_print_line, NULL,
                                      &app->err);
    }
    dunlin_remote_close(remote);
    if (status && status != DUNLIN_CORRUPT) {
        return status;
    }
    printed = print_findings(app, &check, remote ? &divergence : NULL, repair);
    if (status || printed) {
        return status ? status : printed;
    }
    off = check.subscriptions_off || check.counts_off || check.search_off ||
          divergence.repaired < divergence.differ;
    if (check.file_damaged || (off && !repair)) {
        status = dln_fail(app, DUNLIN_CORRUPT, "something is not as it should be%s",
                          check.file_damaged ? "" : "; --repair puts it right");
    }
    return status;
}

static dunlin_status run_dump(struct dln_app *app, const struct dln_args *args) {
    dunlin_remote *remote = NULL;
    dunlin_status status;

    if (!args->options[DLN_OPTION_REMOTE]) {
        return dunlin_dump(app->store, dln_print_line, NULL, &app->err);
    }
    status = dln_remote_open(app, &remote, args);
    if (!status) {
        status = dunlin_dump_remote(app->store, remote, dln_print_line, NULL, &app->err);
    }
    dunlin_remote_close(remote);
    return status;
}

static dunlin_status run_backup(struct dln_app *app, const struct dln_args *args) {
    return dunlin_store_backup(app->store, args->words[0], &app->err);
}

static dunlin_status run_wipe(struct dln_app *app, const struct dln_args *args) {
    return dunlin_store_wipe(
        app->store, args->options[DLN_OPTION_FORCE] ? DUNLIN_WIPE_FORCE : DUNLIN_WIPE_IF_SENT,
        &app->err);
}

const struct dln_command dln_store_commands[] = {
    {"init", NULL, "--user U [--without-search]", "makes the store for that user",
     DLN_TAKES(DLN_OPTION_USER) | DLN_TAKES(DLN_OPTION_WITHOUT_SEARCH), 0, 0, 1, run_init},
    {"status", NULL, "", "what is here, what waits, when it was synced last", 0, 0, 0, 0,
     run_status},
    {"verify", NULL, "[--remote URL] [--repair]",
     "recomputes what derives; compares with central; names what differs",
     DLN_TAKES(DLN_OPTION_REMOTE) | DLN_TAKES(DLN_OPTION_TOKEN) | DLN_TAKES(DLN_OPTION_TOKEN_FILE) |
         DLN_TAKES(DLN_OPTION_REPAIR),
     0, 0, 0, run_verify},
    {"dump", NULL, "[--remote URL]",
     "every live record as JSON, sorted; with --remote central's: equal dumps are equal states",
     DLN_TAKES(DLN_OPTION_REMOTE) | DLN_TAKES(DLN_OPTION_TOKEN) | DLN_TAKES(DLN_OPTION_TOKEN_FILE),
     0, 0, 0, run_dump},
    {"backup", NULL, "PATH", "a copy of this moment in a new file", 0, 1, 1, 0, run_backup},
    {"wipe", NULL, "[--force]",
     "removes everything but the names of owner and device; refuses what is unsent, unless forced",
     DLN_TAKES(DLN_OPTION_FORCE), 0, 0, 0, run_wipe},
    {NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL}};
