/* blocked.c - see blocked.h. */
#include "theory/blocked.h"

#include "theory/bloom_rate.h"
#include "theory/crossing.h"
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

/* ------------------------------------------------------------------ the rate */

/* Tables that differ in the number of lines only. What a line with this many keys lets pass does
 * not depend on how many lines there are, so it is kept; negative: not known yet. */
#define KNOWN_KEYS 512

typedef struct line_family {
    blocked_sizes sizes;
    double        n;
    double       *passes; /* by keys, up to KNOWN_KEYS; NULL: nothing is kept */
} line_family;

/* P[an absent key finds all its places marked], in a line with this many keys. Each sector is a
 * Bloom filter of its own with one hash, and the sectors are independent of each other. */
static double blocked_line_passes(const blocked_sizes *sizes, double keys) {
    double const least = sizes->least;
    if (keys == 0) return 0; /* also if a sector is a single place */
    return pow(tamis_bloom_fill(least, 1, keys), sizes->small) *
           pow(tamis_bloom_fill(least + 1, 1, keys), sizes->larger);
}

static double blocked_line_passes_known(const void *context, double keys) {
    const line_family *const family = context;
    if (family->passes == NULL || keys >= KNOWN_KEYS)
        return blocked_line_passes(&family->sizes, keys);
    double *const known = &family->passes[(unsigned)keys];
    if (*known < 0) *known = blocked_line_passes(&family->sizes, keys);
    return *known;
}

/* The rate of a table of this many lines; context: a line_family. */
static double blocked_rate_with(const void *context, double lines) {
    const line_family *const family = context;
    double const             n = family->n, whole = fmax(1, floor(lines));
    return fmin(1, tamis_blocked_mean(whole, n, blocked_line_passes_known, family) + n / 0x1p64);
}

double tamis_blocked_fpr(uint64_t per_line, uint64_t k, double lines, double n) {
    line_family const family = { tamis_blocked_sizes(per_line, k, k), n, NULL };
    return n == 0 ? 0 : blocked_rate_with(&family, lines);
}

/* Bisection, see crossing.h. A line holds about as many keys as make each of its places marked half
 * of the time. */
double tamis_blocked_lines(uint64_t per_line, uint64_t k, double fpr, double n, double most) {
    double            low = 0, high = most; /* low does not meet the rate, high does */
    double            passes[KNOWN_KEYS];
    line_family const family = { tamis_blocked_sizes(per_line, k, k), n, passes };
    crossing          cross = tamis_crossing(blocked_rate_with, &family, fpr);
    for (unsigned i = 0; i < KNOWN_KEYS; i++) passes[i] = -1;
    tamis_crossing_close_in(&cross, ceil(1.5 * n * (double)k / (double)per_line), most, 0);
    while (high - low > 1) {
        double const middle = floor((low + high) / 2);
        if (tamis_crossing_meets(&cross, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}
