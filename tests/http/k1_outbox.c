/* K1 over real sockets: an edit reaches central once and never vanishes. B01, B03. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>
#include <cmocka.h>

#include "tests/support/hub.h"
#include "tests/support/sight.h"

static struct world world;
static struct device *device;
static struct hub hub;
static dunlin_remote *remote;

static int set_up(void **state) {
    (void)state;
    world_open(&world, 1, NULL);
    device = world_device(&world, "aoi", 0);
    hub_start(&hub, &world, NULL);
    hub.packed = true;
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

/* ---- B01 */

static void one_item_waits(void) {
    OK(dunlin_list_create(device->store, NULL, "l1", "later", NULL));
    OK(dunlin_sync(device->store, remote, NULL, NULL));
    OK(dunlin_list_add(device->store, "l1", "video", "v1", NULL, NULL));
}

static void assert_taken_once(void) {
    assert_int_equal(device_pending(device), 0);
    assert_int_equal(device_rejected(device), 0);
    assert_int_equal(sight_versions(&world, "user/aoi", "item/l1/video/v1"), 1);
    assert_int_equal(sight_versions(&world, "user/aoi", NULL), 2); /* the list and the item */
    sight_agree(&device, 1);
}

/* Central applies it; the answer breaks off after so many bytes. */
static size_t answer_bytes;

static bool breaks_off(struct hub *self, const struct web_request *request,
                       struct web_client *client, bool *keep) {
    struct dln_buf answer = DLN_BUF_INIT(1024 * 1024);
    char head[256];
    hub_exchange(self, request, &answer);
    int len = snprintf(head, sizeof(head),
                       "HTTP/1.1 200 OK\r\n" WEB_OURS "Content-Length: %zu\r\n\r\n", answer.len);
    dln_buf_append(&answer, "", 0);
    size_t of_head = answer_bytes < (size_t)len ? answer_bytes : (size_t)len;
    size_t of_body = answer_bytes - of_head < answer.len ? answer_bytes - of_head : answer.len;
    (void)web_send(client, head, of_head);
    (void)web_send(client, answer.data, of_body < answer.len ? of_body : answer.len - 1);
    dln_buf_free(&answer);
    *keep = false;
    return true;
}

static void b01_answer_is_cut(void **state) {
    (void)state;
    one_item_waits();
    hub.before = breaks_off;
    for (answer_bytes = 0; answer_bytes < 700; answer_bytes += 37) {
        dunlin_sync_result result;
        REFUSED("CONN_CLOSED", dunlin_sync(device->store, remote, &result, NULL));
        assert_int_equal(result.pushed, 0);
        assert_int_equal(result.rejected, 0);
        assert_int_equal(device_pending(device), 1);
        assert_int_equal(sight_versions(&world, "user/aoi", "item/l1/video/v1"), 1);
        web_settle(&hub.web);
    }
    hub.before = NULL;
    dunlin_sync_result result;
    OK(dunlin_sync(device->store, remote, &result, NULL));
    assert_int_equal(result.pushed, 1); /* held already, and that is a success */
    assert_taken_once();
}

/* Somebody else holds the store's write lock exactly when the answer arrives. */
static bool locks(struct hub *self, const struct web_request *request, struct web_client *client,
                  bool *keep) {
    (void)request;
    (void)client;
    (void)keep;
    assert_int_equal(sqlite3_exec(self->payload, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    return false;
}

static void b01_answer_cannot_be_booked(void **state) {
    (void)state;
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_sync_result result;
    sqlite3 *other = NULL;
    one_item_waits();
    device_close(device);
    options.busy_timeout_ms = 100;
    options.ports = &device->ports;
    OK(dunlin_store_open(&device->store, device->path, "aoi", &options, NULL));
    assert_int_equal(sqlite3_open(device->path, &other), SQLITE_OK);
    hub.payload = other;
    hub.before = locks;
    REFUSED("BUSY", dunlin_sync(device->store, remote, &result, NULL));
    assert_int_equal(result.rejected, 0);
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    assert_int_equal(device_pending(device), 1);
    hub.before = NULL;
    OK(dunlin_sync(device->store, remote, &result, NULL));
    assert_taken_once();
}

/* ---- B03 */

static const struct {
    int status;
    const char *headers;
    const char *expected;
} troubles[] = {
    {500, WEB_HTML, "UNAVAILABLE"},
    {502, WEB_HTML, "UNAVAILABLE"},
    {503, "Retry-After: 120\r\n" WEB_HTML, "UNAVAILABLE"},
    {429, "Retry-After: 120\r\n" WEB_HTML, "UNAVAILABLE"},
    {408, WEB_HTML, "UNAVAILABLE"},
    {401, WEB_HTML, "NEED_LOGIN"},
    {403, "Content-Type: text/plain\r\n", "NOT_ALLOWED"},
    {409, WEB_HTML, "NOT_OUR_SERVER"},
    {422, WEB_HTML, "NOT_OUR_SERVER"},
};
static size_t trouble;

static bool troubles_all(struct hub *self, const struct web_request *request,
                         struct web_client *client, bool *keep) {
    (void)self;
    (void)request;
    *keep = web_reply_text(client, troubles[trouble].status, troubles[trouble].headers, "no");
    return true;
}

static void five_edits(void) {
    for (int i = 1; i <= 5; i++) {
        OK(dunlin_follow(device->store, DUNLIN_USER, (char[]){'u', (char)('0' + i), '\0'}, NULL));
    }
}

/* A status that is about the request as a whole: it stops, all five wait. */
static void b03_trouble_keeps_all_five(void **state) {
    (void)state;
    dunlin_sync_result result;
    five_edits();
    hub.before = troubles_all;
    for (trouble = 0; trouble < sizeof(troubles) / sizeof(troubles[0]); trouble++) {
        int requests = hub.web.requests;
        dunlin_status status = dunlin_sync(device->store, remote, &result, NULL);
        assert_string_equal(dunlin_status_name(status), troubles[trouble].expected);
        assert_true(hub.web.requests - requests <= 2); /* 408 over a kept connection: once more */
        assert_int_equal(result.pushed, 0);
        assert_int_equal(device_pending(device), 5);
        assert_int_equal(device_rejected(device), 0);
        bool asked = strncmp(troubles[trouble].headers, "Retry-After", 11) == 0;
        assert_true(!asked || result.retry_at_ms >= world.now_ms + 120 * 1000);
    }
    hub.before = NULL;
    OK(dunlin_sync(device->store, remote, &result, NULL));
    assert_int_equal(result.pushed, 5);
    assert_int_equal(device_pending(device), 0);
    sight_agree(&device, 1);
}

/* A bridge's own error message says more than its status. */
static bool speaks_up(struct hub *self, const struct web_request *request,
                      struct web_client *client, bool *keep) {
    static const char body[] =
        "{\"dunlin\":1,\"kind\":\"error\",\"nonce\":\"\",\"code\":\"UNAVAILABLE\",\"message\":"
        "\"the database is away\",\"retryAfterMs\":\"300000\"}\n{\"end\":0}\n";
    (void)self;
    (void)request;
    *keep = web_reply_text(client, 500, WEB_OURS "Retry-After: 7\r\n", body);
    return true;
}

static void b03_error_message_wins(void **state) {
    (void)state;
    dunlin_sync_result result;
    dunlin_error err;
    five_edits();
    hub.before = speaks_up;
    REFUSED("UNAVAILABLE", dunlin_sync(device->store, remote, &result, &err));
    assert_string_equal(err.message, "the database is away");
    assert_int_equal(err.domain, DUNLIN_DOMAIN_CENTRAL);
    assert_true(result.retry_at_ms >= world.now_ms + 300 * 1000);
    assert_int_equal(device_pending(device), 5);
}

/* Central refuses one of five (it is in somebody's closed group); the others go through. */
static void b03_one_is_refused(void **state) {
    (void)state;
    struct device *owner = world_device(&world, "star", 0);
    dunlin_sync_result result;
    OK(dunlin_group_create(owner->store, "tea", NULL, DUNLIN_JOIN_CLOSED, NULL));
    device_sync_ok(owner);
    OK(dunlin_follow(device->store, DUNLIN_USER, "u1", NULL));
    OK(dunlin_group_add(device->store, "tea", "aoi", DUNLIN_ROLE_MEMBER, NULL));
    OK(dunlin_follow(device->store, DUNLIN_USER, "u3", NULL));
    OK(dunlin_follow(device->store, DUNLIN_USER, "u4", NULL));
    OK(dunlin_follow(device->store, DUNLIN_USER, "u5", NULL));
    OK(dunlin_sync(device->store, remote, &result, NULL));
    assert_int_equal(result.rejected, 1);
    assert_int_equal(device_pending(device), 0);
    assert_int_equal(device_rejected(device), 1);
    sight_agree(&device, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b01_answer_is_cut),          TEST(b01_answer_cannot_be_booked),
        TEST(b03_trouble_keeps_all_five), TEST(b03_error_message_wins),
        TEST(b03_one_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
