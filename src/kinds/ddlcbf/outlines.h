/* outlines.h - the rate of tables whose buckets have no law: a small one is followed.
 *
 * Paper: Bonomi et al., Allerton 2006, section III.B (two remainder lengths in a bucket).
 *
 * Idea. The rate needs the lengths of all cells and nothing of what is in them. So a small table is
 * filled and churned with outlines: buckets that know how many cells of each length they have, and
 * their level. The dice are always the same, so that a plan never changes.
 *
 * Why. With two lengths, a bucket's state is two counts and two lengths, and depends on the order
 * of adds and removals: no law is known. A table of a few buckets has loads that differ by chance,
 * which the fluid limit does not know.
 */
#ifndef TAMIS_KINDS_DDLCBF_OUTLINES_H
#define TAMIS_KINDS_DDLCBF_OUTLINES_H

#include "prefixes.h"

#include <math.h>

#define OUTLINES_FEW 32 /* buckets, in all: fewer are always followed */

/* The rate from the sum of 2^-length over all cells, per bucket of a subtable: P[at least one of a
 * Poisson number of matches]. */
static inline double ddlcbf_rate(double sum) {
    return -expm1(-sum);
}

/* The rate at a load, after all keys were replaced `turns` times; `buckets` in each subtable. */
double tamis_outlines_rate(const prefixes_shape *s, unsigned tables, uint64_t buckets, double load,
                           double turns);

/* The rate after filling a large table. This needs no dice: the outline follows from the load, and
 * the fluid limit tells the loads. */
double tamis_outlines_filled_rate(const prefixes_shape *s, unsigned tables, double load);

#endif
