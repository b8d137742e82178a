/* A rank is a head letter, an integer whose number of digits the head gives, and a fraction:
 *
 *     head 'a' … 'z'   1 … 26 digits, the integers 0, 1, 2, …
 *     head 'Z' … 'A'   1 … 26 digits, the integers -1, -2, …  (so that "Zz" stands before "a0")
 *
 * Digits are base 62 in ASCII order, 0-9A-Za-z. A rank is well-formed when its integer is whole and
 * its fraction does not end with '0'; the least integer alone is none, since nothing would fit
 * before it. Well-formed ranks are then ordered like the numbers 0.d1 d2 d3 … of their digits (the
 * head is a digit too), and different ranks are different numbers. Everything below works on those
 * numbers.
 *
 * At an open end the next integer is taken, so n appends take about log62(n) digits. Its fraction
 * is three random digits, or two devices that append while offline would make the same rank.
 *
 * In a closed gap the numbers are cut behind the first digit at which enough candidates stand
 * strictly between them, and a random one of the middle half of those is taken. Inserting at one
 * place again and again costs a sixth to a third of a byte each time; past DLN_RANK_MAX there is no
 * candidate, which is reported, and the caller spreads the gap's items anew. */
#include "base/rank.h"

#include <assert.h>
#include <string.h>

enum {
    BASE = 62,
    HEAD_A = 10, /* the digits that are the letters A, Z, a and z */
    HEAD_Z = 35,
    HEAD_SMALL_A = 36,
    INDEXED_DIGITS_MAX = 10, /* integers of at most so many digits fit an int64_t */
    JITTER_COUNT = BASE * BASE * (BASE - 1),
    CANDIDATES_MIN = BASE * BASE * BASE, /* so many keep two devices apart */
    SPREAD_MAX = 1 << 30                 /* so that sums fit 64 bits */
};

static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

static int digit_value(char digit) {
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    if (digit >= 'A' && digit <= 'Z') {
        return HEAD_A + (digit - 'A');
    }
    return digit >= 'a' && digit <= 'z' ? HEAD_SMALL_A + (digit - 'a') : -1;
}

/* How many digits stand behind a head. */
static size_t integer_len(int head) {
    assert(head >= HEAD_A && head < BASE);
    return (size_t)(head >= HEAD_SMALL_A ? head - HEAD_SMALL_A + 1 : HEAD_Z - head + 1);
}

bool dln_rank_is_valid(struct dln_text text) {
    if (text.len == 0 || text.len > DLN_RANK_MAX) {
        return false;
    }
    bool all_zero = true;
    for (size_t i = 0; i < text.len; i++) {
        int value = digit_value(text.data[i]);
        if (value < 0) {
            return false;
        }
        all_zero = all_zero && (i == 0 || value == 0);
    }
    int head = digit_value(text.data[0]);
    if (head < HEAD_A) {
        return false;
    }
    size_t whole = 1 + integer_len(head);
    if (text.len < whole || (head == HEAD_A && all_zero)) {
        return false;
    }
    return text.len == whole || text.data[text.len - 1] != '0';
}

/* The number of a rank's integer part: 0 for "a0", -1 for "Zz". False for integers too great to be
 * counted, which nobody reaches by appending. */
static bool integer_of(int64_t *out, struct dln_text rank) {
    int head = digit_value(rank.data[0]);
    size_t len = integer_len(head);
    if (len > INDEXED_DIGITS_MAX) {
        return false;
    }
    int64_t number = 0;
    int64_t shorter = 0; /* integers of fewer digits */
    int64_t power = 1;
    for (size_t i = 1; i <= len; i++) {
        number = number * BASE + digit_value(rank.data[i]);
        power *= BASE;
        shorter += i < len ? power : 0;
    }
    *out = head >= HEAD_SMALL_A ? shorter + number : number - power - shorter;
    return true;
}

/* The inverse, without a fraction. */
static bool rank_of_integer(struct dln_rank *out, int64_t integer) {
    bool negative = integer < 0;
    int64_t rest = negative ? -(integer + 1) : integer; /* counted from 0 on either side */
    int64_t power = BASE;
    size_t len = 1;
    while (rest >= power) {
        if (len == INDEXED_DIGITS_MAX) {
            return false;
        }
        rest -= power;
        power *= BASE;
        len++;
    }
    out->data[0] = digits[negative ? HEAD_Z + 1 - (int)len : HEAD_SMALL_A - 1 + (int)len];
    for (size_t i = len; i >= 1; i--) {
        int digit = (int)(rest % BASE);
        out->data[i] = digits[negative ? BASE - 1 - digit : digit];
        rest /= BASE;
    }
    out->len = 1 + len;
    out->data[out->len] = '\0';
    return true;
}

static void append_jitter(struct dln_rank *rank, uint64_t random) {
    assert(rank->len + 3 <= DLN_RANK_MAX);
    int jitter = (int)(random % JITTER_COUNT);
    rank->data[rank->len++] = digits[jitter % BASE];
    rank->data[rank->len++] = digits[jitter / BASE % BASE];
    rank->data[rank->len++] = digits[1 + jitter / (BASE * BASE)];
    rank->data[rank->len] = '\0';
}

/* The rank that stands `steps` integers behind left, or before right, or from "a0" on. */
static bool step(struct dln_rank *out, struct dln_text left, struct dln_text right, int64_t steps) {
    int64_t integer;
    if (left.data == NULL && right.data == NULL) {
        return rank_of_integer(out, steps - 1);
    }
    if (left.data != NULL) {
        return integer_of(&integer, left) && rank_of_integer(out, integer + steps);
    }
    return integer_of(&integer, right) && rank_of_integer(out, integer - steps);
}

/* The digits of a gap's bounds, both excluded. An open bound stands behind, or before, every rank:
 * 1.000 as a digit BASE that no rank has, and the integer that is no rank. */
struct gap {
    int left[DLN_RANK_MAX];
    int right[DLN_RANK_MAX];
};

static void gap_set(struct gap *gap, struct dln_text left, struct dln_text right) {
    memset(gap, 0, sizeof(*gap));
    gap->left[0] = HEAD_A;
    gap->right[0] = BASE;
    for (size_t i = 0; left.data != NULL && i < left.len; i++) {
        gap->left[i] = digit_value(left.data[i]);
    }
    for (size_t i = 0; right.data != NULL && i < right.len; i++) {
        gap->right[i] = digit_value(right.data[i]);
    }
}

/* Finds the least length at which right - left, in units of the last digit, is at least `wanted`,
 * or at the greatest length at least `least`. Then the numbers left + 1 … left + width - 1 of that
 * length are strictly between. */
static bool gap_measure(const struct gap *gap, uint64_t wanted, uint64_t least, size_t *len,
                        uint64_t *width) {
    *width = 0;
    for (*len = 0; *len < DLN_RANK_MAX && *width < wanted; (*len)++) {
        /* The digit on the left may be the greater one, but the difference so far makes up for it.
         */
        *width = *width * BASE + (uint64_t)gap->right[*len] - (uint64_t)gap->left[*len];
    }
    return *width >= least;
}

/* left + offset, cut behind `len` digits, as a rank. */
static void gap_rank(struct dln_rank *out, const struct gap *gap, size_t len, uint64_t offset) {
    int number[DLN_RANK_MAX];
    uint64_t carry = offset;
    for (size_t i = len; i-- > 0;) {
        carry += (uint64_t)gap->left[i];
        number[i] = (int)(carry % BASE);
        carry /= BASE;
    }
    assert(carry == 0);
    size_t whole = 1 + integer_len(number[0]);
    while (len > whole && number[len - 1] == 0) {
        len--;
    }
    for (size_t i = 0; i < len; i++) {
        out->data[i] = digits[number[i]];
    }
    for (; len < whole; len++) {
        out->data[len] = digits[0];
    }
    out->len = len;
    out->data[len] = '\0';
}

static bool is_gap(struct dln_text left, struct dln_text right) {
    if ((left.data != NULL && !dln_rank_is_valid(left)) ||
        (right.data != NULL && !dln_rank_is_valid(right))) {
        return false;
    }
    return left.data == NULL || right.data == NULL || dln_text_compare(left, right) < 0;
}

bool dln_rank_between(struct dln_rank *out, struct dln_text left, struct dln_text right,
                      uint64_t random) {
    if (!is_gap(left, right)) {
        return false;
    }
    if ((left.data == NULL || right.data == NULL) && step(out, left, right, 1)) {
        append_jitter(out, random);
        return true;
    }
    struct gap gap;
    size_t len;
    uint64_t width;
    gap_set(&gap, left, right);
    if (!gap_measure(&gap, CANDIDATES_MIN, 2, &len, &width)) {
        return false;
    }
    uint64_t beyond_first = width - 2;
    gap_rank(out, &gap, len, 1 + beyond_first / 4 + random % (beyond_first / 2 + 1));
    return true;
}

bool dln_rank_spread(struct dln_rank *out, struct dln_text left, struct dln_text right,
                     size_t index, size_t count) {
    assert(index < count);
    if (count > SPREAD_MAX || !is_gap(left, right)) {
        return false;
    }
    if (left.data == NULL || right.data == NULL) {
        bool before = left.data == NULL && right.data != NULL;
        /* The first and the last must both be steps, or some of the gap would be spread otherwise.
         */
        if (step(out, left, right, (int64_t)count)) {
            return step(out, left, right, (int64_t)(before ? count - index : index + 1));
        }
    }
    struct gap gap;
    size_t len;
    uint64_t width;
    uint64_t parts = (uint64_t)count + 1;
    gap_set(&gap, left, right);
    if (!gap_measure(&gap, parts, parts, &len, &width)) {
        return false;
    }
    uint64_t part = (uint64_t)index + 1;
    gap_rank(out, &gap, len, part * (width / parts) + part * (width % parts) / parts);
    return true;
}
