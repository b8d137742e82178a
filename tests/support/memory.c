#include "tests/support/memory.h"

#include <sys/resource.h>

enum {
#if defined(__SANITIZE_ADDRESS__)
    HELD_BACK_KIB = 256 * 1024
#else
    HELD_BACK_KIB = 0
#endif
};

long memory_peak_kib(void) {
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

long memory_bound_kib(long kib) {
    return kib + HELD_BACK_KIB;
}
