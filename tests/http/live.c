/* Live news through a real dunlind: what one device pushes, another that listens has within a
 * second; and the line is made again when it breaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dunlin/http.h>

#include "client/sync_port.h"
#include "tests/support/bridge_process.h"
#include "tests/support/notebook.h"
#include "tests/support/temp.h"

struct party {
    dunlin_store *store;
    dunlin_remote *remote;
};

static char *dir;
static struct bridge bridge;

static int set_up(void **state) {
    (void)state;
    dir = temp_new();
    bridge_start(&bridge, dir, 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    bridge_stop(&bridge);
    temp_remove(dir);
    return 0;
}

static void join(struct party *party, const char *file, const char *user, const char *url) {
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    options.user = user;
    OK(dunlin_store_open(&party->store, temp_file(dir, file), user, NULL, NULL));
    OK(dunlin_http_remote(&party->remote, url, &options, NULL));
    OK(dunlin_sync(party->store, party->remote, NULL, NULL));
}

static void leave(struct party *party) {
    dunlin_remote_close(party->remote);
    dunlin_store_close(party->store);
}

/* Waits until it listens. Where the line has just been made, that is news, too; it may have been
 * made, and said so, before. */
static void listen_up(struct party *party) {
    dunlin_wakeup wakeup = {0};
    for (int i = 0; i < 20 && !wakeup.listening; i++) {
        OK(dunlin_sync_wait(party->store, party->remote, 1000, &wakeup, NULL));
    }
    assert_true(wakeup.listening);
    OK(dunlin_sync(party->store, party->remote, NULL, NULL));
}

/* How long until that user is followed on this device. */
static int64_t until_followed(struct party *party, const char *user) {
    int64_t start_ms = dln_monotonic_now_ms();
    while (dln_monotonic_now_ms() - start_ms < 30 * 1000) {
        dunlin_wakeup wakeup;
        OK(dunlin_sync_wait(party->store, party->remote, 1000, &wakeup, NULL));
        if (wakeup.news) {
            dunlin_iter *iter = NULL;
            const dunlin_followed *found = NULL;
            OK(dunlin_sync(party->store, party->remote, NULL, NULL));
            OK(dunlin_following(party->store, &iter, NULL, NULL));
            do {
                OK(dunlin_following_next(iter, &found, NULL));
            } while (found && strcmp(found->id, user) != 0);
            bool here = found != NULL;
            dunlin_iter_free(iter);
            if (here) {
                return dln_monotonic_now_ms() - start_ms;
            }
        }
    }
    return -1;
}

static void within_a_second(void **state) {
    (void)state;
    enum { ROUNDS = 10 };
    struct party phone = {0}, laptop = {0};
    int64_t longest_ms = 0;
    join(&phone, "phone.db", "aoi", bridge.url);
    join(&laptop, "laptop.db", "aoi", bridge.url);
    listen_up(&laptop);
    for (int i = 0; i < ROUNDS; i++) {
        char user[8];
        (void)snprintf(user, sizeof(user), "u%d", i);
        OK(dunlin_follow(phone.store, DUNLIN_USER, user, NULL));
        OK(dunlin_sync(phone.store, phone.remote, NULL, NULL));
        int64_t took_ms = until_followed(&laptop, user);
        assert_true(took_ms >= 0);
        longest_ms = took_ms > longest_ms ? took_ms : longest_ms;
    }
    print_message("the longest of %d: %lld ms\n", ROUNDS, (long long)longest_ms);
    assert_true(longest_ms < 1000);
    leave(&phone);
    leave(&laptop);
}

/* Nothing new: wait lasts as long as it may, and says nothing. */
static void silence(void **state) {
    (void)state;
    struct party phone = {0};
    dunlin_wakeup wakeup;
    join(&phone, "phone.db", "aoi", bridge.url);
    listen_up(&phone);
    /* Its own push may be told to it once. */
    OK(dunlin_sync_wait(phone.store, phone.remote, 2500, &wakeup, NULL));
    int64_t start_ms = dln_monotonic_now_ms();
    OK(dunlin_sync_wait(phone.store, phone.remote, 6500, &wakeup, NULL));
    assert_true(dln_monotonic_now_ms() - start_ms >= 6500);
    assert_false(wakeup.news); /* listening, it does not poll */
    assert_false(wakeup.edits);
    assert_true(wakeup.listening);
    leave(&phone);
}

/* The bridge goes away and comes back: listening goes on, and what was missed is news. */
static void the_line_is_made_again(void **state) {
    (void)state;
    struct party phone = {0}, laptop = {0};
    int port = bridge.port;
    join(&phone, "phone.db", "aoi", bridge.url);
    join(&laptop, "laptop.db", "aoi", bridge.url);
    listen_up(&laptop);
    bridge_kill(&bridge);
    dunlin_wakeup wakeup;
    OK(dunlin_sync_wait(laptop.store, laptop.remote, 1500, &wakeup, NULL));
    assert_false(wakeup.listening);
    bridge_start(&bridge, dir, port);
    OK(dunlin_follow(phone.store, DUNLIN_USER, "ben", NULL));
    OK(dunlin_sync(phone.store, phone.remote, NULL, NULL));
    assert_true(until_followed(&laptop, "ben") >= 0);
    listen_up(&laptop);
    OK(dunlin_follow(phone.store, DUNLIN_USER, "chika", NULL));
    OK(dunlin_sync(phone.store, phone.remote, NULL, NULL));
    int64_t took_ms = until_followed(&laptop, "chika");
    assert_true(took_ms >= 0 && took_ms < 1000);
    leave(&phone);
    leave(&laptop);
}

/* A server that has no such thing: said once, and then it is polled. */
static int lives;

static bool without_live(void *payload, const struct web_request *request,
                         struct web_client *client) {
    (void)payload;
    lives += strncmp(request->head, "GET /v1/live ", 13) == 0;
    return web_reply_text(client, 404, WEB_HTML, "<p>not here</p>");
}

static void without_it_polling(void **state) {
    (void)state;
    struct party phone = {0};
    struct web web;
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    dunlin_wakeup wakeup;
    dunlin_error err;
    int news = 0;
    lives = 0;
    join(&phone, "phone.db", "aoi", bridge.url);
    dunlin_remote_close(phone.remote);
    web_start(&web, without_live, NULL);
    OK(dunlin_http_remote(&phone.remote, web.url, &options, NULL));
    REFUSED("UNSUPPORTED", phone.remote->wait(phone.remote->self, 10000, &news, &err));
    REFUSED("UNSUPPORTED", phone.remote->wait(phone.remote->self, 10000, &news, &err));
    int64_t start_ms = dln_monotonic_now_ms();
    OK(dunlin_sync_wait(phone.store, phone.remote, 10000, &wakeup, NULL));
    assert_true(dln_monotonic_now_ms() - start_ms < 7000);
    assert_true(wakeup.news && !wakeup.listening);
    assert_int_equal(lives, 1); /* it was asked once */
    leave(&phone);
    web_stop(&web);
}

/* Whoever writes to the same file, in this process or in another, wakes the one who waits. */
static void edits_wake(void **state) {
    (void)state;
    struct party phone = {0};
    dunlin_store *other = NULL;
    dunlin_wakeup wakeup;
    join(&phone, "phone.db", "aoi", bridge.url);
    listen_up(&phone);
    OK(dunlin_store_open(&other, temp_file(dir, "phone.db"), "aoi", NULL, NULL));
    OK(dunlin_follow(other, DUNLIN_USER, "ben", NULL));
    OK(dunlin_sync_wait(phone.store, phone.remote, 5000, &wakeup, NULL));
    assert_true(wakeup.edits);
    OK(dunlin_sync_wait(phone.store, phone.remote, 0, &wakeup, NULL));
    assert_false(wakeup.edits); /* said once */
    OK(dunlin_sync(phone.store, phone.remote, NULL, NULL));
    OK(dunlin_follow(phone.store, DUNLIN_USER, "chika", NULL)); /* by this handle itself */
    OK(dunlin_sync_wait(phone.store, phone.remote, 5000, &wakeup, NULL));
    assert_true(wakeup.edits);
    dunlin_store_close(other);
    leave(&phone);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(within_a_second),    TEST(silence),    TEST(the_line_is_made_again),
        TEST(without_it_polling), TEST(edits_wake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
