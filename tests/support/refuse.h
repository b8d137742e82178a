/* One public function, refused: each argument in turn is wrong in each way that its kind has.
 *
 * That is done outside and inside an app's transaction; each refused call gives the status that is
 * expected, with and without a dunlin_error, fills no result, and leaves the store, central and the
 * folder as they were. Then the function is called with nothing wrong, so that it was that argument
 * which was refused. */
#ifndef DLN_TESTS_REFUSE_H
#define DLN_TESTS_REFUSE_H

#include "tests/support/wrong.h"

enum { PARAMETERS_MAX = 6 };

enum when {
    ANY_TIME,
    ALONE, /* not inside a transaction */
    INSIDE /* only there */
};

struct function {
    const char *name;
    /* The call with these arguments, in the order of the parameters. */
    dunlin_status (*call)(const struct argument *arguments, dunlin_error *err);
    enum when when;
    dunlin_status good; /* what a call with nothing wrong gives */
    struct parameter parameters[PARAMETERS_MAX];
};

/* Fails the test unless all that holds. */
void refuse_function(const struct function *function);

#endif
