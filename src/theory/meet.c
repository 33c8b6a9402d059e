/* meet.c - see meet.h. */
#include "theory/meet.h"

#include <math.h>
#include <string.h>

#define FEW_ENTRIES 4096 /* up to this many, the whole product is computed */
#define TINY_TABLE 64    /* up to this many entries, any number of probes may meet in one of them */
#define FEW_PROBES 8     /* in larger tables, more than that do not meet in one entry */
#define LOG_TERMS 3      /* of the logarithm, in a table of more than FEW_ENTRIES */
#define MEET_NEVER 1e-40 /* chances below it, and all after them, change no digit of a sum */

/* ------------------------------------------------------------------ a table as it is */

meet tamis_meet_begin(double m, unsigned k) {
    meet rate = { .m = m, .k = k, .is_few = m <= FEW_ENTRIES };
    rate.depth = m <= TINY_TABLE ? k : rate.is_few ? FEW_PROBES : LOG_TERMS;
    if (rate.depth > k) rate.depth = k;
    if (rate.is_few) rate.series[0] = 1;
    return rate;
}

/* Multiply the series n times by the factor of one entry. In place, from the highest coefficient
 * down. All terms are positive, so that nothing cancels. */
static void multiply(meet *rate, const double *factor, double n) {
    for (double i = 0; i < n; i++) {
        for (unsigned j = rate->k; j != 0; j--) {
            for (unsigned t = 1; t <= rate->depth && t <= j; t++) {
                rate->series[j] += rate->series[j - t] * factor[t];
            }
        }
    }
}

/* Add n times ln(1 + f1 x + f2 x^2 + f3 x^3 + ...), up to x^3. */
static void add_log(meet *rate, const double *f, double n) {
    rate->series[1] += n * f[1];
    if (rate->k > 1) rate->series[2] += n * (f[2] - f[1] * f[1] / 2);
    if (rate->k > 2) rate->series[3] += n * (f[3] - f[1] * f[2] + f[1] * f[1] * f[1] / 3);
}

void tamis_meet_add(meet *rate, const double *chance, double n) {
    double factor[MEET_MAX_K + 1] = { 0 };
    double weight = 1; /* (k/m)^t / t! */
    for (unsigned t = 1; t <= rate->depth; t++) {
        weight *= rate->k / (rate->m * t);
        factor[t] = weight * chance[t];
    }
    if (rate->is_few)
        multiply(rate, factor, n);
    else
        add_log(rate, factor, n);
}

/* The coefficients of e^s(x) up to x^k, where s has LOG_TERMS terms: from e^s' = s' e^s,
 * coefficient j is the sum of i s_i times coefficient j - i, divided by j. */
static void exponential(const double *series, unsigned k, double *ret_terms) {
    ret_terms[0] = 1;
    for (unsigned j = 1; j <= k; j++) {
        double sum = 0;
        for (unsigned i = 1; i <= LOG_TERMS && i <= j; i++) {
            sum += i * series[i] * ret_terms[j - i];
        }
        ret_terms[j] = sum / j;
    }
}

double tamis_meet_rate(const meet *rate, unsigned k) {
    double terms[MEET_MAX_K + 1];
    double scale = 1; /* k! / K^k, where the series is in x K/m */
    if (rate->is_few)
        memcpy(terms, rate->series, sizeof terms);
    else
        exponential(rate->series, k, terms);
    for (unsigned i = 1; i <= k; i++) scale *= (double)i / rate->k;
    return fmin(1, scale * terms[k]);
}

/* ------------------------------------------------------------------ a table to be */

/* By how much two probes pass together more often than two independent ones would. Two terms:
 *
 *   - with a chance of 1/m both probes meet in one entry, which holds both with P[both];
 *   - otherwise they are in two entries, which share a fixed number of hits: where one has more,
 *     the other has fewer. Its effect is the square of the slope of P[excludes] over hits.
 *
 * In the smallest tables the second term wins, and the result is negative. */
static double joint_excess(const meet_law *law, double m, double hits, double pass) {
    double const odds = 1 / (m - 1);
    double       chance = exp(hits * log1p(-1 / m)); /* of j hits; j = 0 */
    double       slope = 0, not_both = 0;
    for (unsigned j = 0; j <= law->top && (chance > MEET_NEVER || j < hits * odds); j++) {
        slope += chance * (law->excludes[j] - law->excludes[j + 1]);
        not_both += chance * (1 - law->both[j]);
        chance *= fmax(0, hits - j) / (j + 1) * odds;
    }
    return (1 - not_both - pass * pass - hits / m * slope * slope) / (m * pass * pass);
}

/* Positive excess: the k-th moment of a normal variable with this relative variance, by its even
 * moments. Negative excess: as if all pairs were independent of each other, which is on the safe
 * side. */
double tamis_meet_pairs(double excess, double k) {
    double sum = 1, term = 1;
    if (excess < 0) return pow(fmax(0, 1 + excess), k * (k - 1) / 2);
    for (unsigned j = 2; j <= k; j += 2) {
        term *= (k - j + 2.0) * (k - j + 1.0) / j * excess;
        sum += term;
    }
    return sum;
}

double tamis_meet_power(const meet_law *law, double m, double hits, double pass, double k) {
    if (!(pass > 0)) return 0;
    return pow(pass, k) * tamis_meet_pairs(joint_excess(law, m, hits, pass), k);
}
