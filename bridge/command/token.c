#include "bridge/command/command.h"

int dln_command_token(const struct dln_options *options) {
    dunlin_error why;
    (void)options;
    (void)dln_fail(&why, DUNLIN_UNSUPPORTED, DUNLIN_DOMAIN_API, "not yet");
    return dln_command_fail(&why);
}
