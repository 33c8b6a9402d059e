/* tails.c - see tails.h.
 *
 * Single terms. For large n, ln n! is about n ln n, and the three factorials in C(n, k) nearly
 * cancel: computed by lgamma(), a term for 10^9 keys would keep 6 digits. So terms are computed as
 * C. Loader proposes ("Fast and accurate computation of binomial probabilities", 2000): from the
 * deviance D(x, np) = x ln(x/np) + np - x, which is small where the term is large, and from the
 * error of Stirling's formula, which is small everywhere.
 */
#include "theory/tails.h"

#include <math.h>
#include <stdbool.h>

static const double HALF_LN_2PI = 0.91893853320467274178;

/* The error of Stirling's formula: ln n! - (n ln n - n + ln sqrt(2 pi n)), n >= 1. Of the first
 * whole numbers it is in a table: these are asked for most. */
static double stirling_error(double n) {
    static const double whole[] = { 0,
                                    0.081061466795327261,
                                    0.041340695955409297,
                                    0.027677925684998338,
                                    0.020790672103765093,
                                    0.016644691189821193,
                                    0.013876128823070748,
                                    0.01189670994589177,
                                    0.010411265261972096,
                                    0.0092554621827127329,
                                    0.0083305634333628708,
                                    0.0075736754879518406,
                                    0.0069428401072095299,
                                    0.0064089941880042071,
                                    0.0059513701127588475,
                                    0.0055547335519628011 };
    int                 sign; /* lgamma_r(), since lgamma() writes to a global variable */
    if (n < 16 && n == floor(n)) return whole[(unsigned)n];
    if (n < 16) return lgamma_r(n + 1, &sign) - (n + 0.5) * log(n) + n - HALF_LN_2PI;
    double const square = n * n; /* the asymptotic series; at n = 16 its next term is 1e-14 */
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / (1680 * square)) / square) / square) / n;
}

/* x ln(x/mean) + mean - x. Near the mean this would cancel, so a series is used there:
 * ln(x/mean) = 2 atanh(v) = 2 (v + v^3/3 + v^5/5 + ...) with v = (x - mean) / (x + mean). */
static double deviance(double x, double mean) {
    double const v = (x - mean) / (x + mean);
    if (fabs(v) > 0.1) return x * log(x / mean) + mean - x;
    double sum = (x - mean) * v, power = 2 * x * v;
    for (int j = 3; j < 100; j += 2) {
        power *= v * v;
        double const next = sum + power / j;
        if (next == sum) break;
        sum = next;
    }
    return sum;
}

double tamis_poisson_log(double mean, double k) {
    if (mean <= 0) return k == 0 ? 0 : -INFINITY;
    if (k == 0) return -mean;
    return -stirling_error(k) - deviance(k, mean) - 0.5 * log(k) - HALF_LN_2PI;
}

double tamis_binomial_log(double n, double p, double k) {
    if (k < 0 || k > n) return -INFINITY;
    if (p <= 0) return k == 0 ? 0 : -INFINITY;
    if (p >= 1) return k == n ? 0 : -INFINITY;
    if (k == 0) return n * log1p(-p);
    if (k == n) return n * log(p);
    double const correction = stirling_error(n) - stirling_error(k) - stirling_error(n - k);
    return correction - deviance(k, n * p) - deviance(n - k, n * (1 - p)) +
           0.5 * (log(n) - log(k) - log(n - k)) - HALF_LN_2PI;
}

/* ------------------------------------------------------------------ tails */

/* A binomial or Poisson distribution. */
typedef struct distribution {
    double n, p, mean; /* n < 0: Poisson */
} distribution;

static double term_log(const distribution *law, double k) {
    return law->n < 0 ? tamis_poisson_log(law->mean, k) : tamis_binomial_log(law->n, law->p, k);
}

/* term(k+1) / term(k). */
static double step_up(const distribution *law, double k) {
    if (law->n < 0) return law->mean / (k + 1);
    return (law->n - k) / (k + 1) * (law->p / (1 - law->p));
}

/* Sum the terms from k upwards, or downwards. Term k is the largest of them, so the sum relative to
 * it converges quickly and cannot underflow. */
static double sum_from(const distribution *law, double k, bool up) {
    double const first = exp(term_log(law, k));
    double       sum = 1, term = 1;
    for (double at = k; term > sum * 1e-17; at += up ? 1 : -1) {
        if (!up && at <= 0) break;
        term *= up ? step_up(law, at) : 1 / step_up(law, at - 1);
        sum += term;
    }
    return first * sum;
}

/* P[X >= k]. Above the mean, terms fall upwards; below it, the other side is summed. */
static double tail(const distribution *law, double k) {
    if (k <= 0) return 1;
    if (law->mean <= 0) return 0;
    if (law->n >= 0 && k > law->n) return 0;
    return k > law->mean ? sum_from(law, k, true) : 1 - sum_from(law, k - 1, false);
}

double tamis_binomial_tail(double n, double p, double k) {
    if (p >= 1) return k <= n ? 1 : 0;
    distribution const binomial = { n, p, n * p };
    return tail(&binomial, k);
}

double tamis_poisson_tail(double mean, double k) {
    distribution const poisson = { -1, 0, mean };
    return tail(&poisson, k);
}
