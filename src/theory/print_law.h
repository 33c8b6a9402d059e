/* print_law.h - what all kinds have in common that store fingerprints: of the prints there are, a
 * key has one, and that is all that is known of it.
 */
#ifndef TAMIS_THEORY_PRINT_LAW_H
#define TAMIS_THEORY_PRINT_LAW_H

#include "need.h"
#include <stdbool.h>
#include <stdint.h>

/* P[a key has the print of one of n others]. */
double tamis_prints_fpr(uint64_t prints, double n);

/* Adds of a lifetime beyond the filling. */
double tamis_prints_churn(double n, double lifetime);

/* P[any print ever gets `most` copies] of different keys; 0 if one is all that it can have. */
double tamis_prints_saturation(uint64_t prints, uint64_t most, double n, double lifetime);

/* How copies are kept. What is NEED_FREE is chosen: without removal a print is stored once; to
 * remove, each copy takes a cell; to count, cells have counters. Values need one cell per print. */
#define PRINTS_MULTISET_COPIES 8

typedef struct prints_mode {
    uint64_t counter_bits, copies, value_bits;
} prints_mode;

/* `counting` is what a kind takes when it is to count. */
prints_mode tamis_prints_mode(prints_mode fixed, bool is_removed, bool is_counted,
                              prints_mode counting);

/* Bits of a field with one of so many values, and a timer. */
unsigned tamis_prints_value_bits(uint64_t values, unsigned timer_bits);

/* The mode that states need: one cell for a print, with such a field. False: what is fixed is
 * something else. */
bool tamis_prints_states(uint64_t values, unsigned timer_bits, prints_mode *mode);

#endif
