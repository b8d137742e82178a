/* sync --watch. */
#ifndef DLN_CLI_WATCH_H
#define DLN_CLI_WATCH_H

#include "cli/command.h"

/* Syncs, waits for a reason, and syncs again, until SIGINT or SIGTERM; or until something fails
 * that does not pass by itself, which a refused token does only where a new one may come
 * (`renewable`).
 */
DUNLIN_MUST_USE dunlin_status dln_watch(struct dln_app *app, dunlin_remote *remote, int renewable);

/* In sync.c: one object, as a single sync prints it. */
DUNLIN_MUST_USE dunlin_status dln_sync_result_print(const struct dln_app *app,
                                                    const dunlin_sync_result *result);

#endif
