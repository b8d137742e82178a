/* What a command is, and the command line taken apart. */
#ifndef DLN_CLI_COMMAND_H
#define DLN_CLI_COMMAND_H

#include "cli/app.h"

enum dln_option_id {
    DLN_OPTION_AT,
    DLN_OPTION_BEFORE,
    DLN_OPTION_DATA,
    DLN_OPTION_FIRST,
    DLN_OPTION_FORCE,
    DLN_OPTION_JOIN,
    DLN_OPTION_LAST,
    DLN_OPTION_NAME,
    DLN_OPTION_REMOTE,
    DLN_OPTION_REPAIR,
    DLN_OPTION_ROLE,
    DLN_OPTION_TITLE,
    DLN_OPTION_TO,
    DLN_OPTION_TOKEN,
    DLN_OPTION_TOKEN_FILE,
    DLN_OPTION_USER,
    DLN_OPTION_WATCH,
    DLN_OPTION_WITHOUT_SEARCH,
    DLN_OPTION_COUNT
};

#define DLN_TAKES(option) (1u << (option))

enum { DLN_WORDS_MAX = 5 };

struct dln_args {
    const char *words[DLN_WORDS_MAX]; /* what stands behind the command's name */
    int count;
    const char *options[DLN_OPTION_COUNT]; /* values; "" for one without; NULL: not given */
    int help;
    int version;
};

struct dln_command {
    const char *noun;
    const char *verb;      /* NULL: the noun alone */
    const char *arguments; /* as its usage shows them */
    const char *summary;
    unsigned options; /* DLN_TAKES(…) | … */
    int least;        /* words that it needs, and may have */
    int most;
    int without_store; /* opens the file itself */
    dunlin_status (*run)(struct dln_app *app, const struct dln_args *args);
};

/* One array a file, each ended by a command without a noun. */
extern const struct dln_command dln_store_commands[];
extern const struct dln_command dln_graph_commands[];
extern const struct dln_command dln_group_commands[];
extern const struct dln_command dln_list_commands[];
extern const struct dln_command dln_item_commands[];
extern const struct dln_command dln_batch_commands[];
extern const struct dln_command dln_sync_commands[];
extern const struct dln_command dln_outbox_commands[];

/* All of them, in the order of the help; ended by NULL. */
extern const struct dln_command *const dln_commands[];

/* Takes the command line apart and finds the command; app->db_path and app->json are set too.
 * Unless help or version is asked for, *out is a command whose words and options are as many and
 * the ones that it takes. MISUSE with a hint. */
DUNLIN_MUST_USE dunlin_status dln_arguments_read(struct dln_app *app,
                                                 const struct dln_command **out,
                                                 struct dln_args *args, int argc,
                                                 char *const *argv);

/* Usage on stdout: of one command, of all with that noun, or (both NULL) of everything. */
void dln_help_print(const struct dln_app *app, const struct dln_command *command, const char *noun);

#endif
