/* vi_rate.h - the false-positive rate of counters with variable increments, as they are now.
 *
 * A stranger is a key that was never added. It has k probes, each of a random counter and a random
 * increment. Its chance to pass does not depend on where counters are: it is enough to know how
 * many there are of each value, and how many are stuck and let every key pass. Probes of a stranger
 * that meet in one counter are one probe with the sum of their increments (meet.h).
 *
 * So a kind walks once over its counters and tallies their values:
 *
 *     vi_rate rate;
 *     tamis_vi_rate_begin(&rate, d, counters, k, more);
 *     for (...) vi_rate_add(&rate, value);
 *     fpr = tamis_vi_rate_end(&rate);
 *     used = rate.used;
 */
#ifndef TAMIS_THEORY_VI_RATE_H
#define TAMIS_THEORY_VI_RATE_H

#include "core/increments.h"
#include "theory/meet.h"

/* The share of increments that a counter of value c excludes, and the share of pairs of increments
 * that it may hold at once. */
double tamis_vi_excluded(const increments *d, uint64_t c);
double tamis_vi_held_both(const increments *d, uint64_t c);

#define VI_RATE_VALUES 4096
#define VI_RATE_STUCK UINT64_MAX /* the value of a stuck counter */

/* Counts of 16 bits, so that the tally is small enough for the stack. A count that is full is
 * handed over to `meet`, and starts again at 0. */
typedef struct vi_rate {
    const increments *d;
    meet              meet;
    unsigned          k, more; /* of 256 strangers, `more` have one probe more than k */
    uint64_t          stuck;
    uint64_t          used;                 /* counters that are not 0, stuck ones included */
    uint16_t          n_of[VI_RATE_VALUES]; /* counters of each value, as far as not handed over */
} vi_rate;

void tamis_vi_rate_begin(vi_rate *ret_rate, const increments *d, double counters, unsigned k,
                         unsigned more);

/* Hand over the counters of this value. */
void tamis_vi_rate_flush(vi_rate *rate, uint64_t value);

TAMIS_INLINE void vi_rate_add(vi_rate *rate, uint64_t value) {
    rate->used += value != 0;
    if (value == VI_RATE_STUCK)
        rate->stuck++;
    else if (++rate->n_of[value] == UINT16_MAX)
        tamis_vi_rate_flush(rate, value);
}

double tamis_vi_rate_end(vi_rate *rate);

#endif
