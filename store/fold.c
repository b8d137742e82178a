#include "store/fold.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

static bool is_ascii(struct dln_text text) {
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.data[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

static void map(struct dln_buf *out, struct dln_text text, utf8proc_option_t options) {
    utf8proc_uint8_t *mapped = NULL;
    utf8proc_ssize_t len = utf8proc_map((const utf8proc_uint8_t *)text.data,
                                        (utf8proc_ssize_t)text.len, &mapped, options);
    if (len >= 0) {
        dln_buf_append(out, mapped, (size_t)len);
    } else if (len == UTF8PROC_ERROR_NOMEM) {
        out->status = DUNLIN_OUT_OF_MEMORY;
    } else { /* no UTF-8: damage in the file. Compared as it is, then */
        dln_buf_append(out, text.data, text.len);
    }
    free(mapped);
}

void dln_nfc(struct dln_buf *out, struct dln_text text) {
    if (is_ascii(text)) {
        dln_buf_append(out, text.data, text.len);
    } else {
        map(out, text, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    }
}

void dln_fold(struct dln_buf *out, struct dln_text text) {
    if (!is_ascii(text)) {
        map(out, text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
        return;
    }
    size_t start = out->len;
    dln_buf_append(out, text.data, text.len);
    for (size_t i = start; i < out->len; i++) {
        if (out->data[i] >= 'A' && out->data[i] <= 'Z') {
            out->data[i] = (char)(out->data[i] + ('a' - 'A'));
        }
    }
}

static void append_character(struct dln_buf *out, uint32_t character) {
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t len = utf8proc_encode_char((utf8proc_int32_t)character, bytes);
    dln_buf_append(out, bytes, (size_t)len);
}

static bool is_surrogate(uint32_t unit, uint32_t first) {
    return (unit & 0xfc00) == first;
}

/* The four digits behind "\u" at `at`; false where there are none. */
static bool read_unit(struct dln_text json, size_t at, uint32_t *out) {
    *out = 0;
    for (size_t i = at; i < at + 4; i++) {
        char c = i < json.len ? json.data[i] : '\0';
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) {
            return false;
        }
        *out = *out * 16 + (uint32_t)digit;
    }
    return true;
}

/* Reads the escape behind the backslash at at - 1; returns the place behind it. A half of a pair
 * gives nothing. */
static size_t read_escape(struct dln_buf *out, struct dln_text json, size_t at) {
    static const char plain[] = "bfnrt";
    uint32_t unit = 0;
    if (at >= json.len) {
        return at;
    }
    if (json.data[at] != 'u') {
        dln_buf_append_byte(out, memchr(plain, json.data[at], sizeof(plain)) ? ' ' : json.data[at]);
        return at + 1;
    }
    if (!read_unit(json, at + 1, &unit)) {
        return at + 1;
    }
    at += 5;
    uint32_t low = 0;
    if (is_surrogate(unit, 0xd800) && at + 1 < json.len && json.data[at] == '\\' &&
        json.data[at + 1] == 'u' && read_unit(json, at + 2, &low) && is_surrogate(low, 0xdc00)) {
        append_character(out, 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff));
        return at + 6;
    }
    if (unit != 0 && !is_surrogate(unit, 0xd800) && !is_surrogate(unit, 0xdc00)) {
        append_character(out, unit);
    }
    return at;
}

/* Reads the string behind the quote at at - 1; returns the place behind its end. */
static size_t read_string(struct dln_buf *out, struct dln_text json, size_t at) {
    while (at < json.len && json.data[at] != '"') {
        if (json.data[at] == '\\') {
            at = read_escape(out, json, at + 1);
        } else {
            dln_buf_append_byte(out, json.data[at]);
            at++;
        }
    }
    return at + 1;
}

void dln_json_texts(struct dln_buf *out, struct dln_text json) {
    size_t at = 0;
    while (at < json.len && out->status == DUNLIN_OK) {
        if (json.data[at] != '"') {
            at++;
            continue;
        }
        size_t start = out->len;
        dln_buf_append_byte(out, '\n');
        at = read_string(out, json, at + 1);
        while (at < json.len && strchr(" \t\r\n", json.data[at]) && json.data[at] != '\0') {
            at++;
        }
        if (at < json.len && json.data[at] == ':' && out->status == DUNLIN_OK) {
            out->len = start; /* a member's name */
            out->data[start] = '\0';
        }
    }
}

uint32_t dln_next_character(struct dln_text text, size_t *at) {
    assert(*at < text.len);
    utf8proc_int32_t character = 0;
    utf8proc_ssize_t len = utf8proc_iterate((const utf8proc_uint8_t *)text.data + *at,
                                            (utf8proc_ssize_t)(text.len - *at), &character);
    if (len <= 0) { /* damage: a byte for itself */
        character = 0xfffd;
        len = 1;
    }
    *at += (size_t)len;
    return (uint32_t)character;
}

bool dln_is_space(uint32_t character) {
    if (character < 0x80) {
        return character <= ' ' || character == 0x7f;
    }
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)character);
    return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
           category == UTF8PROC_CATEGORY_ZP || category == UTF8PROC_CATEGORY_CC;
}
