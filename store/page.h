/* Pages: how everything that is listed is read.
 *
 * A page is read by key, not by position: it starts behind the key of the last row that was seen,
 * so that it costs the same at a listing's start and at its end, and rows that come and go
 * elsewhere move nothing. A page function runs its statements to the end and resets them: no read
 * transaction outlives it. */
#ifndef DLN_STORE_PAGE_H
#define DLN_STORE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct dln_store;

enum {
    DLN_PAGE_ROWS = 100,  /* rows of a page, where the caller does not want fewer */
    DLN_PAGE_KEY_MAX = 4, /* parts of a key */
    DLN_PAGE_ARGUMENT_MAX = 3,
    DLN_PAGE_BYTES = 1 << 20 /* a page ends early once its rows take more than that */
};

/* The place of a row in its listing: texts that are compared one after the other, by bytes. Numbers
 * stand in it as decimal text. The parts of one key have at most 1,000 bytes together. */
struct dln_page_key {
    int count;
    struct dln_text parts[DLN_PAGE_KEY_MAX];
};

struct dln_page {
    /* What is asked for. */
    struct dln_arena *arena;          /* of all that is given */
    const struct dln_text *arguments; /* of the listing: a list's id, a name, … */
    const struct dln_page_key *from;  /* rows behind this one; NULL: from the first (or the last) */
    bool backwards;                   /* rows before `from`, nearest first */
    size_t limit;                     /* > 0 */
    /* What is given. */
    size_t count;
    void *rows;                /* that many structs, in the order of reading */
    struct dln_page_key *keys; /* one a row */
    bool more;                 /* whether rows may follow; false once fewer than asked were there */
};

typedef dunlin_status (*dln_page_read)(struct dln_store *store, struct dln_page *page,
                                       dunlin_error *err);

#endif
