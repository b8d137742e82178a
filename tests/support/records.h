/* Random records for property tests: every collection and an unknown one, every type of value,
 * extras, and ids that somebody's escaping gets wrong; and message bodies with a line exchanged. */
#ifndef DLN_TESTS_RECORDS_H
#define DLN_TESTS_RECORDS_H

#include "base/record.h"
#include "tests/support/random.h"

/* A legal record with at least one field, in the arena; its scope is that of `user` or `group`
 * (both scope names), whichever fits its collection. */
void test_record_random(struct dln_arena *arena, struct test_random *random, struct dln_record *out,
                        struct dln_text user, struct dln_text group);
/* Other fields under the same key; stamps and values from small ranges, so that they often tie. */
void test_record_vary(struct dln_arena *arena, struct test_random *random, struct dln_record *out,
                      const struct dln_record *of);
bool test_records_equal(const struct dln_record *a, const struct dln_record *b);

/* Exchanges a line of a body (0: the head) by another text, which may be several lines or, as NULL,
 * none; the end mark is left as it is. */
void test_body_exchange(struct dln_buf *body, size_t line, const char *text);

#endif
