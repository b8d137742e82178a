#include "tests/support/tap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { BODY_BYTES_MAX = 64 * 1024 * 1024 };

static dunlin_status keep(void *self, const void *data, size_t len) {
    struct dln_buf *buf = self;
    dln_buf_append(buf, data, len);
    return dln_buf_status(buf, NULL);
}

static void note(struct tap *tap, const void *request, size_t len) {
    tap->exchanges++;
    tap->bytes_last = len;
    tap->bytes_first = tap->bytes_first == 0 ? len : tap->bytes_first;
    tap->bytes_greatest = len > tap->bytes_greatest ? len : tap->bytes_greatest;
    dln_buf_clear(&tap->body);
    dln_buf_append(&tap->body, request, len);
    dln_buf_append_byte(&tap->body, '\0');
    assert_int_equal(dln_buf_status(&tap->body, NULL), DUNLIN_OK);
}

static void exchange_text(struct tap *tap) {
    struct dln_buf changed = DLN_BUF_INIT(BODY_BYTES_MAX);
    size_t len = tap->replace == NULL ? 0 : strlen(tap->replace);
    for (size_t at = 0; at < tap->answer.len;) {
        if (len > 0 && tap->answer.len - at >= len &&
            memcmp(tap->answer.data + at, tap->replace, len) == 0) {
            dln_buf_append_text(&changed, tap->with);
            at += len;
        } else {
            dln_buf_append_byte(&changed, tap->answer.data[at++]);
        }
    }
    assert_int_equal(dln_buf_status(&changed, NULL), DUNLIN_OK);
    dln_buf_free(&tap->answer);
    tap->answer = changed;
}

static dunlin_status exchange(void *self, const char *kind, const void *request, size_t len,
                              const dunlin_sink *sink, int64_t *retry_after_ms, dunlin_error *err) {
    struct tap *tap = self;
    const dunlin_sink kept = {&tap->answer, keep};
    struct dln_sync_request asked = {0};
    dunlin_status status = DUNLIN_OK;
    assert_string_equal(kind, "sync");
    note(tap, request, len);
    dln_arena_clear(&tap->arena);
    assert_int_equal(dln_request_decode(&tap->arena, &asked, (struct dln_text){request, len}, NULL),
                     DUNLIN_OK);
    tap->records += asked.record_count;
    if (tap->before != NULL) {
        status = tap->before(tap->payload, &asked, len, err);
    }
    dln_buf_clear(&tap->answer);
    if (status == DUNLIN_OK) {
        status = tap->behind->exchange(tap->behind->self, kind, request, len, &kept, retry_after_ms,
                                       err);
    }
    if (status == DUNLIN_OK && tap->after != NULL) {
        status = tap->after(tap->payload, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    exchange_text(tap);
    return sink->write(sink->self, tap->answer.data, tap->answer.len);
}

void tap_init(struct tap *tap, dunlin_remote *behind, void *payload) {
    *tap = (struct tap){.behind = behind, .payload = payload};
    tap->remote = (dunlin_remote){.self = tap, .exchange = exchange};
    tap->body = DLN_BUF_INIT(BODY_BYTES_MAX);
    tap->answer = DLN_BUF_INIT(BODY_BYTES_MAX);
    tap->arena = DLN_ARENA_INIT(BODY_BYTES_MAX);
}

void tap_free(struct tap *tap) {
    dln_buf_free(&tap->body);
    dln_buf_free(&tap->answer);
    dln_arena_free(&tap->arena);
}

int tap_sent(const struct tap *tap, const char *text) {
    return strstr(tap->body.data, text) != NULL;
}
