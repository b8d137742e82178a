/* A value's canonical bytes. memcmp orders them because the type byte stands first, because a
 * signed integer with its sign bit flipped is ordered as an unsigned one, and because IEEE-754
 * doubles are ordered as integers once negative ones have all bits flipped and the others the sign
 * bit.
 *
 * One number has one form: -0.0 is written as 0.0, and -0.0 and NaN are refused when read. */
#include "base/value.h"

#include <assert.h>
#include <string.h>

enum { NUMBER_SIZE = 9 };

#define SIGN_BIT ((uint64_t)1 << 63)

_Static_assert(sizeof(double) == sizeof(uint64_t), "doubles are IEEE-754 binary64");

static const struct dln_value null_value = {.type = DLN_NULL};

struct dln_value dln_value_null(void) {
    return null_value;
}

struct dln_value dln_value_bool(bool value) {
    struct dln_value made = null_value;
    made.type = value ? DLN_TRUE : DLN_FALSE;
    return made;
}

struct dln_value dln_value_integer(int64_t value) {
    return (struct dln_value){.type = DLN_INTEGER, .as.integer = value};
}

/* 0.0 == -0.0, so that comparison alone finds both. */
static double without_negative_zero(double real) {
    return real == 0.0 ? 0.0 : real;
}

struct dln_value dln_value_real(double value) {
    assert(value == value); /* not NaN */
    return (struct dln_value){.type = DLN_REAL, .as.real = without_negative_zero(value)};
}

struct dln_value dln_value_string(struct dln_text text) {
    if (text.data == NULL) {
        return null_value;
    }
    return (struct dln_value){.type = DLN_STRING, .as.text = text};
}

struct dln_value dln_value_json(struct dln_text text) {
    if (text.data == NULL) {
        return null_value;
    }
    return (struct dln_value){.type = DLN_JSON, .as.text = text};
}

static uint64_t real_to_ordered(double real) {
    uint64_t bits;
    real = without_negative_zero(real);
    memcpy(&bits, &real, sizeof(bits));
    return (bits & SIGN_BIT) != 0 ? ~bits : bits ^ SIGN_BIT;
}

static double ordered_to_real(uint64_t ordered) {
    uint64_t bits = (ordered & SIGN_BIT) != 0 ? ordered ^ SIGN_BIT : ~ordered;
    double real;
    memcpy(&real, &bits, sizeof(real));
    return real;
}

static int64_t ordered_to_integer(uint64_t ordered) {
    uint64_t bits = ordered ^ SIGN_BIT;
    int64_t integer;
    memcpy(&integer, &bits, sizeof(integer));
    return integer;
}

void dln_value_encode(struct dln_buf *out, const struct dln_value *value) {
    dln_buf_append_byte(out, (char)value->type);
    switch (value->type) {
    case DLN_NULL:
    case DLN_FALSE:
    case DLN_TRUE:
        break;
    case DLN_INTEGER:
        dln_buf_append_u64_be(out, (uint64_t)value->as.integer ^ SIGN_BIT);
        break;
    case DLN_REAL:
        assert(value->as.real == value->as.real);
        dln_buf_append_u64_be(out, real_to_ordered(value->as.real));
        break;
    case DLN_STRING:
    case DLN_JSON:
        dln_buf_append(out, value->as.text.data, value->as.text.len);
        break;
    }
}

static uint64_t read_u64_be(const char *bytes) {
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) {
        number = number << 8 | (unsigned char)bytes[i];
    }
    return number;
}

static bool decode_real(struct dln_value *out, uint64_t ordered) {
    double real = ordered_to_real(ordered);
    if (real != real || real_to_ordered(real) != ordered) {
        return false;
    }
    *out = dln_value_real(real);
    return true;
}

bool dln_value_decode(struct dln_value *out, struct dln_text bytes) {
    if (bytes.len == 0) {
        return false;
    }
    struct dln_text rest = {bytes.data + 1, bytes.len - 1};
    switch (bytes.data[0]) {
    case DLN_NULL:
        *out = null_value;
        return rest.len == 0;
    case DLN_FALSE:
    case DLN_TRUE:
        *out = dln_value_bool(bytes.data[0] == DLN_TRUE);
        return rest.len == 0;
    case DLN_INTEGER:
        if (bytes.len != NUMBER_SIZE) {
            return false;
        }
        *out = dln_value_integer(ordered_to_integer(read_u64_be(rest.data)));
        return true;
    case DLN_REAL:
        return bytes.len == NUMBER_SIZE && decode_real(out, read_u64_be(rest.data));
    case DLN_STRING:
        *out = dln_value_string(rest);
        return dln_text_is_utf8(rest);
    case DLN_JSON:
        *out = dln_value_json(rest);
        return dln_text_is_utf8(rest);
    default:
        return false;
    }
}

int dln_value_compare(const struct dln_value *a, const struct dln_value *b) {
    if (a->type != b->type) {
        return a->type < b->type ? -1 : 1;
    }
    switch (a->type) {
    case DLN_INTEGER:
        return (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);
    case DLN_REAL:
        return (a->as.real > b->as.real) - (a->as.real < b->as.real);
    case DLN_STRING:
    case DLN_JSON:
        return dln_text_compare(a->as.text, b->as.text);
    case DLN_NULL:
    case DLN_FALSE:
    case DLN_TRUE:
        break;
    }
    return 0;
}

bool dln_value_equal(const struct dln_value *a, const struct dln_value *b) {
    return dln_value_compare(a, b) == 0;
}
