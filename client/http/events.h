/* Server-sent events, as far as listening needs them: which event it was, not what it said. */
#ifndef DLN_CLIENT_HTTP_EVENTS_H
#define DLN_CLIENT_HTTP_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

enum { DLN_EVENT_LINE_MAX = 64 }; /* bytes of a line that are looked at; the rest is skipped */

/* All zero at the beginning of a stream. */
struct dln_events {
    char line[DLN_EVENT_LINE_MAX];
    size_t line_len;   /* may be greater than what is kept */
    bool after_return; /* the last byte was a CR, which ended a line: an LF now is part of it */
    bool is_hello;     /* what the event that is being read calls itself */
    bool is_news;
};

struct dln_events_seen {
    bool hello;
    bool news;
};

/* Takes the stream's next bytes; adds to `seen` what ended in them. */
void dln_events_feed(struct dln_events *events, const char *data, size_t len,
                     struct dln_events_seen *seen);

#endif
