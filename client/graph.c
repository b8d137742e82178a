/* Follows, subscriptions, and why. */
#include <dunlin/graph.h>

#include "client/edit.h"
#include "client/handle.h"
#include "client/iter.h"
#include "store/graph.h"

static dunlin_status check_kind(dunlin_kind kind, const char *id, dunlin_error *err) {
    switch (kind) {
    case DUNLIN_USER:
        return dln_check_id_argument(id, "id", err);
    case DUNLIN_GROUP:
        return dln_check_group_argument(id, err);
    }
    return dln_misuse(err, "there is no such kind");
}

static dunlin_status set_follow(dunlin_store *store, dunlin_kind kind, const char *id, bool present,
                                dunlin_error *err) {
    struct dln_text parts[] = {kind == DUNLIN_USER ? DLN_TEXT("user") : DLN_TEXT("group"),
                               dln_text_of(id)};
    const struct dln_text none = {NULL, 0};
    struct dln_edit edit;
    struct dln_row row;
    uint32_t fields = 0;
    dunlin_status status = dln_edit_begin(&edit, store, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    status = dln_edit_row(&edit, &row, DLN_FOLLOW, none, parts, err);
    if (status == DUNLIN_OK && dln_row_exists(&row) != present) {
        dln_row_set(&row, &fields, DLN_FOLLOW_PRESENT, dln_value_bool(present));
        status = dln_edit_write(&edit, &row, fields, err);
    }
    return dln_edit_end(&edit, status, err);
}

dunlin_status dunlin_follow(dunlin_store *store, dunlin_kind kind, const char *id,
                            dunlin_error *err) {
    dunlin_status status = dln_handle_check(store, err);
    if (status == DUNLIN_OK) {
        status = check_kind(kind, id, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_text owner = dln_text_of(dln_store_owner(store->store));
    if (kind == DUNLIN_USER && dln_text_equal(dln_text_of(id), owner)) {
        return dln_fail(err, DUNLIN_SELF, DUNLIN_DOMAIN_API, "nobody follows himself");
    }
    return set_follow(store, kind, id, true, err);
}

dunlin_status dunlin_unfollow(dunlin_store *store, dunlin_kind kind, const char *id,
                              dunlin_error *err) {
    dunlin_status status = dln_handle_check(store, err);
    if (status == DUNLIN_OK) {
        status = check_kind(kind, id, err);
    }
    return status != DUNLIN_OK ? status : set_follow(store, kind, id, false, err);
}

/* ---- reading */

static const struct dln_iter_kind following_kind = {
    DLN_ROWS_FOLLOWED, sizeof(dunlin_followed), "following", 0, 2, dln_page_following};
static const struct dln_iter_kind subscriptions_kind = {
    DLN_ROWS_SUBSCRIPTION, sizeof(dunlin_subscription), "subscriptions", 0, 1,
    dln_page_subscriptions};
static const struct dln_iter_kind subscription_kind = {
    DLN_ROWS_SUBSCRIPTION, sizeof(dunlin_subscription), "subscription", 1, 1,
    dln_page_subscription};
static const struct dln_iter_kind explain_kind = {
    DLN_ROWS_REASON, sizeof(dunlin_reason), "explain", 1, 2, dln_page_reasons};

dunlin_status dunlin_following(dunlin_store *store, dunlin_iter **out, const dunlin_range *range,
                               dunlin_error *err) {
    return dln_iter_open(out, store, &following_kind, NULL, range, err);
}

dunlin_status dunlin_following_next(dunlin_iter *iter, const dunlin_followed **row,
                                    dunlin_error *err) {
    DLN_ITER_NEXT(iter, DLN_ROWS_FOLLOWED, row, err);
}

dunlin_status dunlin_subscriptions(dunlin_store *store, dunlin_iter **out,
                                   const dunlin_range *range, dunlin_error *err) {
    return dln_iter_open(out, store, &subscriptions_kind, NULL, range, err);
}

dunlin_status dunlin_subscription_of(dunlin_store *store, dunlin_iter **out, const char *user,
                                     dunlin_error *err) {
    struct dln_text argument = dln_text_of(user);
    dunlin_status status = dln_check_id_argument(user, "user", err);
    return status != DUNLIN_OK
               ? dln_iter_refuse(out, status)
               : dln_iter_open(out, store, &subscription_kind, &argument, NULL, err);
}

dunlin_status dunlin_subscriptions_next(dunlin_iter *iter, const dunlin_subscription **row,
                                        dunlin_error *err) {
    DLN_ITER_NEXT(iter, DLN_ROWS_SUBSCRIPTION, row, err);
}

dunlin_status dunlin_explain(dunlin_store *store, dunlin_iter **out, const char *user,
                             dunlin_error *err) {
    struct dln_text argument = dln_text_of(user);
    dunlin_status status = dln_check_id_argument(user, "user", err);
    return status != DUNLIN_OK ? dln_iter_refuse(out, status)
                               : dln_iter_open(out, store, &explain_kind, &argument, NULL, err);
}

dunlin_status dunlin_explain_next(dunlin_iter *iter, const dunlin_reason **row, dunlin_error *err) {
    DLN_ITER_NEXT(iter, DLN_ROWS_REASON, row, err);
}
