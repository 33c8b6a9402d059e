/* theory.h - exact values that the library itself has no use for.
 *
 * The library's own analysis (plan/) is one side of the comparison. What stands here is computed
 * another way: laws of whole distributions, where the library takes a formula.
 */
#ifndef TAMIS_LAB_THEORY_H
#define TAMIS_LAB_THEORY_H

#include <stdint.h>

/* n keys ask k places each of m. */
typedef struct places {
    double   m, n;
    unsigned k;
} places;

/* ------------------------------------------------------------------ Bloom filters */

/* Mean and standard deviation, over all filters, of a filter's own false-positive rate. */
typedef struct rate_law {
    double mean, deviation;
} rate_law;

/* From the law of the number of marked places, throw by throw: k n m steps, for small filters. */
rate_law theory_bloom_rate(const places *of);

/* For any size: the standard deviation by the share of marked places, k p^(k-1) sd[X]. */
double theory_bloom_deviation(const places *of);

/* The standard error of a rate measured over so many filters and queries for each: filters differ,
 * and queries are few. */
double theory_rate_sigma(double rate, double deviation, double filters, double queries);

/* ------------------------------------------------------------------ counters under churn */

/* The probability that one given counter holds `level` or more at any time: after the filling, or
 * during `steps` in each of which a random key is removed and a new one added. */
double theory_ever_reaches(const places *of, unsigned level, uint64_t steps);

/* How often any of the counters rises to `level` during these steps, on average. */
double theory_rises(const places *of, unsigned level, uint64_t steps);

/* ------------------------------------------------------------------ extremes */

/* Mean and standard deviation of the smallest and the largest of `trials` binomial counts. */
typedef struct extreme {
    double mean, deviation;
} extreme;

extreme theory_lowest(double queries, double rate, double trials);
extreme theory_highest(double queries, double rate, double trials);

#endif
