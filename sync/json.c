/* JSON as it is written: one form for each record, so that equal records are equal bytes.
 *
 * Strings as in RFC 8785: only what must be escaped is. Reals: the fewest digits that read back as
 * the same number, always with a point or an exponent; in the "C" locale, whatever the host's is.
 */
#include "sync/json.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sync/fields.h"
#include "sync/lines.h"

dunlin_status dln_check_json(struct dln_text text, dunlin_error *err) {
    json_t *json = NULL;
    dunlin_status status;

    if ((status = dln_check_text(text, DLN_DATA_MAX, "JSON", err)) != DUNLIN_OK) {
        return status;
    }
    /* Integers are read as reals because only here their size means nothing: the text itself is
     * what is kept. */
    status = dln_json_parse(&json, text, JSON_DECODE_INT_AS_REAL, err);
    json_decref(json);
    return status;
}

void dln_json_string(struct dln_buf *out, struct dln_text text) {
    static const char hex[] = "0123456789abcdef";
    size_t plain = 0; /* start of what needs no escape */

    dln_buf_append_byte(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        char escape[6] = {'\\', 'u', '0', '0', '0', '0'};
        size_t escape_len = 2;
        if (byte >= 0x20 && byte != '"' && byte != '\\') {
            continue;
        }
        switch (byte) {
        case '"':
        case '\\':
            escape[1] = (char)byte;
            break;
        case '\b':
            escape[1] = 'b';
            break;
        case '\f':
            escape[1] = 'f';
            break;
        case '\n':
            escape[1] = 'n';
            break;
        case '\r':
            escape[1] = 'r';
            break;
        case '\t':
            escape[1] = 't';
            break;
        default:
            escape[4] = hex[byte >> 4];
            escape[5] = hex[byte & 15];
            escape_len = 6;
        }
        dln_buf_append(out, text.data + plain, i - plain);
        dln_buf_append(out, escape, escape_len);
        plain = i + 1;
    }
    if (text.len > plain) {
        dln_buf_append(out, text.data + plain, text.len - plain);
    }
    dln_buf_append_byte(out, '"');
}

static void append_real(struct dln_buf *out, double real) {
    char digits[40];
    locale_t plain, before;

    if (real == 0) {
        real = 0; /* -0.0 is the same value, and must be the same bytes */
    }
    if (isinf(real)) {
        /* No decoder lets one in. Well-formed, but out of every reader's range: refused, not
         * changed. */
        dln_buf_append_text(out, real > 0 ? "1e999" : "-1e999");
        return;
    }
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        out->status = DUNLIN_OUT_OF_MEMORY;
        return;
    }
    before = uselocale(plain);
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof(digits), "%.*g", precision, real);
        if (strtod(digits, NULL) == real) {
            break;
        }
    }
    uselocale(before);
    freelocale(plain);
    dln_buf_append_text(out, digits);
    if (!strpbrk(digits, ".e")) {
        dln_buf_append(out, ".0", 2);
    }
}

void dln_json_value(struct dln_buf *out, const struct dln_value *value) {
    switch (value->type) {
    case DLN_NULL:
        dln_buf_append(out, "null", 4);
        break;
    case DLN_FALSE:
        dln_buf_append(out, "false", 5);
        break;
    case DLN_TRUE:
        dln_buf_append(out, "true", 4);
        break;
    case DLN_INTEGER:
        dln_buf_append_text(out, "{\"i\":");
        dln_json_i64(out, value->as.integer);
        dln_buf_append_byte(out, '}');
        break;
    case DLN_REAL:
        dln_buf_append_text(out, "{\"r\":");
        append_real(out, value->as.real);
        dln_buf_append_byte(out, '}');
        break;
    case DLN_STRING:
        dln_json_string(out, value->as.text);
        break;
    case DLN_JSON:
        dln_buf_append_text(out, "{\"j\":");
        dln_json_string(out, value->as.text);
        dln_buf_append_byte(out, '}');
        break;
    }
}

void dln_json_key(struct dln_buf *out, const struct dln_key *key) {
    dln_buf_append_byte(out, '[');
    for (int i = 0; i < key->part_count; i++) {
        if (i > 0) {
            dln_buf_append_byte(out, ',');
        }
        dln_json_string(out, key->parts[i]);
    }
    dln_buf_append_byte(out, ']');
}

void dln_json_fields(struct dln_buf *out, const struct dln_record *record) {
    struct dln_field_walk walk;
    struct dln_text name;
    const struct dln_field *field;
    char before = '{';

    dln_field_walk_begin(&walk, record);
    while ((field = dln_field_walk_next(&walk, &name)) != NULL) {
        dln_buf_append_byte(out, before);
        dln_json_string(out, name);
        dln_buf_append(out, ":[", 2);
        dln_json_i64(out, (int64_t)field->stamp);
        dln_buf_append_byte(out, ',');
        dln_json_value(out, &field->value);
        dln_buf_append_byte(out, ']');
        before = ',';
    }
    if (before == '{') {
        dln_buf_append_byte(out, '{');
    }
    dln_buf_append_byte(out, '}');
}
