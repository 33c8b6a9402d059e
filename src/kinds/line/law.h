/* law.h - how full the lines, the shelves and the attic of a table get, and how likely the attic
 * overflows.
 *
 * Names: n keys in B lines, m = n / B on average; 62 chains and 50 slots in a line; shelves of 28
 * entries for 16 lines each (runs.h, shelf.h).
 *
 * The law. Take the 62 chains of a line as independent, Poisson(m/62) each. Going through them one
 * by one gives the exact law of what the line keeps and of its tail. The tails of 16 lines together
 * give that of a shelf, and of what it sends to the attic. The attic holds the sum S over all
 * shelves. Where every key has several entries, these are all in one chain; and if one key is
 * flooded, so are all that it can have, beside the others.
 *
 * From Poisson loads to n keys. Real loads sum up to n. S only grows with every key, so Theorem 1
 * of the rank-indexed paper (kinds/rank/size.h) applies: P[S > K] with n keys is at most twice
 * G(n) = P[S > K] with Poisson loads of mean n / B.
 *
 * A lifetime. What a line, a shelf and the attic hold depends on the keys and not on their history,
 * so a table in which keys are added and removed is at each moment one that was just filled. An add
 * in the place of a removed key is refused just if S <= K without that key and S > K with it, which
 * has the probability G(n) - G(n - 1) <= G(n + 1) - G(n), as G is convex where it is small. So over
 * T adds
 *
 *     P[an add is ever refused] <= 2 (G(n) + (T - n) (G(n + 1) - G(n))).
 *
 * G(n) itself is summed up exactly for tables of up to LAW_EXACT_SHELVES shelves. For larger ones,
 * Chernoff's bound takes its place, and (T - n) G(n) that of the second term.
 *
 * How careful that is. Tables that were filled and churned overflowed 20 to 600 times more rarely
 * than Chernoff's bound says: it is not sharp, and real loads sum up to n. The exact sum makes a
 * set of 1000 keys smaller by 0.5 bits for each key, one of 10^4 by 0.15. Larger tables would gain,
 * at most: 0.05 to 0.09 bits with 10^5 keys, 0.02 to 0.05 with 3 x 10^5, 0.01 with 10^6. That is
 * not worth the time of the sum there, which grows with the square of the attic.
 */
#ifndef TAMIS_KINDS_LINE_LAW_H
#define TAMIS_KINDS_LINE_LAW_H

#include "dimensions.h"

#define LAW_EXACT_SHELVES 24
#define LAW_MAX_LOAD 56.0 /* entries of a line on average; beyond that nothing is promised */

/* What lines of a mean load send elsewhere. */
typedef struct law_shares {
    double cut;      /* share of the lines that do not hold all their keys */
    double shelved;  /* share of the keys that are on a shelf */
    double in_attic; /* and in the attic */
    double crowded;  /* share of the keys in tails whose shelf is full */
} law_shares;

void tamis_line_shares(double mean, law_shares *ret_shares);

/* A table and its life: what the probability of overflow depends on, except for the attic. */
typedef struct law_life {
    double   lines, keys;
    double   churn; /* adds beyond the filling, T - n */
    unsigned each;  /* entries of every key */
    unsigned flood; /* entries of a key that is flooded; 0: none is */
} law_life;

/* P[an add is ever refused] with room for this many words in the attic, from above. */
double tamis_line_law(const law_life *life, double room);

/* The least room with which that is at most `overflow`. */
double tamis_line_room(const law_life *life, double overflow);

/* About that much, in a fifth of the time: to compare tables with each other. It takes no notice of
 * a flooded key. */
double tamis_line_rough_room(const law_life *life, double overflow);

#endif
