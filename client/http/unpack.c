/* zlib, in pieces. A small body may unpack to any size: nothing is kept here but one piece, and the
 * receiver, who knows his ceiling, stops it.
 *
 * Only one gzip member is taken, and nothing behind it. What it unpacks to must not be gzip again:
 * no message begins like that, and whoever packs twice hides how large it is. */
#include "client/http/unpack.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#include <zlib.h>

#include "base/error.h"

enum {
    PIECE_BYTES = 32 * 1024,
    GZIP_ONLY = 16 + MAX_WBITS, /* of zlib's window bits */
    MEMORY_LEVEL = 8
};

struct dln_unpack {
    z_stream stream;
    bool ended;
    unsigned char first[2]; /* bytes of what was unpacked */
    size_t unpacked;        /* bytes so far */
    unsigned char piece[PIECE_BYTES];
};

static dunlin_status no_memory(dunlin_error *err) {
    return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_REMOTE, "out of memory for gzip");
}

static dunlin_status bad(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_NOT_OUR_SERVER, DUNLIN_DOMAIN_REMOTE, "%s", what);
}

dunlin_status dln_unpack_new(struct dln_unpack **out, dunlin_error *err) {
    struct dln_unpack *unpack = calloc(1, sizeof(*unpack));
    *out = NULL;
    if (!unpack || inflateInit2(&unpack->stream, GZIP_ONLY) != Z_OK) {
        free(unpack);
        return no_memory(err);
    }
    *out = unpack;
    return DUNLIN_OK;
}

void dln_unpack_free(struct dln_unpack *unpack) {
    if (unpack) {
        (void)inflateEnd(&unpack->stream);
        free(unpack);
    }
}

static dunlin_status hand_on(struct dln_unpack *unpack, size_t len, dln_unpack_take take,
                             void *self, dunlin_error *err) {
    for (size_t i = 0; i < len && unpack->unpacked + i < sizeof(unpack->first); i++) {
        unpack->first[unpack->unpacked + i] = unpack->piece[i];
    }
    unpack->unpacked += len;
    if (unpack->unpacked >= 2 && unpack->first[0] == 0x1f && unpack->first[1] == 0x8b) {
        return bad(err, "an answer holds gzip inside gzip");
    }
    return len > 0 ? take(self, unpack->piece, len) : DUNLIN_OK;
}

dunlin_status dln_unpack_feed(struct dln_unpack *unpack, const void *data, size_t len,
                              dln_unpack_take take, void *self, dunlin_error *err) {
    z_stream *stream = &unpack->stream;
    union { /* zlib does not write to it */
        const void *given;
        Bytef *taken;
    } input = {.given = data};
    assert(len <= UINT_MAX);
    stream->next_in = input.taken;
    stream->avail_in = (uInt)len;
    for (bool full = true; stream->avail_in > 0 || full;) {
        if (unpack->ended) {
            return stream->avail_in > 0 ? bad(err, "an answer goes on behind its end") : DUNLIN_OK;
        }
        stream->next_out = unpack->piece;
        stream->avail_out = PIECE_BYTES;
        int code = inflate(stream, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR) {
            return no_memory(err);
        }
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
            return bad(err, "an answer's gzip is damaged");
        }
        unpack->ended = code == Z_STREAM_END;
        full = stream->avail_out == 0;
        dunlin_status status = hand_on(unpack, PIECE_BYTES - stream->avail_out, take, self, err);
        if (status != DUNLIN_OK) {
            return status;
        }
    }
    return DUNLIN_OK;
}

bool dln_unpack_is_whole(const struct dln_unpack *unpack) {
    return unpack->ended;
}

dunlin_status dln_pack(struct dln_buf *out, const void *data, size_t len, dunlin_error *err) {
    z_stream stream = {0};
    unsigned char piece[PIECE_BYTES];
    union {
        const void *given;
        Bytef *taken;
    } input = {.given = data};
    int code = Z_OK;
    assert(len <= UINT_MAX);
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_ONLY, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        return no_memory(err);
    }
    stream.next_in = input.taken;
    stream.avail_in = (uInt)len;
    while (code == Z_OK || code == Z_BUF_ERROR) {
        stream.next_out = piece;
        stream.avail_out = sizeof(piece);
        code = deflate(&stream, Z_FINISH);
        dln_buf_append(out, piece, sizeof(piece) - stream.avail_out);
    }
    (void)deflateEnd(&stream);
    assert(code == Z_STREAM_END);
    return dln_buf_status(out, err);
}
