/* Between the files of the SQLite engine. */
#ifndef DLN_CENTRAL_SQLITE_ENGINE_H
#define DLN_CENTRAL_SQLITE_ENGINE_H

#include "central/sqlite/database.h"

enum { DLN_WALK_PREFIX_MAX = 8 + 3 * DLN_ID_MAX };

/* Opens the engine over that file. */
DUNLIN_MUST_USE dunlin_status dln_sqlite_engine_open(struct dln_central_engine *out,
                                                     const char *path, int busy_timeout_ms,
                                                     const struct dln_central_ports *ports,
                                                     dunlin_error *err);
/* Fills in the operations on what is not a record. */
void dln_sqlite_scopes(struct dln_central_engine *out);

#endif
