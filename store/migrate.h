/* Inside store/: opening and bringing a file to the newest schema. */
#ifndef DLN_STORE_MIGRATE_H
#define DLN_STORE_MIGRATE_H

#include "store/internal.h"

/* The schema steps that this library knows, by version from 1. Tests give others, and stop in front
 * of each statement. */
struct dln_migrations {
    const struct dln_store_migration *steps;
    int count;
    void (*before_statement)(void *self); /* may be NULL */
    void *self;
};

/* dln_store_open() with other schema steps. */
DUNLIN_MUST_USE dunlin_status dln_store_open_with(struct dln_store **out, const char *path,
                                                  const char *owner,
                                                  const dunlin_open_options *options,
                                                  const struct dln_migrations *migrations,
                                                  dunlin_error *err);

/* Applies what the file lacks. A file without schema is made for that owner. */
DUNLIN_MUST_USE dunlin_status dln_migrate(struct dln_store *store,
                                          const struct dln_migrations *migrations,
                                          const char *owner, bool search, dunlin_error *err);

/* Runs a pragma or another statement that is not worth keeping; the first column of its first row,
 * if there is one, goes to *out (may be NULL). */
DUNLIN_MUST_USE dunlin_status dln_run_once(struct dln_store *store, enum dln_store_query query,
                                           int64_t *out, dunlin_error *err);

#endif
