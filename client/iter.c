/* The iterator: pages of rows, read by key into one of two arenas that take turns.
 *
 * The page that holds the last row given, and so the key to go on from, stays untouched until the
 * next page has been read. A failed read leaves the iterator where it was: the same call may be
 * repeated.
 *
 * A token is the listing's tag, eight digits of a hash of its arguments, and the row's key, every
 * part in lower-case hexadecimal digits behind a dot: "items-1b2c3d4e.6131.626f6f6b". There is one
 * token for a row, and it is nothing but ASCII letters, digits, '-' and '.'. */
#include "client/iter.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/handle.h"

enum { TOKEN_MAX = 2048, ARENA_BYTES_MAX = 64 << 20 };

struct dunlin_iter {
    struct dln_store *store;
    const struct dln_iter_kind *kind;
    struct dln_text arguments[DLN_PAGE_ARGUMENT_MAX];
    struct dln_arena fixed;     /* arguments, and the key of the range's token */
    struct dln_arena arenas[2]; /* of pages, by turns */
    int arena;                  /* that of `page` */
    struct dln_page page;       /* the page that is being given */
    size_t given;               /* rows of it */
    struct dln_page_key start;
    bool read; /* a page was read */
    bool backwards;
    bool limited;
    size_t left; /* rows that may still be given, where limited */
    char *token; /* TOKEN_MAX + 1 bytes */
};

static uint32_t hash_arguments(const struct dln_text *arguments, int count) {
    uint32_t hash = UINT32_C(2166136261); /* FNV-1a */
    for (int i = 0; i < count; i++) {
        for (size_t j = 0; j < arguments[i].len; j++) {
            hash = (hash ^ (unsigned char)arguments[i].data[j]) * UINT32_C(16777619);
        }
        hash = (hash ^ 0xff) * UINT32_C(16777619); /* no UTF-8 holds this byte */
    }
    return hash;
}

static size_t write_prefix(char *out, size_t size, const struct dunlin_iter *iter) {
    int len = snprintf(out, size, "%s-%08x", iter->kind->tag,
                       (unsigned)hash_arguments(iter->arguments, iter->kind->argument_count));
    assert(len > 0 && (size_t)len < size);
    return (size_t)len;
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads hexadecimal digits up to a dot or the end; moves *at there. False where they are no text.
 */
static bool read_part(struct dln_arena *arena, const char **at, struct dln_text *out) {
    size_t digits = strcspn(*at, ".");
    char *bytes = dln_arena_alloc(arena, digits / 2 + 1);
    if (!bytes || digits % 2 != 0) {
        return false;
    }
    for (size_t i = 0; i < digits / 2; i++) {
        int high = hex_digit((*at)[2 * i]);
        int low = hex_digit((*at)[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        bytes[i] = (char)(unsigned char)(high * 16 + low);
    }
    *out = (struct dln_text){bytes, digits / 2};
    *at += digits;
    return dln_text_is_utf8(*out);
}

static bool read_token(struct dunlin_iter *iter, const char *token) {
    char prefix[64];
    size_t prefix_len = write_prefix(prefix, sizeof(prefix), iter);
    if (strnlen(token, TOKEN_MAX + 1) > TOKEN_MAX || strncmp(token, prefix, prefix_len) != 0) {
        return false;
    }
    const char *at = token + prefix_len;
    for (int i = 0; i < iter->kind->key_count; i++) {
        if (*at != '.') {
            return false;
        }
        at++;
        if (!read_part(&iter->fixed, &at, &iter->start.parts[i])) {
            return false;
        }
    }
    iter->start.count = iter->kind->key_count;
    return *at == '\0';
}

static dunlin_status take_range(struct dunlin_iter *iter, const dunlin_range *range,
                                dunlin_error *err) {
    if (!range) {
        return DUNLIN_OK;
    }
    if (range->version != DUNLIN_RANGE_VERSION) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "range: unknown version %d",
                        range->version);
    }
    if (range->after && (range->before || range->backwards)) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API,
                        "range: `after` goes forwards, from one token");
    }
    const char *token = range->after ? range->after : range->before;
    if (token && !read_token(iter, token)) {
        return dln_fail(err, DUNLIN_INVALID_CURSOR, DUNLIN_DOMAIN_API,
                        "the token is not one of this listing");
    }
    iter->backwards = range->before || range->backwards;
    iter->limited = range->limit > 0;
    iter->left = range->limit;
    return DUNLIN_OK;
}

dunlin_status dln_iter_new(dunlin_iter **out, struct dln_store *store,
                           const struct dln_iter_kind *kind, const struct dln_text *arguments,
                           const dunlin_range *range, dunlin_error *err) {
    assert(kind->argument_count <= DLN_PAGE_ARGUMENT_MAX && kind->key_count <= DLN_PAGE_KEY_MAX);
    dunlin_status status = DUNLIN_OUT_OF_MEMORY;
    *out = NULL;
    struct dunlin_iter *iter = calloc(1, sizeof(*iter));
    if (!iter) {
        goto done;
    }
    iter->store = store;
    iter->kind = kind;
    iter->fixed = DLN_ARENA_INIT(ARENA_BYTES_MAX);
    iter->arenas[0] = DLN_ARENA_INIT(ARENA_BYTES_MAX);
    iter->arenas[1] = DLN_ARENA_INIT(ARENA_BYTES_MAX);
    iter->token = calloc(1, TOKEN_MAX + 1);
    if (!iter->token) {
        goto done;
    }
    for (int i = 0; i < kind->argument_count; i++) {
        iter->arguments[i] = dln_arena_text(&iter->fixed, arguments[i]);
        if (!iter->arguments[i].data) {
            goto done;
        }
    }
    status = take_range(iter, range, err);
    if (status == DUNLIN_OK) {
        *out = iter;
        return DUNLIN_OK;
    }
done:
    if (status == DUNLIN_OUT_OF_MEMORY) {
        (void)dln_fail(err, status, DUNLIN_DOMAIN_STORE, "no memory for an iterator");
    }
    dunlin_iter_free(iter);
    return status;
}

dunlin_status dln_iter_refuse(dunlin_iter **out, dunlin_status status) {
    if (out) {
        *out = NULL;
    }
    return status;
}

dunlin_status dln_iter_open(dunlin_iter **out, dunlin_store *store,
                            const struct dln_iter_kind *kind, const struct dln_text *arguments,
                            const dunlin_range *range, dunlin_error *err) {
    if (!store || !out) {
        (void)dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API,
                       "there is no store, or no place for the iterator");
        return dln_iter_refuse(out, DUNLIN_MISUSE);
    }
    return dln_iter_new(out, store->store, kind, arguments, range, err);
}

static const struct dln_page_key *last_key(const struct dunlin_iter *iter) {
    if (iter->page.count > 0) {
        return &iter->page.keys[iter->page.count - 1];
    }
    return iter->start.count > 0 ? &iter->start : NULL;
}

static dunlin_status read_page(struct dunlin_iter *iter, dunlin_error *err) {
    int arena = 1 - iter->arena;
    struct dln_page page = {.arena = &iter->arenas[arena],
                            .arguments = iter->arguments,
                            .from = last_key(iter),
                            .backwards = iter->backwards,
                            .limit = DLN_PAGE_ROWS};
    if (iter->limited && iter->left < page.limit) {
        page.limit = iter->left;
    }
    dln_arena_clear(page.arena);
    dunlin_status status = iter->kind->read(iter->store, &page, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    assert(page.count > 0 || !page.more);
    page.from = NULL; /* it stands in the arena that is used next */
    if (page.count == 0) {
        iter->page.more = false; /* the key to go on from stays, though nothing will be read */
    } else {
        iter->page = page;
        iter->arena = arena;
        iter->given = 0;
    }
    iter->read = true;
    return DUNLIN_OK;
}

dunlin_status dln_iter_next(dunlin_iter *iter, enum dln_iter_rows rows, const void **row,
                            dunlin_error *err) {
    if (!iter || !row || iter->kind->rows != rows) {
        return dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API,
                        "the iterator is none, or one of other rows");
    }
    *row = NULL;
    iter->token[0] = '\0';
    if (iter->limited && iter->left == 0) {
        return DUNLIN_OK;
    }
    if (iter->given == iter->page.count && (!iter->read || iter->page.more)) {
        dunlin_status status = read_page(iter, err);
        if (status != DUNLIN_OK) {
            return status;
        }
    }
    if (iter->given < iter->page.count) {
        *row = (const char *)iter->page.rows + iter->given * iter->kind->row_size;
        iter->given++;
        iter->left -= iter->limited ? 1 : 0;
    }
    return DUNLIN_OK;
}

const char *dunlin_iter_token(const dunlin_iter *iter) {
    static const char digits[] = "0123456789abcdef";
    if (!iter || iter->given == 0) {
        return NULL;
    }
    if (iter->token[0] != '\0') {
        return iter->token;
    }
    const struct dln_page_key *key = &iter->page.keys[iter->given - 1];
    size_t len = write_prefix(iter->token, TOKEN_MAX + 1, iter);
    assert(key->count == iter->kind->key_count);
    for (int i = 0; i < key->count; i++) {
        assert(len + 1 + 2 * key->parts[i].len <= TOKEN_MAX);
        iter->token[len++] = '.';
        for (size_t j = 0; j < key->parts[i].len; j++) {
            unsigned char byte = (unsigned char)key->parts[i].data[j];
            iter->token[len++] = digits[byte >> 4];
            iter->token[len++] = digits[byte & 15];
        }
    }
    iter->token[len] = '\0';
    return iter->token;
}

void dunlin_iter_free(dunlin_iter *iter) {
    if (!iter) {
        return;
    }
    dln_arena_free(&iter->fixed);
    dln_arena_free(&iter->arenas[0]);
    dln_arena_free(&iter->arenas[1]);
    free(iter->token);
    free(iter);
}
