/* What a command answers with: tables and objects, as aligned text for people or as one JSON object
 * a line. A command says its columns and cells once; which of the two it becomes is decided here.
 */
#ifndef DLN_CLI_OUTPUT_H
#define DLN_CLI_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "cli/app.h"

enum dln_cell_kind {
    DLN_CELL_TEXT, /* NULL: JSON's null */
    DLN_CELL_NUMBER,
    DLN_CELL_FLAG,
    DLN_CELL_TIME,  /* Unix milliseconds; a number in JSON, ISO 8601 for people */
    DLN_CELL_TEXTS, /* an array */
    DLN_CELL_JSON   /* JSON text, put into the line as it is; NULL: null */
};

struct dln_cell {
    enum dln_cell_kind kind;
    const char *text;
    int64_t number;
    const char *const *texts;
    size_t count;
};

struct dln_cell dln_cell_text(const char *text);
struct dln_cell dln_cell_number(int64_t number);
struct dln_cell dln_cell_flag(int flag);
struct dln_cell dln_cell_time(int64_t unix_ms);
struct dln_cell dln_cell_texts(const char *const *texts, size_t count);
struct dln_cell dln_cell_json(const char *json);

/* Name in JSON and heading for people; no heading: a column that people do not need. */
struct dln_column {
    const char *name;
    const char *heading;
    int right; /* numbers are flush right */
};

enum { DLN_COLUMNS_MAX = 10, DLN_ROWS_KEPT = 500 };

/* A table being printed. For people the first rows are kept back to find the columns' widths, and
 * decide for all. */
struct dln_table {
    const struct dln_app *app;
    const struct dln_column *columns;
    size_t column_count;
    char *kept[DLN_ROWS_KEPT * DLN_COLUMNS_MAX];
    size_t kept_rows;
    int settled; /* the widths are decided and the kept rows printed */
    size_t widths[DLN_COLUMNS_MAX];
};

/* Returns NULL without memory. Freed by dln_table_end(), which prints what is kept and takes NULL.
 */
struct dln_table *dln_table_begin(const struct dln_app *app, const struct dln_column *columns,
                                  size_t column_count);
/* cells: one for each column. */
DUNLIN_MUST_USE dunlin_status dln_table_row(struct dln_table *table, const struct dln_cell *cells);
void dln_table_end(struct dln_table *table);

/* One object: a JSON line, or a line "heading  value" for each cell. */
DUNLIN_MUST_USE dunlin_status dln_print_object(const struct dln_app *app,
                                               const struct dln_column *columns,
                                               const struct dln_cell *cells, size_t count);

/* A dunlin_line_callback that prints the line as it is; the payload is not used. */
dunlin_status dln_print_line(const char *line, size_t len, void *payload);

/* OK when everything that was printed left this process, else IO or DISK_FULL. */
DUNLIN_MUST_USE dunlin_status dln_output_flush(struct dln_app *app);

#endif
