#include "tests/support/ego.h"

#include <assert.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "tests/support/temp.h"
#include "tests/support/world.h"

enum { USERS_MAX = 8192, CIRCLES_MAX = 512, ID_BYTES = 48, TEXT_BYTES_MAX = 64 * 1024 * 1024 };

struct ints {
    int *values;
    size_t count;
    size_t size;
};

struct circle {
    int ego;
    char id[ID_BYTES];
    struct ints members;
};

struct network {
    bool named[USERS_MAX]; /* the files name that user */
    bool ego[USERS_MAX];
    struct ints follows[USERS_MAX]; /* sorted, without repeats, once everything is read */
    struct ints circles[USERS_MAX]; /* followed: indexes of circle */
    struct circle circle[CIRCLES_MAX];
    size_t circle_count;
};

/* ---- reading the files */

static void add(struct ints *ints, int value) {
    if (ints->count == ints->size) {
        ints->size = ints->size == 0 ? 16 : ints->size * 2;
        ints->values = realloc(ints->values, ints->size * sizeof(int));
        assert_non_null(ints->values);
    }
    ints->values[ints->count++] = value;
}

static int by_value(const void *a, const void *b) {
    int x = *(const int *)a;
    int y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sort_unique(struct ints *ints) {
    size_t kept = 0;
    if (ints->count > 0) {
        qsort(ints->values, ints->count, sizeof(int), by_value);
    }
    for (size_t i = 0; i < ints->count; i++) {
        if (kept == 0 || ints->values[kept - 1] != ints->values[i]) {
            ints->values[kept++] = ints->values[i];
        }
    }
    ints->count = kept;
}

static int user_of(struct network *network, const char *text) {
    long id = strtol(text, NULL, 10);
    assert_true(id >= 0 && id < USERS_MAX);
    network->named[id] = true;
    return (int)id;
}

static void read_edges(struct network *network, FILE *file) {
    char line[64];
    while (fgets(line, sizeof(line), file) != NULL) {
        char *space = strchr(line, ' ');
        assert_non_null(space);
        add(&network->follows[user_of(network, line)], user_of(network, space + 1));
    }
}

static void read_circles(struct network *network, FILE *file, int ego) {
    static char line[65536];
    while (fgets(line, sizeof(line), file) != NULL) {
        int index = (int)network->circle_count++;
        assert_true(index < CIRCLES_MAX);
        struct circle *circle = &network->circle[index];
        char *rest = NULL;
        char *name = strtok_r(line, "\t\n", &rest);
        assert_non_null(name);
        circle->ego = ego;
        (void)snprintf(circle->id, sizeof(circle->id), "%d/%s", ego, name);
        for (char *at = strtok_r(NULL, "\t\n", &rest); at != NULL;
             at = strtok_r(NULL, "\t\n", &rest)) {
            add(&circle->members, user_of(network, at));
        }
        sort_unique(&circle->members);
        add(&network->circles[ego], index);
        for (size_t i = 0; i < circle->members.count; i++) {
            add(&network->circles[circle->members.values[i]], index);
        }
    }
}

static void read_network(struct network *network, const char *folder) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        bool edges = strstr(entry->d_name, ".edges") != NULL;
        if (!edges && strstr(entry->d_name, ".circles") == NULL) {
            continue;
        }
        FILE *file = fopen(temp_file(folder, entry->d_name), "r");
        assert_non_null(file);
        int ego = user_of(network, entry->d_name);
        network->ego[ego] = true;
        if (edges) {
            read_edges(network, file);
        } else {
            read_circles(network, file, ego);
        }
        (void)fclose(file);
    }
    (void)closedir(dir);
    for (int i = 0; i < USERS_MAX; i++) {
        sort_unique(&network->follows[i]);
        sort_unique(&network->circles[i]);
    }
}

static void free_network(struct network *network) {
    for (int i = 0; i < USERS_MAX; i++) {
        free(network->follows[i].values);
        free(network->circles[i].values);
    }
    for (size_t i = 0; i < network->circle_count; i++) {
        free(network->circle[i].members.values);
    }
    free(network);
}

/* ---- the map-reduce of the article, from the files alone */

struct emitted {
    char user[ID_BYTES];
    char origin[ID_BYTES];
};

static int by_user_and_origin(const void *a, const void *b) {
    const struct emitted *x = a;
    const struct emitted *y = b;
    int order = strcmp(x->user, y->user);
    return order != 0 ? order : strcmp(x->origin, y->origin); /* '!' is below every digit */
}

static char *expected_subscriptions(const struct network *network, int owner) {
    size_t count = network->follows[owner].count;
    for (size_t i = 0; i < network->circles[owner].count; i++) {
        count += network->circle[network->circles[owner].values[i]].members.count;
    }
    struct emitted *emitted = calloc(count + 1, sizeof(*emitted));
    assert_non_null(emitted);
    size_t at = 0;
    for (size_t i = 0; i < network->follows[owner].count; i++) {
        int user = network->follows[owner].values[i];
        (void)snprintf(emitted[at].user, ID_BYTES, "%d", user);
        (void)snprintf(emitted[at].origin, ID_BYTES, "!");
        at += user != owner;
    }
    for (size_t i = 0; i < network->circles[owner].count; i++) {
        const struct circle *circle = &network->circle[network->circles[owner].values[i]];
        for (size_t k = 0; k < circle->members.count; k++) {
            int user = circle->members.values[k];
            (void)snprintf(emitted[at].user, ID_BYTES, "%d", user);
            (void)snprintf(emitted[at].origin, ID_BYTES, "%s", circle->id);
            at += user != owner;
        }
    }
    qsort(emitted, at, sizeof(*emitted), by_user_and_origin);
    struct dln_buf text = DLN_BUF_INIT(TEXT_BYTES_MAX);
    for (size_t i = 0; i < at; i++) {
        bool same = i > 0 && strcmp(emitted[i].user, emitted[i - 1].user) == 0;
        if (!same) {
            dln_buf_append_text(&text, i == 0 ? "" : "\n");
            dln_buf_append_text(&text, emitted[i].user);
        }
        dln_buf_append_byte(&text, same ? ',' : ' ');
        dln_buf_append_text(&text, emitted[i].origin);
    }
    dln_buf_append_text(&text, at == 0 ? "" : "\n");
    free(emitted);
    return text.data;
}

/* ---- the same through the library */

static void must(dunlin_status status, const dunlin_error *err) {
    if (status != DUNLIN_OK) {
        fail_msg("%s: %s", dunlin_status_name(status), err->message);
    }
}

static void follow_all(const struct network *network, dunlin_store *store, int owner) {
    dunlin_error err;
    char id[ID_BYTES];
    must(dunlin_begin(store, &err), &err);
    for (size_t i = 0; i < network->follows[owner].count; i++) {
        if (network->follows[owner].values[i] != owner) {
            (void)snprintf(id, sizeof(id), "%d", network->follows[owner].values[i]);
            must(dunlin_follow(store, DUNLIN_USER, id, &err), &err);
        }
    }
    for (size_t i = 0; i < network->circles[owner].count; i++) {
        const struct circle *circle = &network->circle[network->circles[owner].values[i]];
        must(dunlin_follow(store, DUNLIN_GROUP, circle->id, &err), &err);
    }
    must(dunlin_commit(store, &err), &err);
}

static void make_circles(const struct network *network, dunlin_store *store, int ego) {
    dunlin_error err;
    char id[ID_BYTES];
    must(dunlin_begin(store, &err), &err);
    for (size_t i = 0; i < network->circle_count; i++) {
        const struct circle *circle = &network->circle[i];
        if (circle->ego != ego) {
            continue;
        }
        must(dunlin_group_create(store, circle->id, circle->id, DUNLIN_JOIN_OPEN, &err), &err);
        for (size_t k = 0; k < circle->members.count; k++) {
            (void)snprintf(id, sizeof(id), "%d", circle->members.values[k]);
            must(dunlin_group_add(store, circle->id, id, DUNLIN_ROLE_MEMBER, &err), &err);
        }
    }
    must(dunlin_commit(store, &err), &err);
}

/* The egos make their circles first; afterwards whoever follows them finds them. */
static void build_circles(const struct network *network, struct world *world) {
    char id[ID_BYTES];
    for (int ego = 0; ego < USERS_MAX; ego++) {
        if (network->ego[ego]) {
            (void)snprintf(id, sizeof(id), "%d", ego);
            struct device *device = world_device(world, id, 0);
            make_circles(network, device->store, ego);
            device_sync_ok(device);
            assert_int_equal(device_rejected(device), 0);
            world_device_remove(world);
        }
    }
}

static void compare_user(const struct network *network, struct world *world, int user) {
    char id[ID_BYTES];
    (void)snprintf(id, sizeof(id), "%d", user);
    struct device *device = world_device(world, id, 0);
    follow_all(network, device->store, user);
    device_sync_ok(device);
    char *expected = expected_subscriptions(network, user);
    char *found = device_subscriptions(device);
    if (strcmp(expected == NULL ? "" : expected, found) != 0) {
        fail_msg("user %d: expected\n%.2000s\nfound\n%.2000s", user, expected, found);
    }
    assert_int_equal(device_rejected(device), 0);
    assert_int_equal(device_pending(device), 0);
    free(expected);
    free(found);
    world_device_remove(world);
}

void ego_compare(const char *folder) {
    struct network *network = calloc(1, sizeof(*network));
    struct world world;
    size_t edges = 0;
    int users = 0;
    assert_non_null(network);
    read_network(network, folder);
    world_open(&world, 1, NULL);
    build_circles(network, &world);
    for (int user = 0; user < USERS_MAX; user++) {
        if (network->named[user]) {
            compare_user(network, &world, user);
            edges += network->follows[user].count;
            users++;
        }
    }
    print_message("%d users, %zu edges, %zu circles: every subscription as the files give it\n",
                  users, edges, network->circle_count);
    assert_true(users > 0);
    world_close(&world);
    free_network(network);
}
