/* blocked.c - see blocked.h. */
#include "theory/blocked.h"

#include "theory/tails.h"

#include <math.h>

/* Over 8 standard deviations to either side of the mean, and a little more. Each binomial term
 * follows from the one before it. */
double tamis_blocked_mean(double lines, double n, blocked_quantity *quantity, const void *context) {
    double const mean = n / lines, far = 8 * sqrt(mean) + 8, odds = 1 / (lines - 1);
    double       sum = 0, j = fmax(0, floor(mean - far));
    if (lines < 2) return quantity(context, n);
    for (double p = exp(tamis_binomial_log(n, 1 / lines, j)); j <= fmin(n, mean + far); j++) {
        if (p > 1e-30) sum += p * quantity(context, j);
        p *= (n - j) / (j + 1) * odds;
    }
    return sum;
}

blocked_sizes tamis_blocked_sizes(uint64_t per_line, uint64_t n, uint64_t asked) {
    uint64_t const least = per_line / n;
    uint64_t       larger = 0;
    for (uint64_t i = 0; i < asked; i++) {
        uint64_t const size = sectors_first(per_line, n, i + 1) - sectors_first(per_line, n, i);
        larger += size != least;
    }
    return (blocked_sizes){ (double)least, (double)(asked - larger), (double)larger };
}
