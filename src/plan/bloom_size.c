/* bloom_size.c - see bloom_size.h. */
#include "plan/bloom_size.h"

#include <math.h>

#define MAX_PLACES 1152921504606846976.0 /* 2^60 */

double tamis_bloom_fill(double places, double k, double n) {
    return -expm1(k * n * log1p(-1 / places));
}

double tamis_bloom_fpr(double places, unsigned k, double n) {
    if (places < 2) return 1;
    double const p = tamis_bloom_fill(places, k, n), q = 1 - p, load = k * n / places;
    double const variance = q * (1 - q * (1 + load)) / places; /* of the share of marked places */
    double const scatter = k * (k - 1.0) / 2 * variance / (p * p);
    double const fpr = pow(p, k) * (1 + scatter) + n / 18446744073709551616.0;
    return fpr < 1 ? fpr : 1;
}

/* The textbook's k = ln 2 x m/n is for the limit of large m; the neighbours decide. */
unsigned tamis_bloom_best_k(double places, double n) {
    double const ideal = places / n * log(2);
    unsigned     best = 1;
    for (unsigned k = ideal < 3 ? 1 : (unsigned)fmin(ideal - 2, BLOOM_MAX_K);
         k <= BLOOM_MAX_K && k <= ideal + 2; k++) {
        if (tamis_bloom_fpr(places, k, n) < tamis_bloom_fpr(places, best, n)) best = k;
    }
    return best;
}

uint64_t tamis_bloom_places(double fpr, unsigned k, double n) {
    /* p^k = fpr gives a place to start; the exact rate falls with m, so bisect around it. */
    double const fill = pow(fpr, 1.0 / k);
    double       low = 2, high = fmax(64, 4 * k * n / -log1p(-fill));
    if (high > MAX_PLACES || tamis_bloom_fpr(high, k, n) > fpr) return 0;
    while (high - low > 1) {
        double const middle = floor((low + high) / 2);
        if (tamis_bloom_fpr(middle, k, n) <= fpr)
            high = middle;
        else
            low = middle;
    }
    return (uint64_t)high;
}

bool tamis_bloom_smallest(double fpr, double n, uint64_t *ret_places, unsigned *ret_k) {
    uint64_t fewest = 0;
    for (unsigned k = 1; k <= BLOOM_MAX_K; k++) {
        uint64_t const places = tamis_bloom_places(fpr, k, n);
        if (places == 0 || (fewest != 0 && places >= fewest)) continue;
        fewest = places;
        *ret_k = k;
    }
    if (fewest == 0) return false;
    *ret_places = fewest;
    return true;
}

bool tamis_bloom_choose(double fpr, double n, uint64_t *places, uint64_t *k) {
    bool const is_any_size = *places == BLOOM_FREE, is_any_k = *k == BLOOM_FREE;
    if (!is_any_k && (*k < 1 || *k > BLOOM_MAX_K)) return false;
    if (is_any_size && !(fpr > 0)) return false; /* nothing says how large */
    if (is_any_size && is_any_k) {
        unsigned best;
        if (!tamis_bloom_smallest(fpr, n, places, &best)) return false;
        *k = best;
    } else if (is_any_size) {
        uint64_t const fewest = tamis_bloom_places(fpr, (unsigned)*k, n);
        if (fewest == 0) return false;
        *places = fewest;
    } else if (is_any_k) {
        *k = tamis_bloom_best_k((double)*places, n);
    }
    return true;
}

/* `asked` places thrown at random into `lines` lines hit this many different ones. */
static double distinct_lines(double lines, double asked) {
    return lines <= 1 ? 1 : -lines * expm1(asked * log1p(-1 / lines));
}

double tamis_bloom_lines_present(double lines, unsigned k) {
    return distinct_lines(lines, k);
}

double tamis_bloom_lines_absent(double lines, unsigned k, double fill) {
    double const asked = fill < 1 ? (1 - pow(fill, k)) / (1 - fill) : k;
    return distinct_lines(lines, asked);
}
