/* What is said of one record of a push: which of its fields are refused, and why. */
#ifndef DLN_CENTRAL_VERDICT_H
#define DLN_CENTRAL_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"

/* Some fields of a record: bit i of `known` is field i of the descriptor, bit i of `extras` the
 * i-th extra of the record as it was sent. */
struct dln_fields {
    uint32_t known;
    uint32_t extras;
};

struct dln_verdict {
    dunlin_status code; /* OK: nothing is refused. Else of the first thing that was */
    const char *reason; /* static */
    bool whole;         /* the record: `refused` does not matter */
    struct dln_fields refused;
};

/* The first refusal gives code and reason; the fields of later ones are added. */
void dln_verdict_whole(struct dln_verdict *verdict, dunlin_status code, const char *reason);
void dln_verdict_fields(struct dln_verdict *verdict, struct dln_fields fields, dunlin_status code,
                        const char *reason);

/* All fields that the record has; those of them that win over `before` (NULL: there is none). */
struct dln_fields dln_fields_of(const struct dln_record *record);
struct dln_fields dln_fields_winning(const struct dln_record *record,
                                     const struct dln_record *before);
bool dln_fields_any(struct dln_fields fields);
struct dln_fields dln_fields_without(struct dln_fields fields, struct dln_fields removed);
/* The extra of that name; NULL: the record (which may be NULL) has none. */
const struct dln_field *dln_extra_of(const struct dln_record *record, struct dln_text name);
/* The record with those fields only, borrowed. The extras keep their places, those that are left
 * out with stamp 0; in the arena. False when out of memory. */
bool dln_record_only(struct dln_arena *arena, struct dln_record *out,
                     const struct dln_record *record, struct dln_fields fields);

/* Whether a record that somebody sent may stand in that scope at all: key, types, limits. Refuses
 * the whole record, or those fields that are wrong. False when out of memory. */
DUNLIN_MUST_USE bool dln_validate(struct dln_verdict *verdict, const struct dln_record *record,
                                  enum dln_scope_kind scope);

#endif
