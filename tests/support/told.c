#include "tests/support/told.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/sight.h"

struct told told;

static void note(const struct web_request *request) {
    const char *found = web_header(request, "Authorization");
    memcpy(told.last_body[1], told.last_body[0], sizeof(told.last_body[0]));
    told.last_len[1] = told.last_len[0];
    told.last_len[0] = request->body_len < 4096 ? request->body_len : 4096;
    memcpy(told.last_body[0], request->body, told.last_len[0]);
    if (found) {
        (void)snprintf(told.authorization, sizeof(told.authorization), "%s", found);
    }
}

bool told_before(struct hub *hub, const struct web_request *request, struct web_client *client,
                 bool *keep) {
    (void)hub;
    note(request);
    if (told.status == 0 || (told.times > 0 && told.answered >= told.times)) {
        return false;
    }
    told.answered++;
    *keep = web_reply(client, told.status, told.headers, told.body, told.body_len);
    return true;
}

int told_setup(void **state) {
    (void)state;
    memset(&told, 0, sizeof(told));
    world_open(&told.world, 12, NULL);
    told.device = world_device(&told.world, "aoi", 0);
    hub_start(&told.hub, &told.world, NULL);
    told.hub.before = told_before;
    told.remote = hub_remote(&told.hub, "aoi", NULL);
    OK(dunlin_sync(told.device->store, told.remote, NULL, NULL));
    OK(dunlin_follow(told.device->store, DUNLIN_USER, "ben", NULL));
    return 0;
}

int told_teardown(void **state) {
    (void)state;
    dunlin_remote_close(told.remote);
    hub_stop(&told.hub);
    world_close(&told.world);
    return 0;
}

void told_answers(int status, const char *headers, const void *body, size_t body_len) {
    web_settle(&told.hub.web);
    told.status = status;
    told.headers = headers;
    told.body = body;
    told.body_len = body_len;
    told.times = 0;
    told.answered = 0;
}

void told_says(int status, const char *headers, const char *text) {
    told_answers(status, headers, text, strlen(text));
}

void told_comes_to(const char *expected) {
    dunlin_sync_result result;
    dunlin_error err = {0};
    char *before = device_dump(told.device);
    dunlin_status status = dunlin_sync(told.device->store, told.remote, &result, &err);
    if (strcmp(dunlin_status_name(status), expected) != 0) {
        fail_msg("%s instead of %s: %s", dunlin_status_name(status), expected, err.message);
    }
    assert_int_equal(err.code, status);
    assert_true(*err.message != '\0');
    assert_int_equal(result.pushed, 0);
    assert_int_equal(result.rejected, 0);
    assert_true(result.retry_at_ms >= told.world.now_ms);
    assert_int_equal(device_pending(told.device), 1);
    char *after = device_dump(told.device);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

void told_heals(void) {
    dunlin_sync_result result;
    web_settle(&told.hub.web);
    told.status = 0;
    OK(dunlin_sync(told.device->store, told.remote, &result, NULL));
    assert_int_equal(result.pushed, 1);
    assert_int_equal(device_pending(told.device), 0);
    sight_agree(&told.device, 1);
}
