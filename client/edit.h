/* One edit through the public interface: its transaction, its memory, and the records it touches.
 *
 * An edit is refused before it writes anything, or it is done whole. Outside dunlin_begin … commit
 * it is a transaction of its own; inside, one that fails half-way for a reason that is no refusal
 * (no memory, a full disk) dooms the transaction that it belongs to. */
#ifndef DLN_CLIENT_EDIT_H
#define DLN_CLIENT_EDIT_H

#include <stdbool.h>

#include <dunlin/store.h>

#include "store/store.h"

struct dln_edit {
    struct dln_store *store;
    struct dln_arena arena;
    bool own;   /* the transaction is this edit's */
    bool wrote; /* some record was written */
};

/* MISUSE where store is NULL. After a failure dln_edit_end must not be called. */
DUNLIN_MUST_USE dunlin_status dln_edit_begin(struct dln_edit *edit, dunlin_store *store,
                                             dunlin_error *err);
/* Ends the edit that came to `status`; returns that, or why it could not be committed. */
DUNLIN_MUST_USE dunlin_status dln_edit_end(struct dln_edit *edit, dunlin_status status,
                                           dunlin_error *err);

/* A row of that key as if there were none. */
DUNLIN_MUST_USE dunlin_status dln_edit_new(struct dln_edit *edit, struct dln_row *out,
                                           enum dln_collection_id collection, struct dln_text group,
                                           const struct dln_text *parts, dunlin_error *err);
/* Writes a new row of which every field was set, unless there is one: *created tells. */
DUNLIN_MUST_USE dunlin_status dln_edit_create(struct dln_edit *edit, struct dln_row *row,
                                              bool *created, dunlin_error *err);
/* Reads the row of a key. `group` is the scope's for collections of a group, else not looked at;
 * there are as many parts as the collection's key has. */
DUNLIN_MUST_USE dunlin_status dln_edit_row(struct dln_edit *edit, struct dln_row *out,
                                           enum dln_collection_id collection, struct dln_text group,
                                           const struct dln_text *parts, dunlin_error *err);
/* Writes the fields that were set: nothing where there are none. */
DUNLIN_MUST_USE dunlin_status dln_edit_write(struct dln_edit *edit, struct dln_row *row,
                                             uint32_t fields, dunlin_error *err);

/* Whether the row is there and says that its record exists. */
bool dln_row_exists(const struct dln_row *row);
/* Whether the record was made here and no request carried it: its deletion leaves nothing behind.
 */
bool dln_row_never_left(const struct dln_row *row);
/* The text of a field; none where it is null or was never written. */
struct dln_text dln_row_text(const struct dln_row *row, int field);
/* Sets a field's value; its bit goes into *fields. */
void dln_row_set(struct dln_row *row, uint32_t *fields, int field, struct dln_value value);
/* The same, unless the field has that value already. */
void dln_row_change(struct dln_row *row, uint32_t *fields, int field, struct dln_value value);

/* What the edge of the interface says of wrong arguments. */
dunlin_status dln_misuse(dunlin_error *err, const char *what);
DUNLIN_MUST_USE dunlin_status dln_check_id_argument(const char *id, const char *what,
                                                    dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_check_group_argument(const char *group, dunlin_error *err);
/* A name or a title; NULL is legal. */
DUNLIN_MUST_USE dunlin_status dln_check_name_argument(const char *name, const char *what,
                                                      dunlin_error *err);

#endif
