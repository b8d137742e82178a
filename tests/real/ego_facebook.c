/* ctest: labels=long,no-sanitizer timeout=1200
 *
 * The same on ten real networks, which are not part of this project: DUNLIN_TEST_DATA names the
 * folder that holds ego-facebook/; without it, ../shared/data beside the sources is tried. Skipped
 * where neither is there. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/ego.h"

enum { PATH_BYTES = 1024, SKIPPED = 77 };

static char folder[PATH_BYTES];

static void real_networks(void **state) {
    (void)state;
    ego_compare(folder);
}

int main(void) {
    const char *data = getenv("DUNLIN_TEST_DATA");
    (void)snprintf(folder, sizeof(folder), "%s/ego-facebook",
                   data == NULL ? DUNLIN_SOURCE_DIR "/../shared/data" : data);
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        printf("skipped: %s is not there\n", folder);
        return SKIPPED;
    }
    (void)closedir(dir);
    const struct CMUnitTest tests[] = {cmocka_unit_test(real_networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
