/* print_law.h - the arithmetic of kinds that store fingerprints. Of the prints that there are, a
 * key has one, and that is all that the kind knows of it.
 */
#ifndef TAMIS_THEORY_PRINT_LAW_H
#define TAMIS_THEORY_PRINT_LAW_H

#include <stdint.h>

/* P[a key has the print of one of n others]. */
double tamis_prints_fpr(uint64_t prints, double n);

/* Adds of a lifetime beyond the filling. */
double tamis_prints_churn(double n, double lifetime);

/* P[any print is ever that of `most` different keys]; 0 if one is all that it can have. */
double tamis_prints_saturation(uint64_t prints, uint64_t most, double n, double lifetime);

/* How many different keys there are, if `stored` of the prints are in use: an estimate. */
double tamis_prints_distinct(uint64_t prints, uint64_t stored);

/* Bits of a field with one of so many values, and a timer. */
unsigned tamis_prints_value_bits(uint64_t values, unsigned timer_bits);

#endif
