/* What a device writes on the side of a history, and what must be left of it at the end: that no
 * edit that was acknowledged to its caller is lost. Agreement alone would not show that.
 *
 * Each device follows users whom nobody ever unfollows, and sets the title of an item that no other
 * device writes to 1, 2, 3, …: at the end the follows are there, and the title is the last one. */
#ifndef DLN_TESTS_WITNESS_H
#define DLN_TESTS_WITNESS_H

#include "tests/support/world.h"

struct witness {
    int follows;
    int title;
};

/* Writes once more, through any open store of the device's file. What was not acknowledged does not
 * count; returns what the last call came to. */
dunlin_status witness_write(struct witness *witness, const struct device *device,
                            dunlin_store *store, dunlin_error *err);
/* Whether all of it is there, here and on the person's other devices, or a dead letter tells of it.
 * `why` says what is lost. */
bool witness_check(const struct witness *witness, struct device *device, char *why,
                   size_t why_bytes);

#endif
