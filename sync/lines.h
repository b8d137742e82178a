/* Reading and writing the members of one line of a message. Only for the files of this folder that
 * encode and decode messages: it shows jansson. */
#ifndef DLN_SYNC_LINES_H
#define DLN_SYNC_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/value.h"

/* Parses one JSON value of any type. INVALID_JSON (also a name given twice, deeper than
 * DLN_JSON_DEPTH_MAX), INVALID_TEXT (U+0000), OUT_OF_MEMORY. `flags` are jansson's, added to those
 * that always hold. The caller owns *out. */
DUNLIN_MUST_USE dunlin_status dln_json_parse(json_t **out, struct dln_text text, size_t flags,
                                             dunlin_error *err);

/* Members of an object. Each returns false where the member is there but is not of that shape, and
 * leaves *out alone where it is absent. Texts are borrowed from the object. */
bool dln_get_text(const json_t *line, const char *name, size_t max_bytes, struct dln_text *out);
bool dln_get_flag(const json_t *line, const char *name, bool *out);
/* A JSON integer from 0 to max. */
bool dln_get_count(const json_t *line, const char *name, size_t max, size_t *out);
/* A 64-bit integer as a string, from min to max. */
bool dln_get_i64(const json_t *line, const char *name, int64_t min, int64_t max, int64_t *out);

struct dln_text dln_text_of_json(const json_t *string);
/* "-12", "0", "7": one form for each number. */
bool dln_i64_parse(struct dln_text text, int64_t *out);
/* A value in wire form, borrowed. INVALID_VALUE, TOO_LONG, and what dln_check_json() returns. */
DUNLIN_MUST_USE dunlin_status dln_value_read(struct dln_value *out, const json_t *json,
                                             dunlin_error *err);

/* Memory of the arena: OUT_OF_MEMORY, or TOO_LARGE where its ceiling is in the way. */
DUNLIN_MUST_USE dunlin_status dln_take(struct dln_arena *arena, void **out, size_t count,
                                       size_t size, dunlin_error *err);
/* Makes a borrowed text, or a value's, the arena's own. */
DUNLIN_MUST_USE dunlin_status dln_keep(struct dln_arena *arena, struct dln_text *text,
                                       dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_keep_value(struct dln_arena *arena, struct dln_value *value,
                                             dunlin_error *err);

/* A member behind another one: a comma, its name, its value. `name` needs no escapes. */
void dln_put_name(struct dln_buf *out, const char *name);
void dln_put_text(struct dln_buf *out, const char *name, struct dln_text text);
void dln_put_i64(struct dln_buf *out, const char *name, int64_t value);
void dln_put_count(struct dln_buf *out, const char *name, size_t value);
void dln_put_true(struct dln_buf *out, const char *name);
/* A number as a JSON string, quotes included. */
void dln_json_i64(struct dln_buf *out, int64_t value);

#endif
