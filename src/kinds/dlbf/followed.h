/* followed.h - the rate of a dlbf with few keys: such tables are filled many times, without keys.
 *
 * Idea. The rate needs the loads of the buckets and nothing of what is in them. So a table of loads
 * is filled, with dice that are always the same (a plan never changes), so many times that the mean
 * rate is good to about 1% (test_dlbf_size.c).
 *
 * Why. In a table of few buckets, loads differ by chance, which the fluid limit does not know, and
 * the rate is mostly that of the fullest ones: at 29 keys the limit is a fifth too low. No law is
 * known for it.
 */
#ifndef TAMIS_KINDS_DLBF_FOLLOWED_H
#define TAMIS_KINDS_DLBF_FOLLOWED_H

#include "analysis.h"

#define FOLLOWED_HITS 1e-3 /* a rate from which on keys that match, and are not stored, matter */

/* Is it a table of few keys and buckets? With more buckets the limit is close, however few the keys
 * are. */
bool tamis_dlbf_is_followed(const uint64_t *geometry, double n);

/* The mean rate over many lives. `limit` is the rate that the fluid limit tells. */
double tamis_dlbf_followed_fpr(const uint64_t *geometry, double n, double limit);

#endif
