/* dunlind token: a token for development. */
#include <stdio.h>

#include "bridge/command/command.h"
#include "bridge/jwt.h"
#include "central/central.h"

int dln_command_token(const struct dln_options *options) {
    const struct dln_jwt_rules rules = {options->audience, options->issuer};
    struct dln_buf token = DLN_BUF_INIT(DLN_TOKEN_MAX);
    struct dln_central_ports ports;
    struct dln_keys keys;
    dunlin_status status;
    dunlin_error why;

    dln_central_ports_init(&ports, NULL);
    if ((status = dln_keys_secret_file(&keys, options->secret_file, &why)) == DUNLIN_OK) {
        status = dln_jwt_make(&token, &keys, &rules, options->user,
                              ports.app.now_ms(ports.app.self), options->ttl_seconds, &why);
        dln_keys_free(&keys);
    }
    if (status == DUNLIN_OK && printf("%s\n", token.data) < 0) {
        status = dln_fail(&why, DUNLIN_IO, DUNLIN_DOMAIN_API, "the token cannot be written");
    }
    dln_buf_free(&token);
    return status != DUNLIN_OK ? dln_command_fail(&why) : 0;
}
