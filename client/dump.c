/* Dumps: this device's live records, and central's as a device sees them that has nothing yet.
 *
 * The latter are pulled into a store of their own that lives in memory and in a temporary file, and
 * dumped from there: so both dumps come out of the same code, and no way from central to the text
 * leads through what this device holds. */
#include <dunlin/sync.h>

#include "base/error.h"
#include "client/handle.h"
#include "client/sync_port.h"
#include "sync/digest.h"

enum { LINE_BYTES_MAX = 4 * 1024 * 1024 };

struct dump {
    struct dln_buf line;
    dunlin_line_callback callback;
    void *payload;
};

static dunlin_status dump_row(void *self, const struct dln_row *row, dunlin_error *err) {
    struct dump *dump = self;
    dln_buf_clear(&dump->line);
    dln_record_dump_line(&dump->line, &row->record);
    dunlin_status status = dln_buf_status(&dump->line, err);
    if (status == DUNLIN_OK) {
        status = dump->callback(dump->line.data, dump->line.len, dump->payload);
        if (status != DUNLIN_OK) {
            (void)dln_fail(err, status, DUNLIN_DOMAIN_API, "the callback stopped the dump");
        }
    }
    return status;
}

static dunlin_status dump_store(struct dln_store *store, dunlin_line_callback callback,
                                void *payload, dunlin_error *err) {
    struct dump dump = {
        .line = DLN_BUF_INIT(LINE_BYTES_MAX), .callback = callback, .payload = payload};
    dunlin_status status = dln_live(store, dump_row, &dump, err);
    dln_buf_free(&dump.line);
    return status;
}

static dunlin_status check_callback(dunlin_line_callback callback, dunlin_error *err) {
    return callback ? DUNLIN_OK
                    : dln_fail(err, DUNLIN_MISUSE, DUNLIN_DOMAIN_API, "there is no callback");
}

dunlin_status dunlin_dump(dunlin_store *store, dunlin_line_callback callback, void *payload,
                          dunlin_error *err) {
    dunlin_status status = dln_handle_check(store, err);
    if (status == DUNLIN_OK) {
        status = check_callback(callback, err);
    }
    return status == DUNLIN_OK ? dump_store(store->store, callback, payload, err) : status;
}

dunlin_status dunlin_dump_remote(dunlin_store *store, dunlin_remote *remote,
                                 dunlin_line_callback callback, void *payload, dunlin_error *err) {
    struct dln_store *fresh = NULL;
    dunlin_open_options options = DUNLIN_OPEN_OPTIONS_INIT;
    dunlin_status status = dln_handle_check_idle(store, err);
    if (status == DUNLIN_OK) {
        status = dln_check_remote(remote, err);
    }
    if (status == DUNLIN_OK) {
        status = check_callback(callback, err);
    }
    if (status != DUNLIN_OK) {
        return status;
    }
    options.without_search = 1;
    options.durability = DUNLIN_DURABILITY_NORMAL;
    options.ports = dln_store_ports(store->store);
    status =
        dln_store_open(&fresh, DLN_STORE_TEMPORARY, dln_store_owner(store->store), &options, err);
    if (status == DUNLIN_OK) {
        status = dln_pull_store(fresh, remote, err);
    }
    if (status == DUNLIN_OK) {
        status = dump_store(fresh, callback, payload, err);
    }
    dln_store_close(fresh);
    return status;
}
