/* Options are a table: name, kind, where the value goes, which commands take it. Reading them and
 * the help both walk it. */
#include "bridge/options.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"

enum kind { KIND_TEXT, KIND_FLAG, KIND_COUNT, KIND_TIME };

enum {
    SERVE = 1 << DLN_COMMAND_SERVE,
    TOKEN = 1 << DLN_COMMAND_TOKEN,
    RESTORED = 1 << DLN_COMMAND_RESTORED,
    DUMP = 1 << DLN_COMMAND_DUMP
};

struct option {
    const char *name; /* without its dashes */
    enum kind kind;
    size_t offset;
    int commands; /* bits */
    const char *value;
    const char *help;
    int64_t standard;
    int64_t max; /* 1 is the least */
};

#define AT(member) offsetof(struct dln_options, member)
#define TEXT(name, member, commands, value, help)                                                  \
    { name, KIND_TEXT, AT(member), commands, value, help, 0, 0 }
#define FLAG(name, member, commands, help)                                                         \
    { name, KIND_FLAG, AT(member), commands, "", help, 0, 0 }
#define COUNT(name, member, standard, max, help)                                                   \
    { name, KIND_COUNT, AT(member), SERVE, "N", help, standard, max }

static const struct option options[] = {
    TEXT("store", store, SERVE | RESTORED | DUMP, "URL", "sqlite:PATH, or mongodb://HOST/DATABASE"),
    TEXT("listen", listen, SERVE, "HOST:PORT", "default 127.0.0.1:8765; port 0: any that is free"),
    TEXT("prefix", prefix, SERVE, "/PATH", "stands before every path"),
    TEXT("auth-secret-file", secret_file, SERVE | TOKEN, "FILE",
         "the key of HS256 tokens, 32 bytes or more"),
    TEXT("auth-jwks", jwks_file, SERVE, "FILE",
         "keys of RS256 and ES256 tokens (JWKS); read again when it changes"),
    FLAG("insecure", insecure, SERVE,
         "no tokens: whoever connects says who he is; loopback addresses only"),
    TEXT("audience", audience, SERVE | TOKEN, "A", "what a token's aud must hold"),
    TEXT("issuer", issuer, SERVE | TOKEN, "I", "what a token's iss must be"),
    TEXT("tls-cert", tls_cert, SERVE, "FILE", "PEM chain; with --tls-key: https"),
    TEXT("tls-key", tls_key, SERVE, "FILE", "PEM key"),
    TEXT("log", log, SERVE, "FILE", "the access log, opened anew at SIGHUP; default stderr"),
    COUNT("threads", threads, 4, 64, "that talk to the store"),
    COUNT("queue", queue, 256, 65536, "requests that wait for one of them"),
    COUNT("connections", connections, 4096, 1000000, "at once"),
    COUNT("listeners", listeners, 3000, 1000000, "of /v1/live at once"),
    COUNT("user-listeners", user_listeners, 16, 100000, "of one user"),
    COUNT("user-requests", user_requests, 8, 100000, "of one user, under way at once"),
    COUNT("memory-mib", memory_mib, 256, 1048576, "of bodies under way"),
    COUNT("idle-seconds", idle_seconds, 60, 86400, "until a silent connection is closed"),
    COUNT("request-seconds", request_seconds, 60, 86400, "that a request may take to arrive"),
    COUNT("drain-seconds", drain_seconds, 20, 86400, "that SIGTERM waits for what is under way"),
    COUNT("maintain-seconds", maintain_seconds, 3600, 2592000, "between rounds of maintenance"),
    TEXT("user", user, TOKEN | DUMP, "U", "whose it is"),
    {"ttl", KIND_TIME, AT(ttl_seconds), TOKEN, "TIME", "90s, 15m, 1h, 30d; default 1h", 3600,
     INT64_C(3650) * 86400},
    FLAG("fuzzy", fuzzy, RESTORED, "the backup was not of one moment"),
};

enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]) };

static dunlin_status wrong(dunlin_error *err, const char *name, const char *what) {
    return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "%.60s: %s", name, what);
}

static void *place(struct dln_options *out, const struct option *option) {
    return (char *)out + option->offset;
}

/* Decimal digits; -1: none, or too many. */
static int64_t digits_read(const char **text) {
    int64_t number = 0;
    const char *at = *text;

    while (*at >= '0' && *at <= '9' && at - *text < 15) {
        number = number * 10 + (*at++ - '0');
    }
    if (at == *text) {
        return -1;
    }
    *text = at;
    return number;
}

static int64_t unit_read(const char *text) {
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text, units[i].name) == 0) {
            return units[i].seconds;
        }
    }
    return -1;
}

static dunlin_status number_set(struct dln_options *out, const struct option *option,
                                const char *argument, const char *value, dunlin_error *err) {
    const char *rest = value;
    int64_t number = digits_read(&rest);
    int64_t unit = option->kind == KIND_TIME ? unit_read(rest) : *rest == '\0' ? 1 : -1;

    if (number < 0 || unit < 0) {
        return wrong(err, argument,
                     option->kind == KIND_TIME ? "a time is 90s, 15m, 1h or 30d"
                                               : "needs a number");
    }
    if (number < 1 || number > option->max / unit) {
        return wrong(err, argument, "the number is out of range");
    }
    *(int64_t *)place(out, option) = number * unit;
    return DUNLIN_OK;
}

static dunlin_status option_set(struct dln_options *out, const struct option *option,
                                const char *argument, const char *value, dunlin_error *err) {
    if (option->kind == KIND_FLAG) {
        *(bool *)place(out, option) = true;
        return DUNLIN_OK;
    }
    if (value == NULL || value[0] == '\0') {
        return wrong(err, argument, "needs a value");
    }
    if (option->kind == KIND_TEXT) {
        *(const char **)place(out, option) = value;
        return DUNLIN_OK;
    }
    return number_set(out, option, argument, value, err);
}

/* `--name value` and `--name=value`; *used is how many arguments that took. */
static dunlin_status argument_read(struct dln_options *out, int left, char *const *argv, int *used,
                                   dunlin_error *err) {
    const char *argument = argv[0];
    const char *equals = strchr(argument, '=');
    size_t len = equals ? (size_t)(equals - argument) : strlen(argument);

    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &options[i];
        const char *value = equals ? equals + 1 : NULL;
        if (len != strlen(option->name) + 2 || strncmp(argument, "--", 2) != 0 ||
            strncmp(argument + 2, option->name, len - 2) != 0) {
            continue;
        }
        if ((option->commands & (1 << out->command)) == 0) {
            return wrong(err, argument, "this command does not take it");
        }
        if (option->kind == KIND_FLAG && equals) {
            return wrong(err, argument, "takes no value");
        }
        *used = 1;
        if (option->kind != KIND_FLAG && !equals && left > 1) {
            value = argv[1];
            *used = 2;
        }
        return option_set(out, option, argument, value, err);
    }
    return wrong(err, argument, "there is no such option; see dunlind --help");
}

static dunlin_status command_read(struct dln_options *out, const char *word, dunlin_error *err) {
    static const struct {
        const char *name;
        enum dln_command command;
    } commands[] = {{"token", DLN_COMMAND_TOKEN},     {"restored", DLN_COMMAND_RESTORED},
                    {"dump", DLN_COMMAND_DUMP},       {"help", DLN_COMMAND_HELP},
                    {"--help", DLN_COMMAND_HELP},     {"-h", DLN_COMMAND_HELP},
                    {"version", DLN_COMMAND_VERSION}, {"--version", DLN_COMMAND_VERSION}};

    out->command = DLN_COMMAND_SERVE;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(word, commands[i].name) == 0) {
            out->command = commands[i].command;
            return DUNLIN_OK;
        }
    }
    return word[0] == '-' ? DUNLIN_OK : wrong(err, word, "there is no such command");
}

static dunlin_status serve_check(const struct dln_options *options_read, dunlin_error *err) {
    int ways = (options_read->secret_file != NULL) + (options_read->jwks_file != NULL) +
               options_read->insecure;

    if (ways != 1) {
        return wrong(err, "dunlind",
                     "exactly one of --auth-secret-file FILE, --auth-jwks FILE and "
                     "--insecure says who may come in");
    }
    if ((options_read->tls_cert != NULL) != (options_read->tls_key != NULL)) {
        return wrong(err, "dunlind", "--tls-cert and --tls-key go together");
    }
    if (options_read->prefix != NULL &&
        (options_read->prefix[0] != '/' ||
         options_read->prefix[strlen(options_read->prefix) - 1] == '/')) {
        return wrong(err, "--prefix", "starts with a slash and ends without one");
    }
    return DUNLIN_OK;
}

static dunlin_status check(const struct dln_options *out, dunlin_error *err) {
    if (out->command != DLN_COMMAND_TOKEN && out->store == NULL) {
        return wrong(err, "dunlind", "--store URL is missing; see dunlind --help");
    }
    if (out->command == DLN_COMMAND_TOKEN && (out->secret_file == NULL || out->user == NULL)) {
        return wrong(err, "token", "needs --auth-secret-file FILE and --user U");
    }
    if (out->command == DLN_COMMAND_DUMP && out->user == NULL) {
        return wrong(err, "dump", "needs --user U");
    }
    return out->command == DLN_COMMAND_SERVE ? serve_check(out, err) : DUNLIN_OK;
}

dunlin_status dln_options_read(struct dln_options *out, int argc, char *const *argv,
                               dunlin_error *err) {
    dunlin_status status;
    int at = 1;

    *out = (struct dln_options){.listen = "127.0.0.1:8765"};
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (options[i].kind == KIND_COUNT || options[i].kind == KIND_TIME) {
            *(int64_t *)place(out, &options[i]) = options[i].standard;
        }
    }
    if (argc < 2) {
        return wrong(err, "dunlind", "--store URL is missing; see dunlind --help");
    }
    if ((status = command_read(out, argv[1], err)) || out->command >= DLN_COMMAND_HELP) {
        return status;
    }
    at += out->command != DLN_COMMAND_SERVE;
    while (at < argc) {
        int used = 0;
        if ((status = argument_read(out, argc - at, argv + at, &used, err))) {
            return status;
        }
        at += used;
    }
    return check(out, err);
}

static void help_of(struct dln_buf *out, int command) {
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &options[i];
        if ((option->commands & command) == 0) {
            continue;
        }
        size_t len = strlen(option->name) + strlen(option->value);
        dln_buf_printf(out, "  --%s %s%*s %s", option->name, option->value,
                       len < 28 ? (int)(28 - len) : 0, "", option->help);
        if (option->kind == KIND_COUNT) {
            dln_buf_printf(out, " (%lld)", (long long)option->standard);
        }
        dln_buf_append_byte(out, '\n');
    }
}

void dln_options_help(struct dln_buf *out) {
    dln_buf_append_text(out, "dunlind: central behind HTTP.\n\n"
                             "dunlind --store URL [--listen HOST:PORT] [--auth-secret-file FILE | "
                             "--auth-jwks FILE | --insecure] [OPTION…]\n");
    help_of(out, SERVE);
    dln_buf_append_text(out,
                        "\ndunlind token --auth-secret-file FILE --user U [OPTION…]     prints a "
                        "token, for development\n");
    help_of(out, TOKEN);
    dln_buf_append_text(out,
                        "\ndunlind restored --store URL [--fuzzy]     must be run after the store "
                        "was restored from a backup\n");
    help_of(out, RESTORED);
    dln_buf_append_text(
        out, "\ndunlind dump --store URL --user U     what a device of his has when it is "
             "in step, as `dunlin dump`\n");
    help_of(out, DUMP);
    dln_buf_append_text(out, "\ndunlind --help | --version\n\n"
                             "Exit codes: 0 done, 64 usage, 65 bad data, 75 try again later, "
                             "77 not allowed, 70 a bug.\n");
}
