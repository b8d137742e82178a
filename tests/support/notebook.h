/* One store behind the public interface, with a clock and random of its own, and what it lists as
 * text. */
#ifndef DLN_TESTS_NOTEBOOK_H
#define DLN_TESTS_NOTEBOOK_H

#include <stdint.h>

#include <dunlin/dunlin.h>

#include "tests/support/random.h"

struct notebook {
    char *dir;
    char path[512];
    dunlin_store *store;
    dunlin_open_options options;
    dunlin_ports ports;
    int64_t now_ms; /* goes on by one each time it is asked for */
    struct test_random random;
};

/* cmocka's set-up and tear-down: *state is a notebook of aoi's. */
int notebook_setup(void **state);
int notebook_setup_without_search(void **state);
int notebook_teardown(void **state);
void notebook_reopen(struct notebook *notebook);
/* A row of SQL with one number, read by a connection of its own. */
int64_t notebook_number(const struct notebook *notebook, const char *sql);
void notebook_sql(const struct notebook *notebook, const char *sql);

/* Fail the test unless the call succeeds. */
#define OK(call) notebook_ok((call), #call)
void notebook_ok(dunlin_status status, const char *call);
/* Fails the test unless the call gives that status, by name. */
#define REFUSED(expected, call) notebook_refused((expected), (call), #call)
void notebook_refused(const char *expected, dunlin_status status, const char *call);

/* Listings as text, rows parted by a space; good until 8 more calls. */
const char *show_following(struct notebook *notebook, const dunlin_range *range);
const char *show_subscriptions(struct notebook *notebook,
                               const dunlin_range *range);                    /* ben=!,tea */
const char *show_members(struct notebook *notebook, const char *group);       /* ben chika:admin */
const char *show_reasons(struct notebook *notebook, const char *user);        /* !:0 tea:3p */
const char *show_lists(struct notebook *notebook, const dunlin_range *range); /* l1:Name:2 */
const char *show_list_rows(dunlin_iter *iter);                                /* frees it */
const char *show_items(struct notebook *notebook, const char *list, const dunlin_range *range);
const char *show_hits(struct notebook *notebook, const char *text); /* l1 or l1/video/v1 */

#endif
