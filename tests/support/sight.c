#include "tests/support/sight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "central/walk.h"
#include "sync/message.h"

enum { RING = 8, LINE_BYTES = 64 * 1024, ARENA_BYTES = 1 << 20 };

/* ---- devices */

static struct notebook view(const struct device *device) {
    return (struct notebook){.store = device->store};
}

const char *sight_following(const struct device *device) {
    struct notebook notebook = view(device);
    return show_following(&notebook, NULL);
}

const char *sight_subscriptions(const struct device *device) {
    struct notebook notebook = view(device);
    return show_subscriptions(&notebook, NULL);
}

const char *sight_lists(const struct device *device) {
    struct notebook notebook = view(device);
    return show_lists(&notebook, NULL);
}

const char *sight_items(const struct device *device, const char *list) {
    struct notebook notebook = view(device);
    return show_items(&notebook, list, NULL);
}

void sight_agree(struct device *const *devices, int count) {
    char *central = device_dump_remote(devices[0]);
    for (int i = 0; i < count; i++) {
        dunlin_check check = {0};
        char *dump = device_dump(devices[i]);
        assert_string_equal(dump, central);
        free(dump);
        OK(dunlin_store_verify(devices[i]->store, 0, &check, NULL));
        assert_int_equal(check.subscriptions_off, 0);
        assert_int_equal(check.counts_off, 0);
        assert_int_equal(check.search_off, 0);
    }
    free(central);
}

/* ---- dumps */

static const char *line_of(char *dump, const char *one, const char *other) {
    static char ring[RING][LINE_BYTES];
    static int next;
    char *found = ring[next++ % RING];
    found[0] = '\0';
    for (char *line = dump; *line != '\0';) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        if (strstr(line, one) != NULL && strstr(line, other) != NULL) {
            assert_string_equal(found, "");
            assert_true(snprintf(found, LINE_BYTES, "%s", line) < LINE_BYTES);
        }
        line = end + 1;
    }
    free(dump);
    return found;
}

const char *sight_line(struct device *device, const char *one, const char *other) {
    return line_of(device_dump(device), one, other);
}

const char *sight_central_line(struct device *device, const char *one, const char *other) {
    return line_of(device_dump_remote(device), one, other);
}

size_t sight_count(const char *text, const char *part) {
    size_t count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        count++;
    }
    return count;
}

/* ---- central */

int64_t sight_central_number(const struct world *world, const char *sql) {
    struct notebook file = {0};
    (void)snprintf(file.path, sizeof(file.path), "%s/central.db", world->dir);
    return notebook_number(&file, sql);
}

int64_t sight_versions(const struct world *world, const char *scope, const char *key) {
    struct dln_walk walk = {.central = world->central, .scope = dln_text_of(scope)};
    struct dln_trace trace;
    bool last_of_key = false;
    bool found = false;
    int64_t versions = 0;
    do {
        assert_int_equal(dln_walk_next(&walk, &trace, &last_of_key, &found, NULL), DUNLIN_OK);
        versions += found && (key == NULL || dln_text_equal(trace.key, dln_text_of(key)));
    } while (found);
    dln_walk_free(&walk);
    return versions;
}

static dunlin_status keep(void *self, const void *data, size_t len) {
    struct dln_buf *buf = self;
    dln_buf_append(buf, data, len);
    return dln_buf_status(buf, NULL);
}

void sight_push(struct device *device, const struct dln_record *record) {
    static const char nonce[] = "00112233445566778899aabbccddeeff";
    struct dln_scope_ask ask = {.scope = record->key.scope};
    struct dln_record sent = *record;
    struct dln_sync_request request = {
        .page_records = 1, .scopes = &ask, .scope_count = 1, .records = &sent, .record_count = 1};
    struct dln_sync_answer answer = {0};
    struct dln_buf body = DLN_BUF_INIT(ARENA_BYTES);
    struct dln_buf answered = DLN_BUF_INIT(ARENA_BYTES);
    struct dln_arena arena = DLN_ARENA_INIT(ARENA_BYTES);
    const dunlin_sink sink = {&answered, keep};
    int64_t retry_after_ms = 0;
    memcpy(request.nonce, nonce, sizeof(nonce));
    OK(dln_request_encode(&body, &request, NULL));
    OK(device->way->exchange(device->way->self, "sync", body.data, body.len, &sink, &retry_after_ms,
                             NULL));
    OK(dln_answer_decode(&arena, &answer, nonce, (struct dln_text){answered.data, answered.len},
                         NULL));
    if (answer.refusal_count > 0) {
        fail_msg("%s: %s", dunlin_status_name(answer.refusals[0].code),
                 answer.refusals[0].reason.data);
    }
    assert_int_equal(answer.ack_count, 1);
    dln_buf_free(&body);
    dln_buf_free(&answered);
    dln_arena_free(&arena);
}
