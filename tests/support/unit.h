/* unit.h - what the unit tests share: cmocka, repeatable random numbers, fenced memory, statistics.
 *
 * Include it first: it switches the asserts of core/ on, which are part of what is tested.
 */
#ifndef TAMIS_TESTS_UNIT_H
#define TAMIS_TESTS_UNIT_H

#undef NDEBUG

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define UNIT_INLINE static inline __attribute__((unused))
#define UNIT_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ------------------------------------------------------------------ random numbers */

#define UNIT_SEED UINT64_C(20060911)

/* The seed of every test: fixed, or TAMIS_TEST_SEED. Each run prints it. */
UNIT_INLINE uint64_t unit_seed(void) {
    const char *const given = getenv("TAMIS_TEST_SEED");
    return given != NULL ? strtoull(given, NULL, 0) : UNIT_SEED;
}

typedef struct unit_random {
    uint64_t state;
} unit_random;

UNIT_INLINE unit_random random_start(void) {
    return (unit_random){ unit_seed() | 1 };
}

/* Vigna's xorshift64*: good enough here, and no relative of the mixer under test. */
UNIT_INLINE uint64_t random_next(unit_random *random) {
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * UINT64_C(2685821657736338717);
}

/* In [0, n), by the remainder: its bias is below 2^-40 for the small n used here. */
UNIT_INLINE uint64_t random_below(unit_random *random, uint64_t n) {
    return random_next(random) % n;
}

/* A number where arithmetic breaks: few bits, or nearly all, or next to a power of two. */
UNIT_INLINE uint64_t random_edgy(unit_random *random) {
    uint64_t const any = random_next(random), power = UINT64_C(1) << random_below(random, 64);
    switch (random_below(random, 6)) {
    case 0: return any;
    case 1: return any >> random_below(random, 64);
    case 2: return power;
    case 3: return power - 1;
    case 4: return ~(power - 1);
    default: return power + 1;
    }
}

UNIT_INLINE void random_fill(unit_random *random, void *to, size_t bytes) {
    uint8_t *const bytes_of = to;
    for (size_t i = 0; i < bytes; i++) bytes_of[i] = (uint8_t)random_below(random, 256);
}

/* ------------------------------------------------------------------ oracles */

UNIT_INLINE bool oracle_bit(const uint8_t *from, uint64_t bit) {
    return (from[bit / 8] >> (bit % 8)) & 1;
}

UNIT_INLINE void oracle_put(uint8_t *to, uint64_t bit, bool value) {
    uint8_t const mask = (uint8_t)(1u << (bit % 8));
    to[bit / 8] = (uint8_t)(value ? to[bit / 8] | mask : to[bit / 8] & ~mask);
}

/* The product as on paper, in four digits of base 2^16 each; returns the high half. */
UNIT_INLINE uint64_t oracle_mul(uint64_t a, uint64_t b, uint64_t *ret_low) {
    uint64_t digit[9] = { 0 };
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < 4; j++) {
            digit[i + j] += ((a >> (16 * i)) & 0xffff) * ((b >> (16 * j)) & 0xffff);
            digit[i + j + 1] += digit[i + j] >> 16;
            digit[i + j] &= 0xffff;
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        digit[i + 1] += digit[i] >> 16;
        digit[i] &= 0xffff;
    }
    *ret_low = digit[0] | digit[1] << 16 | digit[2] << 32 | digit[3] << 48;
    return digit[4] | digit[5] << 16 | digit[6] << 32 | digit[7] << 48;
}

/* ------------------------------------------------------------------ fenced memory */

/* Memory that ends where the process may not go on: one byte too far is a crash. */
typedef struct fenced {
    uint8_t *bytes;
    void    *pages;
    size_t   pages_bytes;
} fenced;

UNIT_INLINE fenced fenced_new(size_t bytes) {
    size_t const page = (size_t)sysconf(_SC_PAGESIZE);
    size_t const inside = (bytes + page - 1) / page * page;
    fenced       memory = { NULL, NULL, inside + page };
    memory.pages =
        mmap(NULL, memory.pages_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory.pages != MAP_FAILED);
    assert_int_equal(mprotect((uint8_t *)memory.pages + inside, page, PROT_NONE), 0);
    memory.bytes = (uint8_t *)memory.pages + inside - bytes;
    return memory;
}

UNIT_INLINE void fenced_free(fenced *memory) {
    assert_int_equal(munmap(memory->pages, memory->pages_bytes), 0);
}

/* ------------------------------------------------------------------ comparing */

/* |actual - expected| <= relative x |expected|, and neither is NaN. */
#define assert_near(actual, expected, relative) \
    unit_near((double)(actual), (double)(expected), (relative), #actual, __FILE__, __LINE__)

UNIT_INLINE void unit_near(double actual, double expected, double relative, const char *what,
                           const char *file, int line) {
    if (fabs(actual - expected) <= relative * fabs(expected)) return;
    print_error("%s is %.17g, not %.17g within %g (off by %g)\n", what, actual, expected, relative,
                actual / expected - 1);
    _fail(file, line);
}

/* How many standard deviations the chi-square statistic of `counts` is from what equal chances
 * give, by the cube root of Wilson and Hilferty, which is normal enough from 2 cells on. */
UNIT_INLINE double chi_square_sigmas(const uint64_t *counts, size_t cells) {
    double total = 0, sum = 0;
    for (size_t i = 0; i < cells; i++) total += (double)counts[i];
    double const expected = total / (double)cells;
    for (size_t i = 0; i < cells; i++) sum += pow((double)counts[i] - expected, 2) / expected;
    double const freedom = (double)cells - 1, spread = 2 / (9 * freedom);
    return (cbrt(sum / freedom) - (1 - spread)) / sqrt(spread);
}

/* Five sigma: by chance alone one such check in 1.7 million fails, and the seed is fixed. */
#define UNIT_SIGMAS 5.0

/* ------------------------------------------------------------------ programs */

/* A test that is run with a state of its own, which it does not change. */
UNIT_INLINE struct CMUnitTest unit_named(const char *name, CMUnitTestFunction runs_it,
                                         const void *of) {
    union {
        const void *in;
        void       *out;
    } const state = { of };
    return (struct CMUnitTest){ name, runs_it, NULL, NULL, state.out };
}

/* One group per program, since TAP has one plan. */
UNIT_INLINE int unit_run(const char *name, const struct CMUnitTest *tests, size_t n) {
    print_message("# seed %llu\n", (unsigned long long)unit_seed());
    return _cmocka_run_group_tests(name, tests, n, NULL, NULL);
}

#endif
