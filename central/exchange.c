/* Push first, then pull, so that the pages bring what was just pushed. The epoch is read at the
 * beginning and at the end: where they differ, central was restored meanwhile, and it is no answer.
 *
 * Everything may come twice, and may be cut off at any point: what was appended changes nothing
 * when it is pushed again. */
#include "central/exchange.h"

#include <string.h>

#include "central/keymap.h"
#include "central/verify.h"

static dunlin_status bad_message(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_BAD_MESSAGE, DUNLIN_DOMAIN_CENTRAL, "the request %s", what);
}

/* Finds each record's scope and sorts the records by it, keeping their order. */
static dunlin_status deal_records(struct dln_exchange *exchange, const struct dln_keymap *names,
                                  dunlin_error *err) {
    const struct dln_sync_request *request = exchange->request;
    struct dln_arena *arena = &exchange->central->arena;
    size_t *scope_of = dln_arena_alloc(arena, request->record_count * sizeof(*scope_of));
    size_t *sorted = dln_arena_alloc(arena, request->record_count * sizeof(*sorted));
    if (scope_of == NULL || sorted == NULL) {
        return dln_central_no_memory(err);
    }
    for (size_t i = 0; i < request->record_count; i++) {
        scope_of[i] = SIZE_MAX;
        if (request->records[i].key.name.len == 0) {
            continue; /* a bad line */
        }
        if (!dln_keymap_get(names, request->records[i].key.scope, &scope_of[i])) {
            return bad_message(err, "has a record of a scope that it does not name");
        }
        exchange->scopes[scope_of[i]].record_count++;
    }
    size_t *end = sorted;
    for (size_t i = 0; i < request->scope_count; i++) {
        exchange->scopes[i].records = end;
        end += exchange->scopes[i].record_count;
        exchange->scopes[i].record_count = 0;
    }
    for (size_t i = 0; i < request->record_count; i++) {
        if (scope_of[i] != SIZE_MAX) {
            struct dln_exchange_scope *scope = &exchange->scopes[scope_of[i]];
            sorted[(size_t)(scope->records - sorted) + scope->record_count++] = i;
        }
    }
    return DUNLIN_OK;
}

static dunlin_status open_scopes(struct dln_exchange *exchange, dunlin_error *err) {
    const struct dln_sync_request *request = exchange->request;
    struct dln_arena *arena = &exchange->central->arena;
    struct dln_keymap names;
    exchange->scopes = dln_arena_alloc(arena, request->scope_count * sizeof(*exchange->scopes));
    if (exchange->scopes == NULL || !dln_keymap_init(&names, arena, request->scope_count)) {
        return dln_central_no_memory(err);
    }
    for (size_t i = 0; i < request->scope_count; i++) {
        struct dln_exchange_scope *scope = &exchange->scopes[i];
        bool added;
        scope->ask = &request->scopes[i];
        if (scope->ask->scope.data == NULL) {
            return bad_message(err, "has a scope without a name");
        }
        scope->known = dln_scope_parse(arena, scope->ask->scope, &scope->kind, &scope->id) &&
                       dln_check_id(scope->id, "scope", NULL) == DUNLIN_OK;
        /* Want of memory must not look like a scope that nobody may read. */
        if (!scope->known && dln_central_is_short(arena, DLN_SCOPE_MAX)) {
            return dln_central_no_memory(err);
        }
        (void)dln_keymap_put(&names, scope->ask->scope, i, &added);
        if (!added) {
            return bad_message(err, "names a scope twice");
        }
    }
    return deal_records(exchange, &names, err);
}

static dunlin_status open_answer(struct dln_exchange *exchange, dunlin_error *err) {
    const struct dln_sync_request *request = exchange->request;
    struct dln_sync_answer *answer = exchange->answer;
    struct dln_arena *arena = &exchange->central->arena;
    memset(answer, 0, sizeof(*answer));
    memcpy(answer->nonce, request->nonce, sizeof(answer->nonce));
    answer->acks = dln_arena_alloc(arena, request->record_count * sizeof(*answer->acks));
    answer->refusals = dln_arena_alloc(arena, request->record_count * sizeof(*answer->refusals));
    answer->scopes = dln_arena_alloc(arena, request->scope_count * sizeof(*answer->scopes));
    return answer->acks && answer->refusals && answer->scopes ? DUNLIN_OK
                                                              : dln_central_no_memory(err);
}

/* Lines that could not be read as a record. */
static dunlin_status refuse_bad_lines(struct dln_exchange *exchange, dunlin_error *err) {
    const struct dln_sync_request *request = exchange->request;
    for (size_t i = 0; i < request->record_count; i++) {
        if (request->records[i].key.name.len != 0) {
            continue;
        }
        dln_push_refuse(exchange, i, DUNLIN_BAD_MESSAGE, "the record's line cannot be read");
        if (request->bad != NULL && request->bad[i].code != DUNLIN_OK) {
            struct dln_refusal *refusal =
                &exchange->answer->refusals[exchange->answer->refusal_count - 1];
            refusal->code = request->bad[i].code;
            refusal->reason = dln_arena_text(&exchange->central->arena, request->bad[i].reason);
            if (refusal->reason.data == NULL) {
                return dln_central_no_memory(err);
            }
        }
    }
    return DUNLIN_OK;
}

/* Once what refusals carry has filled a page, the records behind are left for the next exchange:
 * neither acknowledged nor refused. */
static dunlin_status push_all(struct dln_exchange *exchange, dunlin_error *err) {
    dunlin_status status = refuse_bad_lines(exchange, err);
    for (size_t i = 0; status == DUNLIN_OK && i < exchange->request->scope_count; i++) {
        if (exchange->scopes[i].record_count > 0 && exchange->refusal_bytes < DLN_PAGE_BYTES_MAX) {
            status = dln_push_scope(exchange, &exchange->scopes[i], err);
        }
    }
    return status;
}

dunlin_status dln_exchange_sync(struct dunlin_central *central, struct dln_text user,
                                const struct dln_sync_request *request,
                                struct dln_sync_answer *answer, dunlin_error *err) {
    struct dln_exchange exchange = {
        .central = central, .user = user, .request = request, .answer = answer};
    const struct dln_central_engine *engine = &central->engine;
    dunlin_status status;
    if (request->record_count > DLN_REQUEST_RECORDS_MAX ||
        request->scope_count > DLN_REQUEST_SCOPES_MAX) {
        return dln_fail(err, DUNLIN_TOO_LARGE, DUNLIN_DOMAIN_CENTRAL,
                        "the request holds too many records or scopes");
    }
    if ((status = open_answer(&exchange, err)) ||
        (status = dln_central_epoch(central, &central->arena, &exchange.epoch, err)) ||
        (status = open_scopes(&exchange, err)) || (status = push_all(&exchange, err)) ||
        (status = dln_pull(&exchange, err)) ||
        (status = dln_central_epoch_stands(central, &exchange.epoch, err)) ||
        (status = engine->now(engine->self, &answer->now_ms, err))) {
        return status;
    }
    answer->epoch = exchange.epoch.id;
    central->counts.scopes += request->scope_count;
    return DUNLIN_OK;
}

static dunlin_status sync_body(struct dunlin_central *central, struct dln_text user,
                               struct dln_text body, struct dln_buf *out, dunlin_error *err) {
    struct dln_sync_request request;
    struct dln_sync_answer answer;
    dunlin_status status;
    if ((status = dln_request_decode(&central->arena, &request, body, err)) ||
        (status = dln_exchange_sync(central, user, &request, &answer, err))) {
        return status;
    }
    return dln_answer_encode(out, &answer, err);
}

dunlin_status dln_exchange_body(struct dunlin_central *central, struct dln_text user,
                                const char *kind, struct dln_text body, struct dln_buf *out,
                                dunlin_error *err) {
    dunlin_status status;
    if (body.len > DLN_BODY_BYTES_MAX) {
        return dln_fail(err, DUNLIN_TOO_LARGE, DUNLIN_DOMAIN_CENTRAL, "the request is too large");
    }
    if (strcmp(kind, "sync") == 0) {
        status = sync_body(central, user, body, out, err);
    } else if (strcmp(kind, "verify") == 0) {
        status = dln_verify_body(central, user, body, out, err);
    } else {
        status = dln_fail(err, DUNLIN_UNSUPPORTED, DUNLIN_DOMAIN_CENTRAL,
                          "central knows no request of that kind");
    }
    dln_arena_clear(&central->arena);
    dln_arena_clear(&central->attempt);
    return status;
}
