/* theory.h - exact values that the library itself does not need.
 *
 * The library's own analysis (the size.c of a kind, and src/theory/) is one side of the comparison.
 * These functions compute the same in another way: from whole distributions, where the library uses
 * a formula.
 */
#ifndef TAMIS_LAB_THEORY_H
#define TAMIS_LAB_THEORY_H

#include <stdint.h>

/* n keys, each with k places of m. */
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
rate_law theory_bloom_rate(const places *table);

/* For any size: the standard deviation by the share of marked places, k p^(k-1) sd[X]. */
double theory_bloom_deviation(const places *table);

/* The standard error of a rate that is measured with this many filters, and this many queries of
 * each. Filters differ from each other, and each query adds sampling error. */
double theory_rate_sigma(double rate, double deviation, double filters, double queries);

/* ------------------------------------------------------------------ counters under churn */

/* The probability that one given counter holds `level` or more at any time: after the filling, or
 * during `steps` in each of which a random key is removed and a new one added. */
double theory_ever_reaches(const places *table, unsigned level, uint64_t steps);

/* How often any of the counters rises to `level` during these steps, on average. */
double theory_rises(const places *table, unsigned level, uint64_t steps);

/* ------------------------------------------------------------------ extremes */

/* Mean and standard deviation of the smallest and the largest of `trials` binomial counts. */
typedef struct extreme {
    double mean, deviation;
} extreme;

extreme theory_lowest(double queries, double rate, double trials);
extreme theory_highest(double queries, double rate, double trials);

#endif
