/* The stream is lines, an event is lines up to an empty one (HTML standard, "server-sent events"):
 *
 *     : a comment
 *     event: news
 *     data: {"scopes":[…]}
 *
 * Lines end by LF, CR or CRLF. Data is skipped at whatever length: each event means "pull now", and
 * the pull says what is new. So nothing here grows. */
#include "client/http/events.h"

#include <string.h>

static bool is_value(const char *value, size_t len, const char *word) {
    return len == strlen(word) && memcmp(value, word, len) == 0;
}

static void end_event(struct dln_events *events, struct dln_events_seen *seen) {
    seen->hello = seen->hello || events->is_hello;
    seen->news = seen->news || events->is_news;
    events->is_hello = events->is_news = false;
}

static void end_line(struct dln_events *events, struct dln_events_seen *seen) {
    static const char name[] = "event:";
    size_t len = events->line_len;
    events->line_len = 0;
    if (len == 0) {
        end_event(events, seen);
        return;
    }
    if (len > DLN_EVENT_LINE_MAX || len < sizeof(name) - 1 ||
        memcmp(events->line, name, sizeof(name) - 1) != 0) {
        return;
    }
    const char *value = events->line + sizeof(name) - 1;
    len -= sizeof(name) - 1;
    if (len > 0 && *value == ' ') {
        value++;
        len--;
    }
    events->is_hello = is_value(value, len, "hello");
    events->is_news = is_value(value, len, "news");
}

void dln_events_feed(struct dln_events *events, const char *data, size_t len,
                     struct dln_events_seen *seen) {
    for (size_t i = 0; i < len; i++) {
        char byte = data[i];
        bool second_half = byte == '\n' && events->after_return;
        events->after_return = byte == '\r';
        if (second_half) {
            continue;
        }
        if (byte == '\n' || byte == '\r') {
            end_line(events, seen);
            continue;
        }
        if (events->line_len < DLN_EVENT_LINE_MAX) {
            events->line[events->line_len] = byte;
        }
        events->line_len += events->line_len <= DLN_EVENT_LINE_MAX ? 1 : 0;
    }
}
