/* A token from the command line cannot be renewed; one from a file is read again whenever it is
 * asked for, so that a program which writes a new one there keeps a long sync going. The token
 * stands in no message. */
#include <stdio.h>
#include <string.h>

#include "cli/token.h"

enum { FILE_BYTES_MAX = 16 * 1024 };

dunlin_status dln_token_read(struct dln_app *app, struct dln_token *token,
                             const struct dln_args *args) {
    token->text = args->options[DLN_OPTION_TOKEN];
    token->path = args->options[DLN_OPTION_TOKEN_FILE];
    if (token->text && token->path) {
        return dln_fail(app, DUNLIN_MISUSE, "--token and --token-file exclude each other");
    }
    return DUNLIN_OK;
}

/* The file's text without the blanks around it. */
static dunlin_status read_file(const char *path, char *text, size_t size, const char **token) {
    static const char blanks[] = " \t\r\n";
    FILE *file = fopen(path, "rb");
    size_t len;

    if (!file) {
        return DUNLIN_NEED_LOGIN;
    }
    len = fread(text, 1, size - 1, file);
    text[len] = '\0';
    (void)fclose(file);
    len = strlen(text);
    while (len > 0 && strchr(blanks, text[len - 1])) {
        text[--len] = '\0';
    }
    *token = text + strspn(text, blanks);
    return **token ? DUNLIN_OK : DUNLIN_NEED_LOGIN;
}

dunlin_status dln_token_give(void *payload, int renew, void (*take)(void *taker, const char *token),
                             void *taker) {
    const struct dln_token *token = payload;
    char text[FILE_BYTES_MAX];
    const char *found = token->text;
    dunlin_status status = DUNLIN_OK;

    if (token->path) {
        status = read_file(token->path, text, sizeof(text), &found);
    } else if (renew) {
        status = DUNLIN_NEED_LOGIN;
    }
    if (!status) {
        take(taker, found);
    }
    memset(text, 0, sizeof(text));
    return status;
}
