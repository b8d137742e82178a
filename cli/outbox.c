/* What waits for central, and what central would not take. */
#include "cli/command.h"
#include "cli/output.h"
#include "cli/values.h"

static dunlin_status run_outbox(struct dln_app *app, const struct dln_args *args) {
    static const struct dln_column columns[] = {{"collection", "COLLECTION", 0},
                                                {"scope", "SCOPE", 0},
                                                {"key", "KEY", 0},
                                                {"fields", "FIELDS", 0},
                                                {"tried", "TRIED", 0}};
    struct dln_table *table = dln_table_begin(app, columns, 5);
    dunlin_iter *iter = NULL;
    const dunlin_pending *row = NULL;
    dunlin_status status = table ? DUNLIN_OK : DUNLIN_OUT_OF_MEMORY;

    (void)args;
    if (!status) {
        status = dunlin_outbox(app->store, &iter, NULL, &app->err);
    }
    while (!status && !(status = dunlin_outbox_next(iter, &row, &app->err)) && row) {
        const struct dln_cell cells[] = {dln_cell_text(row->collection), dln_cell_text(row->scope),
                                         dln_cell_texts(row->key, row->key_count),
                                         dln_cell_texts(row->fields, row->field_count),
                                         dln_cell_flag(row->tried)};

        status = dln_table_row(table, cells);
    }
    dunlin_iter_free(iter);
    dln_table_end(table);
    return status;
}

static dunlin_status run_rejected(struct dln_app *app, const struct dln_args *args) {
    static const struct dln_column columns[] = {
        {"id", "ID", 1},         {"code", "CODE", 0},    {"collection", "COLLECTION", 0},
        {"scope", "SCOPE", 0},   {"key", "KEY", 0},      {"at_ms", "AT", 0},
        {"reason", "REASON", 0}, {"fields", "FIELDS", 0}};
    struct dln_table *table = dln_table_begin(app, columns, 8);
    dunlin_iter *iter = NULL;
    const dunlin_rejection *row = NULL;
    dunlin_status status = table ? DUNLIN_OK : DUNLIN_OUT_OF_MEMORY;

    (void)args;
    if (!status) {
        status = dunlin_rejected(app->store, &iter, NULL, &app->err);
    }
    while (!status && !(status = dunlin_rejected_next(iter, &row, &app->err)) && row) {
        const struct dln_cell cells[] = {dln_cell_number(row->id),
                                         dln_cell_text(dunlin_status_name(row->code)),
                                         dln_cell_text(row->collection),
                                         dln_cell_text(row->scope),
                                         dln_cell_texts(row->key, row->key_count),
                                         dln_cell_time(row->at_ms),
                                         dln_cell_text(row->reason),
                                         dln_cell_json(row->fields)};

        status = dln_table_row(table, cells);
    }
    dunlin_iter_free(iter);
    dln_table_end(table);
    return status;
}

static dunlin_status run_retry(struct dln_app *app, const struct dln_args *args) {
    int64_t id = 0;
    dunlin_status status = dln_read_number(app, &id, args->words[0]);

    if (!status) {
        status = dunlin_rejected_retry(app->store, id, args->words[1], &app->err);
    }
    return status;
}

static dunlin_status run_discard(struct dln_app *app, const struct dln_args *args) {
    int64_t id = 0;
    dunlin_status status = dln_read_number(app, &id, args->words[0]);

    if (!status) {
        status = dunlin_rejected_discard(app->store, id, &app->err);
    }
    return status;
}

static dunlin_status run_export(struct dln_app *app, const struct dln_args *args) {
    int64_t id = 0;
    dunlin_status status = dln_read_number(app, &id, args->words[0]);

    if (!status) {
        status = dunlin_rejected_export(app->store, id, dln_print_line, NULL, &app->err);
    }
    return status;
}

const struct dln_command dln_outbox_commands[] = {
    {"outbox", NULL, "", "changes made here that central has not acknowledged", 0, 0, 0, 0,
     run_outbox},
    {"rejected", NULL, "", "changes that central refused for good", 0, 0, 0, 0, run_rejected},
    {"rejected", "retry", "ID", "makes the change anew", 0, 1, 1, 0, run_retry},
    {"rejected", "edit", "ID FIELDS",
     "makes it anew with other values: a JSON object of its field names", 0, 2, 2, 0, run_retry},
    {"rejected", "discard", "ID", "forgets the change", 0, 1, 1, 0, run_discard},
    {"rejected", "export", "ID", "prints the change as JSON", 0, 1, 1, 0, run_export},
    {NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL}};
