/* bloom_rate.c - see bloom_rate.h. */
#include "theory/bloom_rate.h"

#include <math.h>

#define MAX_PLACES 9007199254740992.0 /* 2^53: a double holds every integer up to there */

double tamis_bloom_fill(double places, double k, double n) {
    return -expm1(k * n * log1p(-1 / places));
}

double tamis_bloom_distinct(double places, double k, double marked) {
    double const unmarked = fmax(places - marked, 0.5);
    return marked == 0 ? 0 : log(unmarked / places) / (k * log1p(-1 / places));
}

/* The variance of the share of marked places after `throws` throws. Two places are both unmarked
 * with (1 - 2/m)^throws, which is less than for independent places, since
 * (1 - 2/m) / (1 - 1/m)^2 = 1 - 1/(m-1)^2. */
static double fill_variance(double places, double p, double throws) {
    double const q = 1 - p, rest = places - 1;
    double const common = q * q * expm1(throws * log1p(-1 / (rest * rest)));
    return (q * p + rest * common) / places;
}

double tamis_bloom_fpr(double places, unsigned k, double n) {
    if (places < 2) return 1;
    double const p = tamis_bloom_fill(places, k, n);
    double const scatter = fill_variance(places, p, k * n) / (p * p);
    double       sum = 1, term = 1; /* E[X^k] / p^k of a normal X, by its even moments */
    for (unsigned j = 2; j <= k; j += 2) {
        term *= (k - j + 2.0) * (k - j + 1.0) / j * scatter;
        sum += term;
    }
    double const fpr = pow(p, k) * sum + n / 18446744073709551616.0;
    return fpr < 1 ? fpr : 1;
}

/* Every k is tried: the textbook's k = ln 2 x m/n holds in the limit of large m only. */
unsigned tamis_bloom_best_k(double places, double n) {
    unsigned best = 1;
    for (unsigned k = 2; k <= BLOOM_MAX_K; k++) {
        if (tamis_bloom_fpr(places, k, n) < tamis_bloom_fpr(places, best, n)) best = k;
    }
    return best;
}

uint64_t tamis_bloom_places(double fpr, unsigned k, double n) {
    double low = 1, high = MAX_PLACES; /* low does not meet the rate, high does */
    if (tamis_bloom_fpr(high, k, n) > fpr) return 0;
    while (high - low > 1) {
        double const middle = floor((low + high) / 2);
        if (tamis_bloom_fpr(middle, k, n) <= fpr)
            high = middle;
        else
            low = middle;
    }
    return (uint64_t)high;
}

/* A k that does not meet the rate with one place less than the best so far need not be searched. */
bool tamis_bloom_smallest(double fpr, double n, uint64_t *ret_places, unsigned *ret_k) {
    uint64_t fewest = 0;
    for (unsigned k = 1; k <= BLOOM_MAX_K; k++) {
        if (fewest != 0 && tamis_bloom_fpr((double)(fewest - 1), k, n) > fpr) continue;
        uint64_t const places = tamis_bloom_places(fpr, k, n);
        if (places == 0) continue;
        fewest = places;
        *ret_k = k;
    }
    if (fewest == 0) return false;
    *ret_places = fewest;
    return true;
}

bool tamis_bloom_choose(double fpr, double n, uint64_t *places, uint64_t *k) {
    bool const is_any_size = *places == NEED_FREE, is_any_k = *k == NEED_FREE;
    if (!is_any_k && (*k < 1 || *k > BLOOM_MAX_K)) return false;
    if (!is_any_size && *places < 2) return false; /* all keys would share one place */
    if (is_any_size && !(fpr > 0)) return false;   /* nothing says how large it must be */
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

/* Place i is tested if the i places before it were marked; it costs a cache line if it is in none
 * of theirs. */
double tamis_bloom_lines_absent(double lines, unsigned k, double fill) {
    double const again = lines > 1 ? fill * (1 - 1 / lines) : 0;
    double       sum = 0, term = 1;
    for (unsigned i = 0; i < k; i++) {
        sum += term;
        term *= again;
    }
    return sum;
}

double tamis_bloom_lines_present(double lines, unsigned k) {
    return tamis_bloom_lines_absent(lines, k, 1);
}
