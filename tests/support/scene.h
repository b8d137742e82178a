/* A device with something in every listing: acknowledged, waiting, and refused by central; and all
 * that an app can see of it as one text. */
#ifndef DLN_TESTS_SCENE_H
#define DLN_TESTS_SCENE_H

#include "tests/support/world.h"

/* Listings that stand at their first row. The first ones are one for each kind of rows. */
enum listing {
    LISTING_FOLLOWING,
    LISTING_MEMBERS,
    LISTING_SUBSCRIPTIONS,
    LISTING_REASONS,
    LISTING_LISTS,
    LISTING_ITEMS,
    LISTING_HITS,
    LISTING_OUTBOX,
    LISTING_REJECTED,
    LISTING_KINDS,
    /* rows of a kind above, of another listing */
    LISTING_OTHER_MEMBERS = LISTING_KINDS,
    LISTING_SUBSCRIPTION,
    LISTING_NAMED,
    LISTING_LIST,
    LISTING_WITH,
    LISTING_OTHER_ITEMS,
    LISTING_ITEM,
    LISTING_OTHER_HITS,
    LISTING_COUNT
};

struct scene {
    struct world world;
    struct device *device;
    /* aoi follows ben and the group tea, whose member chika is; the group run has dai. The list l1
     * holds v/a and v/b, l2 v/c. Dead letters 1 and 2 are of the lists l3 and l4. */
    dunlin_store *store;
    dunlin_iter *iters[LISTING_COUNT];
    char tokens[LISTING_COUNT][128]; /* of the first rows */
    char new_path[512];              /* nothing is there */
    char new_url[520];               /* sqlite:new_path */
};

void scene_open(struct scene *scene);
void scene_close(struct scene *scene);
/* The kind of the listing's rows. */
enum listing scene_rows(enum listing listing);
/* The dump, the outbox, the dead letters, the subscriptions and the counts; the caller frees. */
char *scene_state(struct scene *scene);

#endif
