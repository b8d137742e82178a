/* What the files about lists share. */
#ifndef DLN_CLIENT_LIST_H
#define DLN_CLIENT_LIST_H

#include <dunlin/error.h>

enum {
    DLN_EACH_BYTES_MAX = 64 << 20
}; /* of a page of items while all of a list are gone through */

/* NOT_FOUND: the list is not there, or deleted. */
dunlin_status dln_no_list(dunlin_error *err);

#endif
