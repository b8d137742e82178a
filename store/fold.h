/* Unicode forms for comparing, never for storing: what the person typed stays as it is. */
#ifndef DLN_STORE_FOLD_H
#define DLN_STORE_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/text.h"

/* Appends the text in Unicode's NFC form (canonical: half-width letters stay half-width); it must
 * be UTF-8. A failure stands in out->status. */
void dln_nfc(struct dln_buf *out, struct dln_text text);
/* The same, case-folded. */
void dln_fold(struct dln_buf *out, struct dln_text text);

/* Appends the strings that a JSON text holds as values, each behind a newline; names of members and
 * numbers are left out. Survives any bytes. */
void dln_json_texts(struct dln_buf *out, struct dln_text json);

/* The character that starts at *at, which moves behind it; the text is UTF-8, *at < text.len. */
uint32_t dln_next_character(struct dln_text text, size_t *at);
/* White space and control characters: what parts words. */
bool dln_is_space(uint32_t character);

#endif
