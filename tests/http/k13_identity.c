/* K13 over real sockets: tokens (B62), copied devices (B64), certificates and clocks (B65). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/hub.h"
#include "tests/support/sight.h"
#include "tests/support/temp.h"

static struct world world;
static struct device *device;
static struct hub hub;

static int set_up(void **state) {
    (void)state;
    world_open(&world, 13, NULL);
    device = world_device(&world, "aoi", 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

/* ---- B62 */

enum { ITEMS = 4500, PAGE = 1000 }; /* five pages */

/* The app's side: tokens are "token 1", "token 2", … */
struct wallet {
    int asked;
    int renewed;
    int given;
    int renew_by; /* how much a new token's number is greater */
    dunlin_status status;
};

static struct wallet wallet;
static int valid;      /* the token that the bridge takes */
static int pages_left; /* until it stops to; -1: never */
static int refused;    /* 401 */

static dunlin_status give(void *payload, int renew, void (*take)(void *taker, const char *token),
                          void *taker) {
    char token[32];
    (void)payload;
    wallet.asked++;
    wallet.renewed += renew;
    if (wallet.status != DUNLIN_OK) {
        return wallet.status;
    }
    wallet.given += renew ? wallet.renew_by : 0;
    (void)snprintf(token, sizeof(token), "token-%d", wallet.given);
    take(taker, "first-this-one"); /* the last one counts */
    take(taker, token);
    return DUNLIN_OK;
}

static bool check_token(struct hub *self, const struct web_request *request,
                        struct web_client *client, bool *keep) {
    char expected[64];
    const char *found = web_header(request, "Authorization");
    (void)self;
    if (pages_left == 0) {
        valid++;
        pages_left = -1;
    }
    (void)snprintf(expected, sizeof(expected), "Bearer token-%d", valid);
    if (found && strcmp(found, expected) == 0) {
        pages_left -= pages_left > 0 ? 1 : 0;
        return false;
    }
    refused++;
    *keep = web_reply_text(client, 401, "WWW-Authenticate: Bearer\r\n" WEB_HTML, "<p>who?</p>");
    return true;
}

static void five_pages(void) {
    struct device *other = world_device(&world, "aoi", 0);
    OK(dunlin_list_create(other->store, NULL, "l1", "list", NULL));
    OK(dunlin_begin(other->store, NULL));
    for (int i = 0; i < ITEMS; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "v%04d", i);
        OK(dunlin_list_add(other->store, "l1", "video", id, NULL, NULL));
    }
    OK(dunlin_commit(other->store, NULL));
    device_sync_ok(other);
}

static dunlin_remote *with_tokens(void) {
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    options.token = give;
    hub_start(&hub, &world, NULL);
    hub.before = check_token;
    wallet = (struct wallet){.given = 1, .renew_by = 1};
    valid = 1;
    refused = 0;
    return hub_remote(&hub, NULL, &options);
}

static void b62_new_token_in_the_middle(void **state) {
    (void)state;
    dunlin_sync_result result;
    five_pages();
    dunlin_remote *remote = with_tokens();
    pages_left = 2;
    OK(dunlin_sync(device->store, remote, &result, NULL));
    assert_int_equal(wallet.asked, 2); /* once at first, once to renew */
    assert_int_equal(wallet.renewed, 1);
    assert_int_equal(refused, 1);
    assert_int_equal(hub.exchanges, 5); /* none of them twice */
    assert_int_equal(result.pulled, ITEMS + 1);
    sight_agree(&device, 1);
    dunlin_remote_close(remote);
    hub_stop(&hub);
}

/* Page 3 is refused with the old token and with the new one. What was applied stays, nothing more
 * is sent until the person has signed in, and then it goes on with page 3. */
static void b62_new_token_is_refused_too(void **state) {
    (void)state;
    dunlin_sync_result result;
    dunlin_error err;
    five_pages();
    dunlin_remote *remote = with_tokens();
    pages_left = 2;
    wallet.renew_by = 5; /* the bridge will want token 2 */
    REFUSED("NEED_LOGIN", dunlin_sync(device->store, remote, &result, &err));
    assert_true(strstr(err.message, "token-") == NULL); /* no token in a message */
    assert_int_equal(wallet.renewed, 1);
    assert_int_equal(hub.web.requests, 4); /* two pages; with the old token, with the new one */
    assert_int_equal(result.pulled, 2 * PAGE);
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    wallet.status = DUNLIN_NEED_LOGIN;
    REFUSED("NEED_LOGIN", dunlin_sync(device->store, remote, &result, NULL));
    assert_int_equal(hub.web.requests, 4); /* not a single one */
    assert_int_equal(device_pending(device), 1);
    assert_int_equal(device_rejected(device), 0);
    wallet.status = DUNLIN_OK;
    valid = wallet.given + wallet.renew_by;
    OK(dunlin_sync(device->store, remote, &result, NULL));
    assert_int_equal(result.pushed, 1);
    assert_int_equal(result.pulled, ITEMS + 1 - 2 * PAGE + 1); /* the rest, and the follow's echo */
    sight_agree(&device, 1);
    dunlin_remote_close(remote);
    hub_stop(&hub);
}

/* What the callback gives is looked at before it stands in a header. */
static const char *odd_token;

static dunlin_status give_odd(void *payload, int renew,
                              void (*take)(void *taker, const char *token), void *taker) {
    (void)payload;
    (void)renew;
    if (odd_token) {
        take(taker, odd_token);
    }
    return DUNLIN_OK;
}

static void b62_odd_tokens(void **state) {
    (void)state;
    static const char *const odd[] = {"", "a b", "a\r\nX-Evil: 1", "caf\xc3\xa9", "a\tb"};
    static char large[8194];
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    options.token = give_odd;
    hub_start(&hub, &world, NULL);
    dunlin_remote *remote = hub_remote(&hub, NULL, &options);
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        odd_token = odd[i];
        REFUSED("INVALID_TEXT", dunlin_sync(device->store, remote, NULL, NULL));
    }
    memset(large, 'x', sizeof(large) - 1);
    odd_token = large;
    REFUSED("INVALID_TEXT", dunlin_sync(device->store, remote, NULL, NULL));
    odd_token = NULL;
    REFUSED("MISUSE", dunlin_sync(device->store, remote, NULL, NULL));
    assert_int_equal(hub.web.requests, 0);
    large[8192] = '\0';
    odd_token = large;
    OK(dunlin_sync(device->store, remote, NULL, NULL));
    dunlin_remote_close(remote);
    hub_stop(&hub);
}

/* ---- B64 */

static void b64_copied_store(void **state) {
    (void)state;
    hub_start(&hub, &world, NULL);
    dunlin_remote *remote = hub_remote(&hub, "aoi", NULL);
    for (int i = 0; i < 40; i++) {
        char user[16];
        (void)snprintf(user, sizeof(user), "u%02d", i);
        OK(dunlin_follow(device->store, DUNLIN_USER, user, NULL));
    }
    OK(dunlin_sync(device->store, remote, NULL, NULL));
    /* The copy: byte for byte, its device's id with it. */
    struct device *twin = world_device(&world, "aoi", 0);
    device_close(twin);
    assert_int_equal(remove(twin->path), 0);
    OK(dunlin_store_backup(device->store, twin->path, NULL));
    device_open(twin);
    assert_string_equal(dunlin_store_device(device->store), dunlin_store_device(twin->store));
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_follow(twin->store, DUNLIN_USER, "chika", NULL));
    for (int i = 0; i < 2; i++) {
        OK(dunlin_sync(device->store, remote, NULL, NULL));
        OK(dunlin_sync(twin->store, remote, NULL, NULL));
    }
    OK(dunlin_sync(device->store, remote, NULL, NULL));
    assert_int_equal(device_pending(device) + device_pending(twin), 0);
    assert_int_equal(device_rejected(device) + device_rejected(twin), 0);
    char *both = device_subscriptions(twin);
    assert_true(strstr(both, "ben !") && strstr(both, "chika !"));
    free(both);
    sight_agree((struct device *[]){device, twin}, 2);
    dunlin_remote_close(remote);
    hub_stop(&hub);
}

/* ---- B65 */

enum { DAY_S = 24 * 60 * 60 };

static const unsigned char here[4] = {127, 0, 0, 1};
static const unsigned char elsewhere[4] = {192, 0, 2, 1};

struct certificates {
    struct certificate authority, stranger, server;
    char ca_file[600];
};

static void make_certificates(struct certificates *made) {
    *made = (struct certificates){0};
    certificate_authority(&made->authority, "a test's authority");
    certificate_authority(&made->stranger, "another authority");
    (void)snprintf(made->ca_file, sizeof(made->ca_file), "%s/authority.pem", world.dir);
    certificate_write(&made->authority, made->ca_file);
}

static void free_certificates(struct certificates *made) {
    certificate_free(&made->authority);
    certificate_free(&made->stranger);
    certificate_free(&made->server);
}

/* Today's date stands in the message: it is the device's idea of now that may be wrong. */
static void assert_names_today(const char *message) {
    char today[16];
    time_t now = time(NULL);
    struct tm parts;
    assert_non_null(gmtime_r(&now, &parts));
    assert_true(strftime(today, sizeof(today), "%Y-%m-%dT", &parts) > 0);
    if (!strstr(message, today)) {
        fail_msg("no %s in: %s", today, message);
    }
}

static void comes_to(dunlin_remote *remote, const char *expected) {
    dunlin_error err = {0};
    int requests = hub.web.requests;
    dunlin_status status = dunlin_sync(device->store, remote, NULL, &err);
    print_message("%s: %s\n", dunlin_status_name(status), err.message);
    assert_string_equal(dunlin_status_name(status), expected);
    assert_int_equal(hub.web.requests, requests); /* nothing was said to such a server */
    assert_int_equal(device_pending(device), 1);
    if (status == DUNLIN_TLS_TIME) {
        assert_names_today(err.message);
    }
}

static void serve_with(struct certificates *made, const struct certificate *authority,
                       const unsigned char *address, int from_days, int until_days) {
    certificate_issue(&made->server, authority, address, time(NULL) + from_days * DAY_S,
                      time(NULL) + until_days * DAY_S);
    web_set_certificate(&hub.web, &made->server);
}

static void b65_certificates(void **state) {
    (void)state;
    struct certificates made;
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    make_certificates(&made);
    options.ca_file = made.ca_file;
    certificate_issue(&made.server, &made.authority, here, time(NULL) + DAY_S,
                      time(NULL) + 9 * DAY_S);
    hub_start(&hub, &world, &made.server);
    dunlin_remote *remote = hub_remote(&hub, "aoi", &options);
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    comes_to(remote, "TLS_TIME"); /* valid from tomorrow */
    serve_with(&made, &made.authority, here, -9, -1);
    comes_to(remote, "TLS_TIME");
    serve_with(&made, &made.authority, elsewhere, -1, 9);
    comes_to(remote, "TLS_UNTRUSTED");
    serve_with(&made, &made.stranger, here, -1, 9);
    comes_to(remote, "TLS_UNTRUSTED");
    serve_with(&made, &made.authority, here, 1, 9);
    comes_to(remote, "TLS_TIME");
    serve_with(&made, &made.authority, here, -1, 9); /* tomorrow has come */
    OK(dunlin_sync(device->store, remote, NULL, NULL));
    assert_int_equal(device_pending(device), 0);
    dunlin_remote_close(remote);
    hub_stop(&hub);
    free_certificates(&made);
}

/* Neither plain http nor an unchecked line is a way out; pins hold besides the authorities. */
static void b65_no_way_around(void **state) {
    (void)state;
    struct certificates made;
    char pin[128], other_pin[128], both[300];
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    make_certificates(&made);
    certificate_issue(&made.server, &made.authority, here, time(NULL) - 60, time(NULL) + DAY_S);
    certificate_pin(&made.server, pin, sizeof(pin));
    certificate_pin(&made.stranger, other_pin, sizeof(other_pin));
    (void)snprintf(both, sizeof(both), "%s;%s", other_pin, pin);
    hub_start(&hub, &world, &made.server);
    OK(dunlin_follow(device->store, DUNLIN_USER, "ben", NULL));
    const struct {
        const char *ca_file;
        const char *pinned;
        const char *expected;
    } ways[] = {{NULL, NULL, "TLS_UNTRUSTED"}, /* the system's authorities do not know it */
                {NULL, pin, "TLS_UNTRUSTED"},  /* a pin is no substitute */
                {made.ca_file, other_pin, "TLS_UNTRUSTED"},
                {"no/such/file.pem", NULL, "TLS_UNTRUSTED"}};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        options.ca_file = ways[i].ca_file;
        options.pinned = ways[i].pinned;
        dunlin_remote *remote = hub_remote(&hub, "aoi", &options);
        comes_to(remote, ways[i].expected);
        dunlin_remote_close(remote);
    }
    options.ca_file = made.ca_file;
    options.pinned = both;
    dunlin_remote *remote = hub_remote(&hub, "aoi", &options);
    OK(dunlin_sync(device->store, remote, NULL, NULL));
    dunlin_remote_close(remote);
    hub_stop(&hub);
    free_certificates(&made);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b62_new_token_in_the_middle),
        TEST(b62_new_token_is_refused_too),
        TEST(b62_odd_tokens),
        TEST(b64_copied_store),
        TEST(b65_certificates),
        TEST(b65_no_way_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
