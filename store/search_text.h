/* Inside store/: what is searched, and how it is cut into pairs. */
#ifndef DLN_STORE_SEARCH_TEXT_H
#define DLN_STORE_SEARCH_TEXT_H

#include "base/buf.h"
#include "base/text.h"

enum { DLN_SEARCH_TEXT_MAX = 1 << 18, DLN_SEARCH_PAIRS_MAX = 1 << 20 };

/* Appends what is searched of a list (only a title: its name) or an item: title, id and the texts
 * of the data, folded, a line each. */
void dln_search_text(struct dln_buf *out, struct dln_text title, struct dln_text id,
                     struct dln_text data);
/* Appends every pair of neighbouring characters that are no white space, and every character that
 * is last before white space or the end, each behind a space: "tea" gives " te ea a". */
void dln_search_pairs(struct dln_buf *out, struct dln_text text);
/* Appends a pair (or the start of one) as a string of FTS5's query language. */
void dln_search_quote(struct dln_buf *out, struct dln_text pair);

#endif
