/* dunlind restored: a new epoch after a restore from a backup. */
#include <stdio.h>

#include "bridge/command/command.h"
#include "bridge/source.h"

int dln_command_restored(const struct dln_options *options) {
    struct dln_source *source = NULL;
    dunlin_central *central = NULL;
    dunlin_status status;
    dunlin_error why;

    if ((status = dln_source_open(&source, options->store, options->central, &why)) == DUNLIN_OK &&
        (status = dln_source_central(source, &central, &why)) == DUNLIN_OK) {
        status = dunlin_central_restored(central, options->fuzzy, &why);
    }
    dunlin_central_close(central);
    dln_source_close(source);
    if (status != DUNLIN_OK) {
        return dln_command_fail(&why);
    }
    (void)printf("a new epoch has begun\n");
    return 0;
}
