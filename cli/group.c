/* Groups and their members. */
#include "cli/command.h"
#include "cli/output.h"
#include "cli/values.h"

static dunlin_status run_create(struct dln_app *app, const struct dln_args *args) {
    dunlin_join join = DUNLIN_JOIN_OPEN;
    dunlin_status status = DUNLIN_OK;

    if (args->options[DLN_OPTION_JOIN]) {
        status = dln_read_join(app, &join, args->options[DLN_OPTION_JOIN]);
    }
    if (!status) {
        status = dunlin_group_create(app->store, args->words[0], args->options[DLN_OPTION_NAME],
                                     join, &app->err);
    }
    return status;
}

static dunlin_status run_set(struct dln_app *app, const struct dln_args *args) {
    const char *name = args->options[DLN_OPTION_NAME];
    const char *join_text = args->options[DLN_OPTION_JOIN];
    dunlin_join join = DUNLIN_JOIN_OPEN;
    dunlin_status status = DUNLIN_OK;

    if (!name && !join_text) {
        return dln_fail(app, DUNLIN_MISUSE, "group set needs --name or --join");
    }
    if (join_text) {
        status = dln_read_join(app, &join, join_text);
    }
    if (!status) {
        status =
            dunlin_group_set(app->store, args->words[0], name, join_text ? &join : NULL, &app->err);
    }
    return status;
}

static dunlin_status run_add(struct dln_app *app, const struct dln_args *args) {
    dunlin_role role = DUNLIN_ROLE_MEMBER;
    dunlin_status status = DUNLIN_OK;

    if (args->options[DLN_OPTION_ROLE]) {
        status = dln_read_role(app, &role, args->options[DLN_OPTION_ROLE]);
    }
    if (!status) {
        status = dunlin_group_add(app->store, args->words[0], args->words[1], role, &app->err);
    }
    return status;
}

static dunlin_status run_remove(struct dln_app *app, const struct dln_args *args) {
    return dunlin_group_remove(app->store, args->words[0], args->words[1], &app->err);
}

static dunlin_status run_delete(struct dln_app *app, const struct dln_args *args) {
    return dunlin_group_delete(app->store, args->words[0], &app->err);
}

static dunlin_status run_show(struct dln_app *app, const struct dln_args *args) {
    static const struct dln_column columns[] = {
        {"group", "group", 0},     {"name", "name", 0},       {"owner", "owner", 0},
        {"join", "join", 0},       {"members", "members", 0}, {"followed", "followed", 0},
        {"member", "a member", 0}, {"role", "role", 0}};
    dunlin_group_info *group = NULL;
    dunlin_status status = dunlin_group_get(app->store, &group, args->words[0], &app->err);

    if (!status) {
        const struct dln_cell cells[] = {
            dln_cell_text(group->id),
            dln_cell_text(group->name),
            dln_cell_text(group->owner),
            dln_cell_text(dln_join_name(group->join)),
            dln_cell_number(group->members),
            dln_cell_flag(group->followed),
            dln_cell_flag(group->member),
            dln_cell_text(group->member ? dln_role_name(group->role) : NULL)};

        status = dln_print_object(app, columns, cells, sizeof(cells) / sizeof(cells[0]));
        dunlin_group_free(group);
    }
    return status;
}

static dunlin_status run_members(struct dln_app *app, const struct dln_args *args) {
    static const struct dln_column columns[] = {{"user", "USER", 0}, {"role", "ROLE", 0}};
    struct dln_table *table = dln_table_begin(app, columns, 2);
    dunlin_iter *iter = NULL;
    const dunlin_member *row = NULL;
    dunlin_status status = table ? DUNLIN_OK : DUNLIN_OUT_OF_MEMORY;

    if (!status) {
        status = dunlin_members(app->store, &iter, args->words[0], NULL, &app->err);
    }
    while (!status && !(status = dunlin_members_next(iter, &row, &app->err)) && row) {
        const struct dln_cell cells[] = {dln_cell_text(row->user),
                                         dln_cell_text(dln_role_name(row->role))};

        status = dln_table_row(table, cells);
    }
    dunlin_iter_free(iter);
    dln_table_end(table);
    return status;
}

const struct dln_command dln_group_commands[] = {
    {"group", "create", "GROUP [--name NAME] [--join open|closed]",
     "makes a group that this user owns", DLN_TAKES(DLN_OPTION_NAME) | DLN_TAKES(DLN_OPTION_JOIN),
     1, 1, 0, run_create},
    {"group", "set", "GROUP [--name NAME] [--join open|closed]", "changes name or join",
     DLN_TAKES(DLN_OPTION_NAME) | DLN_TAKES(DLN_OPTION_JOIN), 1, 1, 0, run_set},
    {"group", "add", "GROUP USER [--role member|admin]", "adds a member, or changes a role",
     DLN_TAKES(DLN_OPTION_ROLE), 2, 2, 0, run_add},
    {"group", "remove", "GROUP USER", "removes a member", 0, 2, 2, 0, run_remove},
    {"group", "members", "GROUP", "the members", 0, 1, 1, 0, run_members},
    {"group", "show", "GROUP", "what this device knows of the group", 0, 1, 1, 0, run_show},
    {"group", "delete", "GROUP", "deletes the group for good", 0, 1, 1, 0, run_delete},
    {NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL}};
