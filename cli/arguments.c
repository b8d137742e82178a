/* The command line. Options may stand anywhere before "--"; what does not begin with '-' is a word;
 * the first words name the command. Everything is checked before the store is opened. */
#include <assert.h>
#include <string.h>

#include "cli/command.h"
#include "cli/text.h"

struct option {
    const char *name;
    const char *value; /* NULL: takes none */
};

static const struct option options[DLN_OPTION_COUNT] = {
    [DLN_OPTION_AT] = {"at", "ISO-TIME"},
    [DLN_OPTION_BEFORE] = {"before", "NEIGHBOUR"},
    [DLN_OPTION_DATA] = {"data", "JSON"},
    [DLN_OPTION_FIRST] = {"first", NULL},
    [DLN_OPTION_FORCE] = {"force", NULL},
    [DLN_OPTION_JOIN] = {"join", "open|closed"},
    [DLN_OPTION_LAST] = {"last", NULL},
    [DLN_OPTION_NAME] = {"name", "NAME"},
    [DLN_OPTION_REMOTE] = {"remote", "URL"},
    [DLN_OPTION_REPAIR] = {"repair", NULL},
    [DLN_OPTION_ROLE] = {"role", "member|admin"},
    [DLN_OPTION_TITLE] = {"title", "TITLE"},
    [DLN_OPTION_TO] = {"to", "LIST"},
    [DLN_OPTION_TOKEN] = {"token", "TOKEN"},
    [DLN_OPTION_TOKEN_FILE] = {"token-file", "FILE"},
    [DLN_OPTION_USER] = {"user", "USER"},
    [DLN_OPTION_WATCH] = {"watch", NULL},
    [DLN_OPTION_WITHOUT_SEARCH] = {"without-search", NULL},
};

const struct dln_command *const dln_commands[] = {
    dln_store_commands, dln_graph_commands,  dln_group_commands,
    dln_list_commands,  dln_item_commands,   dln_batch_commands,
    dln_sync_commands,  dln_outbox_commands, NULL};

/* The command after this one in the table; NULL starts and ends the walk. */
static const struct dln_command *next_command(const struct dln_command *command, int *table) {
    if (!command) {
        *table = 0;
        return dln_commands[0];
    }
    command++;
    if (command->noun) {
        return command;
    }
    (*table)++;
    return dln_commands[*table];
}

/* What was probably meant, or NULL; a word that differs in more than a third of its letters is
 * none. */
struct guess {
    const char *name;
    size_t distance;
};

static void consider(struct guess *guess, const char *word, const char *name) {
    size_t distance = dln_text_distance(word, name);

    if (distance <= strlen(name) / 3 && (!guess->name || distance < guess->distance)) {
        *guess = (struct guess){name, distance};
    }
}

static dunlin_status unknown_option(struct dln_app *app, const char *argument, size_t name_len) {
    struct guess guess = {NULL, 0};
    char name[32] = "";

    if (strncmp(argument, "--", 2) != 0) {
        return dln_fail(app, DUNLIN_MISUSE,
                        "there is no option %s; before ids that begin with '-' write --", argument);
    }
    memcpy(name, argument + 2, name_len < sizeof(name) ? name_len : sizeof(name) - 1);
    for (int i = 0; i < DLN_OPTION_COUNT; i++) {
        consider(&guess, name, options[i].name);
    }
    if (guess.name) {
        return dln_fail(app, DUNLIN_MISUSE, "there is no option --%s; did you mean --%s?", name,
                        guess.name);
    }
    return dln_fail(app, DUNLIN_MISUSE, "there is no option --%s; see dunlin --help", name);
}

/* What an option sets: a flag, or a value that is the next argument or, where it takes none, "". */
struct slot {
    const char *name;
    int *flag;
    const char **value;
    int takes_value;
};

static int is_named(const char *name, const char *given, size_t given_len) {
    return strlen(name) == given_len && memcmp(name, given, given_len) == 0;
}

static int find_slot(struct dln_app *app, struct dln_args *args, struct slot *out,
                     const char *given, size_t given_len) {
    const struct slot global[] = {{"db", NULL, &app->db_path, 1},
                                  {"json", &app->json, NULL, 0},
                                  {"help", &args->help, NULL, 0},
                                  {"version", &args->version, NULL, 0}};

    for (size_t i = 0; i < sizeof(global) / sizeof(global[0]); i++) {
        if (is_named(global[i].name, given, given_len)) {
            *out = global[i];
            return 1;
        }
    }
    for (int i = 0; i < DLN_OPTION_COUNT; i++) {
        if (is_named(options[i].name, given, given_len)) {
            *out =
                (struct slot){options[i].name, NULL, &args->options[i], options[i].value != NULL};
            return 1;
        }
    }
    return 0;
}

/* Reads the option at argv[*at], with its value, which may be the next argument. */
static dunlin_status read_option(struct dln_app *app, struct dln_args *args, int *at, int argc,
                                 char *const *argv) {
    const char *argument = argv[*at];
    const char *equals = strchr(argument, '=');
    struct slot slot;
    size_t len = equals ? (size_t)(equals - argument) : strlen(argument);

    if (len < 3 || argument[1] != '-' || !find_slot(app, args, &slot, argument + 2, len - 2)) {
        return unknown_option(app, argument, len > 2 ? len - 2 : 0);
    }
    if (equals && !slot.takes_value) {
        return dln_fail(app, DUNLIN_MISUSE, "--%s takes no value", slot.name);
    }
    if (slot.flag) {
        *slot.flag = 1;
        return DUNLIN_OK;
    }
    assert(slot.value);
    if (slot.takes_value && *slot.value) {
        return dln_fail(app, DUNLIN_MISUSE, "--%s is given twice", slot.name);
    }
    if (slot.takes_value && !equals && *at + 1 >= argc) {
        return dln_fail(app, DUNLIN_MISUSE, "--%s needs a value", slot.name);
    }
    *slot.value = !slot.takes_value ? "" : equals ? equals + 1 : argv[++*at];
    return DUNLIN_OK;
}

/* Words and options; the names of the command are among the words still. */
static dunlin_status read_all(struct dln_app *app, struct dln_args *args, int argc,
                              char *const *argv) {
    int only_words = 0;

    for (int at = 1; at < argc; at++) {
        const char *argument = argv[at];

        if (!only_words && strcmp(argument, "--") == 0) {
            only_words = 1;
        } else if (!only_words && argument[0] == '-' && argument[1]) {
            dunlin_status status = read_option(app, args, &at, argc, argv);

            if (status) {
                return status;
            }
        } else if (args->count == DLN_WORDS_MAX) {
            return dln_fail(app, DUNLIN_MISUSE, "there is a word too much: \"%s\"", argument);
        } else {
            args->words[args->count++] = argument;
        }
    }
    return DUNLIN_OK;
}

static dunlin_status unknown_noun(struct dln_app *app, const char *noun) {
    struct guess guess = {NULL, 0};
    int table;

    for (const struct dln_command *command = next_command(NULL, &table); command;
         command = next_command(command, &table)) {
        consider(&guess, noun, command->noun);
    }
    if (guess.name) {
        return dln_fail(app, DUNLIN_MISUSE, "there is no command \"%s\"; did you mean \"%s\"?",
                        noun, guess.name);
    }
    return dln_fail(app, DUNLIN_MISUSE, "there is no command \"%s\"; see dunlin --help", noun);
}

static dunlin_status unknown_verb(struct dln_app *app, const char *noun, const char *verb) {
    char known[128] = "";
    size_t len = 0;
    int table;

    for (const struct dln_command *command = next_command(NULL, &table); command;
         command = next_command(command, &table)) {
        if (command->verb && strcmp(command->noun, noun) == 0) {
            int more =
                snprintf(known + len, sizeof(known) - len, "%s%s", len ? ", " : "", command->verb);

            assert(more > 0 && (size_t)more < sizeof(known) - len);
            len += (size_t)more;
        }
    }
    if (!verb) {
        return dln_fail(app, DUNLIN_MISUSE, "\"%s\" needs one of: %s", noun, known);
    }
    return dln_fail(app, DUNLIN_MISUSE, "there is no \"%s %s\"; there are: %s", noun, verb, known);
}

/* Finds the command by the first words and removes its name from them. */
static dunlin_status find_command(struct dln_app *app, const struct dln_command **out,
                                  struct dln_args *args) {
    const char *noun = args->words[0];
    const char *verb = args->count > 1 ? args->words[1] : NULL;
    const struct dln_command *alone = NULL, *found = NULL;
    int table, verbs = 0, named;

    for (const struct dln_command *command = next_command(NULL, &table); command;
         command = next_command(command, &table)) {
        if (strcmp(command->noun, noun) != 0) {
            continue;
        }
        verbs += command->verb != NULL;
        if (!command->verb) {
            alone = command;
        } else if (verb && strcmp(command->verb, verb) == 0) {
            found = command;
        }
    }
    if (!alone && !verbs) {
        return unknown_noun(app, noun);
    }
    if (!found && verbs && (verb || !alone)) {
        return args->help && !verb ? DUNLIN_OK : unknown_verb(app, noun, verb);
    }
    *out = found ? found : alone;
    named = found ? 2 : 1;
    args->count -= named;
    memmove(args->words, args->words + named, (size_t)args->count * sizeof(args->words[0]));
    memset(args->words + args->count, 0, (size_t)named * sizeof(args->words[0]));
    return DUNLIN_OK;
}

static dunlin_status check(struct dln_app *app, const struct dln_command *command,
                           const struct dln_args *args) {
    const char *verb = command->verb ? command->verb : "";
    const char *space = command->verb ? " " : "";

    if (args->count < command->least || args->count > command->most) {
        return dln_fail(
            app, DUNLIN_MISUSE, "%s; usage: dunlin --db FILE %s%s%s%s%s",
            args->count < command->least ? "a word is missing" : "there is a word too much",
            command->noun, space, verb, *command->arguments ? " " : "", command->arguments);
    }
    for (int i = 0; i < DLN_OPTION_COUNT; i++) {
        if (args->options[i] && !(command->options & DLN_TAKES(i))) {
            return dln_fail(app, DUNLIN_MISUSE, "\"%s%s%s\" does not take --%s; usage: %s%s%s %s",
                            command->noun, space, verb, options[i].name, command->noun, space, verb,
                            command->arguments);
        }
    }
    if (!app->db_path || !*app->db_path) {
        return dln_fail(app, DUNLIN_MISUSE, "--db FILE is missing");
    }
    return DUNLIN_OK;
}

dunlin_status dln_arguments_read(struct dln_app *app, const struct dln_command **out,
                                 struct dln_args *args, int argc, char *const *argv) {
    dunlin_status status;

    *out = NULL;
    memset(args, 0, sizeof(*args));
    for (int at = 1; at < argc && strcmp(argv[at], "--") != 0; at++) {
        app->json |= strcmp(argv[at], "--json") == 0; /* so that an error before it is an object */
    }
    status = read_all(app, args, argc, argv);
    if (status || args->version || (args->help && args->count == 0)) {
        return status;
    }
    if (args->count == 0) {
        return dln_fail(app, DUNLIN_MISUSE, "a command is missing; see dunlin --help");
    }
    status = find_command(app, out, args);
    if (!status && !args->help) {
        assert(*out);
        status = check(app, *out, args);
    }
    return status;
}
