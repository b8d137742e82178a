/* Pages of items. */
#include "store/lists.h"
#include "store/page_rows.h"

static enum dln_page_take fill_item(struct dln_page *page, const struct dln_statement *statement,
                                    void *out, struct dln_page_key *key) {
    struct dunlin_item *row = out;
    struct dln_text type = dln_arena_text(page->arena, dln_column_text(statement, 0));
    struct dln_text id = dln_arena_text(page->arena, dln_column_text(statement, 1));
    struct dln_text rank = dln_arena_text(page->arena, dln_column_text(statement, 5));
    bool failed = !type.data || !id.data || !rank.data;
    const char **texts[] = {&row->title, &row->data};
    for (int i = 0; i < 2; i++) {
        if (!dln_column_is_null(statement, 3 + i)) {
            *texts[i] = dln_arena_text(page->arena, dln_column_text(statement, 3 + i)).data;
            failed = failed || !*texts[i];
        }
    }
    row->list = page->arguments[0].data;
    row->type = type.data;
    row->id = id.data;
    row->created_at = dln_column_int(statement, 2);
    *key = (struct dln_page_key){3, {rank, id, type}};
    return failed ? DLN_PAGE_NO_MEMORY : DLN_PAGE_TAKEN;
}

static dunlin_status read_items(struct dln_store *store, struct dln_page *page, int64_t list,
                                dunlin_error *err) {
    struct dln_statement statement =
        dln_use(store, page->backwards ? DLN_STORE_ITEMS_BACKWARD : DLN_STORE_ITEMS_FORWARD);
    dln_bind_int(&statement, list);
    for (int i = 0; i < 3; i++) {
        dln_page_bind_from(&statement, page, i);
    }
    dln_bind_int(&statement, (int64_t)page->limit);
    return dln_page_run(page, &statement, sizeof(dunlin_item), fill_item, err);
}

/* The number of a list if it is live, else 0. */
static dunlin_status live_list(struct dln_store *store, struct dln_text list, int64_t *out,
                               dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_LIST_LIVE);
    dln_bind_text(&statement, list);
    return dln_get_int(&statement, out, err);
}

dunlin_status dln_list_is_live(struct dln_store *store, struct dln_text list, bool *out,
                               dunlin_error *err) {
    int64_t number = 0;
    dunlin_status status = live_list(store, list, &number, err);
    *out = number != 0;
    return status;
}

dunlin_status dln_page_items(struct dln_store *store, struct dln_page *page, dunlin_error *err) {
    int64_t list = 0;
    dunlin_status status = live_list(store, page->arguments[0], &list, err);
    if (status != DUNLIN_OK || list == 0) {
        return status != DUNLIN_OK ? status : dln_page_start(page, sizeof(dunlin_item), err);
    }
    return read_items(store, page, list, err);
}

dunlin_status dln_page_items_kept(struct dln_store *store, struct dln_page *page,
                                  dunlin_error *err) {
    int64_t list = 0;
    dunlin_status status = dln_name_find(store, page->arguments[0], &list, err);
    return status != DUNLIN_OK ? status : read_items(store, page, list, err);
}

dunlin_status dln_page_item(struct dln_store *store, struct dln_page *page, dunlin_error *err) {
    int64_t list = 0, type = 0;
    dunlin_status status = live_list(store, page->arguments[0], &list, err);
    if (status == DUNLIN_OK && list != 0) {
        status = dln_name_find(store, page->arguments[1], &type, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    if (list == 0 || type == 0 || page->from) {
        return dln_page_start(page, sizeof(dunlin_item), err);
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_ITEM_ONE);
    dln_bind_int(&statement, type);
    dln_bind_text(&statement, page->arguments[2]);
    dln_bind_int(&statement, list);
    return dln_page_run(page, &statement, sizeof(dunlin_item), fill_item, err);
}
