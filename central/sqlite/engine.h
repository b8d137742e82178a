/* Between the files of the SQLite engine. */
#ifndef DLN_CENTRAL_SQLITE_ENGINE_H
#define DLN_CENTRAL_SQLITE_ENGINE_H

#include "central/sqlite/database.h"

enum { DLN_WALK_PREFIX_MAX = 8 + 3 * DLN_ID_MAX };

/* Fills in the operations on what is not a record. */
void dln_sqlite_scopes(struct dln_central_engine *out);

#endif
