/* dunlind: central behind HTTP. */
#include <stdio.h>

#include "bridge/command/command.h"

enum { EXIT_USAGE = 64, EXIT_DATA = 65, EXIT_BUG = 70, EXIT_LATER = 75, EXIT_DENIED = 77 };

static int exit_code(dunlin_status status) {
    if (status == DUNLIN_NOT_ALLOWED || status == DUNLIN_NEED_LOGIN) {
        return EXIT_DENIED;
    }
    if (status > -100) {
        return EXIT_USAGE;
    }
    if (dunlin_status_is_retryable(status)) {
        return EXIT_LATER;
    }
    return status == DUNLIN_UNSUPPORTED ? EXIT_USAGE : EXIT_DATA;
}

int dln_command_fail(const dunlin_error *why) {
    (void)fprintf(stderr, "dunlind: %s (%s)\n", why->message, dunlin_status_name(why->code));
    return exit_code(why->code);
}

static int help(void) {
    struct dln_buf text = DLN_BUF_INIT(64 * 1024);
    int code;

    dln_options_help(&text);
    code = text.status == DUNLIN_OK && fputs(text.data, stdout) >= 0 && fflush(stdout) == 0
               ? 0
               : EXIT_BUG;
    dln_buf_free(&text);
    return code;
}

int main(int argc, char **argv) {
    struct dln_options options;
    dunlin_error why;

    if (dln_options_read(&options, argc, argv, &why)) {
        return dln_command_fail(&why);
    }
    switch (options.command) {
    case DLN_COMMAND_SERVE:
        return dln_command_serve(&options);
    case DLN_COMMAND_TOKEN:
        return dln_command_token(&options);
    case DLN_COMMAND_RESTORED:
        return dln_command_restored(&options);
    case DLN_COMMAND_DUMP:
        return dln_command_dump(&options);
    case DLN_COMMAND_HELP:
        return help();
    case DLN_COMMAND_VERSION:
        break;
    }
    return printf("dunlind %s\n", DUNLIN_VERSION) < 0 ? EXIT_BUG : 0;
}
