/* fluid.h - how full the buckets of d-left hash tables become.
 *
 * Paper: the fluid limit of M. Mitzenmacher and B. Voecking, "The asymptotics of selecting the
 * shortest of two, improved" (2003), as used by Bonomi et al., "An Improved Construction for
 * Counting Bloom Filters" (ESA 2006), section 2.3 and Table 1.
 *
 * A key has one bucket in each of d subtables and goes to the least loaded of them, the leftmost of
 * several. Let x(i, j) be the share of the buckets of subtable i with at least j keys. The next key
 * goes to subtable i and a load of j - 1 if its bucket there has that, those to the left have more,
 * and those to the right have at least as much:
 *
 *     p(i, j) = (x(i, j-1) - x(i, j))  prod k<i x(k, j)  prod k>i x(k, j-1)
 *
 * Filling: with the mean load as time, dx(i, j) = d p(i, j). Runge and Kutta's method.
 *
 * Churn: each time a random key goes before the next one comes. That takes x(i, j) down by
 * j (x(i, j) - x(i, j+1)) / load, and in the end both are equal. Solved for x(i, j) from its
 * neighbours again and again, that comes to rest in less than a hundred rounds, on any scale: all
 * terms are positive, so tails of 1e-300 have as many digits as those of 0.1.
 *
 * Finite tables: of B buckets one is 1 / B, and there is no smaller share. An x(i, j) below that is
 * the chance, x B, that there is one such bucket; while there is, all that needs it (and in d-left
 * tables each next full bucket needs all full ones before it) is as likely as with a share of
 * 1 / B. So from there on x(i, j) is kept as chance x share: the chance of all that is rare before
 * it, times the share that it has then. The limit would have powers of the chance: tails of 1e-9
 * were found to be 1e3 times as likely in 2 x 8 buckets, and tails of 1e-14 1e7 times.
 */
#ifndef TAMIS_THEORY_FLUID_H
#define TAMIS_THEORY_FLUID_H

#define FLUID_MAX_TABLES 8
#define FLUID_MAX_HEIGHT 100 /* loads that are told apart */

/* Buckets: as good as the limit for who does not ask for tails below one of them, and filling is
 * followed in a fifth of the steps. */
#define FLUID_MANY 1e15

typedef struct fluid {
    unsigned tables; /* d */
    double   load;   /* keys per bucket, of all buckets */
    double   least;  /* 1 / B, the smallest share; 0: the limit */
    double   x[FLUID_MAX_TABLES][FLUID_MAX_HEIGHT + 2];
} fluid;

/* After filling; 1 <= d <= FLUID_MAX_TABLES, load <= FLUID_MAX_HEIGHT / 2; B buckets in each
 * subtable, or INFINITY: the limit. */
void tamis_fluid_fill(unsigned tables, double load, double buckets, fluid *ret_fluid);

/* From there on, up to a load that is not smaller. */
void tamis_fluid_go_on(fluid *law, double load);

/* After few keys, in so many buckets per subtable: one step for each key, so that there is no
 * bucket with two after the first. */
void tamis_fluid_few(unsigned tables, double buckets, unsigned keys, fluid *ret_fluid);

/* When keys come and go at this load. */
void tamis_fluid_churn(unsigned tables, double load, double buckets, fluid *ret_fluid);

/* Of all buckets, the share with at least j keys. */
double tamis_fluid_share(const fluid *law, unsigned j);

/* P[all buckets of the next key have at least j keys]. */
double tamis_fluid_all(const fluid *law, unsigned j);

/* The largest load, up to a limit, at which that is at most `chance` in a table for n keys, or 0.2%
 * less. */
double tamis_fluid_fill_load(unsigned tables, unsigned j, double chance, double n, double limit);
double tamis_fluid_churn_load(unsigned tables, unsigned j, double chance, double n, double limit);

#endif
