/* Growth is by doubling, so that n appends cost O(n), and never past the ceiling. len <= max and
 * len < size hold whenever data is there; every comparison is written as a difference of those, so
 * that no sum can overflow. */
#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 64 };

void dln_buf_free(struct dln_buf *buf) {
    free(buf->data);
    *buf = DLN_BUF_INIT(buf->max);
}

void dln_buf_clear(struct dln_buf *buf) {
    buf->len = 0;
    buf->status = DUNLIN_OK;
    if (buf->data != NULL) {
        buf->data[0] = '\0';
    }
}

/* Makes room for `more` bytes and the ending zero; false when the buffer has failed. */
static bool reserve(struct dln_buf *buf, size_t more) {
    if (buf->status != DUNLIN_OK) {
        return false;
    }
    assert(buf->len <= buf->max);
    if (more > buf->max - buf->len || more >= SIZE_MAX - buf->len) {
        buf->status = DUNLIN_TOO_LARGE;
        return false;
    }
    size_t needed = buf->len + more + 1;
    if (needed <= buf->size) {
        return true;
    }

    size_t size = buf->size > 0 ? buf->size : FIRST_SIZE;
    while (size < needed) {
        size = size <= SIZE_MAX / 2 ? size * 2 : needed;
    }
    if (size - 1 > buf->max) {
        size = buf->max + 1;
    }
    char *data = realloc(buf->data, size);
    if (data == NULL) {
        buf->status = DUNLIN_OUT_OF_MEMORY;
        return false;
    }
    buf->data = data;
    buf->size = size;
    return true;
}

void dln_buf_append(struct dln_buf *buf, const void *data, size_t len) {
    if (!reserve(buf, len)) {
        return;
    }
    if (len > 0) {
        memcpy(buf->data + buf->len, data, len);
        buf->len += len;
    }
    buf->data[buf->len] = '\0';
}

void dln_buf_append_text(struct dln_buf *buf, const char *zero_ended) {
    dln_buf_append(buf, zero_ended, strlen(zero_ended));
}

void dln_buf_append_byte(struct dln_buf *buf, char byte) {
    dln_buf_append(buf, &byte, 1);
}

void dln_buf_append_u64_be(struct dln_buf *buf, uint64_t number) {
    unsigned char bytes[8];
    for (int i = 7; i >= 0; i--) {
        bytes[i] = (unsigned char)(number & 0xff);
        number >>= 8;
    }
    dln_buf_append(buf, bytes, sizeof(bytes));
}

void dln_buf_printf(struct dln_buf *buf, const char *format, ...) {
    va_list values;
    va_list again;
    va_start(values, format);
    va_copy(again, values);
    int len = vsnprintf(NULL, 0, format, values);
    assert(len >= 0); /* only a wrong format fails */
    if (len >= 0 && reserve(buf, (size_t)len)) {
        (void)vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
    va_end(values);
}

dunlin_status dln_buf_status(const struct dln_buf *buf, dunlin_error *err) {
    if (buf->status == DUNLIN_OK) {
        return DUNLIN_OK;
    }
    return dln_fail(err, buf->status, DUNLIN_DOMAIN_NONE, "%s", dunlin_status_text(buf->status));
}
