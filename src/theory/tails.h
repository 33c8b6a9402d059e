/* tails.h - far tails of the binomial and Poisson distributions.
 *
 * Overflow probabilities of 1e-10 and less are sums of terms that underflow if they are computed
 * naively. Here a term is computed through its logarithm, and a tail is summed from its largest
 * term outwards. So the relative accuracy holds down to 1e-300.
 */
#ifndef TAMIS_THEORY_TAILS_H
#define TAMIS_THEORY_TAILS_H

#include <stdint.h>

/* ln C(n, k) p^k (1-p)^(n-k); n and k as doubles, since n may be 10^15. */
double tamis_binomial_log(double n, double p, double k);

/* P[Binomial(n, p) >= k]. */
double tamis_binomial_tail(double n, double p, double k);

/* ln of e^-mean mean^k / k!. */
double tamis_poisson_log(double mean, double k);

/* P[Poisson(mean) >= k]. */
double tamis_poisson_tail(double mean, double k);

#endif
