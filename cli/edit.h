/* One line of a batch: a JSON object that names an edit. */
#ifndef DLN_CLI_EDIT_H
#define DLN_CLI_EDIT_H

#include <stddef.h>

#include "cli/app.h"

/* Reads the line and makes its edit, in whatever transaction is open. The line may hold any bytes
 * and is changed. INVALID_JSON, INVALID_TEXT, INVALID_VALUE, or what the edit returns. */
DUNLIN_MUST_USE dunlin_status dln_edit_line(struct dln_app *app, char *line, size_t len);

#endif
