/* A field's value, its order and its canonical bytes. */
#ifndef DLN_BASE_VALUE_H
#define DLN_BASE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/text.h"

/* The numbers are the type byte of the canonical encoding: they never change. */
enum dln_type {
    DLN_NULL = 0,
    DLN_FALSE = 1,
    DLN_TRUE = 2,
    DLN_INTEGER = 3,
    DLN_REAL = 4,
    DLN_STRING = 5,
    DLN_JSON = 6
};

struct dln_value {
    enum dln_type type;
    union {
        int64_t integer;
        double real;          /* never NaN */
        struct dln_text text; /* DLN_STRING and DLN_JSON; borrowed */
    } as;
};

struct dln_value dln_value_null(void);
struct dln_value dln_value_bool(bool value);
struct dln_value dln_value_integer(int64_t value);
struct dln_value dln_value_real(double value);
struct dln_value dln_value_string(struct dln_text text); /* no text gives null */
struct dln_value dln_value_json(struct dln_text text);   /* no text gives null */

/* Appends type byte, then: integer as 8 bytes big-endian with the sign bit flipped; real as 8 bytes
 * whose memcmp order is the numbers' (IEEE-754, -0.0 as 0.0); string and JSON as they are. */
void dln_value_encode(struct dln_buf *out, const struct dln_value *value);
/* Reads one such encoding that fills `bytes` exactly; borrows from it. False when malformed. */
bool dln_value_decode(struct dln_value *out, struct dln_text bytes);

/* The order of the encodings by memcmp, the shorter prefix first, without encoding. */
int dln_value_compare(const struct dln_value *a, const struct dln_value *b);
bool dln_value_equal(const struct dln_value *a, const struct dln_value *b);

#endif
