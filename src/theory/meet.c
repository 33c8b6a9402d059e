/* meet.c - see meet.h. */
#include "theory/meet.h"

#include <math.h>
#include <string.h>

#define FEW 4096 /* entries, of which the whole product is worked out */
#define TINY 64  /* entries, in which any number of places meet */
#define SOME 8   /* more do not meet in one of more than that */
#define LOG_TERMS 3

/* ------------------------------------------------------------------ a table as it is */

meet tamis_meet_begin(double m, unsigned k) {
    meet of = { .m = m, .k = k, .is_few = m <= FEW };
    of.depth = m <= TINY ? k : of.is_few ? SOME : LOG_TERMS;
    if (of.depth > k) of.depth = k;
    if (of.is_few) of.series[0] = 1;
    return of;
}

/* One factor more, so many times. All terms are positive. */
static void multiply(meet *of, const double *factor, double times) {
    for (double i = 0; i < times; i++) {
        for (unsigned j = of->k; j != 0; j--) {
            for (unsigned t = 1; t <= of->depth && t <= j; t++) {
                of->series[j] += of->series[j - t] * factor[t];
            }
        }
    }
}

/* ln(1 + f1 x + f2 x^2 + f3 x^3 + ...). */
static void add_log(meet *of, const double *f, double times) {
    of->series[1] += times * f[1];
    if (of->k > 1) of->series[2] += times * (f[2] - f[1] * f[1] / 2);
    if (of->k > 2) of->series[3] += times * (f[3] - f[1] * f[2] + f[1] * f[1] * f[1] / 3);
}

void tamis_meet_add(meet *of, const double *chance, double how_many) {
    double factor[MEET_MAX_K + 1] = { 0 }, weight = 1;
    for (unsigned t = 1; t <= of->depth; t++) {
        weight *= of->k / (of->m * t);
        factor[t] = weight * chance[t];
    }
    if (of->is_few)
        multiply(of, factor, how_many);
    else
        add_log(of, factor, how_many);
}

/* e^series, up to x^k. */
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

double tamis_meet_rate(const meet *of, unsigned k) {
    double terms[MEET_MAX_K + 1];
    double scale = 1; /* k! / K^k */
    if (of->is_few)
        memcpy(terms, of->series, sizeof terms);
    else
        exponential(of->series, k, terms);
    for (unsigned i = 1; i <= k; i++) scale *= (double)i / of->k;
    return fmin(1, scale * terms[k]);
}

/* ------------------------------------------------------------------ a table to be */

/* How much more likely two places are to be held than if they knew nothing of each other: they may
 * be one entry; if not, a number of hits is shared out among entries, and where one has more of
 * them another has fewer. In the smallest tables that makes it less likely. */
static double joint_excess(const meet_law *of, double m, double hits, double pass) {
    double const odds = 1 / (m - 1);
    double       chance = exp(hits * log1p(-1 / m)), slope = 0, not_both = 0;
    for (unsigned j = 0; j <= of->top; j++) {
        slope += chance * (of->excludes[j] - of->excludes[j + 1]);
        not_both += chance * (1 - of->both[j]);
        chance *= fmax(0, hits - j) / (j + 1) * odds;
    }
    return (1 - not_both - pass * pass - hits / m * slope * slope) / (m * pass * pass);
}

/* If more: as if the share of entries that hold a place were normal, all its even moments. If less:
 * as if pairs knew nothing of each other, which errs on the safe side. */
double tamis_meet_pairs(double excess, double k) {
    double sum = 1, term = 1;
    if (excess < 0) return pow(fmax(0, 1 + excess), k * (k - 1) / 2);
    for (unsigned j = 2; j <= k; j += 2) {
        term *= (k - j + 2.0) * (k - j + 1.0) / j * excess;
        sum += term;
    }
    return sum;
}

double tamis_meet_power(const meet_law *of, double m, double hits, double pass, double k) {
    if (!(pass > 0)) return 0;
    return pow(pass, k) * tamis_meet_pairs(joint_excess(of, m, hits, pass), k);
}
