#include "tests/support/shared_side.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "central/walk.h"
#include "tests/support/mongo.h"
#include "tests/support/temp.h"

enum { ARENA_MAX = 64 * 1024 * 1024, SCOPES_MAX = 512, RECORDS_MAX = 1024 };

static int64_t clock_now(void *self) {
    return ((struct shared *)self)->now_ms;
}

static int64_t clock_steady(void *self) {
    return ((struct shared *)self)->steady_ms;
}

static void fill(void *self, void *out, size_t len) {
    struct shared *shared = self;
    unsigned char *bytes = out;
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (unsigned char)test_random_next(&shared->random);
    }
}

static void must(dunlin_status status, const dunlin_error *err) {
    if (status != DUNLIN_OK) {
        fail_msg("%s: %s", dunlin_status_name(status), err->message);
    }
}

void shared_reopen(struct shared *shared) {
    dunlin_error err;
    dunlin_central_close(shared->central);
    if (mongo_is_chosen()) {
        shared->central = mongo_central(shared->url, &shared->options);
    } else {
        must(dunlin_central_open(&shared->central, shared->url, &shared->options, &err), &err);
    }
    shared->central->ports.steady_ms = clock_steady;
    shared->central->ports.steady_self = shared;
}

void shared_open(struct shared *shared, const dunlin_central_options *options) {
    static const dunlin_central_options defaults = DUNLIN_CENTRAL_OPTIONS_INIT;
    char url[1024];
    *shared = (struct shared){.now_ms = SHARED_START_MS, .random = {1}};
    shared->dir = temp_new();
    (void)snprintf(url, sizeof(url), "sqlite:%s/central.db", shared->dir);
    shared->url = mongo_is_chosen() ? mongo_new() : strdup(url);
    shared->ports = (dunlin_ports){shared, clock_now, fill};
    shared->options = options != NULL ? *options : defaults;
    shared->options.ports = &shared->ports;
    shared->arena = DLN_ARENA_INIT(ARENA_MAX);
    shared_reopen(shared);
    shared_begin(shared);
}

void shared_needs_speed(void) {
    if (mongo_is_chosen() && mongo_scans()) {
        skip();
    }
}

void shared_close(struct shared *shared) {
    dunlin_central_close(shared->central);
    dln_arena_free(&shared->arena);
    temp_remove(shared->dir);
    if (mongo_is_chosen()) {
        mongo_drop(shared->url);
    } else {
        free(shared->url);
    }
}

void shared_pass(struct shared *shared, int64_t ms) {
    shared->now_ms += ms;
    shared->steady_ms += ms;
}

void shared_pass_days(struct shared *shared, int64_t days) {
    shared_pass(shared, days * SHARED_DAY_MS);
}

dunlin_maintenance shared_maintain(struct shared *shared) {
    dunlin_maintenance done;
    dunlin_error err;
    must(dunlin_central_maintain(shared->central, &done, &err), &err);
    return done;
}

dln_stamp shared_stamp(const struct shared *shared, int64_t more) {
    return dln_stamp_of_ms(shared->now_ms) + (dln_stamp)more;
}

void shared_begin(struct shared *shared) {
    dln_arena_clear(&shared->arena);
    shared->request = (struct dln_sync_request){.page_records = DLN_PAGE_RECORDS_MAX};
    shared->request.scopes =
        dln_arena_alloc(&shared->arena, SCOPES_MAX * sizeof(struct dln_scope_ask));
    shared->request.records =
        dln_arena_alloc(&shared->arena, RECORDS_MAX * sizeof(struct dln_record));
    assert_non_null(shared->request.scopes);
    assert_non_null(shared->request.records);
    memset(shared->request.nonce, 'a', DLN_NONCE_LEN);
}

static struct dln_text own(struct shared *shared, const char *text) {
    struct dln_text copy = dln_arena_text(&shared->arena, dln_text_of(text));
    assert_non_null(copy.data);
    return copy;
}

struct dln_scope_ask *shared_ask(struct shared *shared, const char *scope) {
    struct dln_epoch epoch;
    dunlin_error err;
    for (size_t i = 0; i < shared->request.scope_count; i++) {
        if (dln_text_equal(shared->request.scopes[i].scope, dln_text_of(scope))) {
            return &shared->request.scopes[i];
        }
    }
    assert_true(shared->request.scope_count < SCOPES_MAX);
    must(dln_central_epoch(shared->central, &shared->arena, &epoch, &err), &err);
    struct dln_scope_ask *ask = &shared->request.scopes[shared->request.scope_count++];
    *ask = (struct dln_scope_ask){.scope = own(shared, scope), .epoch = epoch.id, .pull = true};
    return ask;
}

struct dln_record *shared_record(struct shared *shared, const char *scope, const char *key) {
    struct dln_scope_ask *ask = shared_ask(shared, scope);
    assert_true(shared->request.record_count < RECORDS_MAX);
    struct dln_record *record = &shared->request.records[shared->request.record_count++];
    memset(record, 0, sizeof(*record));
    assert_true(dln_key_parse(&shared->arena, &record->key, own(shared, key)));
    record->key.scope = ask->scope;
    return record;
}

static struct dln_value value_of(struct shared *shared, const char *value) {
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
        return dln_value_bool(value[0] == 't');
    }
    if (strcmp(value, "null") == 0) {
        return dln_value_null();
    }
    if (value[0] == '#') {
        return dln_value_integer(strtoll(value + 1, NULL, 10));
    }
    if (value[0] == '{' || value[0] == '[') {
        return dln_value_json(own(shared, value));
    }
    return dln_value_string(own(shared, value));
}

void shared_set(struct shared *shared, const char *name, dln_stamp stamp, const char *value) {
    struct dln_record *record = &shared->request.records[shared->request.record_count - 1];
    struct dln_field field = {stamp, value_of(shared, value)};
    int known = record->key.collection != NULL
                    ? dln_field_by_name(record->key.collection, dln_text_of(name))
                    : -1;
    if (known >= 0) {
        record->fields[known] = field;
        return;
    }
    if (record->extras == NULL) {
        record->extras =
            dln_arena_alloc(&shared->arena, (DLN_EXTRA_MAX + 1) * sizeof(*record->extras));
        assert_non_null(record->extras);
    }
    size_t at = record->extra_count++;
    for (; at > 0 && dln_text_compare(record->extras[at - 1].name, dln_text_of(name)) > 0; at--) {
        record->extras[at] = record->extras[at - 1];
    }
    record->extras[at] = (struct dln_extra){own(shared, name), field};
}

dunlin_status shared_try(struct shared *shared, const char *user) {
    dln_arena_clear(&shared->central->arena);
    return dln_exchange_sync(shared->central, dln_text_of(user), &shared->request, &shared->answer,
                             NULL);
}

void shared_send(struct shared *shared, const char *user) {
    dunlin_error err;
    dln_arena_clear(&shared->central->arena);
    must(dln_exchange_sync(shared->central, dln_text_of(user), &shared->request, &shared->answer,
                           &err),
         &err);
}

int64_t shared_ack(const struct shared *shared, size_t index) {
    for (size_t i = 0; i < shared->answer.ack_count; i++) {
        if (shared->answer.acks[i].index == index) {
            return shared->answer.acks[i].seq;
        }
    }
    return 0;
}

const struct dln_refusal *shared_refusal(const struct shared *shared, size_t index) {
    for (size_t i = 0; i < shared->answer.refusal_count; i++) {
        if (shared->answer.refusals[i].index == index) {
            return &shared->answer.refusals[i];
        }
    }
    return NULL;
}

dunlin_status shared_code(const struct shared *shared, size_t index) {
    const struct dln_refusal *refusal = shared_refusal(shared, index);
    return refusal != NULL ? refusal->code : DUNLIN_OK;
}

const struct dln_refused_field *shared_refused(const struct shared *shared, size_t index,
                                               const char *name) {
    const struct dln_refusal *refusal = shared_refusal(shared, index);
    for (size_t i = 0; refusal != NULL && i < refusal->field_count; i++) {
        if (dln_text_equal(refusal->fields[i].name, dln_text_of(name))) {
            return &refusal->fields[i];
        }
    }
    return NULL;
}

const struct dln_scope_answer *shared_scope(const struct shared *shared, const char *scope) {
    for (size_t i = 0; i < shared->answer.scope_count; i++) {
        if (dln_text_equal(shared->answer.scopes[i].scope, dln_text_of(scope))) {
            return &shared->answer.scopes[i];
        }
    }
    return NULL;
}

dunlin_status shared_push(struct shared *shared, const char *user, const char *scope,
                          const char *key, dln_stamp stamp, const char *const *names_and_values) {
    shared_begin(shared);
    struct dln_scope_ask *ask = shared_ask(shared, scope);
    dunlin_error err;
    ask->pull = false;
    must(shared->central->engine.last(shared->central->engine.self, ask->scope, &ask->cursor, &err),
         &err);
    (void)shared_record(shared, scope, key);
    for (; *names_and_values != NULL; names_and_values += 2) {
        shared_set(shared, names_and_values[0], stamp, names_and_values[1]);
    }
    shared_send(shared, user);
    if (shared_code(shared, 0) == DUNLIN_OK) {
        assert_true(shared_ack(shared, 0) > 0);
    }
    return shared_code(shared, 0);
}

void shared_fill(struct shared *shared, int lists) {
    char key[32];
    for (int i = 0; i < lists; i++) {
        (void)snprintf(key, sizeof(key), "list/l%03d", i);
        assert_int_equal(SHARED_PUSH(shared, "aoi", "user/aoi", key, shared_stamp(shared, 0),
                                     "deleted", "false"),
                         DUNLIN_OK);
    }
}

struct dln_cursor shared_cursor(struct shared *shared, const char *scope, int64_t seq) {
    struct dln_cursor cursor = {seq, 0};
    dunlin_error err;
    bool stands;
    must(shared->central->engine.salt(shared->central->engine.self, dln_text_of(scope), seq,
                                      &stands, &cursor.salt, &err),
         &err);
    assert_true(stands);
    return cursor;
}

const struct dln_stored *shared_stored(struct shared *shared, const char *scope, const char *key) {
    static struct dln_stored stored;
    struct dln_text keys[] = {dln_text_of(key)};
    dunlin_error err;
    must(shared->central->engine.current(shared->central->engine.self, &shared->arena,
                                         dln_text_of(scope), keys, 1, &stored, &err),
         &err);
    return &stored;
}

const char *shared_value(struct shared *shared, const char *scope, const char *key,
                         const char *field) {
    const struct dln_stored *stored = shared_stored(shared, scope, key);
    const struct dln_collection *collection = stored->record.key.collection;
    int known = collection != NULL ? dln_field_by_name(collection, dln_text_of(field)) : -1;
    const struct dln_field *found = known >= 0 ? &stored->record.fields[known]
                                               : dln_extra_of(&stored->record, dln_text_of(field));
    if (stored->place.seq == 0 || found == NULL || found->stamp == 0) {
        return "";
    }
    switch (found->value.type) {
    case DLN_TRUE:
        return "true";
    case DLN_FALSE:
        return "false";
    case DLN_STRING:
    case DLN_JSON:
        return dln_arena_text(&shared->arena, found->value.as.text).data;
    default:
        return "";
    }
}

int64_t shared_floor(struct shared *shared, const char *scope) {
    const struct dln_central_engine *engine = &shared->central->engine;
    int64_t floor;
    dunlin_error err;
    must(engine->floor(engine->self, dln_text_of(scope), &floor, &err), &err);
    return floor;
}

bool shared_stands(struct shared *shared, const char *scope, int64_t seq) {
    const struct dln_central_engine *engine = &shared->central->engine;
    bool found;
    uint32_t salt;
    dunlin_error err;
    must(engine->salt(engine->self, dln_text_of(scope), seq, &found, &salt, &err), &err);
    return found;
}

int64_t shared_last(struct shared *shared, const char *scope) {
    struct dln_cursor last;
    dunlin_error err;
    must(
        shared->central->engine.last(shared->central->engine.self, dln_text_of(scope), &last, &err),
        &err);
    return last.seq;
}

size_t shared_versions(struct shared *shared, const char *scope) {
    struct dln_walk walk = {.central = shared->central, .scope = dln_text_of(scope)};
    struct dln_trace trace;
    dunlin_error err;
    size_t count = 0;
    bool newest;
    bool found;
    for (;; count++) {
        must(dln_walk_next(&walk, &trace, &newest, &found, &err), &err);
        if (!found) {
            break;
        }
    }
    dln_walk_free(&walk);
    return count;
}
