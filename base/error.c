/* Statuses' names and texts come from one X-macro, so that a new status cannot lack either.
 *
 * A message is one line of whole characters: control characters (an id may hold them) become '?',
 * and a message that is too long is cut in front of the character that would be split. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct status_row {
    dunlin_status status;
    const char *name;
    const char *text;
};

static const struct status_row status_rows[] = {
#define STATUS_ROW(symbol, value, text) {DUNLIN_##symbol, #symbol, text},
    DUNLIN_STATUSES(STATUS_ROW)
#undef STATUS_ROW
};

enum { STATUS_COUNT = sizeof(status_rows) / sizeof(status_rows[0]) };

static const struct status_row *find_status(dunlin_status status) {
    for (size_t i = 0; i < STATUS_COUNT; i++) {
        if (status_rows[i].status == status) {
            return &status_rows[i];
        }
    }
    return NULL;
}

const char *dunlin_status_name(dunlin_status status) {
    const struct status_row *row = find_status(status);
    return row != NULL ? row->name : "UNKNOWN";
}

const char *dunlin_status_text(dunlin_status status) {
    const struct status_row *row = find_status(status);
    return row != NULL ? row->text : "the status is not known";
}

int dunlin_status_is_retryable(dunlin_status status) {
    return status <= -100 && status >= -199;
}

dunlin_status dln_status_by_name(const char *name, size_t len) {
    for (size_t i = 0; i < STATUS_COUNT; i++) {
        const char *candidate = status_rows[i].name;
        if (strlen(candidate) == len && memcmp(candidate, name, len) == 0) {
            return status_rows[i].status; /* of "OK" that is DUNLIN_OK, the answer for none */
        }
    }
    return DUNLIN_OK;
}

static size_t character_size(unsigned char lead) {
    if (lead < 0x80) {
        return 1;
    }
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* Ends a message that was cut after `len` bytes in front of a character that is not whole. */
static void drop_partial_character(char *message, size_t len) {
    size_t start = len;
    while (start > 0 && len - start < 3 && ((unsigned char)message[start - 1] & 0xc0) == 0x80) {
        start--;
    }
    if (start > 0 && (unsigned char)message[start - 1] >= 0xc0) {
        start--;
        if (start + character_size((unsigned char)message[start]) > len) {
            message[start] = '\0';
        }
    }
}

#undef dln_fail
dunlin_status dln_fail(dunlin_error *err, dunlin_status code, dunlin_domain domain,
                       const char *format, ...) {
    if (err == NULL) {
        return code;
    }
    err->code = code;
    err->domain = domain;

    va_list values;
    va_start(values, format);
    int written = vsnprintf(err->message, sizeof(err->message), format, values);
    va_end(values);
    if (written < 0) {
        (void)snprintf(err->message, sizeof(err->message), "%s", dunlin_status_text(code));
    } else if ((size_t)written >= sizeof(err->message)) {
        drop_partial_character(err->message, sizeof(err->message) - 1);
    }
    for (char *byte = err->message; *byte != '\0'; byte++) {
        if ((unsigned char)*byte < 0x20 || *byte == 0x7f) {
            *byte = '?';
        }
    }
    return code;
}
