/* B40: the remote takes 12 KiB a body (413 above). What fits goes through in few requests, the one
 * record that never fits becomes a dead letter, and the learned size is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "tests/support/sight.h"
#include "tests/support/tap.h"

enum { BODY_MAX = 12 * 1024, BIG = 15 * 1024, SMALL = 127, REQUESTS_MAX = 20 };

static struct world world;
static struct device *device;
static struct tap tap;
static int refused;

static dunlin_status refuse_large(void *payload, const struct dln_sync_request *request,
                                  size_t bytes, dunlin_error *err) {
    (void)payload;
    (void)request;
    if (bytes <= BODY_MAX) {
        return DUNLIN_OK;
    }
    refused++;
    return dln_fail(err, DUNLIN_TOO_LARGE, DUNLIN_DOMAIN_REMOTE, "413");
}

static int set_up(void **state) {
    (void)state;
    world_open(&world, 40, NULL);
    device = world_device(&world, "aoi", 0);
    OK(dunlin_list_create(device->store, NULL, "l1", "list", NULL));
    device_sync_ok(device);
    tap_init(&tap, &device->remote, NULL);
    tap.before = refuse_large;
    refused = 0;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tap_free(&tap);
    world_close(&world);
    return 0;
}

static const char *big_data(void) {
    static char data[BIG + 1];
    memset(data, 'x', BIG);
    data[0] = data[BIG - 1] = '"';
    return data;
}

static void assert_dead_letter(const char *id) {
    const dunlin_rejection *letter = NULL;
    dunlin_iter *iter = NULL;
    assert_int_equal(device_rejected(device), 1);
    OK(dunlin_rejected(device->store, &iter, NULL, NULL));
    OK(dunlin_rejected_next(iter, &letter, NULL));
    assert_int_equal(letter->code, DUNLIN_TOO_LARGE);
    assert_string_equal(letter->key[2], id);
    assert_true(strlen(letter->fields) > BIG);
    dunlin_iter_free(iter);
}

static void the_next_sync_starts_small(void) {
    dunlin_sync_result result;
    device_close(device);
    device_open(device);
    device_add_items(device, 1000, 300, -1, NULL);
    tap.bytes_first = 0;
    refused = 0;
    OK(dunlin_sync(device->store, &tap.remote, &result, NULL));
    assert_true(tap.bytes_first > 0 && tap.bytes_first <= BODY_MAX);
    assert_int_equal(refused, 0);
    assert_int_equal(result.pushed, 300);
}

static void big_one_at(int number) {
    dunlin_sync_result result;
    device_add_items(device, 0, SMALL + 1, number, big_data());
    OK(dunlin_sync(device->store, &tap.remote, &result, NULL));
    print_message("%llu requests, %d of them refused\n", (unsigned long long)result.exchanges,
                  refused);
    assert_true(result.exchanges <= REQUESTS_MAX);
    assert_int_equal(result.pushed, SMALL);
    assert_int_equal(result.rejected, 1);
    assert_int_equal(device_pending(device), 0);
    char id[24];
    (void)snprintf(id, sizeof(id), "v%03d", number);
    assert_dead_letter(id);
    assert_int_equal(sight_count(sight_items(device, "l1"), "video/"), SMALL);
    sight_agree(&device, 1);
    the_next_sync_starts_small();
}

static void b40_big_one_in_the_middle(void **state) {
    (void)state;
    big_one_at(SMALL / 2);
}

static void b40_big_one_first(void **state) {
    (void)state;
    big_one_at(0);
}

static void b40_big_one_last(void **state) {
    (void)state;
    big_one_at(SMALL);
}

/* An item that central has already grows too large: it shows central's version again. */
static void b40_edit_of_a_known_record(void **state) {
    (void)state;
    dunlin_item_options options = DUNLIN_ITEM_OPTIONS_INIT;
    dunlin_sync_result result;
    device_add_items(device, 0, SMALL + 1, -1, NULL);
    device_sync_ok(device);
    world.now_ms += 1000;
    for (int i = 0; i <= SMALL; i++) {
        char id[24];
        (void)snprintf(id, sizeof(id), "v%03d", i);
        options.data = i == SMALL / 2 ? big_data() : "\"small\"";
        OK(dunlin_item_set(device->store, "l1", "video", id, &options, NULL));
    }
    OK(dunlin_sync(device->store, &tap.remote, &result, NULL));
    assert_true(result.exchanges <= REQUESTS_MAX);
    assert_int_equal(result.pushed, SMALL);
    assert_int_equal(result.rejected, 1);
    assert_int_equal(device_pending(device), 0);
    assert_dead_letter("v063");
    sight_agree(&device, 1);
    the_next_sync_starts_small();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(b40_big_one_in_the_middle),
        TEST(b40_big_one_first),
        TEST(b40_big_one_last),
        TEST(b40_edit_of_a_known_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
