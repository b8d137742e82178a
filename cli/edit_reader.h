/* A line of a batch, taken apart: its members by name, with one status for all of them. */
#ifndef DLN_CLI_EDIT_READER_H
#define DLN_CLI_EDIT_READER_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "cli/app.h"

struct dln_edit {
    struct dln_app *app;
    json_t *object;
    char *data;           /* the member "data" as JSON text, byte for byte; NULL: none */
    dunlin_status status; /* of the first member that could not be read; readers do nothing then */
};

/* Takes the line apart; it is changed. dln_edit_end() must follow, also after a failure.
 * INVALID_JSON, INVALID_TEXT, OUT_OF_MEMORY. */
DUNLIN_MUST_USE dunlin_status dln_edit_begin(struct dln_edit *edit, struct dln_app *app, char *line,
                                             size_t len);
void dln_edit_end(struct dln_edit *edit);

/* INVALID_VALUE for a member that is neither "do" nor among the names, parted by spaces. */
DUNLIN_MUST_USE dunlin_status dln_edit_check_members(struct dln_edit *edit, const char *verb,
                                                     const char *names);

/* A member's value, borrowed; NULL when it is absent, null or (see edit->status) wrong. */
const char *dln_edit_text(struct dln_edit *edit, const char *name, int required);
int dln_edit_flag(struct dln_edit *edit, const char *name);
/* Milliseconds or an ISO 8601 time, in *out; NULL when absent or null. */
const int64_t *dln_edit_time(struct dln_edit *edit, const char *name, int64_t *out);

#endif
