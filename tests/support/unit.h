/* unit.h - what every test needs: cmocka, random numbers, fenced memory, statistics.
 *
 * Include it first: it switches on the asserts of src/, which are part of what is tested.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "by_hand.h"
#include "dice.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ------------------------------------------------------------------ fenced memory */

/* Memory that ends at a page without access: one byte too far is a crash. */
typedef struct fenced {
    uint8_t *bytes;
    void    *pages;
    size_t   pages_bytes;
} fenced;

static inline fenced fenced_new(size_t bytes) {
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

static inline void fenced_free(fenced *memory) {
    assert_int_equal(munmap(memory->pages, memory->pages_bytes), 0);
}

/* ------------------------------------------------------------------ comparing */

/* |actual - expected| <= relative x |expected|, and neither is NaN. */
#define assert_near(actual, expected, relative) \
    unit_near((double)(actual), (double)(expected), (relative), #actual, __FILE__, __LINE__)

static inline void unit_near(double actual, double expected, double relative, const char *text,
                             const char *file, int line) {
    if (fabs(actual - expected) <= relative * fabs(expected)) return;
    print_error("%s is %.17g, not %.17g within %g (off by %g)\n", text, actual, expected, relative,
                actual / expected - 1);
    _fail(file, line);
}

/* How many standard deviations the chi-square statistic of `counts` is from what equal chances
 * give, by the cube root of Wilson and Hilferty, which is normal enough from 2 cells on. */
static inline double chi_square_sigmas(const uint64_t *counts, size_t cells) {
    double total = 0, sum = 0;
    for (size_t i = 0; i < cells; i++) total += (double)counts[i];
    double const expected = total / (double)cells;
    for (size_t i = 0; i < cells; i++) sum += pow((double)counts[i] - expected, 2) / expected;
    double const freedom = (double)cells - 1, spread = 2 / (9 * freedom);
    return (cbrt(sum / freedom) - (1 - spread)) / sqrt(spread);
}

/* A mean and its standard error, from values that are independent of each other. */
typedef struct series {
    double n, sum, squares;
} series;

static inline void series_add(series *all, double value) {
    all->n++;
    all->sum += value;
    all->squares += value * value;
}

static inline double series_mean(const series *all) {
    return all->sum / all->n;
}

/* Not less than if one more event had been seen, which adds `one` to one of the values. */
static inline double series_error(const series *all, double one) {
    double const mean = series_mean(all), variance = all->squares / all->n - mean * mean;
    return sqrt(fmax(variance, 0) / (all->n - 1)) + one / all->n;
}

/* The standard error of a share of n independent cases. */
static inline double share_error(double share, double n) {
    return sqrt(share * (1 - share) / n);
}

/* Five sigma: by chance alone one such check in 1.7 million fails, and the seed is fixed. */
#define UNIT_SIGMAS 5.0

/* ------------------------------------------------------------------ programs */

/* A test that runs with data of its own, which it does not change. */
static inline struct CMUnitTest unit_named(const char *name, CMUnitTestFunction function,
                                           const void *data) {
    union {
        const void *in;
        void       *out;
    } const state = { data };
    return (struct CMUnitTest){ name, function, NULL, NULL, state.out };
}

/* One group per program, since TAP has one plan. */
static inline int unit_run(const char *name, const struct CMUnitTest *tests, size_t n) {
    print_message("# seed %llu\n", (unsigned long long)dice_seed());
    return _cmocka_run_group_tests(name, tests, n, NULL, NULL);
}

#endif
