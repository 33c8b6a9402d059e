/* peaks.h - the most keys that the buckets of d-left hash tables ever had at once.
 *
 * Kinds whose remainders shrink with that number (Bonomi et al., Allerton 2006, section III) need
 * to know it after a lifetime of adds and removals. The level of a bucket is the most it held since
 * it was empty last.
 *
 * After filling, the level is the load, and the fluid limit tells it (fluid.h). Then, at capacity,
 * keys come and go. In units of the time in which all keys are replaced once, a bucket of subtable
 * i with k keys loses one at the rate k, and gets one at the rate
 *
 *     up(i, k) = d load  prod l<i x(l, k+1)  prod l>i x(l, k)
 *
 * where x is the limit under churn. So for each level m the share of buckets with k keys, k <= m,
 * that never had more than m, is a birth and death process with the way up from m cut off; buckets
 * that become empty come back to it. It is followed in small steps (Crank and Nicolson's method)
 * until only its slowest part is left, and from there on by its exponential.
 */
#ifndef TAMIS_KINDS_DDLCBF_PEAKS_H
#define TAMIS_KINDS_DDLCBF_PEAKS_H

#define LEVELS_MAX 16

/* Keys per bucket, summed over the subtables, that are in buckets of each level. What is beyond the
 * last counts as there. */
typedef struct levels {
    double keys[LEVELS_MAX + 1];
} levels;

/* At a load of keys per bucket, 1 <= last <= LEVELS_MAX; `turns` times all keys were replaced.
 * `last` may be less than there are cells: no bucket ever had more keys than there are. */
void tamis_levels(unsigned tables, double load, double turns, unsigned last, levels *ret_levels);

#endif
