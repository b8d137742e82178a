/* The request of an exchange:
 *
 *     {"dunlin":1,"kind":"sync","nonce":…,"page":1000,"scopes":2}
 *     {"scope":"user/alice","epoch":"…","seq":"12","salt":"305419896","pull":true,"head":"12"}
 *     {"scope":"group/climbers","pull":true}
 *     {"scope":"user/alice","collection":"follow","key":["user","bob"],"fields":{…}}
 *     …
 *     {"end":N}
 *
 * The first `scopes` lines are scopes: "epoch", "seq" and "salt" are the cursor (none: never read),
 * "pull", "rebuilding" and "head" are left out where they are false or 0. Every line behind them is
 * a record, so that the place of a record among them, by which the answer names it, does not depend
 * on whether the lines before it can be read. A scope line that cannot be read makes the request
 * unreadable; a record line only itself. Unknown members are ignored. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sync/frame.h"
#include "sync/json.h"
#include "sync/record_line.h"

static void put_scope(struct dln_buf *out, const struct dln_scope_ask *ask) {
    dln_buf_append_text(out, "{\"scope\":");
    dln_json_string(out, ask->scope);
    if (ask->epoch.data) {
        dln_put_text(out, "epoch", ask->epoch);
        dln_put_i64(out, "seq", ask->cursor.seq);
        dln_put_i64(out, "salt", ask->cursor.salt);
    }
    if (ask->pull) {
        dln_put_true(out, "pull");
    }
    if (ask->rebuilding) {
        dln_put_true(out, "rebuilding");
    }
    if (ask->head != 0) {
        dln_put_i64(out, "head", ask->head);
    }
    dln_put_line_end(out);
}

dunlin_status dln_request_encode(struct dln_buf *out, const struct dln_sync_request *request,
                                 dunlin_error *err) {
    assert(strlen(request->nonce) == DLN_NONCE_LEN);
    assert(request->scope_count <= DLN_REQUEST_SCOPES_MAX);
    assert(request->record_count <= DLN_REQUEST_RECORDS_MAX);
    dln_put_head(out, "sync", request->nonce);
    dln_put_count(out, "page", (size_t)request->page_records);
    dln_put_count(out, "scopes", request->scope_count);
    dln_put_line_end(out);
    for (size_t i = 0; i < request->scope_count; i++) {
        put_scope(out, &request->scopes[i]);
    }
    for (size_t i = 0; i < request->record_count; i++) {
        assert(request->records[i].key.name.len > 0);
        dln_buf_append_text(out, "{\"scope\":");
        dln_json_string(out, request->records[i].key.scope);
        dln_put_record(out, &request->records[i]);
        dln_put_line_end(out);
    }
    dln_put_end(out, request->scope_count + request->record_count, (struct dln_text){NULL, 0});
    return dln_buf_status(out, err);
}

struct request_reader {
    struct dln_frame frame;
    struct dln_arena *arena;
    struct dln_sync_request *out;
    struct dln_line_scope *scopes; /* sorted by name once all are read */
};

static dunlin_status bad(dunlin_error *err, const char *what) {
    return dln_fail(err, DUNLIN_BAD_MESSAGE, DUNLIN_DOMAIN_SYNC, "%s", what);
}

static int compare_scopes(const void *a, const void *b) {
    return dln_text_compare(((const struct dln_line_scope *)a)->name,
                            ((const struct dln_line_scope *)b)->name);
}

/* Counts and ceilings, and memory for what will come. */
static dunlin_status prepare(struct request_reader *reader, dunlin_error *err) {
    struct dln_sync_request *out = reader->out;
    size_t page = DLN_PAGE_RECORDS_MAX, scope_count = 0, record_count;
    void *scopes, *line_scopes, *records;
    dunlin_status status;

    if (!dln_get_count(reader->frame.head, "page", SIZE_MAX, &page) || page == 0 ||
        !dln_get_count(reader->frame.head, "scopes", SIZE_MAX, &scope_count)) {
        return bad(err, "a request's head cannot be read");
    }
    if (scope_count > reader->frame.line_count) {
        return bad(err, "a request has fewer scopes than it says");
    }
    record_count = reader->frame.line_count - scope_count;
    if (scope_count > DLN_REQUEST_SCOPES_MAX || record_count > DLN_REQUEST_RECORDS_MAX) {
        return dln_fail(err, DUNLIN_TOO_LARGE, DUNLIN_DOMAIN_SYNC,
                        "a request has %zu scopes and %zu records; %d and %d are the most",
                        scope_count, record_count, DLN_REQUEST_SCOPES_MAX, DLN_REQUEST_RECORDS_MAX);
    }
    if ((status = dln_take(reader->arena, &scopes, scope_count, sizeof(*out->scopes), err)) ||
        (status =
             dln_take(reader->arena, &line_scopes, scope_count, sizeof(*reader->scopes), err)) ||
        (status = dln_take(reader->arena, &records, record_count, sizeof(*out->records), err))) {
        return status;
    }
    out->page_records = page < DLN_PAGE_RECORDS_MAX ? (int)page : DLN_PAGE_RECORDS_MAX;
    out->scopes = scopes;
    out->scope_count = scope_count;
    out->records = records;
    out->record_count = record_count;
    reader->scopes = line_scopes;
    return DUNLIN_OK;
}

static dunlin_status scope_read(struct request_reader *reader, size_t index, const json_t *line,
                                dunlin_error *err) {
    struct dln_scope_ask *ask = &reader->out->scopes[index];
    int64_t salt = 0;
    dunlin_status status;

    status = dln_line_scope_read(reader->arena, &reader->scopes[index], line, err);
    if (status != DUNLIN_OK) {
        return dln_is_fatal(status) ? status : bad(err, "a scope's name cannot be read");
    }
    ask->scope = reader->scopes[index].name;
    if (!dln_get_text(line, "epoch", DLN_EPOCH_MAX, &ask->epoch) ||
        !dln_get_i64(line, "seq", 0, INT64_MAX, &ask->cursor.seq) ||
        !dln_get_i64(line, "salt", 0, UINT32_MAX, &salt) ||
        !dln_get_flag(line, "pull", &ask->pull) ||
        !dln_get_flag(line, "rebuilding", &ask->rebuilding) ||
        !dln_get_i64(line, "head", 0, INT64_MAX, &ask->head)) {
        return bad(err, "a scope's line cannot be read");
    }
    ask->cursor.salt = (uint32_t)salt;
    return dln_keep(reader->arena, &ask->epoch, err);
}

static dunlin_status scopes_read(struct request_reader *reader, dunlin_error *err) {
    size_t count = reader->out->scope_count;
    dunlin_status status = DUNLIN_OK;

    for (size_t i = 0; status == DUNLIN_OK && i < count; i++) {
        struct dln_text text = {NULL, 0};
        json_t *line = NULL;
        bool there = dln_frame_next(&reader->frame, &text);
        assert(there); /* prepare() has counted */
        (void)there;
        status = dln_json_parse(&line, text, 0, err);
        if (status == DUNLIN_OK) {
            status = scope_read(reader, i, line, err);
        } else if (!dln_is_fatal(status)) {
            status = bad(err, "a scope's line cannot be read");
        }
        json_decref(line);
    }
    if (status != DUNLIN_OK || count == 0) {
        return status;
    }
    qsort(reader->scopes, count, sizeof(*reader->scopes), compare_scopes);
    for (size_t i = 1; i < count; i++) {
        if (compare_scopes(&reader->scopes[i - 1], &reader->scopes[i]) == 0) {
            return bad(err, "a scope stands in a request twice");
        }
    }
    return DUNLIN_OK;
}

static dunlin_status record_read(struct request_reader *reader, struct dln_record *out,
                                 struct dln_text text, dunlin_error *err) {
    struct dln_line_scope wanted = {0};
    const struct dln_line_scope *scope = NULL;
    json_t *line = NULL;
    dunlin_status status;

    if ((status = dln_json_parse(&line, text, 0, err)) != DUNLIN_OK) {
        goto done;
    }
    if (dln_get_text(line, "scope", DLN_SCOPE_MAX, &wanted.name) && wanted.name.len > 0 &&
        reader->out->scope_count > 0) {
        scope = bsearch(&wanted, reader->scopes, reader->out->scope_count, sizeof(*reader->scopes),
                        compare_scopes);
    }
    if (scope) {
        status = dln_record_read(reader->arena, out, line, scope, err);
    } else {
        status = bad(err, "a record's scope is not one of the request's");
    }
done:
    json_decref(line);
    return status;
}

/* The record is refused alone: see dln_sync_request. */
static dunlin_status note_bad(struct request_reader *reader, size_t index, dunlin_status code,
                              const dunlin_error *why, dunlin_error *err) {
    struct dln_sync_request *out = reader->out;
    void *noted;
    dunlin_status status;

    out->records[index] = (struct dln_record){0};
    if (!out->bad) {
        status = dln_take(reader->arena, &noted, out->record_count, sizeof(*out->bad), err);
        if (status != DUNLIN_OK) {
            return status;
        }
        out->bad = noted;
    }
    out->bad[index].code = code;
    out->bad[index].reason = dln_text_of(why->message);
    return dln_keep(reader->arena, &out->bad[index].reason, err);
}

static dunlin_status records_read(struct request_reader *reader, dunlin_error *err) {
    struct dln_text text;
    dunlin_status status = DUNLIN_OK;

    for (size_t i = 0; status == DUNLIN_OK && dln_frame_next(&reader->frame, &text); i++) {
        dunlin_error why;
        status = record_read(reader, &reader->out->records[i], text, &why);
        if (dln_is_fatal(status)) {
            return dln_fail(err, status, why.domain, "%s", why.message);
        }
        if (status != DUNLIN_OK) {
            status = note_bad(reader, i, status, &why, err);
        }
    }
    return status;
}

dunlin_status dln_request_decode(struct dln_arena *arena, struct dln_sync_request *out,
                                 struct dln_text body, dunlin_error *err) {
    struct request_reader reader = {.arena = arena, .out = out};
    dunlin_status status;

    *out = (struct dln_sync_request){0};
    if ((status = dln_request_open(&reader.frame, "sync", out->nonce, body, err)) != DUNLIN_OK) {
        goto done;
    }
    if ((status = prepare(&reader, err)) != DUNLIN_OK) {
        goto done;
    }
    if ((status = scopes_read(&reader, err)) != DUNLIN_OK) {
        goto done;
    }
    status = records_read(&reader, err);
done:
    dln_frame_close(&reader.frame);
    return status;
}
