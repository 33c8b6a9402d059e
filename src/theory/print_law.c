/* print_law.c - see print_law.h.
 *
 * A print is hit by a key with the chance 1/F. Beyond F = 2^53, 1 - 1/F is 1 in a double, and
 * below that it loses digits: so ln(1 - 1/F) is computed by log1p, and 1 - e^x by expm1.
 */
#include "theory/print_law.h"

#include "theory/tails.h"

#include <math.h>

double tamis_prints_fpr(uint64_t prints, double n) {
    return -expm1(n * log1p(-1 / (double)prints));
}

double tamis_prints_churn(double n, double lifetime) {
    return lifetime > n ? lifetime - n : 0;
}

/* How many prints get `most` keys, on average: in the filling, where each of F prints may be that
 * one, or by an add later, in place of a key that was removed, to a print that has just one less.
 * Such events are rare and nearly independent, so P[none] = e^-average. */
double tamis_prints_saturation(uint64_t prints, uint64_t most, double n, double lifetime) {
    if (most == 1) return 0;
    double const each = 1 / (double)prints;
    double const filling = (double)prints * tamis_binomial_tail(n, each, (double)most);
    double const add = exp(tamis_binomial_log(n - 1, each, (double)most - 1));
    return -expm1(-(filling + tamis_prints_churn(n, lifetime) * add));
}

/* Of F prints, n keys use F (1 - (1 - 1/F)^n) on average: solved for n. If all are in use, half a
 * print less is taken, since otherwise the answer would be infinite. */
double tamis_prints_distinct(uint64_t prints, uint64_t stored) {
    double const used = fmin((double)stored, (double)prints - 0.5) / (double)prints;
    return log1p(-used) / log1p(-1 / (double)prints);
}

unsigned tamis_prints_value_bits(uint64_t values, unsigned timer_bits) {
    unsigned bits = 1;
    while (UINT64_C(1) << bits < values) bits++;
    return bits + timer_bits;
}
