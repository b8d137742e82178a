/* Lists as records of their own: made, renamed, put in order, deleted, restored. */
#include <dunlin/list.h>

#include <string.h>

#include "client/edit.h"
#include "client/list.h"
#include "client/place.h"
#include "store/lists.h"

dunlin_status dln_no_list(dunlin_error *err) {
    return dln_fail(err, DUNLIN_NOT_FOUND, DUNLIN_DOMAIN_API, "there is no such list, or deleted");
}

static dunlin_status read_list(struct dln_edit *edit, struct dln_text list, struct dln_row *out,
                               dunlin_error *err) {
    return dln_edit_row(edit, out, DLN_LIST, list, &list, err);
}

/* NOT_FOUND where the list is not live. */
static dunlin_status read_live_list(struct dln_edit *edit, struct dln_text list,
                                    struct dln_row *out, dunlin_error *err) {
    dunlin_status status = read_list(edit, list, out, err);
    return status == DUNLIN_OK && !dln_row_exists(out) ? dln_no_list(err) : status;
}

/* ---- making and naming */

static dunlin_status last_rank(struct dln_edit *edit, struct dln_rank *out, dunlin_error *err) {
    struct dln_siblings siblings = {.collection = DLN_LIST};
    bool stays;
    return dln_place(edit, &siblings, DUNLIN_PLACE_LAST, NULL, out, &stays, err);
}

static dunlin_status create(struct dln_edit *edit, struct dln_text list, const char *name,
                            dunlin_error *err) {
    struct dln_row row;
    struct dln_rank rank;
    uint32_t fields = 0;
    dunlin_status status = read_list(edit, list, &row, err);
    if (status == DUNLIN_OK && row.stored) {
        status =
            dln_fail(err, DUNLIN_EXISTS, DUNLIN_DOMAIN_API, "there is or was a list of that id");
    }
    if (status == DUNLIN_OK) {
        status = last_rank(edit, &rank, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    dln_row_set(&row, &fields, DLN_LIST_NAME, dln_value_string(dln_text_of(name)));
    dln_row_set(&row, &fields, DLN_LIST_RANK, dln_value_string(dln_rank_text(&rank)));
    dln_row_set(&row, &fields, DLN_LIST_DELETED, dln_value_bool(false));
    return dln_edit_write(edit, &row, fields, err);
}

static dunlin_status check_name(const char *name, dunlin_error *err) {
    return name ? dln_check_name_argument(name, "name", err) : dln_misuse(err, "the name is NULL");
}

dunlin_status dunlin_list_create(dunlin_store *store, char out[DUNLIN_NEW_ID_SIZE],
                                 const char *list, const char *name, dunlin_error *err) {
    char made[DUNLIN_NEW_ID_SIZE];
    struct dln_edit edit;
    dunlin_status status = check_name(name, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (list) {
        status = dln_check_id_argument(list, "list", err);
    } else {
        status = out ? dunlin_new_id(store, made, err)
                     : dln_misuse(err, "there is no place for the list's id");
    }
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = create(&edit, dln_text_of(list ? list : made), name, err);
    status = dln_edit_end(&edit, status, err);
    if (status == DUNLIN_OK && !list && out) {
        memcpy(out, made, sizeof(made));
    }
    return status;
}

dunlin_status dunlin_list_rename(dunlin_store *store, const char *list, const char *name,
                                 dunlin_error *err) {
    struct dln_edit edit;
    struct dln_row row;
    uint32_t fields = 0;
    dunlin_status status = dln_check_id_argument(list, "list", err);
    if (status == DUNLIN_OK) {
        status = check_name(name, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = read_live_list(&edit, dln_text_of(list), &row, err);
    if (status == DUNLIN_OK) {
        dln_row_change(&row, &fields, DLN_LIST_NAME, dln_value_string(dln_text_of(name)));
        status = dln_edit_write(&edit, &row, fields, err);
    }
    return dln_edit_end(&edit, status, err);
}

static dunlin_status rank(struct dln_edit *edit, const char *list, dunlin_place_kind place,
                          const char *before, dunlin_error *err) {
    struct dln_row row, neighbour;
    struct dln_page_key key;
    struct dln_rank found;
    uint32_t fields = 0;
    bool stays = before && strcmp(list, before) == 0;
    dunlin_status status = read_live_list(edit, dln_text_of(list), &row, err);
    if (status == DUNLIN_OK && before) {
        status = read_live_list(edit, dln_text_of(before), &neighbour, err);
    }
    if (status != DUNLIN_OK || stays) {
        return status;
    }
    struct dln_siblings siblings = {.collection = DLN_LIST, .self = dln_place_key(&row)};
    if (before) {
        key = dln_place_key(&neighbour);
    }
    status = dln_place(edit, &siblings, place, before ? &key : NULL, &found, &stays, err);
    if (status != DUNLIN_OK || stays) {
        return status;
    }
    dln_row_set(&row, &fields, DLN_LIST_RANK, dln_value_string(dln_rank_text(&found)));
    return dln_edit_write(edit, &row, fields, err);
}

dunlin_status dunlin_list_rank(dunlin_store *store, const char *list, dunlin_place_kind place,
                               const char *before, dunlin_error *err) {
    struct dln_edit edit;
    dunlin_status status = dln_check_id_argument(list, "list", err);
    if (status == DUNLIN_OK) {
        status = dln_check_place(place, before != NULL, err);
    }
    if (status == DUNLIN_OK && before) {
        status = dln_check_id_argument(before, "before", err);
    }
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = rank(&edit, list, place, before, err);
    return dln_edit_end(&edit, status, err);
}

/* ---- deleting and restoring */

typedef dunlin_status (*item_callback)(struct dln_edit *edit, struct dln_row *row,
                                       dunlin_error *err);

/* Calls back for each item that the list has, live or not itself. The callback does not move items.
 */
static dunlin_status each_item(struct dln_edit *edit, struct dln_text list, item_callback callback,
                               dunlin_error *err) {
    struct dln_arena arenas[2] = {DLN_ARENA_INIT(DLN_EACH_BYTES_MAX),
                                  DLN_ARENA_INIT(DLN_EACH_BYTES_MAX)};
    struct dln_page_key from;
    struct dln_page page = {.arguments = &list, .limit = DLN_PAGE_ROWS, .more = true};
    dunlin_status status = DUNLIN_OK;
    for (int turn = 0; status == DUNLIN_OK && page.more; turn = 1 - turn) {
        dln_arena_clear(&arenas[turn]);
        page.arena = &arenas[turn];
        status = dln_page_items_kept(edit->store, &page, err);
        for (size_t i = 0; status == DUNLIN_OK && i < page.count; i++) {
            struct dln_edit inner = *edit;
            struct dln_text parts[] = {list, page.keys[i].parts[2], page.keys[i].parts[1]};
            struct dln_row row;
            inner.arena = DLN_ARENA_INIT(DLN_EACH_BYTES_MAX);
            status = dln_edit_row(&inner, &row, DLN_ITEM, list, parts, err);
            status = status == DUNLIN_OK ? callback(&inner, &row, err) : status;
            edit->wrote = inner.wrote;
            dln_arena_free(&inner.arena);
        }
        if (status == DUNLIN_OK && page.count > 0) {
            from = page.keys[page.count - 1];
            page.from = &from;
        }
    }
    dln_arena_free(&arenas[0]);
    dln_arena_free(&arenas[1]);
    return status;
}

static dunlin_status take_back_item(struct dln_edit *edit, struct dln_row *row, dunlin_error *err) {
    uint32_t fields = 0;
    dln_row_set(row, &fields, DLN_ITEM_PRESENT, dln_value_bool(false));
    return dln_edit_write(edit, row, fields, err);
}

static dunlin_status delete_list(struct dln_edit *edit, struct dln_text list, dunlin_error *err) {
    struct dln_row row;
    uint32_t fields = 0;
    dunlin_status status = read_list(edit, list, &row, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (!row.stored) {
        return dln_no_list(err);
    }
    if (!dln_row_exists(&row)) {
        return DUNLIN_OK;
    }
    if (dln_row_never_left(&row)) { /* nor did its items, and central would not know their list */
        status = each_item(edit, list, take_back_item, err);
    }
    dln_row_set(&row, &fields, DLN_LIST_DELETED, dln_value_bool(true));
    return status != DUNLIN_OK ? status : dln_edit_write(edit, &row, fields, err);
}

dunlin_status dunlin_list_delete(dunlin_store *store, const char *list, dunlin_error *err) {
    struct dln_edit edit;
    dunlin_status status = dln_check_id_argument(list, "list", err);
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = delete_list(&edit, dln_text_of(list), err);
    return dln_edit_end(&edit, status, err);
}

/* Every field as it stands, known and unknown. */
static uint32_t all_fields(struct dln_row *row) {
    uint32_t fields = row->record.extra_count > 0 ? DLN_EXTRAS_BIT : 0;
    for (int i = 0; i < row->record.key.collection->field_count; i++) {
        struct dln_field *field = &row->record.fields[i];
        dln_row_set(row, &fields, i, field->stamp != 0 ? field->value : dln_value_null());
    }
    return fields;
}

/* A rank is never null: who has none gets none. */
static uint32_t without_missing_rank(const struct dln_row *row, int field, uint32_t fields) {
    return dln_row_text(row, field).data ? fields : fields & ~(UINT32_C(1) << field);
}

static dunlin_status restore_item(struct dln_edit *edit, struct dln_row *row, dunlin_error *err) {
    uint32_t fields = without_missing_rank(row, DLN_ITEM_RANK, all_fields(row));
    dln_row_set(row, &fields, DLN_ITEM_PRESENT, dln_value_bool(true));
    return dln_edit_write(edit, row, fields, err);
}

/* The list and its items go out whole: central may have purged them meanwhile. */
static dunlin_status restore_list(struct dln_edit *edit, struct dln_text list, dunlin_error *err) {
    struct dln_row row;
    dunlin_status status = read_list(edit, list, &row, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (!row.stored) {
        return dln_no_list(err);
    }
    if (dln_row_exists(&row)) {
        return DUNLIN_OK;
    }
    uint32_t fields = without_missing_rank(&row, DLN_LIST_RANK, all_fields(&row));
    dln_row_set(&row, &fields, DLN_LIST_DELETED, dln_value_bool(false));
    status = dln_edit_write(edit, &row, fields, err);
    return status != DUNLIN_OK ? status : each_item(edit, list, restore_item, err);
}

dunlin_status dunlin_list_restore(dunlin_store *store, const char *list, dunlin_error *err) {
    struct dln_edit edit;
    dunlin_status status = dln_check_id_argument(list, "list", err);
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = restore_list(&edit, dln_text_of(list), err);
    return dln_edit_end(&edit, status, err);
}
