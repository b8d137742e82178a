/* Lists themselves: create, ls, show, rename, rank, delete, restore. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/list.h"
#include "cli/output.h"
#include "cli/text.h"
#include "cli/values.h"

static dunlin_status is_id(struct dln_app *app, int *out, const char *text) {
    dunlin_iter *iter = NULL;
    const dunlin_list *row = NULL;
    dunlin_status status = dunlin_list_get(app->store, &iter, text, &app->err);

    if (!status) {
        status = dunlin_lists_next(iter, &row, &app->err);
    }
    *out = !status && row;
    dunlin_iter_free(iter);
    /* Too long or otherwise no id: it may be a name all the same. */
    return dunlin_status_is_retryable(status) ? status : DUNLIN_OK;
}

dunlin_status dln_list_find(struct dln_app *app, struct dln_list_id *out, const char *text) {
    dunlin_iter *iter = NULL;
    const dunlin_list *row = NULL;
    int known = 0, named = 0;
    dunlin_status status = is_id(app, &known, text);

    out->id = text;
    if (status || known) {
        return status;
    }
    status = dunlin_lists_named(app->store, &iter, text, &app->err);
    while (!status && !(status = dunlin_lists_next(iter, &row, &app->err)) && row) {
        named++;
        (void)snprintf(out->found, sizeof(out->found), "%s", row->id);
        out->id = out->found;
    }
    dunlin_iter_free(iter);
    if (status) {
        return dunlin_status_is_retryable(status) ? status : DUNLIN_OK;
    }
    if (named > 1) {
        return dln_fail(app, DUNLIN_MISUSE, "%d lists have that name; say which by its id: list ls",
                        named);
    }
    return DUNLIN_OK;
}

static dunlin_status run_create(struct dln_app *app, const struct dln_args *args) {
    static const struct dln_column columns[] = {{"list", "", 0}, {"name", "", 0}};
    char id[DUNLIN_NEW_ID_SIZE] = "";
    dunlin_status status = dunlin_list_create(app->store, id, NULL, args->words[0], &app->err);

    if (!status && app->json) {
        const struct dln_cell cells[] = {dln_cell_text(id), dln_cell_text(args->words[0])};

        status = dln_print_object(app, columns, cells, 2);
    } else if (!status) {
        (void)printf("%s\n", id);
    }
    return status;
}

static dunlin_status run_ls(struct dln_app *app, const struct dln_args *args) {
    static const struct dln_column columns[] = {
        {"list", "LIST", 0}, {"name", "NAME", 0}, {"count", "ITEMS", 1}};
    struct dln_table *table = dln_table_begin(app, columns, 3);
    dunlin_iter *iter = NULL;
    const dunlin_list *row = NULL;
    dunlin_status status = table ? DUNLIN_OK : DUNLIN_OUT_OF_MEMORY;

    (void)args;
    if (!status) {
        status = dunlin_lists(app->store, &iter, NULL, &app->err);
    }
    while (!status && !(status = dunlin_lists_next(iter, &row, &app->err)) && row) {
        const struct dln_cell cells[] = {dln_cell_text(row->id), dln_cell_text(row->name),
                                         dln_cell_number(row->count)};

        status = dln_table_row(table, cells);
    }
    dunlin_iter_free(iter);
    dln_table_end(table);
    return status;
}

static dunlin_status run_show(struct dln_app *app, const struct dln_args *args) {
    static const struct dln_column columns[] = {{"list", NULL, 0},     {"type", "TYPE", 0},
                                                {"id", "ID", 0},       {"created_at", "ADDED", 0},
                                                {"title", "TITLE", 0}, {"data", "DATA", 0}};
    struct dln_table *table = dln_table_begin(app, columns, 6);
    struct dln_list_id list;
    dunlin_iter *iter = NULL;
    const dunlin_item *row = NULL;
    dunlin_status status = table ? dln_list_find(app, &list, args->words[0]) : DUNLIN_OUT_OF_MEMORY;

    if (!status) {
        status = dunlin_items(app->store, &iter, list.id, NULL, &app->err);
    }
    while (!status && !(status = dunlin_items_next(iter, &row, &app->err)) && row) {
        const struct dln_cell cells[] = {dln_cell_text(row->list),  dln_cell_text(row->type),
                                         dln_cell_text(row->id),    dln_cell_time(row->created_at),
                                         dln_cell_text(row->title), dln_cell_json(row->data)};

        status = dln_table_row(table, cells);
    }
    dunlin_iter_free(iter);
    dln_table_end(table);
    return status;
}

static dunlin_status run_rename(struct dln_app *app, const struct dln_args *args) {
    struct dln_list_id list;
    dunlin_status status = dln_list_find(app, &list, args->words[0]);

    if (!status) {
        status = dunlin_list_rename(app->store, list.id, args->words[1], &app->err);
    }
    return status;
}

static dunlin_status run_rank(struct dln_app *app, const struct dln_args *args) {
    const char *before_text = args->options[DLN_OPTION_BEFORE];
    struct dln_list_id list, before = {NULL, ""};
    dunlin_place_kind place = DUNLIN_PLACE_LAST;
    int given = 0;
    dunlin_status status =
        dln_read_place(app, &place, &given, args->options[DLN_OPTION_FIRST] != NULL,
                       args->options[DLN_OPTION_LAST] != NULL, before_text);

    if (!status && !given) {
        return dln_fail(app, DUNLIN_MISUSE, "list rank needs --before LIST, --first or --last");
    }
    if (!status) {
        status = dln_list_find(app, &list, args->words[0]);
    }
    if (!status && before_text) {
        status = dln_list_find(app, &before, before_text);
    }
    if (!status) {
        status = dunlin_list_rank(app->store, list.id, place, before.id, &app->err);
    }
    return status;
}

static dunlin_status run_delete(struct dln_app *app, const struct dln_args *args) {
    struct dln_list_id list;
    dunlin_status status = dln_list_find(app, &list, args->words[0]);

    if (!status) {
        status = dunlin_list_delete(app->store, list.id, &app->err);
    }
    return status;
}

static dunlin_status run_restore(struct dln_app *app, const struct dln_args *args) {
    return dunlin_list_restore(app->store, args->words[0], &app->err);
}

const struct dln_command dln_list_commands[] = {
    {"list", "create", "NAME", "makes a list at the end and prints its id", 0, 1, 1, 0, run_create},
    {"list", "ls", "", "the lists in their order", 0, 0, 0, 0, run_ls},
    {"list", "show", "LIST", "a list's items in their order", 0, 1, 1, 0, run_show},
    {"list", "rename", "LIST NAME", "gives the list another name", 0, 2, 2, 0, run_rename},
    {"list", "rank", "LIST (--before LIST | --first | --last)", "moves the list among the lists",
     DLN_TAKES(DLN_OPTION_BEFORE) | DLN_TAKES(DLN_OPTION_FIRST) | DLN_TAKES(DLN_OPTION_LAST), 1, 1,
     0, run_rank},
    {"list", "delete", "LIST", "deletes the list with its items", 0, 1, 1, 0, run_delete},
    {"list", "restore", "LIST", "brings a deleted list back, by its id", 0, 1, 1, 0, run_restore},
    {NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL}};
