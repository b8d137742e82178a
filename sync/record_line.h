/* The part of a line that is a record: "collection", "key", "fields". */
#ifndef DLN_SYNC_RECORD_LINE_H
#define DLN_SYNC_RECORD_LINE_H

#include "base/record.h"
#include "sync/lines.h"

/* A scope as the lines that name it need it. */
struct dln_line_scope {
    struct dln_text name; /* of the arena */
    bool known;           /* whether this version knows that kind of scope */
    enum dln_scope_kind kind;
};

/* A scope's name from a line. INVALID_TEXT, INVALID_ID (empty or absent), TOO_LONG, BAD_MESSAGE. */
DUNLIN_MUST_USE dunlin_status dln_line_scope_read(struct dln_arena *arena,
                                                  struct dln_line_scope *out, const json_t *line,
                                                  dunlin_error *err);

/* Reads and checks a record of that scope into zeroed memory. What is wrong with it: BAD_MESSAGE,
 * INVALID_…, TOO_LONG; see dln_is_fatal() for the rest. *out is not to be used then. */
DUNLIN_MUST_USE dunlin_status dln_record_read(struct dln_arena *arena, struct dln_record *out,
                                              const json_t *line,
                                              const struct dln_line_scope *scope,
                                              dunlin_error *err);
/* One field, ["stamp",value], borrowed from the line. */
DUNLIN_MUST_USE dunlin_status dln_field_read(struct dln_field *out, const json_t *json,
                                             dunlin_error *err);
/* A field's name: 1 to DLN_FIELD_NAME_MAX bytes. */
DUNLIN_MUST_USE dunlin_status dln_field_name_check(struct dln_text name, dunlin_error *err);

/* Appends ,"collection":…,"key":[…],"fields":{…} */
void dln_put_record(struct dln_buf *out, const struct dln_record *record);
/* Appends ["stamp",value]. */
void dln_put_field(struct dln_buf *out, const struct dln_field *field);

#endif
