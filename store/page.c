#include "store/page.h"

dunlin_status dln_page_start(struct dln_page *page, size_t row_size, dunlin_error *err) {
    page->count = 0;
    page->more = false;
    page->rows = dln_arena_alloc(page->arena, page->limit * row_size);
    page->keys = dln_arena_alloc(page->arena, page->limit * sizeof(*page->keys));
    if (!page->rows || !page->keys) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_STORE, "no memory for a page");
    }
    return DUNLIN_OK;
}
