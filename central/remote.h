/* Remotes that speak to a central in this process. */
#ifndef DLN_CENTRAL_REMOTE_H
#define DLN_CENTRAL_REMOTE_H

#include "central/central.h"

/* dunlin_central_remote() that takes central over, and closes it also where it fails. */
DUNLIN_MUST_USE dunlin_status dln_central_remote_owning(dunlin_central *central,
                                                        dunlin_remote **out, const char *user,
                                                        dunlin_error *err);

#endif
