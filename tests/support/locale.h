/* A host whose numbers are written in another way. */
#ifndef DLN_TESTS_LOCALE_H
#define DLN_TESTS_LOCALE_H

#include <stdbool.h>

/* Builds a locale with that decimal point, as localedef names characters ("<U002C>", a comma), in
 * the folder, and sets it for numbers. False where this machine has no localedef or not that
 * character's set. setlocale(LC_NUMERIC, "C") undoes it. */
bool test_locale_set(const char *folder, const char *decimal_point);

#endif
