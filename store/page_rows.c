#include "store/page_rows.h"

#include <string.h>

dunlin_status dln_page_start(struct dln_page *page, size_t row_size, dunlin_error *err) {
    page->count = 0;
    page->more = false;
    page->rows = dln_arena_alloc(page->arena, page->limit * row_size);
    page->keys = dln_arena_alloc(page->arena, page->limit * sizeof(*page->keys));
    return page->rows && page->keys ? DUNLIN_OK : dln_no_memory(err);
}

void dln_page_bind_from(struct dln_statement *statement, const struct dln_page *page, int part) {
    if (page->from) {
        dln_bind_text(statement, page->from->parts[part]);
    } else if (page->backwards) {
        dln_bind_blob(statement, DLN_TEXT("")); /* a blob is greater than any text */
    } else {
        dln_bind_text(statement, DLN_TEXT(""));
    }
}

dunlin_status dln_page_run(struct dln_page *page, struct dln_statement *statement, size_t row_size,
                           dln_page_fill fill, dunlin_error *err) {
    dunlin_status status = dln_page_start(page, row_size, err);
    bool more = status == DUNLIN_OK;
    while (more) {
        status = dln_step(statement, &more, err);
        if (status != DUNLIN_OK || !more) {
            break;
        }
        char *row = (char *)page->rows + page->count * row_size;
        switch (fill(page, statement, row, &page->keys[page->count])) {
        case DLN_PAGE_TAKEN:
            page->count++;
            break;
        case DLN_PAGE_SKIPPED:
            break;
        case DLN_PAGE_NO_MEMORY:
            status = dln_no_memory(err);
            more = false;
            break;
        }
        page->more = page->count == page->limit || page->arena->used_bytes > DLN_PAGE_BYTES;
        more = more && !(page->more && page->count > 0);
    }
    page->more = page->more && page->count > 0 && status == DUNLIN_OK;
    dln_done(statement);
    return status;
}
