/* bh_rate.h - the false-positive rate of a table of pairs as it is, with all that has stuck in it.
 *
 * A stranger has k places, each an entry and a number, all of them equally likely. If they met
 * nowhere, the rate would be the k-th power of the share of places that are held. In a table of
 * few entries they do meet, and an entry that holds two places one by one may not hold both. There
 * every way to share out k places among the entries is counted: it is k! times the coefficient of
 * x^k in the product, over the entries, of
 *
 *     sum over t of  P[the entry holds t random places at once] (x/m)^t / t!
 */
#ifndef TAMIS_PLAN_BH_RATE_H
#define TAMIS_PLAN_BH_RATE_H

#include "core/pairs.h"

double tamis_bh_rate(const pairs *of, const uint8_t *body, uint64_t entries, unsigned k);

#endif
