/* Items of lists: added, changed, removed, moved. */
#include <dunlin/list.h>

#include "client/edit.h"
#include "client/handle.h"
#include "client/list.h"
#include "client/place.h"
#include "store/lists.h"
#include "sync/json.h"

/* An item by its key. */
struct item_key {
    struct dln_text list;
    struct dln_text type;
    struct dln_text id;
};

static dunlin_status no_item(dunlin_error *err) {
    return dln_fail(err, DUNLIN_NOT_FOUND, DUNLIN_DOMAIN_API, "the item is not in the list");
}

/* ---- arguments */

static dunlin_status check_key(const char *list, const char *type, const char *id,
                               struct item_key *out, dunlin_error *err) {
    dunlin_status status = dln_check_id_argument(list, "list", err);
    if (status == DUNLIN_OK) {
        status = dln_check_id_argument(type, "type", err);
    }
    if (status == DUNLIN_OK) {
        status = dln_check_id_argument(id, "id", err);
    }
    *out = (struct item_key){dln_text_of(list), dln_text_of(type), dln_text_of(id)};
    return status;
}

static dunlin_status check_options(const dunlin_item_options *options, dunlin_error *err) {
    if (!options) {
        return DUNLIN_OK;
    }
    if (options->version != DUNLIN_ITEM_OPTIONS_VERSION) {
        return dln_misuse(err, "the item's options are of an unknown version");
    }
    dunlin_status status = dln_check_name_argument(options->title, "title", err);
    if (status == DUNLIN_OK && options->data) {
        status = dln_check_json(dln_text_of(options->data), err);
    }
    return status;
}

/* ---- rows */

static dunlin_status read_item(struct dln_edit *edit, const struct item_key *key,
                               struct dln_row *out, dunlin_error *err) {
    struct dln_text parts[] = {key->list, key->type, key->id};
    return dln_edit_row(edit, out, DLN_ITEM, key->list, parts, err);
}

static dunlin_status check_live(struct dln_edit *edit, struct dln_text list, dunlin_error *err) {
    bool live = false;
    dunlin_status status = dln_list_is_live(edit->store, list, &live, err);
    return status == DUNLIN_OK && !live ? dln_no_list(err) : status;
}

/* NOT_FOUND where the list is not live or has no such item. */
static dunlin_status read_live_item(struct dln_edit *edit, const struct item_key *key,
                                    struct dln_row *out, dunlin_error *err) {
    dunlin_status status = check_live(edit, key->list, err);
    if (status == DUNLIN_OK) {
        status = read_item(edit, key, out, err);
    }
    return status == DUNLIN_OK && !dln_row_exists(out) ? no_item(err) : status;
}

/* Only what is given, and only where it differs. */
static void change_given(struct dln_row *row, uint32_t *fields,
                         const dunlin_item_options *options) {
    if (options && options->title) {
        dln_row_change(row, fields, DLN_ITEM_TITLE, dln_value_string(dln_text_of(options->title)));
    }
    if (options && options->data) {
        dln_row_change(row, fields, DLN_ITEM_DATA, dln_value_json(dln_text_of(options->data)));
    }
    if (options && options->created_at) {
        dln_row_change(row, fields, DLN_ITEM_CREATED_AT, dln_value_integer(*options->created_at));
    }
}

/* A new life: every field, so that nothing of an earlier one returns. */
static void start_anew(struct dln_edit *edit, struct dln_row *row, uint32_t *fields,
                       const struct dln_rank *rank) {
    int64_t now_ms = dln_store_now_ms(edit->store);
    dln_row_set(row, fields, DLN_ITEM_PRESENT, dln_value_bool(true));
    dln_row_set(row, fields, DLN_ITEM_CREATED_AT, dln_value_integer(now_ms));
    dln_row_set(row, fields, DLN_ITEM_RANK, dln_value_string(dln_rank_text(rank)));
    dln_row_set(row, fields, DLN_ITEM_TITLE, dln_value_null());
    dln_row_set(row, fields, DLN_ITEM_DATA, dln_value_null());
    dln_row_set(row, fields, DLN_ITEM_ATTACHMENTS, dln_value_null());
}

/* ---- adding, changing, removing */

/* A rank at the list's end, found by one look at the index. */
static dunlin_status end_rank(struct dln_edit *edit, struct dln_text list, struct dln_text last,
                              struct dln_rank *out, dunlin_error *err) {
    struct dln_siblings siblings = {.collection = DLN_ITEM, .list = list};
    const struct dln_text none = {NULL, 0};
    bool stays;
    if (dln_rank_between(out, last.len > 0 ? last : none, none, dln_store_random(edit->store))) {
        return DUNLIN_OK;
    }
    return dln_place(edit, &siblings, DUNLIN_PLACE_LAST, NULL, out, &stays, err);
}

/* An item that is in the list, or was: it keeps what is not given, or starts anew. */
static dunlin_status add_again(struct dln_edit *edit, const struct item_key *key,
                               const struct dln_rank *rank, const dunlin_item_options *options,
                               dunlin_error *err) {
    struct dln_row row;
    uint32_t fields = 0;
    dunlin_status status = read_item(edit, key, &row, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (!dln_row_exists(&row)) {
        start_anew(edit, &row, &fields, rank);
    }
    change_given(&row, &fields, options);
    return dln_edit_write(edit, &row, fields, err);
}

/* Most items that are added are new: that is tried first, since it needs no reading. */
static dunlin_status add(struct dln_edit *edit, const struct item_key *key,
                         const dunlin_item_options *options, dunlin_error *err) {
    struct dln_text parts[] = {key->list, key->type, key->id};
    struct dln_row row;
    struct dln_rank rank;
    struct dln_text last;
    uint32_t fields = 0;
    bool live;
    bool created = false;
    dunlin_status status = dln_list_end(edit->store, &edit->arena, key->list, &live, &last, err);
    if (status == DUNLIN_OK && !live) {
        status = dln_no_list(err);
    }
    if (status == DUNLIN_OK) {
        status = end_rank(edit, key->list, last, &rank, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_edit_new(edit, &row, DLN_ITEM, key->list, parts, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    start_anew(edit, &row, &fields, &rank);
    change_given(&row, &fields, options);
    status = dln_edit_create(edit, &row, &created, err);
    return status == DUNLIN_OK && !created ? add_again(edit, key, &rank, options, err) : status;
}

dunlin_status dunlin_list_add(dunlin_store *store, const char *list, const char *type,
                              const char *id, const dunlin_item_options *options,
                              dunlin_error *err) {
    struct dln_edit edit;
    struct item_key key;
    dunlin_status status = check_key(list, type, id, &key, err);
    if (status == DUNLIN_OK) {
        status = check_options(options, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = add(&edit, &key, options, err);
    return dln_edit_end(&edit, status, err);
}

dunlin_status dunlin_item_set(dunlin_store *store, const char *list, const char *type,
                              const char *id, const dunlin_item_options *options,
                              dunlin_error *err) {
    struct dln_edit edit;
    struct item_key key;
    struct dln_row row;
    uint32_t fields = 0;
    dunlin_status status = check_key(list, type, id, &key, err);
    if (status == DUNLIN_OK) {
        status = check_options(options, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = read_live_item(&edit, &key, &row, err);
    if (status == DUNLIN_OK) {
        change_given(&row, &fields, options);
        status = dln_edit_write(&edit, &row, fields, err);
    }
    return dln_edit_end(&edit, status, err);
}

static dunlin_status take_out(struct dln_edit *edit, struct dln_row *row, dunlin_error *err) {
    uint32_t fields = 0;
    dln_row_set(row, &fields, DLN_ITEM_PRESENT, dln_value_bool(false));
    return dln_edit_write(edit, row, fields, err);
}

dunlin_status dunlin_list_remove(dunlin_store *store, const char *list, const char *type,
                                 const char *id, dunlin_error *err) {
    struct dln_edit edit;
    struct item_key key;
    struct dln_row row;
    dunlin_status status = check_key(list, type, id, &key, err);
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = read_live_item(&edit, &key, &row, err);
    if (status == DUNLIN_OK) {
        status = take_out(&edit, &row, err);
    }
    return dln_edit_end(&edit, status, err);
}

/* ---- moving */

static bool same_item(const struct item_key *a, const struct item_key *b) {
    return dln_text_equal(a->type, b->type) && dln_text_equal(a->id, b->id);
}

/* Puts `row` (of key `key`) at its place; `fields` are set besides. */
static dunlin_status put(struct dln_edit *edit, const struct item_key *key, struct dln_row *row,
                         uint32_t fields, const dunlin_item_place *place, dunlin_error *err) {
    struct dln_siblings siblings = {.collection = DLN_ITEM, .list = key->list};
    struct item_key neighbour_key = {key->list, dln_text_of(place->before_type),
                                     dln_text_of(place->before_id)};
    struct dln_page_key before = {0};
    struct dln_row neighbour;
    struct dln_rank rank;
    bool stays = false;
    dunlin_status status = DUNLIN_OK;
    if (dln_row_exists(row) && (fields & (1u << DLN_ITEM_PRESENT)) == 0) {
        siblings.self = dln_place_key(row);
    }
    if (place->place == DUNLIN_PLACE_BEFORE) {
        status = read_live_item(edit, &neighbour_key, &neighbour, err);
        stays = status == DUNLIN_OK && same_item(key, &neighbour_key);
        if (status == DUNLIN_OK) {
            before = dln_place_key(&neighbour);
        }
    }
    if (status == DUNLIN_OK && !stays) {
        status = dln_place(edit, &siblings, place->place, &before, &rank, &stays, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    if (!stays) {
        dln_row_set(row, &fields, DLN_ITEM_RANK, dln_value_string(dln_rank_text(&rank)));
    }
    return dln_edit_write(edit, row, fields, err);
}

/* What is kept of an item that moves, into the row that it becomes. */
static void carry(const struct dln_row *from, struct dln_row *to, uint32_t *fields) {
    static const int carried[] = {DLN_ITEM_CREATED_AT, DLN_ITEM_TITLE, DLN_ITEM_DATA,
                                  DLN_ITEM_ATTACHMENTS};
    bool there = dln_row_exists(to);
    for (size_t i = 0; i < sizeof(carried) / sizeof(carried[0]); i++) {
        const struct dln_field *field = &from->record.fields[carried[i]];
        bool given = field->stamp != 0 && field->value.type != DLN_NULL;
        if (!there) {
            dln_row_set(to, fields, carried[i], given ? field->value : dln_value_null());
        } else if (given) {
            dln_row_change(to, fields, carried[i], field->value);
        }
    }
    if (!there) {
        dln_row_set(to, fields, DLN_ITEM_PRESENT, dln_value_bool(true));
    }
    if (from->record.extra_count > 0 && to->record.extra_count == 0) {
        to->record.extras = from->record.extras;
        to->record.extra_count = from->record.extra_count;
        *fields |= DLN_EXTRAS_BIT;
    }
}

static dunlin_status move(struct dln_edit *edit, const struct item_key *key,
                          const dunlin_item_place *place, dunlin_error *err) {
    struct item_key target_key = *key;
    struct dln_row row, target;
    uint32_t fields = 0;
    dunlin_status status = read_live_item(edit, key, &row, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (!place->to_list || dln_text_equal(dln_text_of(place->to_list), key->list)) {
        return put(edit, key, &row, 0, place, err);
    }
    target_key.list = dln_text_of(place->to_list);
    status = check_live(edit, target_key.list, err);
    if (status == DUNLIN_OK) {
        status = read_item(edit, &target_key, &target, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    carry(&row, &target, &fields);
    status = put(edit, &target_key, &target, fields, place, err);
    return status != DUNLIN_OK ? status : take_out(edit, &row, err);
}

static dunlin_status check_place(const dunlin_item_place *place, dunlin_error *err) {
    if (!place) {
        return dln_misuse(err, "there is no place");
    }
    if (place->version != DUNLIN_ITEM_PLACE_VERSION) {
        return dln_misuse(err, "the place is of an unknown version");
    }
    bool neighbour = place->before_type || place->before_id;
    dunlin_status status = dln_check_place(place->place, neighbour, err);
    if (status == DUNLIN_OK && place->to_list) {
        status = dln_check_id_argument(place->to_list, "to_list", err);
    }
    if (status == DUNLIN_OK && neighbour) {
        status = dln_check_id_argument(place->before_type, "before_type", err);
    }
    if (status == DUNLIN_OK && neighbour) {
        status = dln_check_id_argument(place->before_id, "before_id", err);
    }
    return status;
}

dunlin_status dunlin_list_move(dunlin_store *store, const char *list, const char *type,
                               const char *id, const dunlin_item_place *place, dunlin_error *err) {
    struct dln_edit edit;
    struct item_key key;
    dunlin_status status = check_key(list, type, id, &key, err);
    if (status == DUNLIN_OK) {
        status = check_place(place, err);
    }
    if (status == DUNLIN_OK) {
        status = dln_edit_begin(&edit, store, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    status = move(&edit, &key, place, err);
    return dln_edit_end(&edit, status, err);
}
