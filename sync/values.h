/* A record's fields as a JSON object of names to values in wire form, without stamps: how a change
 * is shown to a person, and how he edits it. */
#ifndef DLN_SYNC_VALUES_H
#define DLN_SYNC_VALUES_H

#include "base/buf.h"
#include "base/record.h"

/* Appends {"name":value,…} of the fields that the record has, by name. */
void dln_values_write(struct dln_buf *out, const struct dln_record *record);

/* Puts the values of such an object into fields that the record has; texts are copied into the
 * arena. INVALID_JSON, NOT_FOUND (a field that it does not have), what dln_check_field() and
 * dln_check_json() return, OUT_OF_MEMORY; the record may be changed in part then. */
DUNLIN_MUST_USE dunlin_status dln_values_read(struct dln_arena *arena, struct dln_record *record,
                                              struct dln_text object, dunlin_error *err);

#endif
