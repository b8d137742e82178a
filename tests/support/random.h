/* Random numbers for property tests, the same on every run of one seed (splitmix64; G. Steele et
 * al., "Fast Splittable Pseudorandom Number Generators", 2014). */
#ifndef DLN_TESTS_RANDOM_H
#define DLN_TESTS_RANDOM_H

#include <stdint.h>

struct test_random {
    uint64_t state; /* the seed at first */
};

static inline uint64_t test_random_next(struct test_random *random) {
    uint64_t mixed = random->state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

/* 0 … count - 1. */
static inline uint64_t test_random_below(struct test_random *random, uint64_t count) {
    return test_random_next(random) % count;
}

#endif
