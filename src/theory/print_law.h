/* print_law.h - the arithmetic of kinds that store fingerprints.
 *
 * There are F different prints. Each key has one of them, by its hash, and the kind knows nothing
 * else of the key. `prints` is F below.
 */
#ifndef TAMIS_THEORY_PRINT_LAW_H
#define TAMIS_THEORY_PRINT_LAW_H

#include <stdint.h>

/* P[a key has the print of one of n others]. */
double tamis_prints_fpr(uint64_t prints, double n);

/* Adds of a lifetime beyond the filling. */
double tamis_prints_churn(double n, double lifetime);

/* P[some print is ever shared by `most` different keys at one time]; 0 if most is 1. */
double tamis_prints_saturation(uint64_t prints, uint64_t most, double n, double lifetime);

/* An estimate of the number of different keys, from the number of prints in use. */
double tamis_prints_distinct(uint64_t prints, uint64_t stored);

/* Bits of a field that holds one of this many values and a timer. */
unsigned tamis_prints_value_bits(uint64_t values, unsigned timer_bits);

#endif
