/* Tables and objects.
 *
 * JSON: each row is written at once, strings by jansson; JSON texts that an app stored are put in
 * as they are (their numbers are not printed anew), but for line ends between their tokens, which
 * become spaces: an object stays one line. People: cells become text; the first DLN_ROWS_KEPT rows
 * decide the widths, so that memory stays bounded however long the table is. A failing stdout is
 * found once, at the end.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/output.h"
#include "cli/text.h"
#include "cli/values.h"

static const char dim[] = "\033[2m";
static const char plain[] = "\033[0m";

struct dln_cell dln_cell_text(const char *text) {
    return (struct dln_cell){.kind = DLN_CELL_TEXT, .text = text};
}

struct dln_cell dln_cell_number(int64_t number) {
    return (struct dln_cell){.kind = DLN_CELL_NUMBER, .number = number};
}

struct dln_cell dln_cell_flag(int flag) {
    return (struct dln_cell){.kind = DLN_CELL_FLAG, .number = flag != 0};
}

struct dln_cell dln_cell_time(int64_t unix_ms) {
    return (struct dln_cell){.kind = DLN_CELL_TIME, .number = unix_ms};
}

struct dln_cell dln_cell_texts(const char *const *texts, size_t count) {
    return (struct dln_cell){.kind = DLN_CELL_TEXTS, .texts = texts, .count = count};
}

struct dln_cell dln_cell_json(const char *json) {
    return (struct dln_cell){.kind = DLN_CELL_JSON, .text = json};
}

static dunlin_status json_string_out(const char *text) {
    json_t *string = json_string(text);
    int failed = !string || json_dumpf(string, stdout, JSON_ENCODE_ANY | JSON_COMPACT) != 0;

    json_decref(string);
    return failed && !ferror(stdout) ? DUNLIN_OUT_OF_MEMORY : DUNLIN_OK;
}

static dunlin_status json_cell(const struct dln_cell *cell) {
    dunlin_status status = DUNLIN_OK;

    switch (cell->kind) {
    case DLN_CELL_TEXT:
        if (cell->text) {
            return json_string_out(cell->text);
        }
        (void)fputs("null", stdout);
        break;
    case DLN_CELL_NUMBER:
    case DLN_CELL_TIME:
        (void)printf("%" PRId64, cell->number);
        break;
    case DLN_CELL_FLAG:
        (void)fputs(cell->number ? "true" : "false", stdout);
        break;
    case DLN_CELL_TEXTS:
        (void)fputc('[', stdout);
        for (size_t i = 0; i < cell->count && !status; i++) {
            (void)fputs(i ? "," : "", stdout);
            status = json_string_out(cell->texts[i]);
        }
        (void)fputc(']', stdout);
        break;
    case DLN_CELL_JSON:
        for (const char *byte = cell->text ? cell->text : "null"; *byte; byte++) {
            (void)fputc(*byte == '\n' || *byte == '\r' ? ' ' : *byte, stdout);
        }
        break;
    }
    return status;
}

static dunlin_status json_line(const struct dln_column *columns, const struct dln_cell *cells,
                               size_t count) {
    dunlin_status status = DUNLIN_OK;

    for (size_t i = 0; i < count && !status; i++) {
        (void)printf("%s\"%s\":", i ? "," : "{", columns[i].name);
        status = json_cell(&cells[i]);
    }
    (void)fputs("}\n", stdout);
    return status;
}

/* The cell as people read it, or NULL without memory. */
static char *cell_for_people(const struct dln_cell *cell) {
    char *out = NULL;
    size_t out_len = 0;
    char time[DLN_TIME_SIZE];
    FILE *stream = open_memstream(&out, &out_len);

    if (!stream) {
        return NULL;
    }
    switch (cell->kind) {
    case DLN_CELL_TEXT:
    case DLN_CELL_JSON:
        dln_text_print(stream, cell->text ? cell->text : "-");
        break;
    case DLN_CELL_NUMBER:
        (void)fprintf(stream, "%" PRId64, cell->number);
        break;
    case DLN_CELL_FLAG:
        (void)fputs(cell->number ? "yes" : "no", stream);
        break;
    case DLN_CELL_TIME:
        dln_format_time(time, cell->number);
        (void)fputs(time, stream);
        break;
    case DLN_CELL_TEXTS:
        for (size_t i = 0; i < cell->count; i++) {
            (void)fputs(i ? ", " : "", stream);
            dln_text_print(stream, cell->texts[i]);
        }
        break;
    }
    if (fclose(stream) != 0) {
        free(out);
        return NULL;
    }
    return out;
}

static void spaces(size_t count) {
    (void)printf("%*s", (int)count, "");
}

static void print_padded(const char *text, size_t width, int right, int last) {
    size_t own = dln_text_width(text);
    size_t padding = own < width ? width - own : 0;

    if (right) {
        spaces(padding);
    }
    (void)fputs(text, stdout);
    if (!right && !last) {
        spaces(padding);
    }
    (void)fputs(last ? "\n" : "  ", stdout);
}

static size_t last_shown(const struct dln_table *table) {
    size_t last = table->column_count;

    do {
        assert(last > 0);
        last--;
    } while (!table->columns[last].heading);
    return last;
}

static void print_row(const struct dln_table *table, char *const *cells) {
    for (size_t i = 0; i < table->column_count; i++) {
        if (cells[i]) {
            print_padded(cells[i], table->widths[i], table->columns[i].right,
                         i == last_shown(table));
        }
    }
}

static void settle(struct dln_table *table) {
    size_t cells = table->kept_rows * table->column_count;

    if (!table->settled && cells > 0) {
        (void)fputs(table->app->colour_out ? dim : "", stdout);
        for (size_t i = 0; i < table->column_count; i++) {
            const char *heading = table->columns[i].heading;

            table->widths[i] = heading ? dln_text_width(heading) : 0;
            for (size_t at = i; at < cells; at += table->column_count) {
                size_t width = table->kept[at] ? dln_text_width(table->kept[at]) : 0;

                table->widths[i] = width > table->widths[i] ? width : table->widths[i];
            }
            if (heading) {
                print_padded(heading, table->widths[i], table->columns[i].right,
                             i == last_shown(table));
            }
        }
        (void)fputs(table->app->colour_out ? plain : "", stdout);
    }
    table->settled = 1;
    for (size_t at = 0; at < cells; at += table->column_count) {
        print_row(table, &table->kept[at]);
    }
    for (size_t at = 0; at < cells; at++) {
        free(table->kept[at]);
        table->kept[at] = NULL;
    }
    table->kept_rows = 0;
}

struct dln_table *dln_table_begin(const struct dln_app *app, const struct dln_column *columns,
                                  size_t column_count) {
    struct dln_table *table = calloc(1, sizeof(*table));

    assert(column_count <= DLN_COLUMNS_MAX);
    if (table) {
        table->app = app;
        table->columns = columns;
        table->column_count = column_count;
    }
    return table;
}

dunlin_status dln_table_row(struct dln_table *table, const struct dln_cell *cells) {
    char **row = NULL;

    if (table->app->json) {
        return json_line(table->columns, cells, table->column_count);
    }
    row = &table->kept[table->kept_rows * table->column_count];
    table->kept_rows++;
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].heading) {
            row[i] = cell_for_people(&cells[i]);
            if (!row[i]) {
                return DUNLIN_OUT_OF_MEMORY;
            }
        }
    }
    if (table->settled || table->kept_rows == DLN_ROWS_KEPT) {
        settle(table);
    }
    return DUNLIN_OK;
}

void dln_table_end(struct dln_table *table) {
    if (table) {
        settle(table);
        free(table);
    }
}

dunlin_status dln_print_object(const struct dln_app *app, const struct dln_column *columns,
                               const struct dln_cell *cells, size_t count) {
    size_t width = 0;

    if (app->json) {
        return json_line(columns, cells, count);
    }
    for (size_t i = 0; i < count; i++) {
        size_t own = columns[i].heading ? dln_text_width(columns[i].heading) : 0;

        width = own > width ? own : width;
    }
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;

        if (!columns[i].heading) {
            continue;
        }
        text = cell_for_people(&cells[i]);
        if (!text) {
            return DUNLIN_OUT_OF_MEMORY;
        }
        (void)fputs(app->colour_out ? dim : "", stdout);
        print_padded(columns[i].heading, width, 0, 0);
        (void)printf("%s%s\n", app->colour_out ? plain : "", text);
        free(text);
    }
    return DUNLIN_OK;
}

dunlin_status dln_print_line(const char *line, size_t len, void *payload) {
    (void)payload;
    if (fwrite(line, 1, len, stdout) != len) {
        return errno == ENOSPC ? DUNLIN_DISK_FULL : DUNLIN_IO;
    }
    return DUNLIN_OK;
}

dunlin_status dln_output_flush(struct dln_app *app) {
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return DUNLIN_OK;
    }
    return dln_fail(app, errno == ENOSPC ? DUNLIN_DISK_FULL : DUNLIN_IO,
                    "the output could not be written");
}
