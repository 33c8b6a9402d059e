/* fluid.h - how full the buckets of d-left hash tables become.
 *
 * Paper: the fluid limit of M. Mitzenmacher and B. Voecking, "The asymptotics of selecting the
 * shortest of two, improved" (2003), as used by Bonomi et al., "An Improved Construction for
 * Counting Bloom Filters" (ESA 2006), section 2.3 and Table 1.
 *
 * Idea. A key has one bucket in each of d subtables. It goes to the least loaded of them, and to
 * the leftmost if several are. Let x(i, j) be the share of the buckets of subtable i with at least
 * j keys. The next key makes a bucket of subtable i grow from j - 1 keys to j if its bucket there
 * has j - 1, those to the left have at least j, and those to the right at least j - 1:
 *
 *     p(i, j) = (x(i, j-1) - x(i, j))  prod k<i x(k, j)  prod k>i x(k, j-1)
 *
 * Filling. With the mean load as time, dx(i, j) = d p(i, j). Solved by Runge and Kutta's method.
 *
 * Churn. Again and again a random key is removed, and a new one is added. Removal takes x(i, j)
 * down by j (x(i, j) - x(i, j+1)) / load, and in the end both are equal. Each x(i, j) is solved for
 * from its neighbours, again and again. That comes to rest in less than a hundred rounds; all
 * terms are positive, so tails of 1e-300 have as many digits as those of 0.1.
 *
 * Finite tables. One of B buckets is a share of 1 / B, and there is no smaller share. An x(i, j)
 * below that is a chance: x B is the probability that there is one such bucket. While there is one,
 * whatever needs it is as likely as with a share of 1 / B; and in a d-left table each next full
 * bucket needs all full ones before it. So from there on x(i, j) is kept as chance x share: the
 * chance of all rare events before it, times the share that it has if they happen.
 *
 * Why: the limit would multiply the chance again at each step. Tails of 1e-9 were found to be 1e3
 * times as likely in 2 x 8 buckets as the limit says, and tails of 1e-14 1e7 times.
 */
#ifndef TAMIS_THEORY_FLUID_H
#define TAMIS_THEORY_FLUID_H

#include <stdbool.h>

#define FLUID_MAX_TABLES 8
#define FLUID_MAX_HEIGHT 100 /* the highest load that is distinguished */

/* A number of buckets that is as good as the limit, if no tails below one bucket are needed. Then
 * filling is followed in a fifth of the steps. */
#define FLUID_MANY 1e15

typedef struct fluid {
    unsigned tables; /* d */
    double   load;   /* keys per bucket, of all buckets */
    double   least;  /* 1 / B, the smallest share; 0: the limit */
    double   x[FLUID_MAX_TABLES][FLUID_MAX_HEIGHT + 2];
} fluid;

/* ------------------------------------------------------------------ making one */

/* After filling; 1 <= d <= FLUID_MAX_TABLES, load <= FLUID_MAX_HEIGHT / 2; B buckets in each
 * subtable, or INFINITY: the limit. */
void tamis_fluid_fill(unsigned tables, double load, double buckets, fluid *ret_fluid);

/* Fill further, up to a load that is not smaller. */
void tamis_fluid_go_on(fluid *law, double load);

/* After few keys, with B buckets in each subtable: one step for each key, so that no bucket has two
 * after the first. */
void tamis_fluid_few(unsigned tables, double buckets, unsigned keys, fluid *ret_fluid);

/* At rest, when keys are added and removed at this load. */
void tamis_fluid_churn(unsigned tables, double load, double buckets, fluid *ret_fluid);

/* One or the other: under churn, or after filling. */
void tamis_fluid_law(unsigned tables, bool is_churned, double load, double buckets,
                     fluid *ret_fluid);

/* ------------------------------------------------------------------ asking */

/* The share of all buckets with at least j keys. */
double tamis_fluid_share(const fluid *law, unsigned j);

/* P[all buckets of the next key have at least j keys]. */
double tamis_fluid_all(const fluid *law, unsigned j);

/* The mean number of subtables that a lookup of a present key reads, from left to right until it
 * has found the key. Keys beyond the `last` of a bucket are not stored. */
double tamis_fluid_tables_read(const fluid *law, unsigned last);

/* The largest load up to `limit` at which P[all buckets of the next key have at least j keys] is at
 * most `chance`, in a table for n keys; or up to 0.2% less. */
double tamis_fluid_fill_load(unsigned tables, unsigned j, double chance, double n, double limit);
double tamis_fluid_churn_load(unsigned tables, unsigned j, double chance, double n, double limit);

/* The other way round, after filling: the smallest j, up to `most`, with at most this chance at a
 * load. *ret_less: what tamis_fluid_fill_load() says of j - 1, up to this load. One filling tells
 * both. */
unsigned tamis_fluid_fill_cells(unsigned tables, double load, double chance, double n,
                                unsigned most, double *ret_less);

#endif
