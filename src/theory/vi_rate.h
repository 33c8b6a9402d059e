/* vi_rate.h - the false-positive rate of counters of variable increments as they are.
 *
 * A stranger has k places, each any counter and any increment. Which counters there are is enough
 * to know, wherever they are: how many of each value, and how many that are stuck and hold anybody.
 * Places that meet are one, with the sum of their increments (meet.h).
 */
#ifndef TAMIS_THEORY_VI_RATE_H
#define TAMIS_THEORY_VI_RATE_H

#include "core/increments.h"

/* The share of increments that a counter of value c excludes, and the share of pairs of them that
 * it holds at once. */
double tamis_vi_excluded(const increments *d, uint64_t c);
double tamis_vi_held_both(const increments *d, uint64_t c);

#define VI_RATE_VALUES 4096

typedef struct vi_counts {
    uint64_t of[VI_RATE_VALUES]; /* counters of each value */
    uint64_t stuck;
} vi_counts;

/* Strangers with k places; of 256, `more` have one more. */
double tamis_vi_rate(const increments *d, const vi_counts *counts, unsigned k, unsigned more);

#endif
