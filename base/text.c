/* Texts are compared as bytes and never normalised: two ids are one only if their bytes are.
 *
 * The percent-encoding exists because scope names and keys are joined by '/' and '#'. It must have
 * exactly one form, or one record would have two keys: so decoding refuses what encoding would not
 * have written, an escape of a harmless byte, lower-case hex and a bare special byte alike. */
#include "base/text.h"

#include <stdint.h>
#include <string.h>

struct dln_text dln_text_of(const char *zero_ended) {
    return (struct dln_text){zero_ended, zero_ended != NULL ? strlen(zero_ended) : 0};
}

bool dln_text_equal(struct dln_text a, struct dln_text b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

int dln_text_compare(struct dln_text a, struct dln_text b) {
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter > 0 ? memcmp(a.data, b.data, shorter) : 0;
    if (order != 0) {
        return order < 0 ? -1 : 1;
    }
    return a.len == b.len ? 0 : a.len < b.len ? -1 : 1;
}

/* The size of the well-formed character at the start of at most `left` bytes, 0 when there is none
 * (Unicode 15, table 3-7; only the second byte's range depends on the first). */
static size_t utf8_size(const unsigned char *byte, size_t left) {
    unsigned char lead = byte[0];
    unsigned char second_min = 0x80;
    unsigned char second_max = 0xbf;
    size_t size;
    if (lead < 0x80) {
        return lead == 0 ? 0 : 1;
    }
    if (lead < 0xc2) {
        return 0; /* a continuation byte, or an overlong form */
    }
    if (lead < 0xe0) {
        size = 2;
    } else if (lead < 0xf0) {
        size = 3;
        second_min = lead == 0xe0 ? 0xa0 : 0x80; /* overlong */
        second_max = lead == 0xed ? 0x9f : 0xbf; /* surrogates */
    } else if (lead < 0xf5) {
        size = 4;
        second_min = lead == 0xf0 ? 0x90 : 0x80; /* overlong */
        second_max = lead == 0xf4 ? 0x8f : 0xbf; /* above U+10FFFF */
    } else {
        return 0;
    }
    if (left < size || byte[1] < second_min || byte[1] > second_max) {
        return 0;
    }
    for (size_t i = 2; i < size; i++) {
        if ((byte[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return size;
}

/* Whether eight bytes are ASCII without a zero: most text is, and goes eight at a time. */
static bool is_plain(const char *bytes) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t tops = ones << 7;
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return ((word | (word - ones)) & tops) == 0;
}

bool dln_text_is_utf8(struct dln_text text) {
    size_t at = 0;
    while (at < text.len) {
        if (text.len - at >= sizeof(uint64_t) && is_plain(text.data + at)) {
            at += sizeof(uint64_t);
            continue;
        }
        size_t size = utf8_size((const unsigned char *)text.data + at, text.len - at);
        if (size == 0) {
            return false;
        }
        at += size;
    }
    return true;
}

dunlin_status dln_check_text(struct dln_text text, size_t max, const char *what,
                             dunlin_error *err) {
    if (text.len > max) {
        return dln_fail(err, DUNLIN_TOO_LONG, DUNLIN_DOMAIN_API, "%s is longer than %zu bytes",
                        what, max);
    }
    if (!dln_text_is_utf8(text)) {
        return dln_fail(err, DUNLIN_INVALID_TEXT, DUNLIN_DOMAIN_API,
                        "%s is not UTF-8 or holds U+0000", what);
    }
    return DUNLIN_OK;
}

dunlin_status dln_check_id(struct dln_text id, const char *what, dunlin_error *err) {
    if (id.data == NULL || id.len == 0) {
        return dln_fail(err, DUNLIN_INVALID_ID, DUNLIN_DOMAIN_API, "%s is empty", what);
    }
    return dln_check_text(id, DLN_ID_MAX, what, err);
}

dunlin_status dln_check_group_id(struct dln_text id, dunlin_error *err) {
    if (dln_text_equal(id, DLN_TEXT("!"))) {
        return dln_fail(err, DUNLIN_INVALID_ID, DUNLIN_DOMAIN_API,
                        "\"!\" is reserved and cannot be a group's id");
    }
    return dln_check_id(id, "group", err);
}

static const char hex_digits[] = "0123456789ABCDEF";

static bool needs_escape(unsigned char byte) {
    return byte < 0x20 || byte == 0x7f || byte == '%' || byte == '/' || byte == '#';
}

void dln_percent_encode(struct dln_buf *out, struct dln_text text) {
    size_t plain_from = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (!needs_escape(byte)) {
            continue;
        }
        const char escape[3] = {'%', hex_digits[byte >> 4], hex_digits[byte & 0x0f]};
        dln_buf_append(out, text.data + plain_from, i - plain_from);
        dln_buf_append(out, escape, sizeof(escape));
        plain_from = i + 1;
    }
    if (text.len > 0) {
        dln_buf_append(out, text.data + plain_from, text.len - plain_from);
    }
}

static int hex_value(char digit) {
    const char *found = digit != '\0' ? strchr(hex_digits, digit) : NULL;
    return found != NULL ? (int)(found - hex_digits) : -1;
}

bool dln_percent_decode(struct dln_buf *out, struct dln_text text) {
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] != '%') {
            if (needs_escape((unsigned char)text.data[i])) {
                return false;
            }
            dln_buf_append_byte(out, text.data[i]);
            continue;
        }
        if (text.len - i < 3) {
            return false;
        }
        int high = hex_value(text.data[i + 1]);
        int low = hex_value(text.data[i + 2]);
        if (high < 0 || low < 0 || !needs_escape((unsigned char)(high * 16 + low))) {
            return false;
        }
        dln_buf_append_byte(out, (char)(high * 16 + low));
        i += 2;
    }
    return true;
}
