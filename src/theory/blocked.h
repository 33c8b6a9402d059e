/* blocked.h - the law of tables in which all counters of a key are in one cache line.
 *
 * Paper: F. Putze, P. Sanders, J. Singler, "Cache-, Hash- and Space-Efficient Bloom Filters",
 * section 3. Of n keys a line has a binomial number, and each line is a small table of its own. In
 * it every key counts once in each sector (core/sectors.h), independent of the other sectors. So
 * what is known of a line with j keys is exact for the table, when averaged over j.
 */
#ifndef TAMIS_THEORY_BLOCKED_H
#define TAMIS_THEORY_BLOCKED_H

#include "core/sectors.h"

/* What a line with so many keys tells. */
typedef double blocked_tells(const void *context, double keys);

/* The mean over a line's keys, of n in so many lines. */
double tamis_blocked_mean(double lines, double n, blocked_tells *tells, const void *context);

/* Of the first `asked` of n sectors in a line: most have the fewest counters, some one more. */
typedef struct blocked_sizes {
    double least;         /* counters of the smaller ones */
    double small, larger; /* how many there are of them, and of those with one more */
} blocked_sizes;

blocked_sizes tamis_blocked_sizes(uint64_t per_line, uint64_t n, uint64_t asked);

#endif
