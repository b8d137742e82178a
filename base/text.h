/* Borrowed text, what makes an id or a name legal, and the percent-encoding of scope names. */
#ifndef DLN_BASE_TEXT_H
#define DLN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

enum {
    DLN_ID_MAX = 256,     /* bytes of an id */
    DLN_NAME_MAX = 1024,  /* bytes of a name or a title */
    DLN_DATA_MAX = 16384, /* bytes of an item's data, of any unknown field */
    DLN_RANK_MAX = 64     /* bytes of a rank */
};

/* Bytes that somebody else owns; not necessarily ended by a zero. data is NULL for "no text". */
struct dln_text {
    const char *data;
    size_t len;
};

#define DLN_TEXT(literal) ((struct dln_text){(literal), sizeof(literal) - 1})

struct dln_text dln_text_of(const char *zero_ended); /* NULL gives no text */
bool dln_text_equal(struct dln_text a, struct dln_text b);
int dln_text_compare(struct dln_text a, struct dln_text b); /* memcmp, the shorter prefix first */

/* Well-formed UTF-8 (no overlong forms, no surrogates) without U+0000. */
bool dln_text_is_utf8(struct dln_text text);

/* INVALID_ID (empty, none), TOO_LONG (over DLN_ID_MAX), INVALID_TEXT. `what` names the argument. */
DUNLIN_MUST_USE dunlin_status dln_check_id(struct dln_text id, const char *what, dunlin_error *err);
/* The same for an id of a group: besides, "!" is INVALID_ID. */
DUNLIN_MUST_USE dunlin_status dln_check_group_id(struct dln_text id, dunlin_error *err);
/* TOO_LONG over max bytes, INVALID_TEXT; no text is legal only where it is allowed by the caller.
 */
DUNLIN_MUST_USE dunlin_status dln_check_text(struct dln_text text, size_t max, const char *what,
                                             dunlin_error *err);

/* Appends text with '%', '/', '#', bytes below 0x20 and 0x7f as %XX (upper-case hex). */
void dln_percent_encode(struct dln_buf *out, struct dln_text text);
/* Appends the decoded text; false where an escape is malformed or was not needed (one form only).
 */
bool dln_percent_decode(struct dln_buf *out, struct dln_text text);

#endif
