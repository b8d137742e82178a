/* Help, made from the table of commands. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/text.h"

static const char head[] = "dunlin: follows, groups and lists in one SQLite file, online or not\n\n"
                           "  dunlin --db FILE [--json] COMMAND …\n\n"
                           "  --db FILE    the store of one signed-in person\n"
                           "  --json       one JSON object a line, errors too (on stderr)\n"
                           "  --help       this, or what one command takes\n"
                           "  --version\n\n";

static const char tail[] =
    "\nLIST is a list's id, or its name where only one list has that name. A remote's URL is\n"
    "http(s)://HOST:PORT: a central behind its bridge, which wants a token (--token-file FILE is "
    "read\n"
    "again when it ran out); mongodb://…/DATABASE: central in this process, over a MongoDB that\n"
    "this machine may write to; or sqlite:PATH: the same in a file that devices share.\n"
    "Exit codes: 0 done, 64 usage, 65 bad data, 69 rejected changes, 75 try again later,\n"
    "77 not allowed, 70 a bug.\n";

static void print_command(const struct dln_app *app, const struct dln_command *command) {
    const char *bold = app->colour_out ? "\033[1m" : "";
    const char *plain = app->colour_out ? "\033[0m" : "";

    (void)printf("  %s%s%s%s%s%s%s\n      %s\n", bold, command->noun, command->verb ? " " : "",
                 command->verb ? command->verb : "", plain, *command->arguments ? " " : "",
                 command->arguments, command->summary);
}

void dln_help_print(const struct dln_app *app, const struct dln_command *command,
                    const char *noun) {
    if (command) {
        print_command(app, command);
        return;
    }
    if (!noun) {
        (void)fputs(head, stdout);
    }
    for (const struct dln_command *const *table = dln_commands; *table; table++) {
        for (command = *table; command->noun; command++) {
            if (!noun || strcmp(noun, command->noun) == 0) {
                print_command(app, command);
            }
        }
    }
    if (!noun) {
        (void)fputs(tail, stdout);
    }
}
