/* The commands of dunlind; each returns an exit code. */
#ifndef DLN_BRIDGE_COMMAND_H
#define DLN_BRIDGE_COMMAND_H

#include "bridge/options.h"

int dln_command_serve(const struct dln_options *options);
int dln_command_token(const struct dln_options *options);
int dln_command_restored(const struct dln_options *options);
int dln_command_dump(const struct dln_options *options);

/* Says on stderr what failed; returns the exit code for it. */
int dln_command_fail(const dunlin_error *why);

#endif
