/* Subscriptions against the article's map-reduce, on a small made-up network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/ego.h"

static void small_network(void **state) {
    (void)state;
    ego_compare(DUNLIN_SOURCE_DIR "/tests/data/ego-small");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(small_network)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
