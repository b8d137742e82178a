/* One line's members.
 *
 * jansson reads and prints reals in the calling thread's locale: with a decimal comma it converts,
 * but a decimal point of several bytes (Pashto) ends the process in an assertion. So parsing runs
 * in the "C" locale, set for this thread only and put back at once.
 *
 * Depth is counted before parsing: jansson's own limit, 2,048, is more stack than a host's small
 * threads may have. */
#include "sync/lines.h"

#include <assert.h>
#include <locale.h>
#include <string.h>

#include "base/error.h"
#include "sync/json.h"

/* Whether brackets outside of strings nest deeper than allowed. What is no JSON may be judged
 * wrongly; the parser judges it afterwards. */
static bool too_deep(struct dln_text text) {
    int depth = 0;
    bool quoted = false;

    for (size_t i = 0; i < text.len; i++) {
        char byte = text.data[i];
        if (quoted) {
            if (byte == '\\') {
                i++;
            } else if (byte == '"') {
                quoted = false;
            }
        } else if (byte == '"') {
            quoted = true;
        } else if (byte == '[' || byte == '{') {
            if (++depth > DLN_JSON_DEPTH_MAX) {
                return true;
            }
        } else if (byte == ']' || byte == '}') {
            depth--;
        }
    }
    return false;
}

static dunlin_status parse_failure(const json_error_t *why, dunlin_error *err) {
    enum json_error_code code = json_error_code(why);

    /* jansson leaves the text empty where an allocation failed on its way. */
    if (why->text[0] == '\0' || code == json_error_out_of_memory) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_SYNC, "no memory to read JSON");
    }
    if (code == json_error_null_character || code == json_error_null_byte_in_key) {
        return dln_fail(err, DUNLIN_INVALID_TEXT, DUNLIN_DOMAIN_SYNC, "JSON holds U+0000");
    }
    return dln_fail(err, DUNLIN_INVALID_JSON, DUNLIN_DOMAIN_SYNC,
                    "JSON cannot be read: error %d at byte %d", (int)code, why->position);
}

dunlin_status dln_json_parse(json_t **out, struct dln_text text, size_t flags, dunlin_error *err) {
    locale_t plain, before;
    json_error_t why;

    if (too_deep(text)) {
        return dln_fail(err, DUNLIN_INVALID_JSON, DUNLIN_DOMAIN_SYNC,
                        "JSON is deeper than %d levels", DLN_JSON_DEPTH_MAX);
    }
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_SYNC, "no memory for a locale");
    }
    before = uselocale(plain);

    memset(&why, 0, sizeof(why));
    *out = json_loadb(text.data ? text.data : "", text.len,
                      JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | flags, &why);

    uselocale(before);
    freelocale(plain);
    return *out ? DUNLIN_OK : parse_failure(&why, err);
}

struct dln_text dln_text_of_json(const json_t *string) {
    return (struct dln_text){json_string_value(string), json_string_length(string)};
}

bool dln_get_text(const json_t *line, const char *name, size_t max_bytes, struct dln_text *out) {
    const json_t *member = json_object_get(line, name);

    if (!member) {
        return true;
    }
    if (!json_is_string(member) || json_string_length(member) > max_bytes) {
        return false;
    }
    *out = dln_text_of_json(member);
    return true;
}

bool dln_get_flag(const json_t *line, const char *name, bool *out) {
    const json_t *member = json_object_get(line, name);

    if (!member) {
        return true;
    }
    if (!json_is_boolean(member)) {
        return false;
    }
    *out = json_is_true(member);
    return true;
}

bool dln_get_count(const json_t *line, const char *name, size_t max, size_t *out) {
    const json_t *member = json_object_get(line, name);
    json_int_t value;

    if (!member) {
        return true;
    }
    if (!json_is_integer(member)) {
        return false;
    }
    value = json_integer_value(member);
    if (value < 0 || (uint64_t)value > max) {
        return false;
    }
    *out = (size_t)value;
    return true;
}

bool dln_i64_parse(struct dln_text text, int64_t *out) {
    bool negative = text.len > 0 && text.data[0] == '-';
    size_t start = negative ? 1 : 0;
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t sum = 0;

    if (text.len == start || text.len - start > 19) {
        return false;
    }
    if (text.data[start] == '0' && (negative || text.len > 1)) {
        return false;
    }
    for (size_t i = start; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
        sum = sum * 10 + (uint64_t)(text.data[i] - '0'); /* 19 digits fit into 64 bits */
    }
    if (sum > limit) {
        return false;
    }
    /* INT64_MIN has no positive twin. */
    *out = negative ? -(int64_t)(sum - 1) - 1 : (int64_t)sum;
    return true;
}

bool dln_get_i64(const json_t *line, const char *name, int64_t min, int64_t max, int64_t *out) {
    const json_t *member = json_object_get(line, name);
    int64_t value;

    if (!member) {
        return true;
    }
    if (!json_is_string(member) || !dln_i64_parse(dln_text_of_json(member), &value) ||
        value < min || value > max) {
        return false;
    }
    *out = value;
    return true;
}

/* {"i":"…"}, {"r":…} or {"j":"…"}: exactly one member, so that what a later version adds is not
 * mistaken for something that this one knows. */
static dunlin_status object_value_read(struct dln_value *out, const json_t *json,
                                       dunlin_error *err) {
    const json_t *member;
    int64_t integer;

    if (json_object_size(json) != 1) {
        goto unknown;
    }
    if ((member = json_object_get(json, "i")) != NULL) {
        if (!json_is_string(member) || !dln_i64_parse(dln_text_of_json(member), &integer)) {
            goto unknown;
        }
        *out = dln_value_integer(integer);
        return DUNLIN_OK;
    }
    if ((member = json_object_get(json, "r")) != NULL) {
        if (!json_is_number(member)) {
            goto unknown;
        }
        *out = dln_value_real(json_number_value(member));
        return DUNLIN_OK;
    }
    if ((member = json_object_get(json, "j")) != NULL) {
        if (!json_is_string(member)) {
            goto unknown;
        }
        *out = dln_value_json(dln_text_of_json(member));
        return dln_check_json(out->as.text, err);
    }
unknown:
    return dln_fail(err, DUNLIN_INVALID_VALUE, DUNLIN_DOMAIN_SYNC, "a value has an unknown form");
}

dunlin_status dln_value_read(struct dln_value *out, const json_t *json, dunlin_error *err) {
    switch (json_typeof(json)) {
    case JSON_NULL:
        *out = dln_value_null();
        return DUNLIN_OK;
    case JSON_TRUE:
    case JSON_FALSE:
        *out = dln_value_bool(json_is_true(json));
        return DUNLIN_OK;
    case JSON_STRING:
        *out = dln_value_string(dln_text_of_json(json));
        if (out->as.text.len > DLN_DATA_MAX) {
            return dln_fail(err, DUNLIN_TOO_LONG, DUNLIN_DOMAIN_SYNC,
                            "a value is longer than %d bytes", DLN_DATA_MAX);
        }
        return DUNLIN_OK;
    case JSON_OBJECT:
        return object_value_read(out, json, err);
    case JSON_ARRAY:
    case JSON_INTEGER:
    case JSON_REAL:
        break;
    }
    return dln_fail(err, DUNLIN_INVALID_VALUE, DUNLIN_DOMAIN_SYNC, "a value has an unknown form");
}

static dunlin_status no_memory(const struct dln_arena *arena, size_t size, dunlin_error *err) {
    if (size > arena->max_bytes || arena->used_bytes > arena->max_bytes - size) {
        return dln_fail(err, DUNLIN_TOO_LARGE, DUNLIN_DOMAIN_SYNC,
                        "a message takes more memory than %zu bytes", arena->max_bytes);
    }
    return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_SYNC, "no memory to read a message");
}

dunlin_status dln_take(struct dln_arena *arena, void **out, size_t count, size_t size,
                       dunlin_error *err) {
    assert(size > 0 && count <= SIZE_MAX / size);
    *out = NULL;
    if (count == 0) {
        return DUNLIN_OK;
    }
    *out = dln_arena_alloc(arena, count * size);
    return *out ? DUNLIN_OK : no_memory(arena, count * size, err);
}

dunlin_status dln_keep(struct dln_arena *arena, struct dln_text *text, dunlin_error *err) {
    struct dln_text kept;

    if (!text->data) {
        return DUNLIN_OK;
    }
    kept = dln_arena_text(arena, *text);
    if (!kept.data) {
        return no_memory(arena, text->len + 1, err);
    }
    *text = kept;
    return DUNLIN_OK;
}

dunlin_status dln_keep_value(struct dln_arena *arena, struct dln_value *value, dunlin_error *err) {
    if (value->type != DLN_STRING && value->type != DLN_JSON) {
        return DUNLIN_OK;
    }
    return dln_keep(arena, &value->as.text, err);
}

void dln_put_name(struct dln_buf *out, const char *name) {
    dln_buf_append(out, ",\"", 2);
    dln_buf_append_text(out, name);
    dln_buf_append(out, "\":", 2);
}

void dln_put_text(struct dln_buf *out, const char *name, struct dln_text text) {
    dln_put_name(out, name);
    dln_json_string(out, text);
}

void dln_put_i64(struct dln_buf *out, const char *name, int64_t value) {
    dln_put_name(out, name);
    dln_json_i64(out, value);
}

void dln_put_count(struct dln_buf *out, const char *name, size_t value) {
    dln_put_name(out, name);
    dln_buf_printf(out, "%zu", value);
}

void dln_put_true(struct dln_buf *out, const char *name) {
    dln_put_name(out, name);
    dln_buf_append(out, "true", 4);
}

/* printf would do; but every field of every record has such a number. */
void dln_json_i64(struct dln_buf *out, int64_t value) {
    char digits[24];
    size_t at = sizeof(digits);
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    digits[--at] = '"';
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0) {
        digits[--at] = '-';
    }
    digits[--at] = '"';
    dln_buf_append(out, digits + at, sizeof(digits) - at);
}
