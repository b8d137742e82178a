#include "tests/support/temp.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 1024, RING = 16 };

char *temp_new(void) {
    const char *root = getenv("TMPDIR");
    char *path = malloc(PATH_BYTES);
    if (path == NULL) {
        abort();
    }
    (void)snprintf(path, PATH_BYTES, "%s/dunlin-test-XXXXXX", root == NULL ? "/tmp" : root);
    if (mkdtemp(path) == NULL) {
        perror(path);
        abort();
    }
    return path;
}

void temp_remove(char *path) {
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        char *below = malloc(PATH_BYTES);
        if (below == NULL) {
            abort();
        }
        (void)snprintf(below, PATH_BYTES, "%s/%s", path, entry->d_name);
        struct stat st;
        if (lstat(below, &st) == 0 && S_ISDIR(st.st_mode)) {
            temp_remove(below);
        } else {
            (void)unlink(below);
            free(below);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    (void)rmdir(path);
    free(path);
}

const char *temp_file(const char *path, const char *name) {
    static char ring[RING][PATH_BYTES];
    static int next;
    char *out = ring[next++ % RING];
    (void)snprintf(out, PATH_BYTES, "%s/%s", path, name);
    return out;
}
