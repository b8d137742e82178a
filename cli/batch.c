/* batch: edits from a file, DLN_BATCH_LINES to a transaction.
 *
 * A transaction is committed whole or not at all. A line that fails rolls back the one that it is
 * in and ends the batch: what was committed before stays, and is what the report says. With --json
 * each commit is acknowledged by a line that is flushed at once: whoever kills this process knows
 * that the last number that he read is durable.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/edit.h"
#include "cli/output.h"
#include "cli/progress.h"

enum {
    DLN_BATCH_LINES = 1000,
    DLN_LINE_MAX = 256 * 1024 /* bytes: an item's data with every byte escaped, and room */
};

struct batch {
    struct dln_app *app;
    FILE *file;
    uint64_t file_bytes; /* 0: not known */
    uint64_t read_bytes;
    char *line;
    size_t len;
    long long number; /* of the line */
    int in_transaction;
    int open_lines; /* in the transaction */
};

/* Reads the next line into batch->line. *got is 0 at the end of the file. */
static dunlin_status next_line(struct batch *batch, int *got) {
    int byte = 0;

    batch->len = 0;
    while ((byte = getc(batch->file)) != EOF && byte != '\n') {
        if (batch->len == DLN_LINE_MAX) {
            batch->number++;
            batch->app->line = batch->number;
            return dln_fail(batch->app, DUNLIN_TOO_LONG, "the line is longer than %d bytes",
                            DLN_LINE_MAX);
        }
        batch->line[batch->len++] = (char)byte;
    }
    if (ferror(batch->file)) {
        return dln_fail(batch->app, DUNLIN_IO, "the batch could not be read: %s", strerror(errno));
    }
    *got = byte != EOF || batch->len > 0;
    batch->number += *got;
    batch->read_bytes += batch->len + 1;
    return DUNLIN_OK;
}

static int is_blank(const struct batch *batch) {
    for (size_t i = 0; i < batch->len; i++) {
        char byte = batch->line[i];

        if (byte != ' ' && byte != '\t' && byte != '\r') {
            return 0;
        }
    }
    return 1;
}

static dunlin_status commit(struct batch *batch) {
    struct dln_app *app = batch->app;
    dunlin_status status = DUNLIN_OK;

    if (!batch->in_transaction) {
        return DUNLIN_OK;
    }
    batch->in_transaction = 0;
    status = dunlin_commit(app->store, &app->err);
    if (status) {
        return status;
    }
    app->committed += batch->open_lines;
    batch->open_lines = 0;
    if (app->json) {
        (void)printf("{\"committed\":%lld}\n", app->committed);
        status = dln_output_flush(app);
    }
    dln_progress_show("batch", batch->read_bytes, batch->file_bytes);
    return status;
}

static dunlin_status edit(struct batch *batch) {
    struct dln_app *app = batch->app;
    dunlin_status status = DUNLIN_OK;

    if (!batch->in_transaction) {
        status = dunlin_begin(app->store, &app->err);
        if (status) {
            return status;
        }
        batch->in_transaction = 1;
    }
    status = dln_edit_line(app, batch->line, batch->len);
    if (status) {
        app->line = batch->number;
        return status;
    }
    batch->open_lines++;
    return batch->open_lines == DLN_BATCH_LINES ? commit(batch) : DUNLIN_OK;
}

static dunlin_status run_lines(struct batch *batch) {
    dunlin_status status = DUNLIN_OK;
    int got = 0;

    dln_progress_show("batch", 0, batch->file_bytes); /* from now on it counts the seconds */
    while (!(status = next_line(batch, &got)) && got) {
        if (!is_blank(batch)) {
            status = edit(batch);
        }
        if (status) {
            break;
        }
    }
    if (!status) {
        status = commit(batch);
    }
    if (batch->in_transaction) {
        dunlin_rollback(batch->app->store);
    }
    return status;
}

static dunlin_status open_file(struct batch *batch, const char *path) {
    struct stat about;

    if (strcmp(path, "-") == 0) {
        batch->file = stdin;
        return DUNLIN_OK;
    }
    batch->file = fopen(path, "r");
    if (!batch->file) {
        return dln_fail(batch->app, errno == ENOENT ? DUNLIN_NOT_FOUND : DUNLIN_IO,
                        "%s cannot be opened: %s", path, strerror(errno));
    }
    if (fstat(fileno(batch->file), &about) == 0 && S_ISREG(about.st_mode)) {
        batch->file_bytes = (uint64_t)about.st_size;
    }
    return DUNLIN_OK;
}

static dunlin_status run_batch(struct dln_app *app, const struct dln_args *args) {
    struct batch batch = {.app = app};
    dunlin_status status = open_file(&batch, args->words[0]);

    if (status) {
        return status;
    }
    batch.line = malloc(DLN_LINE_MAX);
    app->committed = 0;
    status = batch.line ? run_lines(&batch) : DUNLIN_OUT_OF_MEMORY;
    if (!status && !app->json) {
        dln_progress_end();
        (void)printf("%lld lines are committed\n", app->committed);
    }
    free(batch.line);
    if (batch.file != stdin) {
        (void)fclose(batch.file);
    }
    return status;
}

const struct dln_command dln_batch_commands[] = {{"batch", NULL, "FILE|-",
                                                  "one JSON edit a line, 1,000 to a transaction", 0,
                                                  1, 1, 0, run_batch},
                                                 {NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL}};
