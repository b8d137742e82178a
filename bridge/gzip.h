/* gzip (RFC 1952), bounded on the way out of it. */
#ifndef DLN_BRIDGE_GZIP_H
#define DLN_BRIDGE_GZIP_H

#include "base/buf.h"
#include "base/text.h"

/* Appends what the one member unpacks to. TOO_LARGE as soon as `out` would grow over its ceiling,
 * BAD_MESSAGE where it is damaged, cut or followed by anything, OUT_OF_MEMORY. */
DUNLIN_MUST_USE dunlin_status dln_gzip_unpack(struct dln_buf *out, struct dln_text packed,
                                              dunlin_error *err);
/* Appends. TOO_LARGE, OUT_OF_MEMORY. */
DUNLIN_MUST_USE dunlin_status dln_gzip_pack(struct dln_buf *out, struct dln_text plain,
                                            dunlin_error *err);
/* Whether an Accept-Encoding header (NULL: none) takes gzip. */
bool dln_gzip_is_accepted(const char *accept_encoding);

#endif
