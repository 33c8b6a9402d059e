/* meet.h - places of a key that meet: what it does to the rate.
 *
 * A stranger has k places, each any of m entries. If its places knew nothing of each other, the
 * rate would be the k-th power of the share of entries that hold a place. But places of a key may
 * meet, and an entry that holds two of them one by one may not hold both; and tables scatter. Both
 * are of the order of k^2/m: a tenth in a table of hundreds, nothing in one of a million.
 *
 * Of a table as it is, every way to share out k places among the entries is counted. It is k! times
 * the coefficient of x^k in the product, over the entries, of
 *
 *     1 + sum over t of  P[the entry holds t random places at once] (x/m)^t / t!
 *
 * In a large table the logarithm of the product is summed up instead, and only its first terms.
 *
 * Of a table to be, it is known how two places depend on each other, and the rest follows as if the
 * share of entries that hold one were normal.
 */
#ifndef TAMIS_THEORY_MEET_H
#define TAMIS_THEORY_MEET_H

#include <stdbool.h>

/* ------------------------------------------------------------------ a table as it is */

#define MEET_MAX_K 64

typedef struct meet {
    double   m;
    unsigned k;                      /* the most places that a stranger has */
    unsigned depth;                  /* of how many places at once an entry is asked */
    bool     is_few;                 /* entries; else the series is a logarithm */
    double   series[MEET_MAX_K + 1]; /* in x k/m, which keeps it within range */
} meet;

meet tamis_meet_begin(double m, unsigned k);

/* So many entries that hold t random places with a chance of chance[t], 1 <= t <= depth. */
void tamis_meet_add(meet *of, const double *chance, double how_many);

/* The rate of strangers with k places, or fewer. */
double tamis_meet_rate(const meet *of, unsigned k);

/* ------------------------------------------------------------------ a table to be */

/* By how many keys have hit an entry, up to `top`: P[it excludes a place], P[it holds two]. */
typedef struct meet_law {
    const double *excludes, *both;
    unsigned      top;
} meet_law;

/* What all pairs of k places make of pass^k, if two are that much more likely to be held than if
 * they knew nothing of each other. */
double tamis_meet_pairs(double excess, double k);

/* P[k places are held], when entries were hit so often and hold one with a chance of `pass`. */
double tamis_meet_power(const meet_law *of, double m, double hits, double pass, double k);

#endif
