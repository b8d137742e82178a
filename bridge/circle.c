/* Groups are found by walking keys, not records: a user's scope may hold a million items. */
#include "bridge/circle.h"

#include <string.h>

#include "bridge/interest.h"
#include "central/authorize.h"
#include "central/walk.h"

enum { READERS_AT_ONCE = 500 };

struct circle {
    struct dln_arena *arena;
    struct dln_text *scopes;
    size_t count;
};

static dunlin_status no_memory(dunlin_error *err) {
    return dln_central_no_memory(err);
}

static dunlin_status inboxes_add(struct circle *circle, struct dln_text own, dunlin_error *err) {
    static const char *const streams[] = {"people", "art", "mine"};
    const size_t skipped = sizeof("user/") - 1;

    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        struct dln_buf name = DLN_BUF_INIT(DLN_SCOPE_MAX);
        dln_buf_append_text(&name, "inbox/");
        dln_buf_append(&name, own.data + skipped, own.len - skipped);
        dln_buf_printf(&name, "/%s", streams[i]);
        struct dln_text scope = {NULL, 0};
        if (name.status == DUNLIN_OK) {
            scope = dln_arena_text(circle->arena, (struct dln_text){name.data, name.len});
        }
        dln_buf_free(&name);
        if (scope.data == NULL) {
            return no_memory(err);
        }
        circle->scopes[circle->count++] = scope;
    }
    return DUNLIN_OK;
}

/* The last part of the key names the group. */
static dunlin_status group_add(struct circle *circle, struct dln_text key_text, dunlin_error *err) {
    struct dln_key key;
    struct dln_text scope;

    if (!dln_key_parse(circle->arena, &key, key_text) || key.part_count == 0) {
        return no_memory(err);
    }
    scope = dln_scope_group(circle->arena, key.parts[key.part_count - 1]);
    if (scope.data == NULL) {
        return no_memory(err);
    }
    circle->scopes[circle->count++] = scope;
    return DUNLIN_OK;
}

static dunlin_status groups_add(struct circle *circle, dunlin_central *central, struct dln_text own,
                                struct dln_text prefix, dunlin_error *err) {
    struct dln_walk walk = {.central = central, .scope = own, .prefix = prefix};
    struct dln_trace trace;
    bool last_of_key, found = true;
    dunlin_status status = DUNLIN_OK;

    while (status == DUNLIN_OK && found && circle->count < DLN_INTEREST_MAX) {
        status = dln_walk_next(&walk, &trace, &last_of_key, &found, err);
        if (status == DUNLIN_OK && found && last_of_key && !trace.gone) {
            status = group_add(circle, trace.key, err);
        }
    }
    dln_walk_free(&walk);
    return status;
}

dunlin_status dln_circle_scopes(dunlin_central *central, struct dln_arena *arena, const char *user,
                                struct dln_text **out, size_t *count, dunlin_error *err) {
    struct circle circle = {.arena = arena};
    struct dln_text own = dln_scope_user(arena, dln_text_of(user));
    dunlin_status status;

    circle.scopes = dln_arena_alloc(arena, DLN_INTEREST_MAX * sizeof(*circle.scopes));
    if (circle.scopes == NULL || own.data == NULL) {
        return no_memory(err);
    }
    circle.scopes[circle.count++] = own;
    if ((status = inboxes_add(&circle, own, err)) ||
        (status = groups_add(&circle, central, own, DLN_TEXT("follow/group/"), err)) ||
        (status = groups_add(&circle, central, own, DLN_TEXT("mygroup/"), err))) {
        return status;
    }
    *out = circle.scopes;
    *count = circle.count;
    return DUNLIN_OK;
}

/* Up to READERS_AT_ONCE users: the group and their member records in one read. */
static dunlin_status some_readers(dunlin_central *central, struct dln_arena *arena,
                                  struct dln_text scope, const char *const *users, size_t count,
                                  bool *may, dunlin_error *err) {
    const struct dln_central_engine *engine = &central->engine;
    struct dln_text *keys = dln_arena_alloc(arena, (count + 1) * sizeof(*keys));
    struct dln_stored *stored = dln_arena_alloc(arena, (count + 1) * sizeof(*stored));
    dunlin_status status;

    if (keys == NULL || stored == NULL) {
        return no_memory(err);
    }
    keys[0] = dln_central_key(arena, DLN_GROUP, NULL);
    for (size_t i = 0; i < count; i++) {
        struct dln_text user = dln_text_of(users[i]);
        keys[i + 1] = dln_central_key(arena, DLN_MEMBER, &user);
        if (keys[0].data == NULL || keys[i + 1].data == NULL) {
            return no_memory(err);
        }
    }
    if ((status = engine->current(engine->self, arena, scope, keys, count + 1, stored, err))) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        struct dln_standing standing = {.user = dln_text_of(users[i]), .kind = DLN_SCOPE_GROUP};
        standing.group = stored[0].place.seq != 0 ? &stored[0].record : NULL;
        standing.own = stored[i + 1].place.seq != 0 ? &stored[i + 1].record : NULL;
        may[i] = dln_may_read(&standing);
    }
    return DUNLIN_OK;
}

dunlin_status dln_circle_readers(dunlin_central *central, struct dln_arena *arena,
                                 struct dln_text scope, const char *const *users, size_t count,
                                 bool *may, dunlin_error *err) {
    static const char group[] = "group/";
    bool is_group = scope.len >= sizeof(group) && memcmp(scope.data, group, sizeof(group) - 1) == 0;
    dunlin_status status = DUNLIN_OK;

    if (!is_group) { /* whoever cares for another scope is its owner */
        for (size_t i = 0; i < count; i++) {
            may[i] = true;
        }
        return DUNLIN_OK;
    }
    for (size_t done = 0; status == DUNLIN_OK && done < count; done += READERS_AT_ONCE) {
        size_t some = count - done < READERS_AT_ONCE ? count - done : READERS_AT_ONCE;
        status = some_readers(central, arena, scope, users + done, some, may + done, err);
    }
    return status;
}
