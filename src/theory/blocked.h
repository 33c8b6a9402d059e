/* blocked.h - the law of tables in which all places of a key are in one cache line.
 *
 * Paper: F. Putze, P. Sanders, J. Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007,
 * section 3. Each of n keys chooses one line, so the number of keys in a line is binomial. Each
 * line is a small table of its own: a key counts once in each of its sectors (core/sectors.h),
 * independently of the other sectors. So a law that is exact for a line with j keys is exact for
 * the table when it is averaged over j.
 */
#ifndef TAMIS_THEORY_BLOCKED_H
#define TAMIS_THEORY_BLOCKED_H

#include "core/sectors.h"

/* A quantity of a line with this many keys. */
typedef double blocked_quantity(const void *context, double keys);

/* Its mean over all lines, when n keys are in this many lines. */
double tamis_blocked_mean(double lines, double n, blocked_quantity *quantity, const void *context);

/* The sizes of the first `asked` of n sectors in a line. They differ by at most one counter. */
typedef struct blocked_sizes {
    double least;  /* counters of the smaller sectors */
    double small;  /* how many sectors have `least` counters */
    double larger; /* how many have one more */
} blocked_sizes;

blocked_sizes tamis_blocked_sizes(uint64_t per_line, uint64_t n, uint64_t asked);

/* The false-positive rate of a table of lines with `per_line` places each, cut into k sectors, in
 * which each of n keys marks one place of every sector: exact, and n / 2^64 for equal hashes. */
double tamis_blocked_fpr(uint64_t per_line, uint64_t k, double lines, double n);

/* The fewest lines that meet the rate; `most` lines meet it. */
double tamis_blocked_lines(uint64_t per_line, uint64_t k, double fpr, double n, double most);

/* No table has this many lines: a double holds every number of places up to there. */
#define BLOCKED_MAX_LINES (0x1p53 / SECTORS_LINE_BITS)

#endif
