/* JSON: checking an app's text, and the wire's form of records. */
#ifndef DLN_SYNC_JSON_H
#define DLN_SYNC_JSON_H

#include "base/buf.h"
#include "base/record.h"

enum { DLN_JSON_DEPTH_MAX = 64 };

/* Whether the text is one JSON value, UTF-8, no U+0000, no repeated names, at most DLN_DATA_MAX
 * bytes and DLN_JSON_DEPTH_MAX deep: INVALID_JSON, INVALID_TEXT, TOO_LONG. */
DUNLIN_MUST_USE dunlin_status dln_check_json(struct dln_text text, dunlin_error *err);

/* Append a JSON string, quotes included; a value in wire form ({"i":"…"}, {"r":…}, {"j":"…"}, a
 * plain string, true, false, null); a key's parts as an array; the fields of a record as an object
 * {name:["stamp",value],…}, sorted by name. */
void dln_json_string(struct dln_buf *out, struct dln_text text);
void dln_json_value(struct dln_buf *out, const struct dln_value *value);
void dln_json_key(struct dln_buf *out, const struct dln_key *key);
void dln_json_fields(struct dln_buf *out, const struct dln_record *record);

#endif
