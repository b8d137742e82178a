/* One line on stderr for what takes longer than a second, where stderr is a terminal. */
#ifndef DLN_CLI_PROGRESS_H
#define DLN_CLI_PROGRESS_H

#include <stdint.h>

/* Says how far it is: done of total, or done alone where total is 0. May be called as often as one
 * likes; draws a few times a second. `what` stays borrowed until dln_progress_end(). */
void dln_progress_show(const char *what, uint64_t done, uint64_t total);

/* Removes the line. Must be called before anything else is printed to a terminal. */
void dln_progress_end(void);

#endif
