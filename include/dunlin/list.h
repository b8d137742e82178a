/* Lists: named and ordered, of items that are (type, id). The same item added twice, or on two
 * devices, is one item. */
#ifndef DUNLIN_LIST_H
#define DUNLIN_LIST_H

#include <dunlin/iter.h>
#include <dunlin/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Creates a list at the end of the lists.
 *   out   receives its id when `list` is NULL, which makes one; may be NULL otherwise
 *   list  the id, chosen by the caller, or NULL
 *   name  up to DUNLIN_NAME_MAX bytes; two lists may have one name
 * EXISTS: there is a list of that id, live or deleted. Else as dunlin_follow. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_list_create(dunlin_store *store,
                                                            char out[DUNLIN_NEW_ID_SIZE],
                                                            const char *list, const char *name,
                                                            dunlin_error *err);
/* NOT_FOUND: no such list, or deleted. The same for every function below that takes a list. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_list_rename(dunlin_store *store, const char *list,
                                                            const char *name, dunlin_error *err);
/* Deletes the list with its items; deleting a deleted list succeeds and changes nothing. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_list_delete(dunlin_store *store, const char *list,
                                                            dunlin_error *err);
/* Brings a deleted list back, with the items that it had; a live one stays as it is. NOT_FOUND for
 * a list that was made here and deleted before it was ever sent: nothing is left of it. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_list_restore(dunlin_store *store, const char *list,
                                                             dunlin_error *err);

/* A place among neighbours. */
typedef enum dunlin_place_kind {
    DUNLIN_PLACE_LAST = 0,
    DUNLIN_PLACE_FIRST,
    DUNLIN_PLACE_BEFORE /* before the named neighbour */
} dunlin_place_kind;

/* before: the neighbour's id for PLACE_BEFORE, else NULL. NOT_FOUND when there is none. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_list_rank(dunlin_store *store, const char *list,
                                                          dunlin_place_kind place,
                                                          const char *before, dunlin_error *err);

typedef struct dunlin_list {
    const char *id;
    const char *name;
    int64_t count; /* live items, O(1) */
} dunlin_list;

/* Live lists in their order. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_lists(dunlin_store *store, dunlin_iter **out,
                                                      const dunlin_range *range, dunlin_error *err);
/* Live lists of that name in their order; names are compared in Unicode's NFC form. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_lists_named(dunlin_store *store, dunlin_iter **out,
                                                            const char *name, dunlin_error *err);
/* The list of that id: one row or none. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_list_get(dunlin_store *store, dunlin_iter **out,
                                                         const char *list, dunlin_error *err);
/* Live lists that hold the item, in their order. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_lists_with(dunlin_store *store, dunlin_iter **out,
                                                           const char *type, const char *id,
                                                           dunlin_error *err);
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_lists_next(dunlin_iter *iter,
                                                           const dunlin_list **row,
                                                           dunlin_error *err);

/* What an item carries besides its identity; every pointer may be NULL. */
typedef struct dunlin_item_options {
    int version;               /* DUNLIN_ITEM_OPTIONS_VERSION */
    const char *title;         /* up to DUNLIN_NAME_MAX bytes */
    const char *data;          /* one JSON value, up to DUNLIN_DATA_MAX bytes, kept byte for byte */
    const int64_t *created_at; /* Unix milliseconds; NULL: now, or what it was */
} dunlin_item_options;

#define DUNLIN_ITEM_OPTIONS_VERSION 1
#define DUNLIN_ITEM_OPTIONS_INIT                                                                   \
    { DUNLIN_ITEM_OPTIONS_VERSION, NULL, NULL, NULL }

/* Adds the item at the list's end; one that is there already keeps its place and what is not given
 * here, and only what is given changes. An item that was removed starts anew.
 *   options  NULL: nothing is given
 * Returns besides INVALID_JSON. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_list_add(dunlin_store *store, const char *list,
                                                         const char *type, const char *id,
                                                         const dunlin_item_options *options,
                                                         dunlin_error *err);
/* Changes only what is given, of an item that is there: NOT_FOUND otherwise. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_item_set(dunlin_store *store, const char *list,
                                                         const char *type, const char *id,
                                                         const dunlin_item_options *options,
                                                         dunlin_error *err);
/* NOT_FOUND: the item is not in the list. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_list_remove(dunlin_store *store, const char *list,
                                                            const char *type, const char *id,
                                                            dunlin_error *err);

/* Where an item goes. */
typedef struct dunlin_item_place {
    int version;         /* DUNLIN_ITEM_PLACE_VERSION */
    const char *to_list; /* NULL: within its list. Moving keeps title, data and created_at; an item
                            that is in the other list already is one item there afterwards */
    dunlin_place_kind place;
    const char *before_type; /* with PLACE_BEFORE: the neighbour, in the target list */
    const char *before_id;
} dunlin_item_place;

#define DUNLIN_ITEM_PLACE_VERSION 1
#define DUNLIN_ITEM_PLACE_INIT                                                                     \
    { DUNLIN_ITEM_PLACE_VERSION, NULL, DUNLIN_PLACE_LAST, NULL, NULL }

/* Moves an item within its list or to another, in one transaction. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_list_move(dunlin_store *store, const char *list,
                                                          const char *type, const char *id,
                                                          const dunlin_item_place *place,
                                                          dunlin_error *err);

typedef struct dunlin_item {
    const char *list;
    const char *type;
    const char *id;
    int64_t created_at; /* Unix milliseconds */
    const char *title;  /* NULL: none */
    const char *data;   /* JSON, NULL: none */
} dunlin_item;

/* A list's live items in their order. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_items(dunlin_store *store, dunlin_iter **out,
                                                      const char *list, const dunlin_range *range,
                                                      dunlin_error *err);
/* The one item: one row or none. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_item_get(dunlin_store *store, dunlin_iter **out,
                                                         const char *list, const char *type,
                                                         const char *id, dunlin_error *err);
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_items_next(dunlin_iter *iter,
                                                           const dunlin_item **row,
                                                           dunlin_error *err);

typedef struct dunlin_hit {
    const char *list;
    const char *name; /* the list's */
    const char *type; /* NULL: the list's name itself was hit */
    const char *id;
    const char *title;
} dunlin_hit;

/* Live lists by name and live items by title, id and the texts of their data. `text` is matched as
 * a sequence of characters, without regard to case or Unicode composition, from one character on;
 * words parted by white space must all occur. Lists first, then items, each by id of the list, type
 * and id. UNSUPPORTED when the store was made without search; INVALID_TEXT; TOO_LONG over
 * DUNLIN_NAME_MAX. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_search(dunlin_store *store, dunlin_iter **out,
                                                       const char *text, const dunlin_range *range,
                                                       dunlin_error *err);
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_search_next(dunlin_iter *iter,
                                                            const dunlin_hit **row,
                                                            dunlin_error *err);

#ifdef __cplusplus
}
#endif
#endif
