/* Items of lists, and search. */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/list.h"
#include "cli/output.h"
#include "cli/values.h"

static dunlin_status run_add(struct dln_app *app, const struct dln_args *args) {
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    struct dln_list_id list;
    int64_t created_at = 0;
    dunlin_status status = DUNLIN_OK;

    options.title = args->options[DLN_OPTION_TITLE];
    options.data = args->options[DLN_OPTION_DATA];
    if (args->options[DLN_OPTION_AT]) {
        status = dln_read_time(app, &created_at, args->options[DLN_OPTION_AT]);
        options.created_at = &created_at;
    }
    if (!status) {
        status = dln_list_find(app, &list, args->words[0]);
    }
    if (!status) {
        status = dunlin_list_add(app->store, list.id, args->words[1], args->words[2], &options,
                                 &app->err);
    }
    return status;
}

static dunlin_status run_remove(struct dln_app *app, const struct dln_args *args) {
    struct dln_list_id list;
    dunlin_status status = dln_list_find(app, &list, args->words[0]);

    if (!status) {
        status = dunlin_list_remove(app->store, list.id, args->words[1], args->words[2], &app->err);
    }
    return status;
}

static dunlin_status run_move(struct dln_app *app, const struct dln_args *args) {
    const char *to_text = args->options[DLN_OPTION_TO];
    const char *before = args->options[DLN_OPTION_BEFORE];
    dunlin_item_place place = DUNLIN_ITEM_PLACE_INIT;
    struct dln_neighbour neighbour = {NULL, NULL};
    struct dln_list_id list, to = {NULL, ""};
    int given = 0;
    dunlin_status status =
        dln_read_place(app, &place.place, &given, args->options[DLN_OPTION_FIRST] != NULL,
                       args->options[DLN_OPTION_LAST] != NULL, before);

    if (!status && !given && !to_text) {
        return dln_fail(app, DUNLIN_MISUSE,
                        "list move needs --to LIST, --before TYPE:ID, --first or --last");
    }
    if (!status) {
        status = dln_list_find(app, &list, args->words[0]);
    }
    if (!status && to_text) {
        status = dln_list_find(app, &to, to_text);
        place.to_list = to.id;
    }
    if (!status && before) {
        status = dln_read_neighbour(app, &neighbour, to.id ? to.id : list.id, before);
        place.before_type = neighbour.type;
        place.before_id = neighbour.id;
    }
    if (!status) {
        status = dunlin_list_move(app->store, list.id, args->words[1], args->words[2], &place,
                                  &app->err);
    }
    free(neighbour.type);
    return status;
}

static dunlin_status run_search(struct dln_app *app, const struct dln_args *args) {
    static const struct dln_column columns[] = {{"list", "LIST", 0},
                                                {"name", "NAME", 0},
                                                {"type", "TYPE", 0},
                                                {"id", "ID", 0},
                                                {"title", "TITLE", 0}};
    struct dln_table *table = dln_table_begin(app, columns, 5);
    dunlin_iter *iter = NULL;
    const dunlin_hit *row = NULL;
    dunlin_status status = table ? DUNLIN_OK : DUNLIN_OUT_OF_MEMORY;

    if (!status) {
        status = dunlin_search(app->store, &iter, args->words[0], NULL, &app->err);
    }
    while (!status && !(status = dunlin_search_next(iter, &row, &app->err)) && row) {
        const struct dln_cell cells[] = {dln_cell_text(row->list), dln_cell_text(row->name),
                                         dln_cell_text(row->type), dln_cell_text(row->id),
                                         dln_cell_text(row->title)};

        status = dln_table_row(table, cells);
    }
    dunlin_iter_free(iter);
    dln_table_end(table);
    return status;
}

const struct dln_command dln_item_commands[] = {
    {"list", "add", "LIST TYPE ID [--title T] [--data JSON] [--at ISO-TIME]",
     "adds an item, or changes what is given of one that is there",
     DLN_TAKES(DLN_OPTION_TITLE) | DLN_TAKES(DLN_OPTION_DATA) | DLN_TAKES(DLN_OPTION_AT), 3, 3, 0,
     run_add},
    {"list", "remove", "LIST TYPE ID", "removes an item", 0, 3, 3, 0, run_remove},
    {"list", "move", "LIST TYPE ID [--to LIST] [--before TYPE:ID | --first | --last]",
     "moves an item within its list or to another",
     DLN_TAKES(DLN_OPTION_TO) | DLN_TAKES(DLN_OPTION_BEFORE) | DLN_TAKES(DLN_OPTION_FIRST) |
         DLN_TAKES(DLN_OPTION_LAST),
     3, 3, 0, run_move},
    {"search", NULL, "TEXT", "lists and items that hold the text", 0, 1, 1, 0, run_search},
    {NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL}};
