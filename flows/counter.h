/* counter.h - large numbers in a few bits: approximate counting with random rounding.
 *
 * Paper: R. Morris, "Counting Large Numbers of Events in Small Registers", CACM 21(10), 1978.
 *
 * Idea: codes up to `exact` stand for themselves. Code c above that stands for the number
 *
 *     v(c) = exact + (b^(c - exact) - 1) / (b - 1)
 *
 * which grows by 1 at first, and by the factor b per code when it is large. To add n, go to the
 * code below v(c) + n, or to the one above with the probability that makes the mean right. So the
 * estimate has no bias, and its standard error stays below sqrt((b - 1) / 2), however many numbers
 * were added.
 */
#ifndef FLOWS_COUNTER_H
#define FLOWS_COUNTER_H

#include <math.h>
#include <stdint.h>

typedef struct counter_scale {
    double   base;
    uint32_t exact, max_code;
} counter_scale;

static inline double counter_value(const counter_scale *scale, uint32_t code) {
    if (code <= scale->exact) return code;
    return scale->exact + (pow(scale->base, code - scale->exact) - 1) / (scale->base - 1);
}

/* The code whose value is not above this one, but the next would be. */
static inline uint32_t counter_code(const counter_scale *scale, double value) {
    double const over = value - scale->exact;
    if (over < 1) return (uint32_t)(value + 1e-9);
    double const   steps = log1p(over * (scale->base - 1)) / log(scale->base) + 1e-9;
    uint32_t const most = scale->max_code - scale->exact;
    return scale->exact + (steps < most ? (uint32_t)steps : most);
}

/* `random` is uniform in [0, 1). */
static inline uint32_t counter_add(const counter_scale *scale, uint32_t code, double n,
                                   double random) {
    double const   sum = counter_value(scale, code) + n;
    uint32_t const below = counter_code(scale, sum);
    if (below >= scale->max_code) return scale->max_code;
    double const low = counter_value(scale, below), high = counter_value(scale, below + 1);
    return below + (random * (high - low) < sum - low);
}

#endif
