/* Headers come one line at a time, names in any case. Of what stands twice the last counts, but for
 * Content-Encoding: two codings, on one line or on two, are none that this remote takes.
 *
 * A Retry-After that is a date is measured against the sender's own Date, so that a device's wrong
 * clock does not matter. */
#include "client/http/reply.h"

#include <string.h>

#include <curl/curl.h>

#include "base/text.h"

enum { VALUE_MAX = 64 }; /* bytes of a date, of a number */

void dln_reply_init(struct dln_reply *reply) {
    *reply = (struct dln_reply){.retry_after_s = -1, .retry_at_s = -1, .date_s = -1};
}

static bool is_space(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static struct dln_text trim(const char *data, size_t len) {
    while (len > 0 && is_space(data[len - 1])) {
        len--;
    }
    while (len > 0 && is_space(data[0])) {
        data++;
        len--;
    }
    return (struct dln_text){data, len};
}

/* Header names and codings are ASCII, and the locale is the host's. */
static bool is_word(struct dln_text text, const char *word) {
    return text.len == strlen(word) && curl_strnequal(text.data, word, text.len);
}

/* A number of up to 9 digits; -1 for anything else. */
static int64_t number_of(struct dln_text text) {
    int64_t number = 0;
    if (text.len == 0 || text.len > 9) {
        return -1;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return -1;
        }
        number = number * 10 + (text.data[i] - '0');
    }
    return number;
}

/* Unix seconds; -1 where it is no date. */
static int64_t date_of(struct dln_text text) {
    char zero_ended[VALUE_MAX + 1];
    if (text.len == 0 || text.len > VALUE_MAX) {
        return -1;
    }
    memcpy(zero_ended, text.data, text.len);
    zero_ended[text.len] = '\0';
    return (int64_t)curl_getdate(zero_ended, NULL);
}

static enum dln_media media_of(struct dln_text value) {
    const char *end = memchr(value.data, ';', value.len);
    struct dln_text type = trim(value.data, end ? (size_t)(end - value.data) : value.len);
    if (is_word(type, "application/x-ndjson")) {
        return DLN_MEDIA_NDJSON;
    }
    if (is_word(type, "text/event-stream")) {
        return DLN_MEDIA_EVENTS;
    }
    return is_word(type, "text/html") || is_word(type, "application/xhtml+xml") ? DLN_MEDIA_HTML
                                                                                : DLN_MEDIA_NONE;
}

static enum dln_coding coding_of(enum dln_coding before, struct dln_text value) {
    if (value.len == 0 || is_word(value, "identity")) {
        return before;
    }
    bool gzip = is_word(value, "gzip") || is_word(value, "x-gzip");
    return gzip && before == DLN_CODING_NONE ? DLN_CODING_GZIP : DLN_CODING_OTHER;
}

static void take_location(struct dln_reply *reply, struct dln_text value) {
    reply->location_too_long = value.len > DLN_LOCATION_MAX;
    size_t len = reply->location_too_long ? 0 : value.len;
    memcpy(reply->location, value.data, len);
    reply->location[len] = '\0';
}

static void take_header(struct dln_reply *reply, struct dln_text name, struct dln_text value) {
    if (is_word(name, "Content-Type")) {
        reply->media = media_of(value);
    } else if (is_word(name, "Content-Encoding")) {
        reply->coding = coding_of(reply->coding, value);
    } else if (is_word(name, "Dunlin-Protocol")) {
        reply->protocol = is_word(value, "1");
    } else if (is_word(name, "Location")) {
        take_location(reply, value);
    } else if (is_word(name, "Date")) {
        reply->date_s = date_of(value);
    } else if (is_word(name, "Retry-After")) {
        reply->retry_after_s = number_of(value);
        reply->retry_at_s = reply->retry_after_s < 0 ? date_of(value) : -1;
    }
}

/* "HTTP/1.1 200 OK" */
static void take_status_line(struct dln_reply *reply, struct dln_text line) {
    const char *space = memchr(line.data, ' ', line.len);
    size_t bytes = reply->header_bytes;
    int64_t status = -1;
    if (space) {
        struct dln_text rest = trim(space, line.len - (size_t)(space - line.data));
        status = rest.len >= 3 ? number_of((struct dln_text){rest.data, 3}) : -1;
    }
    dln_reply_init(reply);
    reply->status = status < 0 ? 0 : (int)status;
    reply->header_bytes = bytes;
}

void dln_reply_line(struct dln_reply *reply, const char *line, size_t len) {
    reply->header_bytes += len;
    struct dln_text text = trim(line, len);
    if (text.len >= 5 && memcmp(text.data, "HTTP/", 5) == 0) {
        take_status_line(reply, text);
        return;
    }
    if (text.len == 0) {
        reply->ended = true;
        return;
    }
    const char *colon = memchr(text.data, ':', text.len);
    if (colon) {
        size_t name_len = (size_t)(colon - text.data);
        take_header(reply, (struct dln_text){text.data, name_len},
                    trim(colon + 1, text.len - name_len - 1));
    }
}

int64_t dln_reply_retry_after_ms(const struct dln_reply *reply, int64_t now_s) {
    int64_t wait_s = reply->retry_after_s;
    if (wait_s < 0 && reply->retry_at_s >= 0) {
        wait_s = reply->retry_at_s - (reply->date_s >= 0 ? reply->date_s : now_s);
    }
    if (wait_s <= 0) {
        return 0;
    }
    return wait_s < DLN_RETRY_AFTER_MAX_MS / 1000 ? wait_s * 1000 : DLN_RETRY_AFTER_MAX_MS;
}
