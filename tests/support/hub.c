#include "tests/support/hub.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/http/unpack.h"
#include "sync/message.h"

enum { ANSWER_MAX = 64 * 1024 * 1024 };

static dunlin_status keep_piece(void *self, const void *data, size_t len) {
    struct dln_buf *buf = self;
    dln_buf_append(buf, data, len);
    return dln_buf_status(buf, NULL);
}

void hub_body(const struct web_request *request, struct dln_buf *out) {
    const char *coding = web_header(request, "Content-Encoding");
    if (!coding) {
        dln_buf_append(out, request->body, request->body_len);
        return;
    }
    struct dln_unpack *unpack = NULL;
    assert_string_equal(coding, "gzip");
    assert_int_equal(dln_unpack_new(&unpack, NULL), DUNLIN_OK);
    assert_int_equal(
        dln_unpack_feed(unpack, request->body, request->body_len, keep_piece, out, NULL),
        DUNLIN_OK);
    assert_true(dln_unpack_is_whole(unpack));
    dln_unpack_free(unpack);
}

static dunlin_remote *way_of(struct hub *hub, const struct web_request *request) {
    const char *user = web_header(request, "Dunlin-User");
    for (int i = 0; i < hub->world->device_count; i++) {
        if (!user || strcmp(hub->world->devices[i].owner, user) == 0) {
            return hub->world->devices[i].way;
        }
    }
    return NULL;
}

void hub_exchange(struct hub *hub, const struct web_request *request, struct dln_buf *answer) {
    struct dln_buf body = DLN_BUF_INIT(ANSWER_MAX);
    dunlin_sink sink = {answer, keep_piece};
    int64_t retry_after_ms = 0;
    dunlin_error err = {0};
    dunlin_remote *way = way_of(hub, request);
    const char *kind = strrchr(request->path, '/') + 1;
    hub_body(request, &body);
    hub->exchanges++;
    dunlin_status status =
        way ? way->exchange(way->self, kind, body.data, body.len, &sink, &retry_after_ms, &err)
            : DUNLIN_NEED_LOGIN;
    if (status != DUNLIN_OK) {
        err.code = status;
        dln_buf_clear(answer);
        assert_int_equal(dln_failure_encode(answer, NULL, &err, 0, NULL), DUNLIN_OK);
    }
    dln_buf_free(&body);
}

bool hub_answer(struct hub *hub, const struct web_request *request, struct web_client *client) {
    struct dln_buf answer = DLN_BUF_INIT(ANSWER_MAX);
    struct dln_buf packed = DLN_BUF_INIT(ANSWER_MAX);
    bool sent;
    hub_exchange(hub, request, &answer);
    if (hub->packed) {
        assert_int_equal(dln_pack(&packed, answer.data, answer.len, NULL), DUNLIN_OK);
        sent =
            web_reply(client, 200, WEB_OURS "Content-Encoding: gzip\r\n", packed.data, packed.len);
    } else {
        sent = web_reply(client, 200, WEB_OURS, answer.data, answer.len);
    }
    dln_buf_free(&answer);
    dln_buf_free(&packed);
    return sent;
}

static bool is_too_large(const struct hub *hub, const struct web_request *request) {
    struct dln_buf body = DLN_BUF_INIT(ANSWER_MAX);
    hub_body(request, &body);
    bool large = hub->body_max > 0 && body.len > hub->body_max;
    dln_buf_free(&body);
    return large;
}

static bool answer(void *payload, const struct web_request *request, struct web_client *client) {
    struct hub *hub = payload;
    bool keep = true;
    size_t line_len = strcspn(request->head, "\r\n");
    hub->greatest_line = line_len > hub->greatest_line ? line_len : hub->greatest_line;
    if (hub->before && hub->before(hub, request, client, &keep)) {
        return keep;
    }
    if (strncmp(request->head, "POST ", 5) != 0) {
        return web_reply_text(client, 404, WEB_HTML, "<p>not here</p>");
    }
    if (is_too_large(hub, request)) {
        return web_reply_text(client, 413, WEB_HTML, "<p>too large</p>");
    }
    return hub_answer(hub, request, client) && !hub->silent;
}

void hub_start(struct hub *hub, struct world *world, const struct certificate *certificate) {
    *hub = (struct hub){.world = world};
    if (certificate) {
        web_start_tls(&hub->web, answer, hub, certificate);
    } else {
        web_start(&hub->web, answer, hub);
    }
}

void hub_stop(struct hub *hub) {
    web_stop(&hub->web);
}

dunlin_remote *hub_remote(struct hub *hub, const char *user, const dunlin_http_options *options) {
    dunlin_http_options own = DUNLIN_HTTP_OPTIONS_INIT;
    dunlin_remote *remote = NULL;
    dunlin_error err = {0};
    own = options ? *options : own;
    own.user = user;
    if (dunlin_http_remote(&remote, hub->web.url, &own, &err) != DUNLIN_OK) {
        fail_msg("%s", err.message);
    }
    return remote;
}
