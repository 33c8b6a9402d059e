/* meet.h - the effect on the rate when probes of one key meet in the same entry.
 *
 * A stranger (a key that was never added) has k probes, each of a random one of m entries. It
 * passes if every entry holds the probes that fall on it. If probes were independent, the rate
 * would be pass^k, where `pass` is the chance that a random entry holds one probe. They are not:
 *
 *   - several probes of a key may meet in one entry, and an entry that holds each of them by itself
 *     may not hold all of them together;
 *   - tables scatter: in a table that happens to be fuller, all probes pass more often.
 *
 * Both effects are of the order of k^2 / m: a tenth in a table of hundreds of entries, nothing in
 * one of a million.
 *
 * Part 1, a table as it is. All ways to distribute k probes over m entries are counted exactly. The
 * rate is k! times the coefficient of x^k in the product, over all entries, of
 *
 *     1 + sum over t of  P[the entry holds t random probes together] (x/m)^t / t!
 *
 * In a large table the logarithm of this product is summed up instead, and only its first terms.
 *
 * Part 2, a table that does not exist yet. How two probes depend on each other is known exactly.
 * The rest follows as if the share of entries that hold a probe were normally distributed.
 */
#ifndef TAMIS_THEORY_MEET_H
#define TAMIS_THEORY_MEET_H

#include <stdbool.h>

/* ------------------------------------------------------------------ a table as it is */

#define MEET_MAX_K 64

typedef struct meet {
    double   m;      /* entries */
    unsigned k;      /* probes of a stranger, at most */
    unsigned depth;  /* up to this many probes in one entry are considered */
    bool     is_few; /* few entries: the series is the product; else its logarithm */
    double   series[MEET_MAX_K + 1]; /* coefficients in x k/m, which keeps them within range */
} meet;

meet tamis_meet_begin(double m, unsigned k);

/* Add n entries, each of which holds t random probes together with a chance of chance[t], for
 * 1 <= t <= depth. */
void tamis_meet_add(meet *rate, const double *chance, double n);

/* The rate for strangers with k probes; k may be less than at the beginning. */
double tamis_meet_rate(const meet *rate, unsigned k);

/* ------------------------------------------------------------------ a table to be */

/* What an entry does after j keys have hit it, for j up to `top` (excludes has one more). */
typedef struct meet_law {
    const double *excludes; /* P[it excludes a random probe] */
    const double *both;     /* P[it holds two random probes together] */
    unsigned      top;
} meet_law;

/* The factor by which the rate of k probes differs from pass^k, if two probes pass together
 * 1 + excess times as often as independent ones would. */
double tamis_meet_pairs(double excess, double k);

/* P[k probes all pass], in a table of m entries that was hit `hits` times, where one probe passes
 * with a chance of `pass`. */
double tamis_meet_power(const meet_law *law, double m, double hits, double pass, double k);

#endif
