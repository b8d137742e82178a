/* How much memory this process came to hold, and how much a test may let it grow. */
#ifndef DLN_TESTS_MEMORY_H
#define DLN_TESTS_MEMORY_H

/* The most that was ever resident, in KiB. */
long memory_peak_kib(void);

/* A bound in KiB. The address sanitizer holds back 256 MiB of what was freed: added there. */
long memory_bound_kib(long kib);

#endif
