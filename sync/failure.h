/* Reading a failure; writing one is in sync/message.h. */
#ifndef DLN_SYNC_FAILURE_H
#define DLN_SYNC_FAILURE_H

#include "sync/lines.h"

/* Returns the status that an error message's head names, never OK. */
DUNLIN_MUST_USE dunlin_status dln_failure_read(const json_t *head, int64_t *retry_after_ms,
                                               dunlin_error *err);

#endif
