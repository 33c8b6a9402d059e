/* peaks.h - the most keys that the buckets of d-left hash tables ever had at once.
 *
 * Paper: Bonomi et al., "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", Allerton
 * 2006, section III.
 *
 * Why. In this kind remainders get shorter when a bucket fills up, and never longer again: their
 * length follows from the level of the bucket, the most keys that it had since it was empty last.
 * The false-positive rate needs the distribution of levels after a lifetime of adds and removals.
 * The paper measured it ("experimentally determined"); here it is computed.
 *
 * Idea. After filling, the level is the load, and the fluid limit tells it (theory/fluid.h). Then,
 * at capacity, keys are added and removed. In units of the time in which all keys are replaced
 * once, a bucket of subtable i with k keys loses one at the rate k, and gets one at the rate
 *
 *     up(i, k) = d load  prod l<i x(l, k+1)  prod l>i x(l, k)
 *
 * where x is the limit under churn: the key's buckets to the left must have more keys, and those to
 * the right at least as many. So for each level m the share of buckets with k keys, k <= m, that
 * never had more than m, is a birth and death process with the way up from m cut off. Buckets that
 * become empty come back to it. It is followed in small steps (Crank and Nicolson's method) until
 * only its slowest part is left, and from there on by its exponential.
 */
#ifndef TAMIS_KINDS_DDLCBF_PEAKS_H
#define TAMIS_KINDS_DDLCBF_PEAKS_H

#define PEAK_LEVELS_MAX 16

/* Keys per bucket, summed over the subtables, that are in buckets of each level. Higher levels than
 * the last count as the last. */
typedef struct peak_levels {
    double keys[PEAK_LEVELS_MAX + 1];
} peak_levels;

/* At a load of keys per bucket, after all keys were replaced `turns` times. 1 <= last <=
 * PEAK_LEVELS_MAX, and `last` may be less than the cells of a bucket: no bucket ever had more keys
 * than there are. */
void tamis_peak_levels(unsigned tables, double load, double turns, unsigned last,
                       peak_levels *ret_levels);

#endif
