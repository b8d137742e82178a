/* Headers: what is read of them, in whatever case and order, and what a Retry-After comes to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "client/http/reply.h"

static struct dln_reply reply;

/* Lines parted by '|'. */
static void read_lines(const char *lines) {
    dln_reply_init(&reply);
    while (*lines) {
        size_t len = strcspn(lines, "|");
        dln_reply_line(&reply, lines, len);
        lines += len + (lines[len] == '|');
    }
}

static int64_t retry_after(const char *lines, int64_t now_s) {
    read_lines(lines);
    return dln_reply_retry_after_ms(&reply, now_s);
}

static void what_matters(void **state) {
    (void)state;
    read_lines("HTTP/1.1 200 OK\r\n|content-TYPE:application/x-ndjson; charset=utf-8\r\n|"
               "Dunlin-Protocol:   1  \r\n|CONTENT-ENCODING: GZip\r\n|Location: /a b\r\n|\r\n");
    assert_int_equal(reply.status, 200);
    assert_true(reply.protocol);
    assert_true(reply.ended);
    assert_int_equal(reply.media, DLN_MEDIA_NDJSON);
    assert_int_equal(reply.coding, DLN_CODING_GZIP);
    assert_string_equal(reply.location, "/a b");
    read_lines("HTTP/1.1 100 Continue|Dunlin-Protocol: 1||HTTP/1.1 404 Not Found|X: y");
    assert_int_equal(reply.status, 404); /* a status line starts over */
    assert_false(reply.protocol);
    assert_false(reply.ended);
}

static void odd_lines(void **state) {
    (void)state;
    static const char *const odd[] = {
        "HTTP/1.1", "HTTP/1.1 ",        "HTTP/1.1 2",   "HTTP/1.1 abc",  "nonsense",
        ":",        ": value",          "Content-Type", "Content-Type:", "Retry-After: x",
        "Date:",    "Content-Encoding:"};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        read_lines(odd[i]);
        assert_int_equal(reply.status, 0);
        assert_int_equal(reply.media, DLN_MEDIA_NONE);
        assert_int_equal(reply.coding, DLN_CODING_NONE);
        assert_int_equal(dln_reply_retry_after_ms(&reply, 0), 0);
    }
    read_lines("HTTP/1.1 200 OK|Dunlin-Protocol: 2");
    assert_false(reply.protocol);
    read_lines("HTTP/1.1 200 OK|Dunlin-Protocol: 11");
    assert_false(reply.protocol);
}

static void two_codings_are_none_of_ours(void **state) {
    (void)state;
    static const char *const odd[] = {"Content-Encoding: gzip, gzip",
                                      "Content-Encoding: gzip|Content-Encoding: gzip",
                                      "Content-Encoding: br", "Content-Encoding: gzip;q=1"};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        read_lines(odd[i]);
        assert_int_equal(reply.coding, DLN_CODING_OTHER);
    }
    read_lines("Content-Encoding: identity|Content-Encoding: gzip");
    assert_int_equal(reply.coding, DLN_CODING_GZIP);
}

static void long_location(void **state) {
    (void)state;
    static char line[3000] = "Location: ";
    memset(line + strlen(line), 'x', DLN_LOCATION_MAX + 1);
    read_lines(line);
    assert_true(reply.location_too_long);
    assert_string_equal(reply.location, "");
    line[strlen(line) - 1] = '\0';
    read_lines(line);
    assert_false(reply.location_too_long);
    assert_int_equal(strlen(reply.location), DLN_LOCATION_MAX);
}

static void seconds_and_dates(void **state) {
    (void)state;
    assert_int_equal(retry_after("X: y", 0), 0);
    assert_int_equal(retry_after("Retry-After: 0", 0), 0);
    assert_int_equal(retry_after("Retry-After: 7", 0), 7000);
    assert_int_equal(retry_after("Retry-After: 900", 0), 900000);
    assert_int_equal(retry_after("Retry-After: 86400", 0), 900000); /* 15 min at most */
    assert_int_equal(retry_after("Retry-After: 999999999", 0), 900000);
    assert_int_equal(retry_after("Retry-After: 9999999999999999999", 0), 0);
    assert_int_equal(retry_after("Retry-After: -7", 0), 0);
    /* against the sender's own clock, whatever ours shows */
    assert_int_equal(retry_after("Date: Thu, 01 Jan 2026 00:00:00 GMT|"
                                 "Retry-After: Thu, 01 Jan 2026 00:02:00 GMT",
                                 0),
                     120000);
    assert_int_equal(retry_after("Retry-After: Thu, 01 Jan 2026 00:02:00 GMT|"
                                 "Date: Thu, 01 Jan 2026 00:03:00 GMT",
                                 0),
                     0);
    assert_int_equal(retry_after("Retry-After: Thu, 01 Jan 2026 00:02:00 GMT", 1767225600 + 60),
                     60000);
    assert_int_equal(retry_after("Retry-After: Thu, 01 Jan 2099 00:00:00 GMT", 0), 900000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_matters),
        cmocka_unit_test(odd_lines),
        cmocka_unit_test(two_codings_are_none_of_ours),
        cmocka_unit_test(long_location),
        cmocka_unit_test(seconds_and_dates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
