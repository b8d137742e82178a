/* Whom one follows, and whom one sees. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/text.h"
#include "cli/values.h"

static dunlin_status run_follow(struct dln_app *app, const struct dln_args *args) {
    dunlin_kind kind = DUNLIN_USER;
    dunlin_status status = dln_read_kind(app, &kind, args->words[0]);

    if (!status) {
        status = dunlin_follow(app->store, kind, args->words[1], &app->err);
    }
    return status;
}

static dunlin_status run_unfollow(struct dln_app *app, const struct dln_args *args) {
    dunlin_kind kind = DUNLIN_USER;
    dunlin_status status = dln_read_kind(app, &kind, args->words[0]);

    if (!status) {
        status = dunlin_unfollow(app->store, kind, args->words[1], &app->err);
    }
    return status;
}

static dunlin_status run_following(struct dln_app *app, const struct dln_args *args) {
    static const struct dln_column columns[] = {{"kind", "KIND", 0}, {"target", "ID", 0}};
    struct dln_table *table = dln_table_begin(app, columns, 2);
    dunlin_iter *iter = NULL;
    const dunlin_followed *row = NULL;
    dunlin_status status = table ? DUNLIN_OK : DUNLIN_OUT_OF_MEMORY;

    (void)args;
    if (!status) {
        status = dunlin_following(app->store, &iter, NULL, &app->err);
    }
    while (!status && !(status = dunlin_following_next(iter, &row, &app->err)) && row) {
        const struct dln_cell cells[] = {dln_cell_text(dln_kind_name(row->kind)),
                                         dln_cell_text(row->id)};

        status = dln_table_row(table, cells);
    }
    dunlin_iter_free(iter);
    dln_table_end(table);
    return status;
}

static dunlin_status run_subscriptions(struct dln_app *app, const struct dln_args *args) {
    static const struct dln_column columns[] = {
        {"userId", "USER", 0}, {"origins", "BECAUSE OF (! is a direct follow)", 0}};
    struct dln_table *table = dln_table_begin(app, columns, 2);
    dunlin_iter *iter = NULL;
    const dunlin_subscription *row = NULL;
    dunlin_status status = table ? DUNLIN_OK : DUNLIN_OUT_OF_MEMORY;

    if (!status) {
        status = args->count ? dunlin_subscription_of(app->store, &iter, args->words[0], &app->err)
                             : dunlin_subscriptions(app->store, &iter, NULL, &app->err);
    }
    while (!status && !(status = dunlin_subscriptions_next(iter, &row, &app->err)) && row) {
        const struct dln_cell cells[] = {dln_cell_text(row->user),
                                         dln_cell_texts(row->origins, row->origin_count)};

        status = dln_table_row(table, cells);
    }
    dunlin_iter_free(iter);
    dln_table_end(table);
    return status;
}

static const char *state_name(dunlin_reason_state state) {
    switch (state) {
    case DUNLIN_REASON_COUNTS:
        return "counts";
    case DUNLIN_REASON_NOT_FOLLOWED:
        return "not_followed";
    case DUNLIN_REASON_NOT_MEMBER:
        return "not_member";
    case DUNLIN_REASON_GROUP_UNKNOWN:
        return "group_unknown";
    case DUNLIN_REASON_GROUP_DELETED:
        return "group_deleted";
    case DUNLIN_REASON_CLOSED:
        return "closed";
    case DUNLIN_REASON_SELF:
        return "self";
    }
    return "unknown";
}

/* One reason: a row of JSON, or a marked line for people. */
static dunlin_status print_reason(const struct dln_app *app, const dunlin_reason *reason) {
    static const struct dln_column columns[] = {{"origin", "", 0},
                                                {"state", "", 0},
                                                {"pending", "", 0},
                                                {"rejected", "", 0},
                                                {"sentence", "", 0}};
    const struct dln_cell cells[] = {
        dln_cell_text(reason->origin), dln_cell_text(state_name(reason->state)),
        dln_cell_flag(reason->pending), dln_cell_flag(reason->rejected),
        dln_cell_text(reason->sentence)};
    int counts = reason->state == DUNLIN_REASON_COUNTS;

    if (app->json) {
        return dln_print_object(app, columns, cells, 5);
    }
    (void)printf("%s%s%s ", app->colour_out ? (counts ? "\033[32m" : "\033[2m") : "",
                 counts ? "+" : "-", app->colour_out ? "\033[0m" : "");
    dln_text_print(stdout, reason->origin);
    (void)fputs(": ", stdout);
    dln_text_print(stdout, reason->sentence);
    (void)printf("%s%s\n", reason->pending ? " (not yet sent)" : "",
                 reason->rejected ? " (central refused a change: see rejected)" : "");
    return DUNLIN_OK;
}

static dunlin_status run_explain(struct dln_app *app, const struct dln_args *args) {
    dunlin_iter *iter = NULL;
    const dunlin_reason *row = NULL;
    dunlin_status status = dunlin_explain(app->store, &iter, args->words[0], &app->err);

    while (!status && !(status = dunlin_explain_next(iter, &row, &app->err)) && row) {
        status = print_reason(app, row);
    }
    dunlin_iter_free(iter);
    return status;
}

const struct dln_command dln_graph_commands[] = {
    {"follow", NULL, "user|group ID", "follows a user or a group", 0, 2, 2, 0, run_follow},
    {"unfollow", NULL, "user|group ID", "stops following", 0, 2, 2, 0, run_unfollow},
    {"following", NULL, "", "the users and groups followed directly", 0, 0, 0, 0, run_following},
    {"subscriptions", NULL, "[USER]", "the users seen, and what makes it so", 0, 0, 1, 0,
     run_subscriptions},
    {"explain", NULL, "USER", "why a user is among the subscriptions or is not", 0, 1, 1, 0,
     run_explain},
    {NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL}};
