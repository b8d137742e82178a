/* Pages of lists. */
#include "store/counts.h"
#include "store/ends.h"
#include "store/fold.h"
#include "store/lists.h"
#include "store/page_rows.h"

static enum dln_page_take fill_list(struct dln_page *page, const struct dln_statement *statement,
                                    void *out, struct dln_page_key *key) {
    struct dunlin_list *row = out;
    struct dln_text id = dln_arena_text(page->arena, dln_column_text(statement, 0));
    struct dln_text name = dln_arena_text(page->arena, dln_column_text(statement, 1));
    struct dln_text rank = dln_arena_text(page->arena, dln_column_text(statement, 3));
    row->id = id.data;
    row->name = name.data;
    row->count = dln_column_int(statement, 2);
    *key = (struct dln_page_key){2, {rank, id}};
    return id.data && name.data && rank.data ? DLN_PAGE_TAKEN : DLN_PAGE_NO_MEMORY;
}

/* A list is of that name when the NFC forms are equal. Names are few and short: no index is kept.
 */
static enum dln_page_take fill_named(struct dln_page *page, const struct dln_statement *statement,
                                     void *out, struct dln_page_key *key) {
    struct dln_buf form = DLN_BUF_INIT(DLN_NAME_FORM_MAX);
    dln_nfc(&form, dln_column_text(statement, 1));
    bool equal =
        dln_text_equal((struct dln_text){form.data ? form.data : "", form.len}, page->arguments[0]);
    bool failed = form.status == DUNLIN_OUT_OF_MEMORY;
    dln_buf_free(&form);
    return failed  ? DLN_PAGE_NO_MEMORY
           : equal ? fill_list(page, statement, out, key)
                   : DLN_PAGE_SKIPPED;
}

static dunlin_status read_lists(struct dln_store *store, struct dln_page *page, int64_t limit,
                                dln_page_fill fill, dunlin_error *err) {
    dunlin_status status = dln_counts_flush(store, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_statement statement =
        dln_use(store, page->backwards ? DLN_STORE_LISTS_BACKWARD : DLN_STORE_LISTS_FORWARD);
    dln_page_bind_from(&statement, page, 0);
    dln_page_bind_from(&statement, page, 1);
    dln_bind_int(&statement, limit);
    return dln_page_run(page, &statement, sizeof(dunlin_list), fill, err);
}

dunlin_status dln_page_lists(struct dln_store *store, struct dln_page *page, dunlin_error *err) {
    return read_lists(store, page, (int64_t)page->limit, fill_list, err);
}

dunlin_status dln_page_lists_named(struct dln_store *store, struct dln_page *page,
                                   dunlin_error *err) {
    return read_lists(store, page, -1, fill_named, err);
}

dunlin_status dln_page_list(struct dln_store *store, struct dln_page *page, dunlin_error *err) {
    if (page->from) {
        return dln_page_start(page, sizeof(dunlin_list), err);
    }
    dunlin_status status = dln_counts_flush(store, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_LIST_ONE);
    dln_bind_text(&statement, page->arguments[0]);
    return dln_page_run(page, &statement, sizeof(dunlin_list), fill_list, err);
}

dunlin_status dln_page_lists_with(struct dln_store *store, struct dln_page *page,
                                  dunlin_error *err) {
    dunlin_status status = dln_counts_flush(store, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_statement statement = dln_use(store, page->backwards ? DLN_STORE_LISTS_WITH_BACKWARD
                                                                    : DLN_STORE_LISTS_WITH_FORWARD);
    dln_bind_text(&statement, page->arguments[0]);
    dln_bind_text(&statement, page->arguments[1]);
    dln_page_bind_from(&statement, page, 0);
    dln_page_bind_from(&statement, page, 1);
    dln_bind_int(&statement, (int64_t)page->limit);
    return dln_page_run(page, &statement, sizeof(dunlin_list), fill_list, err);
}

dunlin_status dln_list_end(struct dln_store *store, struct dln_arena *arena, struct dln_text list,
                           bool *live, struct dln_text *rank, dunlin_error *err) {
    int64_t number = 0;
    *live = false;
    dunlin_status status = dln_name_find(store, list, &number, err);
    if (status != DUNLIN_OK || number == 0) {
        return status;
    }
    const struct dln_end *end = dln_end_find(store, number);
    if (end) {
        *live = true;
        *rank = dln_arena_text(arena, (struct dln_text){end->rank, end->len});
        return rank->data ? DUNLIN_OK : dln_no_memory(err);
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_LIST_END);
    dln_bind_int(&statement, number);
    status = dln_step(&statement, live, err);
    if (status == DUNLIN_OK && *live) {
        *rank = dln_arena_text(arena, dln_column_text(&statement, 0));
        dln_done(&statement);
        if (rank->data) {
            dln_end_learn(store, number, *rank);
        }
        status = rank->data ? DUNLIN_OK : dln_no_memory(err);
    }
    return status;
}
