/* Reading lists and items, and searching both. */
#include <dunlin/list.h>

#include "client/edit.h"
#include "client/handle.h"
#include "client/iter.h"
#include "client/list.h"
#include "store/fold.h"
#include "store/lists.h"

static const struct dln_iter_kind lists_kind = {DLN_ROWS_LIST, sizeof(dunlin_list), "lists", 0, 2,
                                                dln_page_lists};
static const struct dln_iter_kind named_kind = {
    DLN_ROWS_LIST, sizeof(dunlin_list), "named", 1, 2, dln_page_lists_named};
static const struct dln_iter_kind list_kind = {DLN_ROWS_LIST, sizeof(dunlin_list), "list", 1, 2,
                                               dln_page_list};
static const struct dln_iter_kind with_kind = {
    DLN_ROWS_LIST, sizeof(dunlin_list), "with", 2, 2, dln_page_lists_with};
static const struct dln_iter_kind items_kind = {DLN_ROWS_ITEM, sizeof(dunlin_item), "items", 1, 3,
                                                dln_page_items};
static const struct dln_iter_kind item_kind = {DLN_ROWS_ITEM, sizeof(dunlin_item), "item", 3, 3,
                                               dln_page_item};
static const struct dln_iter_kind hits_kind = {DLN_ROWS_HIT, sizeof(dunlin_hit), "hits", 1, 4,
                                               dln_page_hits};

dunlin_status dunlin_lists(dunlin_store *store, dunlin_iter **out, const dunlin_range *range,
                           dunlin_error *err) {
    return dln_iter_open(out, store, &lists_kind, NULL, range, err);
}

dunlin_status dunlin_lists_named(dunlin_store *store, dunlin_iter **out, const char *name,
                                 dunlin_error *err) {
    struct dln_buf form = DLN_BUF_INIT(DLN_NAME_FORM_MAX);
    dunlin_status status =
        name ? dln_check_name_argument(name, "name", err) : dln_misuse(err, "the name is NULL");
    if (status == DUNLIN_OK) {
        dln_nfc(&form, dln_text_of(name));
        status = dln_buf_status(&form, err);
    }
    if (status == DUNLIN_OK) {
        struct dln_text argument = {form.data ? form.data : "", form.len};
        status = dln_iter_open(out, store, &named_kind, &argument, NULL, err);
    } else {
        status = dln_iter_refuse(out, status);
    }
    dln_buf_free(&form);
    return status;
}

dunlin_status dunlin_list_get(dunlin_store *store, dunlin_iter **out, const char *list,
                              dunlin_error *err) {
    struct dln_text argument = dln_text_of(list);
    dunlin_status status = dln_check_id_argument(list, "list", err);
    return status != DUNLIN_OK ? dln_iter_refuse(out, status)
                               : dln_iter_open(out, store, &list_kind, &argument, NULL, err);
}

dunlin_status dunlin_lists_with(dunlin_store *store, dunlin_iter **out, const char *type,
                                const char *id, dunlin_error *err) {
    struct dln_text arguments[] = {dln_text_of(type), dln_text_of(id)};
    dunlin_status status = dln_check_id_argument(type, "type", err);
    if (status == DUNLIN_OK) {
        status = dln_check_id_argument(id, "id", err);
    }
    return status != DUNLIN_OK ? dln_iter_refuse(out, status)
                               : dln_iter_open(out, store, &with_kind, arguments, NULL, err);
}

dunlin_status dunlin_lists_next(dunlin_iter *iter, const dunlin_list **row, dunlin_error *err) {
    DLN_ITER_NEXT(iter, DLN_ROWS_LIST, row, err);
}

dunlin_status dunlin_items(dunlin_store *store, dunlin_iter **out, const char *list,
                           const dunlin_range *range, dunlin_error *err) {
    struct dln_text argument = dln_text_of(list);
    bool live = false;
    dunlin_status status = dln_handle_check(store, err);
    if (status == DUNLIN_OK) {
        status = dln_check_id_argument(list, "list", err);
    }
    if (status == DUNLIN_OK) {
        status = dln_list_is_live(store->store, argument, &live, err);
    }
    if (status == DUNLIN_OK && !live) {
        status = dln_no_list(err);
    }
    return status != DUNLIN_OK ? dln_iter_refuse(out, status)
                               : dln_iter_open(out, store, &items_kind, &argument, range, err);
}

dunlin_status dunlin_item_get(dunlin_store *store, dunlin_iter **out, const char *list,
                              const char *type, const char *id, dunlin_error *err) {
    struct dln_text arguments[] = {dln_text_of(list), dln_text_of(type), dln_text_of(id)};
    dunlin_status status = dln_check_id_argument(list, "list", err);
    if (status == DUNLIN_OK) {
        status = dln_check_id_argument(type, "type", err);
    }
    if (status == DUNLIN_OK) {
        status = dln_check_id_argument(id, "id", err);
    }
    return status != DUNLIN_OK ? dln_iter_refuse(out, status)
                               : dln_iter_open(out, store, &item_kind, arguments, NULL, err);
}

dunlin_status dunlin_items_next(dunlin_iter *iter, const dunlin_item **row, dunlin_error *err) {
    DLN_ITER_NEXT(iter, DLN_ROWS_ITEM, row, err);
}

dunlin_status dunlin_search(dunlin_store *store, dunlin_iter **out, const char *text,
                            const dunlin_range *range, dunlin_error *err) {
    struct dln_text argument = dln_text_of(text);
    dunlin_status status = dln_handle_check(store, err);
    if (status == DUNLIN_OK) {
        status =
            text ? dln_check_name_argument(text, "text", err) : dln_misuse(err, "the text is NULL");
    }
    if (status == DUNLIN_OK && !dln_store_has_search(store->store)) {
        status = dln_fail(err, DUNLIN_UNSUPPORTED, DUNLIN_DOMAIN_STORE,
                          "the store was made without search");
    }
    return status != DUNLIN_OK ? dln_iter_refuse(out, status)
                               : dln_iter_open(out, store, &hits_kind, &argument, range, err);
}

dunlin_status dunlin_search_next(dunlin_iter *iter, const dunlin_hit **row, dunlin_error *err) {
    DLN_ITER_NEXT(iter, DLN_ROWS_HIT, row, err);
}
