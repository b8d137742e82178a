/* What can be wrong with an argument, by its kind, and the status that names it. */
#ifndef DLN_TESTS_WRONG_H
#define DLN_TESTS_WRONG_H

#include "tests/support/scene.h"

/* One argument of a public function; which member counts is its kind's matter. */
struct argument {
    void *at;          /* a handle, or a place for a result */
    const void *given; /* a struct of options, or another value by pointer */
    const char *text;
    int64_t number;
    dunlin_line_callback callback;
};

enum parameter_kind {
    PARAMETER_NONE, /* ends a function's parameters */
    /* handles */
    PARAMETER_STORE,
    PARAMETER_ITER, /* number: its listing */
    PARAMETER_REMOTE,
    PARAMETER_CENTRAL,
    /* places for results */
    PARAMETER_OUT, /* of a value, which stays as it is when the call is refused */
    PARAMETER_OUT_ROW,
    PARAMETER_OUT_ITER, /* from here on: what the caller closes or frees */
    PARAMETER_OUT_GROUP,
    PARAMETER_OUT_STORE,
    PARAMETER_OUT_CENTRAL,
    PARAMETER_OUT_REMOTE,
    /* texts */
    PARAMETER_ID,
    PARAMETER_GROUP,
    PARAMETER_OWNER, /* of a store that is not there yet */
    PARAMETER_NAME,
    PARAMETER_NAME_OR_NULL,
    PARAMETER_NO_TEXT,  /* nothing has a place here */
    PARAMETER_VALUES,   /* of the dead letter of a list */
    PARAMETER_NEW_FILE, /* a path where nothing is */
    PARAMETER_STORE_FILE,
    PARAMETER_CENTRAL_URL,
    PARAMETER_HTTP_URL,
    PARAMETER_MONGO_URL,
    /* numbers */
    PARAMETER_ENUM, /* number: its last value */
    PARAMETER_LETTER,
    PARAMETER_TIMEOUT,
    /* structs */
    PARAMETER_JOIN_OR_NULL,
    PARAMETER_RANGE, /* number: its listing */
    PARAMETER_ITEM_OPTIONS,
    PARAMETER_ITEM_PLACE,
    PARAMETER_OPEN_OPTIONS,
    PARAMETER_CENTRAL_OPTIONS,
    PARAMETER_HTTP_OPTIONS,
    PARAMETER_LINE_CALLBACK,
    PARAMETER_KINDS
};

struct wrong {
    struct argument value;
    dunlin_status status;
};

struct parameter {
    enum parameter_kind kind;
    struct argument good; /* where the scene does not say it */
    struct wrong besides; /* wrong for this function; OK: nothing is */
};

/* The argument with which a call succeeds; `out` is the place for a result. */
struct argument parameter_good(struct scene *scene, const struct parameter *parameter, void *out);
/* All that is wrong; good until the next call. */
const struct wrong *parameter_wrong(struct scene *scene, const struct parameter *parameter,
                                    size_t *count);

#endif
