/* Fractional ranks: text keys between any two of which another fits (the idea is known as
 * fractional indexing; D. Greenspan, "Implementing Fractional Indexing", 2020; jitter keeps two
 * devices that insert at one place from choosing one key). */
#ifndef DLN_BASE_RANK_H
#define DLN_BASE_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct dln_rank {
    char data[DLN_RANK_MAX + 1]; /* ASCII digits and letters, ended by a zero */
    size_t len;
};

/* Whether the text is a rank that this library could have made: 1 to DLN_RANK_MAX bytes of
 * [0-9A-Za-z], well-formed. */
bool dln_rank_is_valid(struct dln_text text);

/* A rank strictly between left and right (memcmp, the shorter prefix first). No text on the left
 * is "before everything", on the right "behind everything". Appending n keys behind one another
 * keeps them within a few bytes of log62(n). random: 64 random bits, for the jitter.
 * False when the key would grow past DLN_RANK_MAX, or left >= right: then the caller keys the items
 * of that gap anew with dln_rank_spread(). */
bool dln_rank_between(struct dln_rank *out, struct dln_text left, struct dln_text right,
                      uint64_t random);

/* The i-th (0 … count-1) of count ranks spread evenly over the open gap (left, right), all short
 * where the gap allows. False when the gap holds none within DLN_RANK_MAX. */
bool dln_rank_spread(struct dln_rank *out, struct dln_text left, struct dln_text right,
                     size_t index, size_t count);

#endif
