/* counter.h - large numbers in a few bits: approximate counting with random rounding.
 *
 * Paper: R. Morris, "Counting Large Numbers of Events in Small Registers", CACM 21(10), 1978.
 *
 * Idea: code c stands for the number
 *
 *     v(c) = (b^c - 1) / (b - 1)
 *
 * which is c while c is small, and grows by the factor b per code when it is large. To add n, go to
 * the code below v(c) + n, or to the one above with the probability that makes the mean right. So
 * the estimate has no bias; its standard error stays below sqrt((b - 1) / 2), and is far smaller
 * while the number is below 1 / (b - 1).
 */
#ifndef FLOWS_COUNTER_H
#define FLOWS_COUNTER_H

#include <math.h>
#include <stdint.h>

typedef struct counter_scale {
    double   base;
    uint32_t max_code;
} counter_scale;

static inline double counter_value(const counter_scale *scale, uint32_t code) {
    return (pow(scale->base, code) - 1) / (scale->base - 1);
}

/* `random` is uniform in [0, 1). */
static inline uint32_t counter_add(const counter_scale *scale, uint32_t code, double n,
                                   double random) {
    double const   sum = counter_value(scale, code) + n;
    double const   exact = log1p(sum * (scale->base - 1)) / log(scale->base);
    uint32_t const below = exact >= scale->max_code ? scale->max_code : (uint32_t)(exact + 1e-9);
    if (below >= scale->max_code) return scale->max_code;
    double const low = counter_value(scale, below), high = counter_value(scale, below + 1);
    return below + (random * (high - low) < sum - low);
}

#endif
