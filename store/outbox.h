/* Inside store/: the outbox. A row's place in it is a number, given out in ranges: those of a stage
 * that was edited, and of the same stage those that a rebuild only offers. Behind all ranges stand
 * the kept counts. */
#ifndef DLN_STORE_OUTBOX_H
#define DLN_STORE_OUTBOX_H

#include "store/row.h"

enum dln_outbox_stage {
    DLN_STAGE_FOLLOW,
    DLN_STAGE_MYGROUP,
    DLN_STAGE_LIST,
    DLN_STAGE_ITEM,
    DLN_STAGE_GROUP,
    DLN_STAGE_MEMBER,
    DLN_STAGE_OWN_MEMBER, /* the owner's own records */
    DLN_STAGE_OTHER,
    DLN_STAGE_COUNT
};

#define DLN_RANGE_BITS 48
#define DLN_COUNTS_FROM (INT64_C(1) << 62) /* ids of counts: this + what is counted */

/* A new place for a row with something pending, and the entry at it, once the row is written. */
DUNLIN_MUST_USE dunlin_status dln_outbox_place(struct dln_store *store, const struct dln_row *row,
                                               const struct dln_table *table,
                                               const struct dln_key_values *values, int64_t *out,
                                               dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_outbox_enter(struct dln_store *store,
                                               const struct dln_table *table,
                                               const struct dln_key_values *values, int64_t place,
                                               dunlin_error *err);
/* Brings the outbox in step with a row that is there and is being written or marked: row->pending
 * and offered say whether and where it stands there. *place: where it was (0: nowhere), then where
 * it is. */
DUNLIN_MUST_USE dunlin_status dln_outbox_move(struct dln_store *store, const struct dln_row *row,
                                              const struct dln_table *table,
                                              const struct dln_key_values *values, int64_t *place,
                                              dunlin_error *err);
/* The row at a place goes. */
DUNLIN_MUST_USE dunlin_status dln_outbox_leave(struct dln_store *store, int64_t place,
                                               dunlin_error *err);

/* Rows behind `place`, in sending order, or before it, backwards; moves place. `edited` leaves out
 * what is only offered. */
DUNLIN_MUST_USE dunlin_status dln_outbox_read(struct dln_store *store, struct dln_arena *arena,
                                              int64_t *place, bool backwards, bool edited,
                                              struct dln_row *rows, int64_t *places, size_t limit,
                                              size_t *count, dunlin_error *err);

/* outbox_check.c: puts right what is out of step between rows and places; *off is raised by how
 * many entries and rows that were. */
DUNLIN_MUST_USE dunlin_status dln_outbox_repair(struct dln_store *store, int64_t *off,
                                                dunlin_error *err);

#endif
