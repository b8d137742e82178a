/* A stream's bytes are made when the HTTP library asks for them, from what is pending then. So a
 * slow listener costs no more than its pending scopes, however much happens meanwhile.
 *
 * Who is suspended, and who is not, is decided under the lock: suspending one that has something to
 * be told, or waking one that is awake, would be the end. */
#include "bridge/listeners.h"

#include <stdlib.h>
#include <string.h>

#include "central/central.h"
#include "sync/json.h"

enum { BLOCK_BYTES = 512, EVENT_BYTES_MAX = DLN_PENDING_MAX * (6 * DLN_SCOPE_MAX + 8) + 256 };

struct dln_listener {
    struct dln_listener *next, **link; /* of the audience */
    struct dln_listeners *all;
    struct dln_audience *audience;
    struct MHD_Connection *connection;
    bool suspended;
    bool ended;
    bool ping;
    int64_t until_ms;
    int64_t spoken_ms; /* steady */
    size_t pending_count;
    char *pending[DLN_PENDING_MAX];
    struct dln_buf out; /* being sent */
    size_t out_at;
};

void dln_listeners_init(struct dln_listeners *listeners, size_t max, struct dln_metrics *metrics) {
    pthread_condattr_t attributes;

    listeners->max = max;
    listeners->metrics = metrics;
    (void)pthread_mutex_init(&listeners->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&listeners->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

void dln_listeners_free(struct dln_listeners *listeners) {
    dln_listeners_tidy(listeners);
    (void)pthread_cond_destroy(&listeners->changed);
    (void)pthread_mutex_destroy(&listeners->lock);
}

bool dln_listeners_reserve(struct dln_listeners *listeners) {
    (void)pthread_mutex_lock(&listeners->lock);
    bool may = listeners->reserved < listeners->max;
    listeners->reserved += may;
    (void)pthread_mutex_unlock(&listeners->lock);
    return may;
}

void dln_listeners_leave(struct dln_listeners *listeners) {
    (void)pthread_mutex_lock(&listeners->lock);
    listeners->reserved--;
    (void)pthread_mutex_unlock(&listeners->lock);
}

size_t dln_listeners_count(struct dln_listeners *listeners) {
    (void)pthread_mutex_lock(&listeners->lock);
    size_t count = listeners->count;
    (void)pthread_mutex_unlock(&listeners->lock);
    return count;
}

static void wake(struct dln_listener *listener) {
    if (listener->suspended) {
        listener->suspended = false;
        MHD_resume_connection(listener->connection);
    }
}

/* The next bytes into `out`: news, or a comment. Nothing: there is nothing to say. */
static void next_event(struct dln_listener *listener) {
    struct dln_buf *out = &listener->out;

    dln_buf_free(out);
    listener->out_at = 0;
    if (listener->pending_count > 0) {
        dln_buf_append_text(out, "event: news\ndata: {\"scopes\":[");
        for (size_t i = 0; i < listener->pending_count; i++) {
            dln_buf_append_text(out, i > 0 ? "," : "");
            dln_json_string(out, dln_text_of(listener->pending[i]));
            free(listener->pending[i]);
        }
        dln_buf_append_text(out, "]}\n\n");
        listener->pending_count = 0;
        atomic_fetch_add(&listener->all->metrics->pokes, 1);
    } else if (listener->ping) {
        dln_buf_append_text(out, ":\n\n");
    }
    listener->ping = false;
    listener->ended |= out->status != DUNLIN_OK; /* he comes again, and pulls */
}

static ssize_t stream_read(void *context, uint64_t position, char *buf, size_t max) {
    struct dln_listener *listener = context;
    struct dln_buf *out = &listener->out;
    ssize_t given = 0;

    (void)position;
    (void)pthread_mutex_lock(&listener->all->lock);
    if (listener->out_at == out->len) {
        next_event(listener);
    }
    size_t left = out->len - listener->out_at;
    if (out->status == DUNLIN_OK && left > 0) {
        given = (ssize_t)(left < max ? left : max);
        memcpy(buf, out->data + listener->out_at, (size_t)given);
        listener->out_at += (size_t)given;
    } else if (listener->ended) {
        given = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        listener->suspended = true;
        MHD_suspend_connection(listener->connection);
    }
    (void)pthread_mutex_unlock(&listener->all->lock);
    return given;
}

static void stream_free(void *context) {
    struct dln_listener *listener = context;
    struct dln_listeners *all = listener->all;

    (void)pthread_mutex_lock(&all->lock);
    *listener->link = listener->next;
    if (listener->next != NULL) {
        listener->next->link = listener->link;
    }
    all->count--;
    (void)pthread_mutex_unlock(&all->lock);
    for (size_t i = 0; i < listener->pending_count; i++) {
        free(listener->pending[i]);
    }
    dln_buf_free(&listener->out);
    free(listener);
}

struct search {
    const char *user;
    struct dln_audience *found;
};

static void is_audience_of(void *self, struct dln_watcher *watcher) {
    struct search *search = self;
    struct dln_audience *audience = (struct dln_audience *)watcher;

    if (strcmp(audience->user, search->user) == 0) {
        search->found = audience;
    }
}

/* An audience cares for its own scope from the start, and is found by it. */
static struct dln_audience *audience_of(struct dln_listeners *listeners, const char *user) {
    struct dln_arena arena = DLN_ARENA_INIT(64 * 1024);
    struct dln_text own = dln_scope_user(&arena, dln_text_of(user));
    struct search search = {user, NULL};
    size_t size = strlen(user) + 1;

    if (own.data != NULL) {
        dln_interest_visit(&listeners->interest, own, is_audience_of, &search);
    }
    if (own.data != NULL && search.found == NULL) {
        struct dln_audience *made = calloc(1, sizeof(*made) + size);
        if (made != NULL) {
            memcpy(made->user, user, size);
            made->stale = true;
            dln_interest_set(&listeners->interest, &made->watcher, &own, 1);
            made->next = listeners->audiences;
            listeners->audiences = made;
        }
        search.found = made;
    }
    dln_arena_free(&arena);
    return search.found;
}

static bool attach(struct dln_listener *listener, const char *user) {
    struct dln_listeners *all = listener->all;

    (void)pthread_mutex_lock(&all->lock);
    struct dln_audience *audience = audience_of(all, user);
    if (audience != NULL) {
        listener->audience = audience;
        listener->next = audience->listeners;
        listener->link = &audience->listeners;
        if (listener->next != NULL) {
            listener->next->link = &listener->next;
        }
        audience->listeners = listener;
        listener->ended = all->closing;
        all->count++;
    }
    (void)pthread_mutex_unlock(&all->lock);
    return audience != NULL;
}

struct MHD_Response *dln_listeners_join(struct dln_listeners *listeners,
                                        struct MHD_Connection *connection, const char *user,
                                        int64_t until_ms, int64_t steady_ms) {
    struct dln_listener *listener = calloc(1, sizeof(*listener));
    struct MHD_Response *response;

    if (listener == NULL) {
        return NULL;
    }
    listener->all = listeners;
    listener->connection = connection;
    listener->until_ms = until_ms;
    listener->spoken_ms = steady_ms;
    listener->out = DLN_BUF_INIT(EVENT_BYTES_MAX);
    dln_buf_printf(&listener->out, "event: hello\ndata: {\"protocol\":%d}\n\n",
                   DLN_PROTOCOL_VERSION);
    if (listener->out.status != DUNLIN_OK || !attach(listener, user)) {
        dln_buf_free(&listener->out);
        free(listener);
        return NULL;
    }
    response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, stream_read,
                                                 listener, stream_free);
    if (response == NULL) {
        stream_free(listener);
    }
    return response;
}

void dln_listeners_close(struct dln_listeners *listeners) {
    (void)pthread_mutex_lock(&listeners->lock);
    listeners->closing = true;
    for (struct dln_audience *at = listeners->audiences; at != NULL; at = at->next) {
        for (struct dln_listener *listener = at->listeners; listener; listener = listener->next) {
            listener->ended = true;
            wake(listener);
        }
    }
    (void)pthread_mutex_unlock(&listeners->lock);
}

static void pend(struct dln_listener *listener, struct dln_text scope) {
    char *copy;

    for (size_t i = 0; i < listener->pending_count; i++) {
        if (dln_text_equal(dln_text_of(listener->pending[i]), scope)) {
            return;
        }
    }
    if (listener->pending_count == DLN_PENDING_MAX) {
        return;
    }
    copy = strndup(scope.data, scope.len);
    if (copy == NULL) {
        listener->ended = true; /* he comes again, and pulls */
        return;
    }
    listener->pending[listener->pending_count++] = copy;
}

void dln_audience_tell(struct dln_audience *audience, struct dln_text scope) {
    for (struct dln_listener *at = audience->listeners; at != NULL; at = at->next) {
        pend(at, scope);
        wake(at);
    }
}

static void speak(struct dln_listener *listener, int64_t now_ms, int64_t steady_ms) {
    if (now_ms >= listener->until_ms) {
        listener->ended = true;
        wake(listener);
    } else if (listener->pending_count > 0 || listener->out_at < listener->out.len) {
        listener->spoken_ms = steady_ms;
    } else if (steady_ms - listener->spoken_ms >= DLN_PING_MS) {
        listener->spoken_ms = steady_ms;
        listener->ping = true;
        wake(listener);
    }
}

void dln_listeners_speak(struct dln_listeners *listeners, int64_t now_ms, int64_t steady_ms) {
    for (struct dln_audience *at = listeners->audiences; at != NULL; at = at->next) {
        for (struct dln_listener *listener = at->listeners; listener; listener = listener->next) {
            speak(listener, now_ms, steady_ms);
        }
    }
}

void dln_listeners_tidy(struct dln_listeners *listeners) {
    struct dln_audience **link = &listeners->audiences;

    while (*link != NULL) {
        struct dln_audience *audience = *link;
        if (audience->listeners != NULL) {
            link = &audience->next;
            continue;
        }
        *link = audience->next;
        dln_interest_clear(&listeners->interest, &audience->watcher);
        free(audience);
    }
}
