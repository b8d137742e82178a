/* A line of a batch, taken apart.
 *
 * An item's `data` is any JSON value and must reach the store byte for byte (1.0 stays 1.0), which
 * no parser gives back. So its text is found first, by counting brackets outside of strings,
 * copied, and overwritten with null before the line is parsed. That is safe on damaged lines:
 * whatever the counting took for the value is judged as JSON by the library, the rest by the
 * parser.
 */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/edit_reader.h"
#include "cli/values.h"

static size_t skip_space(const char *line, size_t len, size_t at) {
    while (at < len && strchr(" \t\r\n", line[at]) && line[at]) {
        at++;
    }
    return at;
}

/* The end of the string that begins at `at`, behind its quote; len when it has none. */
static size_t skip_string(const char *line, size_t len, size_t at) {
    for (at++; at < len && line[at] != '"'; at++) {
        at += line[at] == '\\';
    }
    return at < len ? at + 1 : len;
}

/* The end of the value that begins at `at`. */
static size_t skip_value(const char *line, size_t len, size_t at) {
    int depth = 0;

    while (at < len) {
        char byte = line[at];

        if (byte == '"') {
            at = skip_string(line, len, at);
            continue;
        }
        if (depth == 0 && (byte == ',' || byte == '}' || byte == ']')) {
            break;
        }
        depth += byte == '{' || byte == '[';
        depth -= byte == '}' || byte == ']';
        at++;
    }
    return at;
}

/* Finds the value of the line's own member "data"; *end is 0 when there is none. */
static void find_data(const char *line, size_t len, size_t *start, size_t *end) {
    static const char name[] = "\"data\"";
    size_t at = skip_space(line, len, 0);

    *end = 0;
    while (at < len && (line[at] == '{' || line[at] == ',')) {
        size_t key = skip_space(line, len, at + 1), key_end = 0;

        if (key >= len || line[key] != '"') {
            return;
        }
        key_end = skip_string(line, len, key);
        at = skip_space(line, len, key_end);
        if (at >= len || line[at] != ':') {
            return;
        }
        *start = skip_space(line, len, at + 1);
        at = skip_value(line, len, *start);
        if (key_end - key == sizeof(name) - 1 && memcmp(line + key, name, key_end - key) == 0) {
            *end = at;
            return;
        }
    }
}

/* Copies the text of "data" and puts null in its place. */
static dunlin_status take_data(struct dln_edit *edit, char *line, size_t len) {
    size_t start = 0, end = 0;

    find_data(line, len, &start, &end);
    while (end > start && strchr(" \t\r\n", line[end - 1])) {
        end--;
    }
    if (end < start + 1 || (end - start == 4 && memcmp(line + start, "null", 4) == 0)) {
        return DUNLIN_OK;
    }
    if (memchr(line + start, '\0', end - start)) {
        return dln_fail(edit->app, DUNLIN_INVALID_TEXT, "the line holds U+0000");
    }
    edit->data = strndup(line + start, end - start);
    if (!edit->data) {
        return DUNLIN_OUT_OF_MEMORY;
    }
    memset(line + start, ' ', end - start);
    line[start] = '0'; /* a value, whatever its length; not null, so that it counts as given */
    return DUNLIN_OK;
}

const char *dln_edit_text(struct dln_edit *edit, const char *name, int required) {
    json_t *member = json_object_get(edit->object, name);

    if (edit->status) {
        return NULL;
    }
    if (json_is_string(member)) {
        return json_string_value(member);
    }
    if (!member || json_is_null(member)) {
        if (required) {
            edit->status =
                dln_fail(edit->app, DUNLIN_INVALID_VALUE, "the member \"%s\" is missing", name);
        }
        return NULL;
    }
    edit->status =
        dln_fail(edit->app, DUNLIN_INVALID_VALUE, "the member \"%s\" must be a string", name);
    return NULL;
}

int dln_edit_flag(struct dln_edit *edit, const char *name) {
    json_t *member = json_object_get(edit->object, name);

    if (!edit->status && member && !json_is_boolean(member)) {
        edit->status = dln_fail(edit->app, DUNLIN_INVALID_VALUE,
                                "the member \"%s\" must be true or false", name);
    }
    return json_is_true(member);
}

const int64_t *dln_edit_time(struct dln_edit *edit, const char *name, int64_t *out) {
    json_t *member = json_object_get(edit->object, name);

    if (edit->status || !member || json_is_null(member)) {
        return NULL;
    }
    if (json_is_integer(member)) {
        *out = json_integer_value(member);
    } else if (json_is_string(member)) {
        edit->status = dln_read_time(edit->app, out, json_string_value(member));
    } else {
        edit->status = dln_fail(edit->app, DUNLIN_INVALID_VALUE,
                                "the member \"%s\" must be milliseconds or an ISO 8601 time", name);
    }
    return out;
}

/* The line without its data, as an object. */
static dunlin_status parse(struct dln_edit *edit, const char *line, size_t len) {
    json_error_t error;

    edit->object = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(edit->object)) {
        return DUNLIN_OK;
    }
    if (edit->object) {
        return dln_fail(edit->app, DUNLIN_INVALID_JSON, "the line is no JSON object");
    }
    switch (json_error_code(&error)) {
    case json_error_out_of_memory:
        return DUNLIN_OUT_OF_MEMORY;
    case json_error_invalid_utf8:
        return dln_fail(edit->app, DUNLIN_INVALID_TEXT, "the line is not UTF-8");
    case json_error_null_character:
    case json_error_null_byte_in_key:
        return dln_fail(edit->app, DUNLIN_INVALID_TEXT, "the line holds U+0000");
    default:
        return dln_fail(edit->app, DUNLIN_INVALID_JSON, "it is no JSON, column %d: %s",
                        error.column, error.text);
    }
}

dunlin_status dln_edit_begin(struct dln_edit *edit, struct dln_app *app, char *line, size_t len) {
    dunlin_status status;

    *edit = (struct dln_edit){.app = app};
    status = take_data(edit, line, len);
    return status ? status : parse(edit, line, len);
}

void dln_edit_end(struct dln_edit *edit) {
    json_decref(edit->object);
    free(edit->data);
}

/* Whether the name is one of those in a list parted by spaces. */
static int is_among(const char *names, const char *name) {
    size_t len = strlen(name);

    for (const char *at = strstr(names, name); at && len; at = strstr(at + 1, name)) {
        if ((at == names || at[-1] == ' ') && (at[len] == ' ' || !at[len])) {
            return 1;
        }
    }
    return 0;
}

dunlin_status dln_edit_check_members(struct dln_edit *edit, const char *verb, const char *names) {
    const char *name = NULL;
    json_t *value = NULL;

    json_object_foreach(edit->object, name, value) {
        if (strcmp(name, "do") != 0 && (strchr(name, ' ') || !is_among(names, name))) {
            return dln_fail(edit->app, DUNLIN_INVALID_VALUE, "%s has no member \"%s\"; it has: %s",
                            verb, name, names);
        }
    }
    return DUNLIN_OK;
}
