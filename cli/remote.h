/* The remote that an URL names. */
#ifndef DLN_CLI_REMOTE_H
#define DLN_CLI_REMOTE_H

#include <dunlin/sys/remote.h>

#include "cli/command.h"

/* Opens what --remote names; the remote shows its progress. To be closed with
 * dunlin_remote_close(). MISUSE without --remote or for no URL, UNSUPPORTED for what this build
 * lacks, else what dunlin_embedded_remote() returns. */
DUNLIN_MUST_USE dunlin_status dln_remote_open(struct dln_app *app, dunlin_remote **out,
                                              const struct dln_args *args);

#endif
