/* A fresh folder for one test, removed with all that is in it. */
#ifndef DLN_TESTS_TEMP_H
#define DLN_TESTS_TEMP_H

#include <stddef.h>

/* Makes the folder; the path is the caller's to free by temp_remove(). Aborts on failure. */
char *temp_new(void);
void temp_remove(char *path);
/* path + "/" + name into a static ring of buffers; good until 16 more calls. */
const char *temp_file(const char *path, const char *name);

#endif
