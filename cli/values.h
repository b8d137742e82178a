/* Arguments and their values, read the same way from the command line and from a batch's lines. */
#ifndef DLN_CLI_VALUES_H
#define DLN_CLI_VALUES_H

#include <stdint.h>

#include "cli/app.h"

enum { DLN_TIME_SIZE = 40 };

/* Unix milliseconds as ISO 8601 in UTC; a number where the calendar ends. */
void dln_format_time(char out[DLN_TIME_SIZE], int64_t unix_ms);

/* Reads 2020-01-01T00:00:00Z, with a fraction of a second, with an offset (+09:00), in the short
 * form (20200101T000000Z), or a day alone, which begins in UTC. INVALID_VALUE. */
DUNLIN_MUST_USE dunlin_status dln_read_time(struct dln_app *app, int64_t *out, const char *text);

/* "user" or "group"; "open" or "closed"; "member" or "admin". INVALID_VALUE. */
DUNLIN_MUST_USE dunlin_status dln_read_kind(struct dln_app *app, dunlin_kind *out,
                                            const char *text);
DUNLIN_MUST_USE dunlin_status dln_read_join(struct dln_app *app, dunlin_join *out,
                                            const char *text);
DUNLIN_MUST_USE dunlin_status dln_read_role(struct dln_app *app, dunlin_role *out,
                                            const char *text);
const char *dln_kind_name(dunlin_kind kind);
const char *dln_join_name(dunlin_join join);
const char *dln_role_name(dunlin_role role);

/* Reads a whole positive number. INVALID_VALUE. */
DUNLIN_MUST_USE dunlin_status dln_read_number(struct dln_app *app, int64_t *out, const char *text);

/* The two ids of an item, in one allocation. */
struct dln_neighbour {
    char *type; /* to be freed */
    const char *id;
};

/* Takes TYPE:ID apart. Both may hold colons: where the list has an item for one of the ways to read
 * it, that one is taken, else the first colon parts. INVALID_VALUE without a colon. */
DUNLIN_MUST_USE dunlin_status dln_read_neighbour(struct dln_app *app, struct dln_neighbour *out,
                                                 const char *list, const char *text);

/* A place from the options --first, --last, --before, of which one at most is given.
 *   given  receives whether one was. INVALID_VALUE when two are. */
DUNLIN_MUST_USE dunlin_status dln_read_place(struct dln_app *app, dunlin_place_kind *out,
                                             int *given, int first, int last, const char *before);

#endif
