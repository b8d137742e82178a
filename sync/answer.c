/* The answer of an exchange:
 *
 *     {"dunlin":1,"kind":"sync","nonce":…,"epoch":…,"now":"1700000000000"}
 *     {"ack":0,"seq":"17"}
 *     {"refused":3,"code":"AHEAD","reason":…,"held":true,"seq":"9","fields":[
 *         {"name":"title","now":["stamp",value],"take":"stamp"}]}               (in one line)
 *     {"scope":"user/alice","state":"page","seq":"18","salt":"7","more":true,"versions":2}
 *     {"seq":"17","collection":"item","key":[…],"fields":{…}}
 *     {"seq":"18","collection":…}
 *     {"end":N,"epoch":…}
 *
 * "ack" and "refused" name a record by its place in the request. A scope's `versions` lines follow
 * it and are versions; behind them a line is what its member "ack", "refused" or "scope" says, and
 * is ignored where it has none of them: a later version's business. States: page, reset (with
 * "floor", "base", "horizon"), held, denied, same. What is 0, false or empty is left out.
 *
 * A line that cannot be read is counted and passed over. Where it was a scope's, that scope is
 * missing, and the versions behind it, which would seem to be of nobody, are passed over too. A
 * page into which another kind of line falls has lost its count, and with it the answer. */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "sync/frame.h"
#include "sync/json.h"
#include "sync/record_line.h"

enum { REFUSED_FIELDS_MAX = DLN_FIELD_MAX + DLN_EXTRA_MAX };

static const char *const state_names[] = {[DLN_SCOPE_PAGE] = "page",
                                          [DLN_SCOPE_RESET] = "reset",
                                          [DLN_SCOPE_HELD] = "held",
                                          [DLN_SCOPE_DENIED] = "denied",
                                          [DLN_SCOPE_SAME] = "same"};
enum { STATE_COUNT = sizeof(state_names) / sizeof(state_names[0]) };

static void put_i64_unless_0(struct dln_buf *out, const char *name, int64_t value) {
    if (value != 0) {
        dln_put_i64(out, name, value);
    }
}

static void put_ack(struct dln_buf *out, const struct dln_ack *ack) {
    dln_buf_printf(out, "{\"ack\":%zu", ack->index);
    dln_put_i64(out, "seq", ack->seq);
    dln_put_line_end(out);
}

static void put_refused_field(struct dln_buf *out, const struct dln_refused_field *field) {
    dln_buf_append_text(out, "{\"name\":");
    dln_json_string(out, field->name);
    if (field->now.stamp != 0) {
        dln_put_name(out, "now");
        dln_put_field(out, &field->now);
    }
    put_i64_unless_0(out, "take", (int64_t)field->take);
    dln_buf_append_byte(out, '}');
}

static void put_refusal(struct dln_buf *out, const struct dln_refusal *refusal) {
    assert(refusal->code != DUNLIN_OK && refusal->field_count <= REFUSED_FIELDS_MAX);
    dln_buf_printf(out, "{\"refused\":%zu", refusal->index);
    dln_put_text(out, "code", dln_text_of(dunlin_status_name(refusal->code)));
    if (refusal->reason.len > 0) {
        dln_put_text(out, "reason", refusal->reason);
    }
    if (refusal->held) {
        dln_put_true(out, "held");
    }
    put_i64_unless_0(out, "seq", refusal->seq);
    if (refusal->field_count > 0) {
        dln_put_name(out, "fields");
        for (size_t i = 0; i < refusal->field_count; i++) {
            dln_buf_append_byte(out, i == 0 ? '[' : ',');
            put_refused_field(out, &refusal->fields[i]);
        }
        dln_buf_append_byte(out, ']');
    }
    dln_put_line_end(out);
}

static void put_scope(struct dln_buf *out, const struct dln_scope_answer *scope) {
    assert(scope->state == DLN_SCOPE_PAGE || scope->version_count == 0);
    dln_buf_append_text(out, "{\"scope\":");
    dln_json_string(out, scope->scope);
    dln_put_text(out, "state", dln_text_of(state_names[scope->state]));
    put_i64_unless_0(out, "seq", scope->cursor.seq);
    put_i64_unless_0(out, "salt", scope->cursor.salt);
    if (scope->more) {
        dln_put_true(out, "more");
    }
    put_i64_unless_0(out, "head", scope->head);
    put_i64_unless_0(out, "floor", scope->floor);
    put_i64_unless_0(out, "base", scope->base);
    put_i64_unless_0(out, "horizon", scope->horizon_ms);
    if (scope->version_count > 0) {
        dln_put_count(out, "versions", scope->version_count);
    }
    dln_put_line_end(out);
    for (size_t i = 0; i < scope->version_count; i++) {
        dln_buf_append_text(out, "{\"seq\":");
        dln_json_i64(out, scope->versions[i].seq);
        dln_put_record(out, &scope->versions[i].record);
        dln_put_line_end(out);
    }
}

dunlin_status dln_answer_encode(struct dln_buf *out, const struct dln_sync_answer *answer,
                                dunlin_error *err) {
    size_t lines = answer->ack_count + answer->refusal_count + answer->scope_count;

    assert(strlen(answer->nonce) == DLN_NONCE_LEN && answer->epoch.len > 0);
    dln_put_answer_head(out, "sync", answer->nonce, answer->epoch, answer->now_ms);
    for (size_t i = 0; i < answer->ack_count; i++) {
        put_ack(out, &answer->acks[i]);
    }
    for (size_t i = 0; i < answer->refusal_count; i++) {
        put_refusal(out, &answer->refusals[i]);
    }
    for (size_t i = 0; i < answer->scope_count; i++) {
        put_scope(out, &answer->scopes[i]);
        lines += answer->scopes[i].version_count;
    }
    dln_put_end(out, lines, answer->epoch);
    return dln_buf_status(out, err);
}

struct answer_reader {
    struct dln_frame frame;
    struct dln_arena *arena;
    struct dln_sync_answer *out;
    size_t ack_room, refusal_room, scope_room;
    size_t version_room;              /* of all pages together */
    struct dln_line_scope line_scope; /* the last scope line's */
    size_t versions_left;             /* lines that belong to it and are still to come */
};

static dunlin_status bad(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_BAD_MESSAGE, DUNLIN_DOMAIN_SYNC, "%s", what);
}

static dunlin_status too_many(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_TOO_LARGE, DUNLIN_DOMAIN_SYNC, "an answer has too many %s", what);
}

static dunlin_status ack_read(struct answer_reader *reader, const json_t *line, dunlin_error *err) {
    struct dln_ack ack = {0, 0};

    if (!dln_get_count(line, "ack", DLN_REQUEST_RECORDS_MAX - 1, &ack.index) ||
        !dln_get_i64(line, "seq", 1, INT64_MAX, &ack.seq) || ack.seq == 0) {
        return bad(err, "an acknowledgement cannot be read");
    }
    if (reader->out->ack_count == reader->ack_room) {
        return too_many(err, "acknowledgements");
    }
    reader->out->acks[reader->out->ack_count++] = ack;
    return DUNLIN_OK;
}

static dunlin_status refused_field_read(struct dln_arena *arena, struct dln_refused_field *out,
                                        const json_t *json, dunlin_error *err) {
    const json_t *now = json_object_get(json, "now");
    int64_t take = 0;
    dunlin_status status;

    out->field = -1;
    if (!dln_get_text(json, "name", DLN_FIELD_NAME_MAX, &out->name) || out->name.len == 0 ||
        !dln_get_i64(json, "take", 1, INT64_MAX, &take)) {
        return bad(err, "a refused field cannot be read");
    }
    out->take = (dln_stamp)take;
    if ((status = dln_keep(arena, &out->name, err)) != DUNLIN_OK) {
        return status;
    }
    if (!now) {
        return DUNLIN_OK;
    }
    if ((status = dln_field_read(&out->now, now, err)) != DUNLIN_OK) {
        return status;
    }
    return dln_keep_value(arena, &out->now.value, err);
}

static dunlin_status refused_fields_read(struct dln_arena *arena, struct dln_refusal *out,
                                         const json_t *line, dunlin_error *err) {
    const json_t *fields = json_object_get(line, "fields");
    void *taken;
    dunlin_status status;

    if (!fields) {
        return DUNLIN_OK;
    }
    if (!json_is_array(fields) || json_array_size(fields) > REFUSED_FIELDS_MAX) {
        return bad(err, "refused fields cannot be read");
    }
    status = dln_take(arena, &taken, json_array_size(fields), sizeof(*out->fields), err);
    out->fields = taken;
    for (size_t i = 0; status == DUNLIN_OK && i < json_array_size(fields); i++) {
        status = refused_field_read(arena, &out->fields[i], json_array_get(fields, i), err);
        out->field_count++;
    }
    return status;
}

static dunlin_status refusal_read(struct answer_reader *reader, const json_t *line,
                                  dunlin_error *err) {
    struct dln_refusal refusal = {0};
    struct dln_text code = {NULL, 0};
    dunlin_status status;

    if (!dln_get_count(line, "refused", DLN_REQUEST_RECORDS_MAX - 1, &refusal.index) ||
        !dln_get_text(line, "code", SIZE_MAX, &code) || code.len == 0 ||
        !dln_get_text(line, "reason", DLN_REASON_MAX, &refusal.reason) ||
        !dln_get_flag(line, "held", &refusal.held) ||
        !dln_get_i64(line, "seq", 0, INT64_MAX, &refusal.seq)) {
        return bad(err, "a refusal cannot be read");
    }
    refusal.code = dln_status_by_name(code.data, code.len);
    if (refusal.code == DUNLIN_OK) {
        refusal.code =
            DUNLIN_UNSUPPORTED; /* refused for a reason that only a later version knows */
    }
    if ((status = dln_keep(reader->arena, &refusal.reason, err)) != DUNLIN_OK) {
        return status;
    }
    if ((status = refused_fields_read(reader->arena, &refusal, line, err)) != DUNLIN_OK) {
        return status;
    }
    if (reader->out->refusal_count == reader->refusal_room) {
        return too_many(err, "refusals");
    }
    reader->out->refusals[reader->out->refusal_count++] = refusal;
    return DUNLIN_OK;
}

static bool state_read(const json_t *line, enum dln_scope_state *out) {
    struct dln_text name = {NULL, 0};

    if (!dln_get_text(line, "state", SIZE_MAX, &name)) {
        return false;
    }
    for (int i = 0; i < STATE_COUNT; i++) {
        if (dln_text_equal(name, dln_text_of(state_names[i]))) {
            *out = (enum dln_scope_state)i;
            return true;
        }
    }
    return false;
}

static dunlin_status scope_read(struct answer_reader *reader, const json_t *line,
                                dunlin_error *err) {
    struct dln_scope_answer scope = {0};
    int64_t salt = 0;
    size_t versions = 0;
    void *taken;
    dunlin_status status;

    status = dln_line_scope_read(reader->arena, &reader->line_scope, line, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    scope.scope = reader->line_scope.name;
    if (!state_read(line, &scope.state) ||
        !dln_get_i64(line, "seq", 0, INT64_MAX, &scope.cursor.seq) ||
        !dln_get_i64(line, "salt", 0, UINT32_MAX, &salt) ||
        !dln_get_flag(line, "more", &scope.more) ||
        !dln_get_i64(line, "head", 0, INT64_MAX, &scope.head) ||
        !dln_get_i64(line, "floor", 0, INT64_MAX, &scope.floor) ||
        !dln_get_i64(line, "base", 0, INT64_MAX, &scope.base) ||
        !dln_get_i64(line, "horizon", 0, INT64_MAX, &scope.horizon_ms) ||
        !dln_get_count(line, "versions", SIZE_MAX, &versions) ||
        (versions > 0 && scope.state != DLN_SCOPE_PAGE)) {
        return bad(err, "a scope's line cannot be read");
    }
    scope.cursor.salt = (uint32_t)salt;
    if (reader->out->scope_count == reader->scope_room) {
        return too_many(err, "scopes");
    }
    if (versions > reader->version_room) {
        return too_many(err, "records");
    }
    reader->version_room -= versions;
    status = dln_take(reader->arena, &taken, versions, sizeof(*scope.versions), err);
    if (status != DUNLIN_OK) {
        return status;
    }
    scope.versions = taken;
    reader->versions_left = versions;
    reader->out->scopes[reader->out->scope_count++] = scope;
    return DUNLIN_OK;
}

static dunlin_status version_read(struct answer_reader *reader, const json_t *line,
                                  dunlin_error *err) {
    struct dln_scope_answer *scope = &reader->out->scopes[reader->out->scope_count - 1];
    struct dln_version *version = &scope->versions[scope->version_count];
    dunlin_status status;

    *version = (struct dln_version){0}; /* an unreadable one may have left something here */
    if (!dln_get_i64(line, "seq", 1, scope->cursor.seq, &version->seq) || version->seq == 0) {
        return bad(err, "a version's seq is out of range");
    }
    status = dln_record_read(reader->arena, &version->record, line, &reader->line_scope, err);
    if (status == DUNLIN_OK) {
        scope->version_count++;
    }
    return status;
}

/* Whether a line is of a kind that no page contains. */
static bool is_foreign(const json_t *line) {
    return !json_object_get(line, "collection") &&
           (json_object_get(line, "ack") || json_object_get(line, "refused") ||
            json_object_get(line, "scope"));
}

static dunlin_status page_line_read(struct answer_reader *reader, const json_t *line,
                                    dunlin_error *err) {
    if (is_foreign(line)) {
        return dln_fail(err, DUNLIN_NOT_OUR_SERVER, DUNLIN_DOMAIN_SYNC,
                        "a page of an answer has fewer records than it says");
    }
    return version_read(reader, line, err);
}

static dunlin_status plain_line_read(struct answer_reader *reader, const json_t *line,
                                     dunlin_error *err) {
    if (!json_is_object(line) || json_object_get(line, "collection")) {
        return bad(err, "a line belongs to nothing");
    }
    if (json_object_get(line, "ack")) {
        return ack_read(reader, line, err);
    }
    if (json_object_get(line, "refused")) {
        return refusal_read(reader, line, err);
    }
    if (json_object_get(line, "scope")) {
        return scope_read(reader, line, err);
    }
    return DUNLIN_OK;
}

static dunlin_status line_read(struct answer_reader *reader, struct dln_text text,
                               dunlin_error *err) {
    bool in_page = reader->versions_left > 0;
    json_t *line = NULL;
    dunlin_status status = dln_json_parse(&line, text, 0, err);

    if (in_page) {
        reader->versions_left--;
    }
    if (status == DUNLIN_OK) {
        status = in_page ? page_line_read(reader, line, err) : plain_line_read(reader, line, err);
    }
    json_decref(line);
    return status;
}

static size_t at_most(size_t count, size_t max) {
    return count < max ? count : max;
}

static dunlin_status prepare(struct answer_reader *reader, dunlin_error *err) {
    struct dln_sync_answer *out = reader->out;
    void *acks, *refusals, *scopes;
    dunlin_status status;

    reader->ack_room = at_most(reader->frame.line_count, DLN_REQUEST_RECORDS_MAX);
    reader->refusal_room = at_most(reader->frame.line_count, DLN_REQUEST_RECORDS_MAX);
    reader->scope_room = at_most(reader->frame.line_count, DLN_REQUEST_SCOPES_MAX);
    reader->version_room = at_most(reader->frame.line_count, DLN_PAGE_RECORDS_MAX);
    if ((status = dln_take(reader->arena, &acks, reader->ack_room, sizeof(*out->acks), err)) ||
        (status = dln_take(reader->arena, &refusals, reader->refusal_room, sizeof(*out->refusals),
                           err)) ||
        (status =
             dln_take(reader->arena, &scopes, reader->scope_room, sizeof(*out->scopes), err))) {
        return status;
    }
    out->acks = acks;
    out->refusals = refusals;
    out->scopes = scopes;
    return DUNLIN_OK;
}

dunlin_status dln_answer_decode(struct dln_arena *arena, struct dln_sync_answer *out,
                                const char *nonce, struct dln_text body, dunlin_error *err) {
    struct answer_reader reader = {.arena = arena, .out = out};
    struct dln_answer_head head;
    struct dln_text text;
    dunlin_status status;

    assert(strlen(nonce) == DLN_NONCE_LEN);
    *out = (struct dln_sync_answer){0};
    status = dln_answer_open(&reader.frame, &head, "sync", nonce, body, err);
    out->retry_after_ms = head.retry_after_ms;
    if (status != DUNLIN_OK || (status = prepare(&reader, err)) != DUNLIN_OK) {
        goto done;
    }
    memcpy(out->nonce, nonce, DLN_NONCE_LEN + 1);
    out->now_ms = head.now_ms;
    out->epoch = head.epoch;
    if ((status = dln_keep(arena, &out->epoch, err)) != DUNLIN_OK) {
        goto done;
    }
    while (dln_frame_next(&reader.frame, &text)) {
        dunlin_error why;
        status = line_read(&reader, text, &why);
        if (dln_is_fatal(status) || status == DUNLIN_NOT_OUR_SERVER) {
            status = dln_fail(err, status, why.domain, "%s", why.message);
            goto done;
        }
        out->quarantined += status != DUNLIN_OK;
    }
    status = DUNLIN_OK;
    if (reader.versions_left > 0) {
        status = dln_fail(err, DUNLIN_NOT_OUR_SERVER, DUNLIN_DOMAIN_SYNC,
                          "a page of an answer has fewer records than it says");
    }
done:
    dln_frame_close(&reader.frame);
    return status;
}
