/* K9 over real sockets: bodies that are too large (B40), very long ids (B42). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/hub.h"
#include "tests/support/sight.h"

enum { BODY_MAX = 12 * 1024, BIG = 15 * 1024, SMALL = 127, REQUESTS_MAX = 20, LINE_MAX = 2000 };

static struct world world;
static struct device *device;
static struct hub hub;
static dunlin_remote *remote;

static int set_up(void **state) {
    (void)state;
    world_open(&world, 9, NULL);
    device = world_device(&world, "aoi", 0);
    hub_start(&hub, &world, NULL);
    remote = hub_remote(&hub, "aoi", NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    dunlin_remote_close(remote);
    hub_stop(&hub);
    world_close(&world);
    return 0;
}

/* ---- B40 */

static int refused_since(int requests) {
    return hub.web.requests - requests - hub.exchanges;
}

static void b40_too_large(void **state) {
    (void)state;
    static char data[BIG + 1];
    dunlin_sync_result result;
    memset(data, 'x', BIG);
    data[0] = data[BIG - 1] = '"';
    OK(dunlin_list_create(device->store, NULL, "l1", "list", NULL));
    OK(dunlin_sync(device->store, remote, NULL, NULL));
    device_add_items(device, 0, SMALL + 1, SMALL / 2, data);
    hub.body_max = BODY_MAX; /* 413 above, of the unpacked body */
    hub.exchanges = 0;
    int requests = hub.web.requests;
    OK(dunlin_sync(device->store, remote, &result, NULL));
    print_message("%d requests, %d of them refused\n", hub.web.requests - requests,
                  refused_since(requests));
    assert_true(hub.web.requests - requests <= REQUESTS_MAX);
    assert_true(refused_since(requests) > 0);
    assert_int_equal(result.pushed, SMALL);
    assert_int_equal(result.rejected, 1);
    assert_int_equal(device_pending(device), 0);
    sight_agree(&device, 1);
    /* The learned size is kept. */
    device_reopen(device);
    device_add_items(device, 1000, 300, -1, NULL);
    hub.exchanges = 0;
    requests = hub.web.requests;
    OK(dunlin_sync(device->store, remote, &result, NULL));
    assert_int_equal(refused_since(requests), 0);
    assert_int_equal(result.pushed, 300);
    sight_agree(&device, 1);
}

/* The limit is gone: the size grows again, a little with each sync that needed it. */
static void b40_learned_size_grows(void **state) {
    (void)state;
    dunlin_sync_result result;
    uint64_t first = 0, last = 0;
    OK(dunlin_list_create(device->store, NULL, "l1", "list", NULL));
    OK(dunlin_sync(device->store, remote, NULL, NULL));
    hub.body_max = BODY_MAX;
    device_add_items(device, 0, 200, -1, NULL);
    OK(dunlin_sync(device->store, remote, &result, NULL));
    hub.body_max = 0;
    for (int i = 1; i <= 10; i++) {
        device_add_items(device, i * 1000, 600, -1, NULL);
        OK(dunlin_sync(device->store, remote, &result, NULL));
        first = i == 1 ? result.exchanges : first;
        last = result.exchanges;
    }
    print_message("%llu requests at first, %llu after 10 syncs\n", (unsigned long long)first,
                  (unsigned long long)last);
    assert_true(first >= 8);
    assert_true(last * 2 < first);
    sight_agree(&device, 1);
}

/* ---- B42 */

static void b42_very_long_ids(void **state) {
    (void)state;
    static char longest[DUNLIN_ID_MAX + 1], longer[DUNLIN_ID_MAX + 2], huge[10001];
    dunlin_sync_result result;
    memset(longest, 'a', DUNLIN_ID_MAX);
    memset(longer, 'b', DUNLIN_ID_MAX + 1);
    memset(huge, 'c', sizeof(huge) - 1);
    REFUSED("TOO_LONG", dunlin_follow(device->store, DUNLIN_USER, huge, NULL));
    REFUSED("TOO_LONG", dunlin_follow(device->store, DUNLIN_USER, longer, NULL));
    assert_int_equal(device_pending(device), 0);
    OK(dunlin_follow(device->store, DUNLIN_USER, longest, NULL));
    OK(dunlin_sync(device->store, remote, &result, NULL));
    assert_int_equal(result.pushed, 1);
    sight_agree(&device, 1);
    for (int i = 0; i < 500; i++) { /* scopes of 500 groups, asked for by id */
        char id[DUNLIN_ID_MAX + 1];
        memset(id, 'g', sizeof(id));
        (void)snprintf(id, sizeof(id), "%03d%.*s", i, DUNLIN_ID_MAX - 3, huge);
        OK(dunlin_follow(device->store, DUNLIN_GROUP, id, NULL));
    }
    OK(dunlin_sync(device->store, remote, &result, NULL));
    assert_int_equal(result.pushed, 500);
    print_message("the longest request line: %zu bytes\n", hub.greatest_line);
    assert_true(hub.greatest_line < LINE_MAX);
    sight_agree(&device, 1);
}

/* A page with one id of 10,000 bytes among nine others: the nine arrive. */
static bool lengthens(struct hub *self, const struct web_request *request,
                      struct web_client *client, bool *keep) {
    struct dln_buf answer = DLN_BUF_INIT(1024 * 1024), longer = DLN_BUF_INIT(1024 * 1024);
    static char huge[10001];
    memset(huge, 'x', sizeof(huge) - 1);
    hub_exchange(self, request, &answer);
    const char *at = strstr(answer.data, "\"u5\"");
    assert_non_null(at);
    dln_buf_append(&longer, answer.data, (size_t)(at - answer.data) + 1);
    dln_buf_append_text(&longer, huge);
    dln_buf_append_text(&longer, at + 3);
    *keep = web_reply(client, 200, WEB_OURS, longer.data, longer.len);
    dln_buf_free(&answer);
    dln_buf_free(&longer);
    return true;
}

static void b42_long_id_in_a_page(void **state) {
    (void)state;
    dunlin_sync_result result;
    struct device *other = world_device(&world, "aoi", 0);
    for (int i = 0; i < 10; i++) {
        OK(dunlin_follow(other->store, DUNLIN_USER, (char[]){'u', (char)('0' + i), '\0'}, NULL));
    }
    device_sync_ok(other);
    hub.before = lengthens;
    OK(dunlin_sync(device->store, remote, &result, NULL));
    assert_int_equal(result.pulled, 9);
    assert_int_equal(result.quarantined, 1);
    assert_string_equal(sight_following(device), "user:u0 user:u1 user:u2 user:u3 user:u4 user:u6 "
                                                 "user:u7 user:u8 user:u9");
    hub.before = NULL;
    OK(dunlin_sync(device->store, remote, &result, NULL)); /* the cursor is behind it */
    assert_int_equal(result.pulled, 0);
}

/* The user's own id stands in a header, whatever it is made of. */
static void b42_any_user(void **state) {
    (void)state;
    static const char name[] = "葵 \"%/#";
    static const char encoded[] = "%E8%91%B5%20%22%25%2F%23";
    dunlin_remote_close(remote);
    remote = hub_remote(&hub, name, NULL);
    struct device *other = world_device(&world, encoded, 0); /* the hub decodes nothing */
    OK(dunlin_sync(other->store, remote, NULL, NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b40_too_large),         TEST(b40_learned_size_grows), TEST(b42_very_long_ids),
        TEST(b42_long_id_in_a_page), TEST(b42_any_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
