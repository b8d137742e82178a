/* Reading: one kind of iterator for everything that is listed. It reads in pages by key and holds
 * no read transaction between calls, so it may be kept as long as one likes; rows inserted or
 * removed meanwhile never make it skip or repeat another. */
#ifndef DUNLIN_ITER_H
#define DUNLIN_ITER_H

#include <stddef.h>

#include <dunlin/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dunlin_iter dunlin_iter;

/* Where to start and when to stop. NULL in its place means: from the first to the last. */
typedef struct dunlin_range {
    int version;        /* DUNLIN_RANGE_VERSION */
    size_t limit;       /* at most that many rows; 0: no limit */
    const char *after;  /* start behind the row with this token … */
    const char *before; /* … or go backwards from the row with this token; not both */
    int backwards;      /* without a token: from the last to the first */
} dunlin_range;

#define DUNLIN_RANGE_VERSION 1
#define DUNLIN_RANGE_INIT                                                                          \
    { DUNLIN_RANGE_VERSION, 0, NULL, NULL, 0 }

/* The token of the row that was given last, to be used as after or before in a later range, also in
 * another process and after that row is gone. NULL before the first row. Borrowed until the next
 * call on the iterator. Tokens are text without white space, at most 2,048 bytes. */
DUNLIN_API const char *dunlin_iter_token(const dunlin_iter *iter);

/* NULL is allowed. */
DUNLIN_API void dunlin_iter_free(dunlin_iter *iter);

#ifdef __cplusplus
}
#endif
#endif
