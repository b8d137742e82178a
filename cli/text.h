/* Text on a terminal: how wide it is, and how to print what others wrote without obeying it. */
#ifndef DLN_CLI_TEXT_H
#define DLN_CLI_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Cells that the text fills as dln_text_print() prints it: 2 for CJK, 0 for combining marks. */
size_t dln_text_width(const char *text);

/* Prints text in which control characters, line ends and what turns the reading direction are
 * spelled out (\u001b), so that a name cannot move the cursor or forge a line. */
void dln_text_print(FILE *stream, const char *text);

/* Removes a character that was cut in the middle from the end of the text. */
void dln_text_cut(char *text);

/* How many letters one must change, add or remove to make one word of the other; of long words only
 * the beginning counts. For hints. */
size_t dln_text_distance(const char *word, const char *other);

#endif
