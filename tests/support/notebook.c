#include "tests/support/notebook.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>
#include <cmocka.h>

#include "client/handle.h"
#include "tests/support/temp.h"

enum { TEXT_BYTES = 1 << 20, RING = 8 };

/* ---- text */

struct text {
    char *data;
    size_t len;
};

static struct text text_new(void) {
    static char ring[RING][TEXT_BYTES];
    static int next;
    struct text text = {ring[next++ % RING], 0};
    text.data[0] = '\0';
    return text;
}

DUNLIN_PRINTF(2, 3) static void say(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(text->data + text->len, TEXT_BYTES - text->len, format, arguments);
    va_end(arguments);
    assert_true(len >= 0 && (size_t)len < TEXT_BYTES - text->len);
    text->len += (size_t)len;
}

static void gap(struct text *text) {
    if (text->len > 0) {
        say(text, " ");
    }
}

void notebook_ok(dunlin_status status, const char *call) {
    if (status != DUNLIN_OK) {
        fail_msg("%s: %s", call, dunlin_status_name(status));
    }
}

void notebook_refused(const char *expected, dunlin_status status, const char *call) {
    if (strcmp(dunlin_status_name(status), expected) != 0) {
        fail_msg("%s: %s, not %s", call, dunlin_status_name(status), expected);
    }
}

/* ---- the store */

static int64_t now_ms(void *self) {
    struct notebook *notebook = self;
    return notebook->now_ms++;
}

static void fill_random(void *self, void *out, size_t len) {
    struct notebook *notebook = self;
    unsigned char *bytes = out;
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (unsigned char)test_random_next(&notebook->random);
    }
}

static void open_store(struct notebook *notebook) {
    OK(dunlin_store_open(&notebook->store, notebook->path, "aoi", &notebook->options, NULL));
}

static int setup(void **state, int without_search) {
    struct notebook *notebook = calloc(1, sizeof(*notebook));
    assert_non_null(notebook);
    notebook->dir = temp_new();
    (void)snprintf(notebook->path, sizeof(notebook->path), "%s",
                   temp_file(notebook->dir, "aoi.dunlin"));
    notebook->now_ms = INT64_C(1767225600000);
    notebook->random.state = 7;
    notebook->ports = (dunlin_ports){notebook, now_ms, fill_random};
    notebook->options = (dunlin_open_options)DUNLIN_OPEN_OPTIONS_INIT;
    notebook->options.durability = DUNLIN_DURABILITY_NORMAL;
    notebook->options.without_search = without_search;
    notebook->options.ports = &notebook->ports;
    open_store(notebook);
    *state = notebook;
    return 0;
}

int notebook_setup(void **state) {
    return setup(state, 0);
}

int notebook_setup_without_search(void **state) {
    return setup(state, 1);
}

int notebook_teardown(void **state) {
    struct notebook *notebook = *state;
    assert_true(dln_store_is_idle(notebook->store->store));
    dunlin_store_close(notebook->store);
    temp_remove(notebook->dir);
    free(notebook);
    return 0;
}

void notebook_reopen(struct notebook *notebook) {
    dunlin_store_close(notebook->store);
    open_store(notebook);
}

static sqlite3 *connect(const struct notebook *notebook) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(notebook->path, &db), SQLITE_OK);
    return db;
}

int64_t notebook_number(const struct notebook *notebook, const char *sql) {
    sqlite3 *db = connect(notebook);
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(stmt, 0);
    assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return number;
}

void notebook_sql(const struct notebook *notebook, const char *sql) {
    sqlite3 *db = connect(notebook);
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fail_msg("%s", message);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* ---- listings */

const char *show_following(struct notebook *notebook, const dunlin_range *range) {
    struct text text = text_new();
    const dunlin_followed *row;
    dunlin_iter *iter;
    OK(dunlin_following(notebook->store, &iter, range, NULL));
    for (;;) {
        OK(dunlin_following_next(iter, &row, NULL));
        if (!row) {
            break;
        }
        gap(&text);
        say(&text, "%s:%s", row->kind == DUNLIN_USER ? "user" : "group", row->id);
    }
    dunlin_iter_free(iter);
    return text.data;
}

const char *show_subscriptions(struct notebook *notebook, const dunlin_range *range) {
    struct text text = text_new();
    const dunlin_subscription *row;
    dunlin_iter *iter;
    OK(dunlin_subscriptions(notebook->store, &iter, range, NULL));
    for (;;) {
        OK(dunlin_subscriptions_next(iter, &row, NULL));
        if (!row) {
            break;
        }
        gap(&text);
        say(&text, "%s=", row->user);
        for (size_t i = 0; i < row->origin_count; i++) {
            say(&text, "%s%s", i == 0 ? "" : ",", row->origins[i]);
        }
    }
    dunlin_iter_free(iter);
    return text.data;
}

const char *show_members(struct notebook *notebook, const char *group) {
    struct text text = text_new();
    const dunlin_member *row;
    dunlin_iter *iter;
    OK(dunlin_members(notebook->store, &iter, group, NULL, NULL));
    for (;;) {
        OK(dunlin_members_next(iter, &row, NULL));
        if (!row) {
            break;
        }
        gap(&text);
        say(&text, "%s%s", row->user, row->role == DUNLIN_ROLE_ADMIN ? ":admin" : "");
    }
    dunlin_iter_free(iter);
    return text.data;
}

const char *show_reasons(struct notebook *notebook, const char *user) {
    struct text text = text_new();
    const dunlin_reason *row;
    dunlin_iter *iter;
    OK(dunlin_explain(notebook->store, &iter, user, NULL));
    for (;;) {
        OK(dunlin_explain_next(iter, &row, NULL));
        if (!row) {
            break;
        }
        gap(&text);
        say(&text, "%s:%d%s%s", row->origin, (int)row->state, row->pending ? "p" : "",
            row->rejected ? "r" : "");
        assert_true(strlen(row->sentence) > 0);
    }
    dunlin_iter_free(iter);
    return text.data;
}

const char *show_list_rows(dunlin_iter *iter) {
    struct text text = text_new();
    const dunlin_list *row;
    for (;;) {
        OK(dunlin_lists_next(iter, &row, NULL));
        if (!row) {
            break;
        }
        gap(&text);
        say(&text, "%s:%s:%lld", row->id, row->name, (long long)row->count);
    }
    dunlin_iter_free(iter);
    return text.data;
}

const char *show_lists(struct notebook *notebook, const dunlin_range *range) {
    dunlin_iter *iter;
    OK(dunlin_lists(notebook->store, &iter, range, NULL));
    return show_list_rows(iter);
}

const char *show_items(struct notebook *notebook, const char *list, const dunlin_range *range) {
    struct text text = text_new();
    const dunlin_item *row;
    dunlin_iter *iter;
    OK(dunlin_items(notebook->store, &iter, list, range, NULL));
    for (;;) {
        OK(dunlin_items_next(iter, &row, NULL));
        if (!row) {
            break;
        }
        gap(&text);
        say(&text, "%s/%s", row->type, row->id);
    }
    dunlin_iter_free(iter);
    return text.data;
}

const char *show_hits(struct notebook *notebook, const char *searched) {
    struct text text = text_new();
    const dunlin_hit *row;
    dunlin_iter *iter;
    OK(dunlin_search(notebook->store, &iter, searched, NULL, NULL));
    for (;;) {
        OK(dunlin_search_next(iter, &row, NULL));
        if (!row) {
            break;
        }
        gap(&text);
        say(&text, row->type ? "%s/%s/%s" : "%s", row->list, row->type, row->id);
    }
    dunlin_iter_free(iter);
    return text.data;
}
