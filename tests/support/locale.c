/* localedef builds any locale from a text; the system's own need not be installed. Only its numbers
 * are defined, and the warnings about the rest are thrown away. */
#include "tests/support/locale.h"

#include <fcntl.h>
#include <locale.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/temp.h"

extern char **environ;

static bool write_source(const char *path, const char *decimal_point) {
    FILE *source = fopen(path, "w");
    if (source == NULL) {
        return false;
    }
    bool ok = fprintf(source,
                      "LC_NUMERIC\ndecimal_point \"%s\"\nthousands_sep \"\"\ngrouping -1\n"
                      "END LC_NUMERIC\n",
                      decimal_point) > 0;
    return fclose(source) == 0 && ok;
}

static bool run_localedef(const char *source, const char *out) {
    char input[512];
    char folder[512];
    char command[] = "localedef", force[] = "-c", from[] = "-i", charset[] = "-f", utf8[] = "UTF-8";
    char *const arguments[] = {command, force, from, input, charset, utf8, folder, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = -1;
    (void)snprintf(input, sizeof(input), "%s", source);
    (void)snprintf(folder, sizeof(folder), "%s", out);
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    bool ran = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0 &&
               posix_spawnp(&pid, command, &actions, NULL, arguments, environ) == 0 &&
               waitpid(pid, &status, 0) == pid && WIFEXITED(status);
    (void)posix_spawn_file_actions_destroy(&actions);
    return ran && WEXITSTATUS(status) <= 1; /* 1: warnings, and an output all the same */
}

bool test_locale_set(const char *folder, const char *decimal_point) {
    const char *source = temp_file(folder, "numbers.txt");
    return write_source(source, decimal_point) &&
           run_localedef(source, temp_file(folder, "host")) && setenv("LOCPATH", folder, 1) == 0 &&
           setlocale(LC_NUMERIC, "host") != NULL;
}
