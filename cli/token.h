/* Where a remote's token comes from: the command line, or a file that somebody else renews. */
#ifndef DLN_CLI_TOKEN_H
#define DLN_CLI_TOKEN_H

#include "cli/command.h"

struct dln_token {
    const char *text; /* --token; borrowed */
    const char *path; /* --token-file; borrowed */
};

/* What --token and --token-file say, nothing where neither is given; MISUSE where both are. */
DUNLIN_MUST_USE dunlin_status dln_token_read(struct dln_app *app, struct dln_token *token,
                                             const struct dln_args *args);

/* A dunlin_token_callback with a struct dln_token as payload. The file is read anew each time. */
DUNLIN_MUST_USE dunlin_status dln_token_give(void *payload, int renew,
                                             void (*take)(void *taker, const char *token),
                                             void *taker);

#endif
