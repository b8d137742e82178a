/* Lists by id or by name. */
#ifndef DLN_CLI_LIST_H
#define DLN_CLI_LIST_H

#include "cli/app.h"

/* An id that was found by name; `id` points into the struct or at what was given. */
struct dln_list_id {
    const char *id;
    char found[DUNLIN_ID_MAX + 1];
};

/* The list of that id, else the only live one of that name. What is neither stays as it is: the
 * call that it is meant for says NOT_FOUND. MISUSE where several have the name. */
DUNLIN_MUST_USE dunlin_status dln_list_find(struct dln_app *app, struct dln_list_id *out,
                                            const char *text);

#endif
