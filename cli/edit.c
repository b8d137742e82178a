/* The edits that a batch can make. A member that an edit does not know is refused: it is a slip of
 * the pen more often than not. */
#include <stdlib.h>
#include <string.h>

#include "cli/edit.h"
#include "cli/edit_reader.h"
#include "cli/values.h"

static dunlin_status edit_follow(struct dln_edit *edit) {
    const char *kind_text = dln_edit_text(edit, "kind", 1), *id = dln_edit_text(edit, "id", 1);
    dunlin_kind kind = DUNLIN_USER;

    if (!edit->status) {
        edit->status = dln_read_kind(edit->app, &kind, kind_text);
    }
    return edit->status ? edit->status : dunlin_follow(edit->app->store, kind, id, &edit->app->err);
}

static dunlin_status edit_unfollow(struct dln_edit *edit) {
    const char *kind_text = dln_edit_text(edit, "kind", 1), *id = dln_edit_text(edit, "id", 1);
    dunlin_kind kind = DUNLIN_USER;

    if (!edit->status) {
        edit->status = dln_read_kind(edit->app, &kind, kind_text);
    }
    return edit->status ? edit->status
                        : dunlin_unfollow(edit->app->store, kind, id, &edit->app->err);
}

static dunlin_status edit_group_create(struct dln_edit *edit) {
    const char *group = dln_edit_text(edit, "group", 1), *name = dln_edit_text(edit, "name", 0);
    const char *join_text = dln_edit_text(edit, "join", 0);
    dunlin_join join = DUNLIN_JOIN_OPEN;

    if (!edit->status && join_text) {
        edit->status = dln_read_join(edit->app, &join, join_text);
    }
    return edit->status ? edit->status
                        : dunlin_group_create(edit->app->store, group, name, join, &edit->app->err);
}

static dunlin_status edit_group_set(struct dln_edit *edit) {
    const char *group = dln_edit_text(edit, "group", 1), *name = dln_edit_text(edit, "name", 0);
    const char *join_text = dln_edit_text(edit, "join", 0);
    dunlin_join join = DUNLIN_JOIN_OPEN;

    if (!edit->status && !name && !join_text) {
        return dln_fail(edit->app, DUNLIN_INVALID_VALUE, "group-set needs \"name\" or \"join\"");
    }
    if (!edit->status && join_text) {
        edit->status = dln_read_join(edit->app, &join, join_text);
    }
    return edit->status ? edit->status
                        : dunlin_group_set(edit->app->store, group, name, join_text ? &join : NULL,
                                           &edit->app->err);
}

static dunlin_status edit_group_add(struct dln_edit *edit) {
    const char *group = dln_edit_text(edit, "group", 1), *user = dln_edit_text(edit, "user", 1);
    const char *role_text = dln_edit_text(edit, "role", 0);
    dunlin_role role = DUNLIN_ROLE_MEMBER;

    if (!edit->status && role_text) {
        edit->status = dln_read_role(edit->app, &role, role_text);
    }
    return edit->status ? edit->status
                        : dunlin_group_add(edit->app->store, group, user, role, &edit->app->err);
}

static dunlin_status edit_group_remove(struct dln_edit *edit) {
    const char *group = dln_edit_text(edit, "group", 1), *user = dln_edit_text(edit, "user", 1);

    return edit->status ? edit->status
                        : dunlin_group_remove(edit->app->store, group, user, &edit->app->err);
}

static dunlin_status edit_group_delete(struct dln_edit *edit) {
    const char *group = dln_edit_text(edit, "group", 1);

    return edit->status ? edit->status
                        : dunlin_group_delete(edit->app->store, group, &edit->app->err);
}

static dunlin_status edit_list_create(struct dln_edit *edit) {
    const char *list = dln_edit_text(edit, "list", 0), *name = dln_edit_text(edit, "name", 1);
    char made[DUNLIN_NEW_ID_SIZE];

    return edit->status ? edit->status
                        : dunlin_list_create(edit->app->store, list ? NULL : made, list, name,
                                             &edit->app->err);
}

static dunlin_status edit_list_rename(struct dln_edit *edit) {
    const char *list = dln_edit_text(edit, "list", 1), *name = dln_edit_text(edit, "name", 1);

    return edit->status ? edit->status
                        : dunlin_list_rename(edit->app->store, list, name, &edit->app->err);
}

static dunlin_status edit_list_delete(struct dln_edit *edit) {
    const char *list = dln_edit_text(edit, "list", 1);

    return edit->status ? edit->status
                        : dunlin_list_delete(edit->app->store, list, &edit->app->err);
}

static dunlin_status edit_list_restore(struct dln_edit *edit) {
    const char *list = dln_edit_text(edit, "list", 1);

    return edit->status ? edit->status
                        : dunlin_list_restore(edit->app->store, list, &edit->app->err);
}

/* The place that first, last or before names. */
static dunlin_place_kind place_of(struct dln_edit *edit, const char **before, int *given) {
    dunlin_place_kind place = DUNLIN_PLACE_LAST;
    int first = dln_edit_flag(edit, "first"), last = dln_edit_flag(edit, "last");

    *before = dln_edit_text(edit, "before", 0);
    if (!edit->status) {
        edit->status = dln_read_place(edit->app, &place, given, first, last, *before);
    }
    return place;
}

static dunlin_status edit_list_rank(struct dln_edit *edit) {
    const char *list = dln_edit_text(edit, "list", 1), *before = NULL;
    int given = 0;
    dunlin_place_kind place = place_of(edit, &before, &given);

    if (!edit->status && !given) {
        return dln_fail(edit->app, DUNLIN_INVALID_VALUE,
                        "list-rank needs \"before\", \"first\" or \"last\"");
    }
    return edit->status ? edit->status
                        : dunlin_list_rank(edit->app->store, list, place, before, &edit->app->err);
}

static dunlin_status edit_list_add(struct dln_edit *edit) {
    const char *list = dln_edit_text(edit, "list", 1), *type = dln_edit_text(edit, "type", 1);
    const char *id = dln_edit_text(edit, "id", 1);
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    int64_t created_at = 0;

    options.title = dln_edit_text(edit, "title", 0);
    options.data = edit->data;
    options.created_at = dln_edit_time(edit, "created_at", &created_at);
    return edit->status
               ? edit->status
               : dunlin_list_add(edit->app->store, list, type, id, &options, &edit->app->err);
}

static dunlin_status edit_list_remove(struct dln_edit *edit) {
    const char *list = dln_edit_text(edit, "list", 1), *type = dln_edit_text(edit, "type", 1);
    const char *id = dln_edit_text(edit, "id", 1);

    return edit->status ? edit->status
                        : dunlin_list_remove(edit->app->store, list, type, id, &edit->app->err);
}

static dunlin_status edit_list_move(struct dln_edit *edit) {
    const char *list = dln_edit_text(edit, "list", 1), *type = dln_edit_text(edit, "type", 1);
    const char *id = dln_edit_text(edit, "id", 1), *before = NULL;
    struct dln_neighbour neighbour = {NULL, NULL};
    dunlin_item_place place = DUNLIN_ITEM_PLACE_INIT;
    int given = 0;

    place.to_list = dln_edit_text(edit, "to", 0);
    place.place = place_of(edit, &before, &given);
    if (!edit->status && !given && !place.to_list) {
        return dln_fail(edit->app, DUNLIN_INVALID_VALUE,
                        "list-move needs \"to\", \"before\", \"first\" or \"last\"");
    }
    if (!edit->status && before) {
        edit->status =
            dln_read_neighbour(edit->app, &neighbour, place.to_list ? place.to_list : list, before);
        place.before_type = neighbour.type;
        place.before_id = neighbour.id;
    }
    if (!edit->status) {
        edit->status = dunlin_list_move(edit->app->store, list, type, id, &place, &edit->app->err);
    }
    free(neighbour.type);
    return edit->status;
}

static const struct verb {
    const char *name;
    const char *members;
    dunlin_status (*make)(struct dln_edit *edit);
} verbs[] = {{"follow", "kind id", edit_follow},
             {"unfollow", "kind id", edit_unfollow},
             {"group-create", "group name join", edit_group_create},
             {"group-set", "group name join", edit_group_set},
             {"group-add", "group user role", edit_group_add},
             {"group-remove", "group user", edit_group_remove},
             {"group-delete", "group", edit_group_delete},
             {"list-create", "list name", edit_list_create},
             {"list-rename", "list name", edit_list_rename},
             {"list-rank", "list before first last", edit_list_rank},
             {"list-delete", "list", edit_list_delete},
             {"list-restore", "list", edit_list_restore},
             {"list-add", "list type id title data created_at", edit_list_add},
             {"list-remove", "list type id", edit_list_remove},
             {"list-move", "list type id to before first last", edit_list_move}};

dunlin_status dln_edit_line(struct dln_app *app, char *line, size_t len) {
    const struct verb *verb = NULL;
    struct dln_edit edit;
    const char *name = NULL;
    dunlin_status status = dln_edit_begin(&edit, app, line, len);

    if (status) {
        goto done;
    }
    name = dln_edit_text(&edit, "do", 1);
    status = edit.status;
    if (status) {
        goto done;
    }
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        verb = strcmp(verbs[i].name, name) == 0 ? &verbs[i] : verb;
    }
    if (!verb) {
        status = dln_fail(app, DUNLIN_INVALID_VALUE, "there is no edit \"%s\"", name);
        goto done;
    }
    status = dln_edit_check_members(&edit, verb->name, verb->members);
    if (!status) {
        status = verb->make(&edit);
    }
done:
    dln_edit_end(&edit);
    return status;
}
