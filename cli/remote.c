/* Remotes. Each is wrapped in another that counts bytes for the progress line: a remote is a port,
 * so nothing of the library needs to know. */
#include <stdlib.h>
#include <string.h>

#include <dunlin/central.h>
#include <dunlin/mongo.h>

#include "cli/progress.h"
#include "cli/remote.h"
#include "cli/token.h"

struct counted {
    dunlin_remote remote; /* what the library sees; must stay first */
    dunlin_remote *inner;
    struct dln_token token;
    const dunlin_sink *answer; /* of the exchange that runs */
    uint64_t bytes;            /* both ways */
};

static dunlin_status counted_write(void *self, const void *data, size_t len) {
    struct counted *counted = self;

    counted->bytes += len;
    dln_progress_show("bytes exchanged", counted->bytes, 0);
    return counted->answer->write(counted->answer->self, data, len);
}

static dunlin_status counted_exchange(void *self, const char *kind, const void *request,
                                      size_t request_len, const dunlin_sink *answer,
                                      int64_t *retry_after_ms, dunlin_error *err) {
    struct counted *counted = self;
    const dunlin_sink sink = {counted, counted_write};
    dunlin_status status;

    counted->answer = answer;
    counted->bytes += request_len;
    dln_progress_show("bytes exchanged", counted->bytes, 0);
    status = counted->inner->exchange(counted->inner->self, kind, request, request_len, &sink,
                                      retry_after_ms, err);
    counted->answer = NULL;
    return status;
}

static dunlin_status counted_wait(void *self, int64_t timeout_ms, int *news, dunlin_error *err) {
    struct counted *counted = self;

    dln_progress_end();
    return counted->inner->wait(counted->inner->self, timeout_ms, news, err);
}

static void counted_close(dunlin_remote *remote) {
    struct counted *counted = remote->self;

    dunlin_remote_close(counted->inner);
    free(counted);
}

static int begins_with(const char *text, const char *beginning) {
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static int is_mongo(const char *url) {
    return begins_with(url, "mongodb://") || begins_with(url, "mongodb+srv://");
}

static int is_http(const char *url) {
    return begins_with(url, "http://") || begins_with(url, "https://");
}

static dunlin_status check_url(struct dln_app *app, const char *url,
                               const struct dln_token *token) {
    int known;

    if (!url) {
        return dln_fail(app, DUNLIN_MISUSE, "--remote URL is missing");
    }
    known = begins_with(url, "sqlite:") || is_mongo(url) || is_http(url);
    if (known && !is_http(url) && (token->text || token->path)) {
        return dln_fail(app, DUNLIN_UNSUPPORTED, "only a remote over http(s):// takes a token");
    }
    return known ? DUNLIN_OK
                 : dln_fail(app, DUNLIN_MISUSE,
                            "\"%s\" is no URL of a remote; those are http(s)://HOST:PORT, "
                            "mongodb://…/DATABASE and sqlite:PATH",
                            url);
}

static dunlin_status open_inner(struct dln_app *app, struct counted *counted, const char *url) {
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;

    if (!is_http(url)) {
        return (is_mongo(url) ? dunlin_mongo_remote : dunlin_embedded_remote)(
            &counted->inner, url, dunlin_store_owner(app->store), NULL, &app->err);
    }
    if (counted->token.text || counted->token.path) {
        options.token = dln_token_give;
        options.token_payload = &counted->token;
    } else {
        options.user = dunlin_store_owner(app->store);
    }
    return dunlin_http_remote(&counted->inner, url, &options, &app->err);
}

dunlin_status dln_remote_open(struct dln_app *app, dunlin_remote **out,
                              const struct dln_args *args) {
    const char *url = args->options[DLN_OPTION_REMOTE];
    struct dln_token token = {NULL, NULL};
    struct counted *counted = NULL;
    dunlin_status status = dln_token_read(app, &token, args);

    if (status || (status = check_url(app, url, &token))) {
        return status;
    }
    counted = calloc(1, sizeof(*counted));
    if (!counted) {
        return dln_fail(app, DUNLIN_OUT_OF_MEMORY, "%s", dunlin_status_text(DUNLIN_OUT_OF_MEMORY));
    }
    counted->token = token;
    status = open_inner(app, counted, url);
    if (status) {
        free(counted);
        return status;
    }
    counted->remote = (dunlin_remote){.self = counted,
                                      .exchange = counted_exchange,
                                      .wait = counted->inner->wait ? counted_wait : NULL,
                                      .close = counted_close};
    *out = &counted->remote;
    return DUNLIN_OK;
}
