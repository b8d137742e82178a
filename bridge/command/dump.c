/* dunlind dump: what a device of that user has when it is in step, as `dunlin dump` prints it: live
 * records of his own scope and of the groups that he follows or has to do with and may read, sorted
 * by key. Records are read scope by scope and sorted in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/circle.h"
#include "bridge/command/command.h"
#include "bridge/source.h"
#include "central/live.h"
#include "sync/digest.h"

enum { LINE_BYTES_MAX = 4 * 1024 * 1024 };
static const size_t dump_bytes_max = (size_t)4096 * 1024 * 1024;

struct dump {
    dunlin_central *central;
    struct dln_arena arena;
    struct dln_record *records;
    size_t count, size;
};

static dunlin_status add(struct dump *dump, const struct dln_record *record, dunlin_error *err) {
    if (dump->count == dump->size) {
        size_t size = dump->size == 0 ? 256 : dump->size * 2;
        void *larger = realloc(dump->records, size * sizeof(*dump->records));
        if (larger == NULL) {
            return dln_central_no_memory(err);
        }
        dump->records = larger;
        dump->size = size;
    }
    return dln_record_copy(&dump->arena, &dump->records[dump->count++], record)
               ? DUNLIN_OK
               : dln_central_no_memory(err);
}

static dunlin_status add_scope(struct dump *dump, struct dln_text scope, const char *user,
                               dunlin_error *err) {
    struct dln_live live = {.walk = {.central = dump->central, .scope = scope}};
    const struct dln_record *record;
    struct dln_text key;
    dunlin_status status;
    bool may = false;

    status = dln_circle_readers(dump->central, &dump->arena, scope, &user, 1, &may, err);
    while (status == DUNLIN_OK && may &&
           (status = dln_live_next(&live, &record, &key, err)) == DUNLIN_OK && record != NULL) {
        status = add(dump, record, err);
    }
    dln_live_free(&live);
    return status;
}

static bool is_synced(struct dln_text scope) {
    static const char inbox[] = "inbox/";

    return scope.len < sizeof(inbox) || strncmp(scope.data, inbox, sizeof(inbox) - 1) != 0;
}

static int compare_scopes(const void *a, const void *b) {
    return dln_text_compare(*(const struct dln_text *)a, *(const struct dln_text *)b);
}

static int compare_records(const void *a, const void *b) {
    return dln_key_compare(&((const struct dln_record *)a)->key,
                           &((const struct dln_record *)b)->key);
}

static dunlin_status read_all(struct dump *dump, const char *user, dunlin_error *err) {
    struct dln_text *scopes;
    dunlin_status status;
    size_t count;

    if ((status = dln_check_id(dln_text_of(user), "user", err)) ||
        (status = dln_circle_scopes(dump->central, &dump->arena, user, &scopes, &count, err))) {
        return status;
    }
    qsort(scopes, count, sizeof(*scopes), compare_scopes); /* one may stand there twice */
    for (size_t i = 0; status == DUNLIN_OK && i < count; i++) {
        if (is_synced(scopes[i]) && (i == 0 || !dln_text_equal(scopes[i], scopes[i - 1]))) {
            status = add_scope(dump, scopes[i], user, err);
        }
    }
    if (status == DUNLIN_OK && dump->count > 0) {
        qsort(dump->records, dump->count, sizeof(*dump->records), compare_records);
    }
    return status;
}

static dunlin_status print_all(const struct dump *dump, dunlin_error *err) {
    struct dln_buf line = DLN_BUF_INIT(LINE_BYTES_MAX);
    dunlin_status status = DUNLIN_OK;

    for (size_t i = 0; status == DUNLIN_OK && i < dump->count; i++) {
        dln_buf_clear(&line);
        dln_record_dump_line(&line, &dump->records[i]);
        status = dln_buf_status(&line, err);
        if (status == DUNLIN_OK && fwrite(line.data, 1, line.len, stdout) != line.len) {
            status = dln_fail(err, DUNLIN_IO, DUNLIN_DOMAIN_API, "the dump cannot be written");
        }
    }
    if (status == DUNLIN_OK && fflush(stdout) != 0) {
        status = dln_fail(err, DUNLIN_IO, DUNLIN_DOMAIN_API, "the dump cannot be written");
    }
    dln_buf_free(&line);
    return status;
}

int dln_command_dump(const struct dln_options *options) {
    struct dump dump = {.arena = DLN_ARENA_INIT(dump_bytes_max)};
    struct dln_source *source = NULL;
    dunlin_status status;
    dunlin_error why;

    if ((status = dln_source_open(&source, options->store, options->central, &why)) == DUNLIN_OK &&
        (status = dln_source_central(source, &dump.central, &why)) == DUNLIN_OK &&
        (status = read_all(&dump, options->user, &why)) == DUNLIN_OK) {
        status = print_all(&dump, &why);
    }
    dln_arena_free(&dump.arena);
    free(dump.records);
    dunlin_central_close(dump.central);
    dln_source_close(source);
    return status != DUNLIN_OK ? dln_command_fail(&why) : 0;
}
