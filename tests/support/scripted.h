/* A remote that answers as a test says: the place where statuses, pages and refusals are made up.
 */
#ifndef DLN_TESTS_SCRIPTED_H
#define DLN_TESTS_SCRIPTED_H

#include <dunlin/sys/remote.h>

#include "sync/message.h"

#define SCRIPTED_EPOCH "0123456789abcdef0123456789abcdef"

/* Fills in the answer, whose nonce, epoch and time stand already; all memory from the arena. A
 * status other than OK is what the exchange comes to instead. */
typedef dunlin_status (*scripted_answer)(void *payload, struct dln_arena *arena,
                                         const struct dln_sync_request *request,
                                         struct dln_sync_answer *answer, dunlin_error *err);

struct scripted {
    dunlin_remote remote; /* give its address to dunlin_sync() */
    scripted_answer answer;
    void *payload;
    int64_t now_ms;
    uint64_t exchanges;
    size_t greatest_request; /* bytes */
    struct dln_arena arena;
};

void scripted_init(struct scripted *scripted, scripted_answer answer, void *payload,
                   int64_t now_ms);
void scripted_free(struct scripted *scripted);

/* Room for that many in the answer, zeroed. */
struct dln_scope_answer *scripted_scopes(struct dln_arena *arena, struct dln_sync_answer *answer,
                                         size_t count);
/* An empty last page for every scope that is asked for: "nothing new". */
void scripted_nothing_new(struct dln_arena *arena, const struct dln_sync_request *request,
                          struct dln_sync_answer *answer);
/* Acknowledges every record, with seqs from first_seq on. */
void scripted_ack_all(struct dln_arena *arena, const struct dln_sync_request *request,
                      struct dln_sync_answer *answer, int64_t first_seq);

#endif
