/* Server-sent events, cut at every place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/http/events.h"

/* 1: hello, 2: news; the same however the text is cut in two. */
static int seen_in(const char *text) {
    size_t len = strlen(text);
    int result = -1;
    for (size_t cut = 0; cut <= len; cut++) {
        struct dln_events events = {0};
        struct dln_events_seen seen = {false, false};
        dln_events_feed(&events, text, cut, &seen);
        dln_events_feed(&events, text + cut, len - cut, &seen);
        int now = (seen.hello ? 1 : 0) + (seen.news ? 2 : 0);
        assert_true(result == -1 || now == result);
        result = now;
    }
    return result;
}

static void what_is_told(void **state) {
    (void)state;
    assert_int_equal(seen_in(""), 0);
    assert_int_equal(seen_in("event: hello\ndata: {\"protocol\":1}\n\n"), 1);
    assert_int_equal(seen_in("event: hello\ndata: {\"protocol\":1}\n"), 0); /* not ended yet */
    assert_int_equal(seen_in("event: news\ndata: {\"scopes\":[\"user/a\"]}\n\n"), 2);
    assert_int_equal(seen_in("event:news\r\ndata:{}\r\n\r\n"), 2);
    assert_int_equal(seen_in("event: news\r\r"), 2);
    assert_int_equal(seen_in(": a comment\n\nevent: hello\n\n: x\n\nevent: news\n\n"), 3);
    assert_int_equal(seen_in("data: {}\nevent: news\nid: 7\n\n"), 2);
}

static void what_is_not(void **state) {
    (void)state;
    assert_int_equal(seen_in("data: event: news\n\n"), 0);
    assert_int_equal(seen_in(" event: news\n\n"), 0);
    assert_int_equal(seen_in("event: newsletter\n\n"), 0);
    assert_int_equal(seen_in("event:  news\n\n"), 0);
    assert_int_equal(seen_in("events: news\n\n"), 0);
    assert_int_equal(seen_in("event: news\nevent: other\n\n"), 0); /* the last name counts */
    assert_int_equal(seen_in(": event: news\n\n"), 0);
}

/* A line of any length takes no more room than another, and does not hide what follows. */
static void long_lines(void **state) {
    (void)state;
    enum { LEN = 1000 * 1000 };
    char *line = malloc(LEN + 1);
    struct dln_events events = {0};
    struct dln_events_seen seen = {false, false};
    assert_non_null(line);
    memset(line, 'x', LEN);
    memcpy(line, "event: news", 11);
    dln_events_feed(&events, line, LEN, &seen);
    dln_events_feed(&events, "\n\n", 2, &seen);
    assert_false(seen.news);
    dln_events_feed(&events, "event: news\ndata: ", 18, &seen);
    dln_events_feed(&events, line, LEN, &seen);
    dln_events_feed(&events, "\n\n", 2, &seen);
    assert_true(seen.news);
    free(line);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told),
        cmocka_unit_test(what_is_not),
        cmocka_unit_test(long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
