/* The smallest whole program: alice follows bob, keeps a list, and brings both to a central that
 * devices share. Everything before the sync works without it. Files are made in the current folder.
 */
#include <stdio.h>

#include <dunlin/central.h>
#include <dunlin/dunlin.h>

/* A list of that id may be there from an earlier run. */
static dunlin_status make_list(dunlin_store *store, dunlin_error *err) {
    dunlin_status status = dunlin_list_create(store, NULL, "later", "見逃し", err);

    return status == DUNLIN_EXISTS ? DUNLIN_OK : status;
}

static dunlin_status print_subscriptions(dunlin_store *store, dunlin_error *err) {
    dunlin_iter *iter = NULL;
    const dunlin_subscription *row = NULL;
    dunlin_status status = dunlin_subscriptions(store, &iter, NULL, err);

    while (!status && !(status = dunlin_subscriptions_next(iter, &row, err)) && row) {
        printf("alice sees %s because of %s\n", row->user, row->origins[0]);
    }
    dunlin_iter_free(iter);
    return status;
}

static dunlin_status print_items(dunlin_store *store, dunlin_error *err) {
    dunlin_iter *iter = NULL;
    const dunlin_item *row = NULL;
    dunlin_status status = dunlin_items(store, &iter, "later", NULL, err);

    while (!status && !(status = dunlin_items_next(iter, &row, err)) && row) {
        printf("見逃し holds %s %s\n", row->type, row->id);
    }
    dunlin_iter_free(iter);
    return status;
}

int main(void) {
    dunlin_store *store = NULL;
    dunlin_remote *central = NULL;
    dunlin_error err;
    int failed = 0;

    if (dunlin_store_open(&store, "alice.dunlin", "alice", NULL, &err) ||
        dunlin_follow(store, DUNLIN_USER, "bob", &err) || make_list(store, &err) ||
        dunlin_list_add(store, "later", "case", "caseId001", NULL, &err) ||
        dunlin_embedded_remote(&central, "sqlite:central.db", "alice", NULL, &err) ||
        dunlin_sync(store, central, NULL, &err) || print_subscriptions(store, &err) ||
        print_items(store, &err)) {
        fprintf(stderr, "%s: %s\n", dunlin_status_name(err.code), err.message);
        failed = 1;
    }
    dunlin_remote_close(central);
    dunlin_store_close(store);
    return failed;
}
