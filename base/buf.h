/* A growable byte buffer with a ceiling. Appending is sticky: after the first failure every further
 * append does nothing and dln_buf_status() tells what went wrong, so that a writer needs one check
 * at its end. */
#ifndef DLN_BASE_BUF_H
#define DLN_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct dln_buf {
    char *data;           /* always ended by a zero once something was appended; NULL before */
    size_t len;           /* without that zero */
    size_t size;          /* allocated */
    size_t max;           /* ceiling of len */
    dunlin_status status; /* OK, OUT_OF_MEMORY or TOO_LARGE */
};

#define DLN_BUF_INIT(max_bytes) ((struct dln_buf){.max = (max_bytes)})

void dln_buf_free(struct dln_buf *buf);  /* and leaves it empty, usable, with the same ceiling */
void dln_buf_clear(struct dln_buf *buf); /* empties and keeps the memory; status becomes OK */
void dln_buf_append(struct dln_buf *buf, const void *data, size_t len);
void dln_buf_append_text(struct dln_buf *buf, const char *zero_ended);
void dln_buf_append_byte(struct dln_buf *buf, char byte);
void dln_buf_append_u64_be(struct dln_buf *buf, uint64_t number);
/* printf into the buffer. Never for user text that may hold anything but text. */
void dln_buf_printf(struct dln_buf *buf, const char *format, ...) DUNLIN_PRINTF(2, 3);
/* Returns the status, having filled err where it is an error. */
DUNLIN_MUST_USE dunlin_status dln_buf_status(const struct dln_buf *buf, dunlin_error *err);

#endif
