/* Unpacking goes piece by piece into a buffer with a ceiling, so that a small body that unpacks to
 * gigabytes costs no more than that ceiling. */
#define ZLIB_CONST /* next_in is not written through */
#include "bridge/gzip.h"

#include <string.h>
#include <strings.h>
#include <zlib.h>

enum { PIECE_BYTES = 32 * 1024, GZIP_WINDOW = 15 + 16, PACK_LEVEL = 4, PACK_MEMORY = 8 };

static dunlin_status fail(dunlin_error *err, int code) {
    if (code == Z_MEM_ERROR) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_CENTRAL, "out of memory");
    }
    return dln_fail(err, DUNLIN_BAD_MESSAGE, DUNLIN_DOMAIN_SYNC,
                    "a body says that it is gzip, and cannot be unpacked");
}

static dunlin_status status_of(const struct dln_buf *out, dunlin_error *err) {
    if (out->status == DUNLIN_TOO_LARGE) {
        return dln_fail(err, DUNLIN_TOO_LARGE, DUNLIN_DOMAIN_SYNC,
                        "a body is larger than %zu bytes when unpacked", out->max);
    }
    return dln_buf_status(out, err);
}

dunlin_status dln_gzip_unpack(struct dln_buf *out, struct dln_text packed, dunlin_error *err) {
    unsigned char piece[PIECE_BYTES];
    z_stream stream = {0};
    dunlin_status status = DUNLIN_OK;
    int code = inflateInit2(&stream, GZIP_WINDOW);

    if (code != Z_OK) {
        return fail(err, code);
    }
    stream.next_in = (const Bytef *)packed.data;
    stream.avail_in = (uInt)packed.len;
    do {
        stream.next_out = piece;
        stream.avail_out = sizeof(piece);
        code = inflate(&stream, Z_NO_FLUSH);
        dln_buf_append(out, piece, sizeof(piece) - stream.avail_out);
    } while (code == Z_OK && out->status == DUNLIN_OK);
    if (out->status != DUNLIN_OK) {
        status = status_of(out, err);
    } else if (code != Z_STREAM_END || stream.avail_in != 0) {
        status = fail(err, code);
    }
    (void)inflateEnd(&stream);
    return status;
}

dunlin_status dln_gzip_pack(struct dln_buf *out, struct dln_text plain, dunlin_error *err) {
    unsigned char piece[PIECE_BYTES];
    z_stream stream = {0};
    int code =
        deflateInit2(&stream, PACK_LEVEL, Z_DEFLATED, GZIP_WINDOW, PACK_MEMORY, Z_DEFAULT_STRATEGY);

    if (code != Z_OK) {
        return fail(err, Z_MEM_ERROR);
    }
    stream.next_in = (const Bytef *)plain.data;
    stream.avail_in = (uInt)plain.len;
    do {
        stream.next_out = piece;
        stream.avail_out = sizeof(piece);
        code = deflate(&stream, Z_FINISH);
        dln_buf_append(out, piece, sizeof(piece) - stream.avail_out);
    } while (code == Z_OK && out->status == DUNLIN_OK);
    (void)deflateEnd(&stream);
    return status_of(out, err);
}

/* A weight of 0 refuses: ";q=0", with any number of zeros behind a point. */
static bool is_refused(const char *parameters, size_t len) {
    const char *weight = memchr(parameters, 'q', len);
    const char *end = parameters + len;

    if (weight == NULL || weight + 1 == end || weight[1] != '=') {
        return false;
    }
    for (weight += 2; weight < end; weight++) {
        if (strchr("0. \t", *weight) == NULL) {
            return false;
        }
    }
    return true;
}

bool dln_gzip_is_accepted(const char *accept_encoding) {
    const char *at = accept_encoding ? accept_encoding : "";

    while (*at != '\0') {
        at += strspn(at, " \t,");
        size_t len = strcspn(at, ",");
        size_t name = strcspn(at, " \t,;");
        if ((name == 4 && strncasecmp(at, "gzip", 4) == 0) ||
            (name == 6 && strncasecmp(at, "x-gzip", 6) == 0)) {
            return !is_refused(at + name, len - name);
        }
        at += len;
    }
    return false;
}
