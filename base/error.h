/* Filling a caller's dunlin_error. */
#ifndef DLN_BASE_ERROR_H
#define DLN_BASE_ERROR_H

#include <stddef.h>

#include <dunlin/error.h>

/* Writes code, domain and message (cut at the buffer's end, at a character's start) into err, which
 * may be NULL, and returns code, so that a failing function can `return dln_fail(err, …)`. */
dunlin_status dln_fail(dunlin_error *err, dunlin_status code, dunlin_domain domain,
                       const char *format, ...) DUNLIN_PRINTF(4, 5);
#ifdef __clang_analyzer__ /* sees one file at a time, and must know that a failure is never 0 */
#define dln_fail(err, code, ...) ((void)(dln_fail)(err, code, __VA_ARGS__), (code))
#endif

/* The status with that name, or DUNLIN_OK when there is none ("OK" has none either). */
dunlin_status dln_status_by_name(const char *name, size_t len);

#endif
