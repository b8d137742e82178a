/* gzip, both ways; what is unpacked goes on at once, so that whoever takes it can say stop. */
#ifndef DLN_CLIENT_HTTP_UNPACK_H
#define DLN_CLIENT_HTTP_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct dln_unpack;

/* Takes a piece of what was unpacked; a status other than OK stops the unpacking. */
typedef dunlin_status (*dln_unpack_take)(void *self, const void *data, size_t len);

DUNLIN_MUST_USE dunlin_status dln_unpack_new(struct dln_unpack **out, dunlin_error *err);
void dln_unpack_free(struct dln_unpack *unpack);
/* NOT_OUR_SERVER where it is not gzip, goes on behind its end, or holds gzip again; OUT_OF_MEMORY;
 * else what `take` returns. */
DUNLIN_MUST_USE dunlin_status dln_unpack_feed(struct dln_unpack *unpack, const void *data,
                                              size_t len, dln_unpack_take take, void *self,
                                              dunlin_error *err);
/* Whether all of it was there. */
bool dln_unpack_is_whole(const struct dln_unpack *unpack);

/* Appends the text as one gzip member. OUT_OF_MEMORY, TOO_LARGE. */
DUNLIN_MUST_USE dunlin_status dln_pack(struct dln_buf *out, const void *data, size_t len,
                                       dunlin_error *err);

#endif
