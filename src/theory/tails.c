/* tails.c - see tails.h.
 *
 * The terms. ln n! for large n is about n ln n, and the three in ln C(n, k) nearly cancel: with
 * lgamma, a binomial of 10^9 keys would keep 6 digits. So the terms are written in the form of
 * Loader ("Fast and accurate computation of binomial probabilities", 2000): by the deviance
 * D(x, np) = x ln(x/np) + np - x, which is small where the term is large, and by the error of
 * Stirling's formula, which is small everywhere.
 */
#include "theory/tails.h"

#include <math.h>
#include <stdbool.h>

static const double HALF_LN_2PI = 0.91893853320467274178;

/* ln n! - (n ln n - n + ln sqrt(2 pi n)), n >= 1. */
static double stirling_error(double n) {
    int sign; /* lgamma() itself would write to a global variable */
    if (n < 16) return lgamma_r(n + 1, &sign) - (n + 0.5) * log(n) + n - HALF_LN_2PI;
    double const square = n * n; /* the asymptotic series; at n = 16 its next term is 1e-14 */
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / (1680 * square)) / square) / square) / n;
}

/* x ln(x/mean) + mean - x, without cancellation when x is near the mean. */
static double deviance(double x, double mean) {
    double const v = (x - mean) / (x + mean);
    if (fabs(v) > 0.1) return x * log(x / mean) + mean - x;
    /* ln(x/mean) = 2 atanh(v) = 2 (v + v^3/3 + v^5/5 + ...) */
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

/* One distribution, so that both share the summation. n < 0 marks a Poisson. */
typedef struct law {
    double n, p, mean;
} law;

static double term_log(const law *of, double k) {
    return of->n < 0 ? tamis_poisson_log(of->mean, k) : tamis_binomial_log(of->n, of->p, k);
}

/* term(k+1) / term(k). */
static double step_up(const law *of, double k) {
    if (of->n < 0) return of->mean / (k + 1);
    return (of->n - k) / (k + 1) * (of->p / (1 - of->p));
}

/* Sum the terms from k upwards (or downwards), beginning with the largest of them. */
static double sum_from(const law *of, double k, bool up) {
    double const first = exp(term_log(of, k));
    double       sum = 1, term = 1;
    for (double at = k; term > sum * 1e-17; at += up ? 1 : -1) {
        if (!up && at <= 0) break;
        term *= up ? step_up(of, at) : 1 / step_up(of, at - 1);
        sum += term;
    }
    return first * sum;
}

/* P[X >= k]: above the mean sum upwards, below it sum the other side. */
static double tail(const law *of, double k) {
    if (k <= 0) return 1;
    if (of->mean <= 0) return 0;
    if (of->n >= 0 && k > of->n) return 0;
    return k > of->mean ? sum_from(of, k, true) : 1 - sum_from(of, k - 1, false);
}

double tamis_binomial_tail(double n, double p, double k) {
    if (p >= 1) return k <= n ? 1 : 0;
    law const of = { n, p, n * p };
    return tail(&of, k);
}

double tamis_poisson_tail(double mean, double k) {
    law const of = { -1, 0, mean };
    return tail(&of, k);
}
