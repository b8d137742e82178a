/* An answer's body as a device gets it from whoever answers. */
#include "sync/message.h"
#include "sync/verify.h"
#include "tests/fuzz/fuzz.h"

enum { MEMORY_MAX = 64 << 20 };

#define NONCE "0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct dln_text body = {(const char *)data, size};
    struct dln_arena arena = DLN_ARENA_INIT(MEMORY_MAX);
    struct dln_sync_answer answer;
    struct dln_verify_answer verified;
    dunlin_error err;
    if (dln_answer_decode(&arena, &answer, NONCE, body, &err) == DUNLIN_OK) {
        for (size_t i = 0; i < answer.scope_count; i++) {
            HOLDS(answer.scopes[i].scope.len > 0 && answer.scopes[i].cursor.seq >= 0);
            for (size_t k = 0; k < answer.scopes[i].version_count; k++) {
                HOLDS(dln_text_equal(answer.scopes[i].versions[k].record.key.scope,
                                     answer.scopes[i].scope));
            }
        }
    }
    dln_arena_clear(&arena);
    (void)dln_verify_answer_decode(&arena, &verified, NONCE, body, &err);
    dln_arena_free(&arena);
    return 0;
}
