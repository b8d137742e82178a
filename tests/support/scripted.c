#include "tests/support/scripted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ARENA_BYTES_MAX = 64 * 1024 * 1024 };

static dunlin_status exchange(void *self, const char *kind, const void *request, size_t len,
                              const dunlin_sink *sink, int64_t *retry_after_ms, dunlin_error *err) {
    struct scripted *scripted = self;
    struct dln_sync_request asked = {0};
    struct dln_sync_answer answer = {0};
    struct dln_buf body = DLN_BUF_INIT(DLN_BODY_BYTES_MAX);
    (void)retry_after_ms;
    assert_string_equal(kind, "sync");
    scripted->exchanges++;
    scripted->greatest_request =
        len > scripted->greatest_request ? len : scripted->greatest_request;
    dln_arena_clear(&scripted->arena);
    assert_int_equal(
        dln_request_decode(&scripted->arena, &asked, (struct dln_text){request, len}, err),
        DUNLIN_OK);
    memcpy(answer.nonce, asked.nonce, sizeof(answer.nonce));
    answer.epoch = DLN_TEXT(SCRIPTED_EPOCH);
    answer.now_ms = scripted->now_ms;
    dunlin_status status =
        scripted->answer(scripted->payload, &scripted->arena, &asked, &answer, err);
    if (status == DUNLIN_OK) {
        assert_int_equal(dln_answer_encode(&body, &answer, err), DUNLIN_OK);
        status = sink->write(sink->self, body.data, body.len);
    }
    dln_buf_free(&body);
    return status;
}

void scripted_init(struct scripted *scripted, scripted_answer answer, void *payload,
                   int64_t now_ms) {
    *scripted = (struct scripted){.answer = answer, .payload = payload, .now_ms = now_ms};
    scripted->remote = (dunlin_remote){.self = scripted, .exchange = exchange};
    scripted->arena = DLN_ARENA_INIT(ARENA_BYTES_MAX);
}

void scripted_free(struct scripted *scripted) {
    dln_arena_free(&scripted->arena);
}

struct dln_scope_answer *scripted_scopes(struct dln_arena *arena, struct dln_sync_answer *answer,
                                         size_t count) {
    answer->scopes = dln_arena_alloc(arena, (count + 1) * sizeof(*answer->scopes));
    assert_non_null(answer->scopes);
    answer->scope_count = count;
    return answer->scopes;
}

void scripted_nothing_new(struct dln_arena *arena, const struct dln_sync_request *request,
                          struct dln_sync_answer *answer) {
    struct dln_scope_answer *scopes = scripted_scopes(arena, answer, request->scope_count);
    answer->scope_count = 0;
    for (size_t i = 0; i < request->scope_count; i++) {
        if (request->scopes[i].pull) {
            scopes[answer->scope_count++] =
                (struct dln_scope_answer){.scope = request->scopes[i].scope,
                                          .state = DLN_SCOPE_PAGE,
                                          .cursor = request->scopes[i].cursor};
        }
    }
}

void scripted_ack_all(struct dln_arena *arena, const struct dln_sync_request *request,
                      struct dln_sync_answer *answer, int64_t first_seq) {
    answer->acks = dln_arena_alloc(arena, (request->record_count + 1) * sizeof(*answer->acks));
    assert_non_null(answer->acks);
    answer->ack_count = request->record_count;
    for (size_t i = 0; i < request->record_count; i++) {
        answer->acks[i] = (struct dln_ack){.index = i, .seq = first_seq + (int64_t)i};
    }
}
