/* dleft.h - where the keys of d-left tables belong: one bucket in each of d subtables.
 *
 * Permuted: a key is a true fingerprint f, one of B (2^r - 1) numbers below B 2^r whose low r bits
 * are not 0. In subtable i it belongs to the bucket and has the print that P_i(f) says
 * (core/permute.h). What is in a bucket can have come from one f alone, and P_i can be undone.
 *
 * Apart: d independent buckets, and one print of r bits that is never 0, for all of them. That is
 * the first idea of the papers. Two keys with the same print may meet in some of their buckets and
 * not in others, so that nobody can tell whose a print is.
 */
#ifndef TAMIS_CORE_DLEFT_H
#define TAMIS_CORE_DLEFT_H

#include "core/bits.h"
#include "core/permute.h"

#define DLEFT_MAX_TABLES 8

typedef struct dleft {
    unsigned    tables, print_bits; /* d, r */
    uint64_t    buckets, range;     /* B of each, and B 2^r */
    permutation permute[DLEFT_MAX_TABLES];
} dleft;

/* A bucket, of all subtables, and the print that a key has there. */
typedef struct dleft_place {
    uint64_t bucket, print;
} dleft_place;

/* For keys that are permuted, B 2^r is at most PERMUTE_MAX. */
static __attribute__((unused)) dleft dleft_make(unsigned tables, uint64_t buckets,
                                                unsigned print_bits, bool is_permuted) {
    dleft make = { .tables = tables,
                   .print_bits = print_bits,
                   .buckets = buckets,
                   .range = buckets << print_bits };
    for (unsigned i = 0; is_permuted && i < tables; i++) {
        make.permute[i] = permutation_make(make.range, i);
    }
    return make;
}

/* How many buckets there are in all. */
TAMIS_INLINE uint64_t dleft_all(const dleft *of) {
    return of->tables * of->buckets;
}

/* ------------------------------------------------------------------ permuted */

/* Any of B numbers, and one of 2^r that is not 0. */
TAMIS_INLINE uint64_t dleft_fingerprint(const dleft *of, uint64_t hash) {
    uint64_t const bucket = fastrange_next(&hash, of->buckets);
    return bucket << of->print_bits | (1 + fastrange(hash, bits_low(of->print_bits)));
}

TAMIS_INLINE dleft_place dleft_place_in(const dleft *of, uint64_t fingerprint, unsigned i) {
    uint64_t const at = multiplier_apply(of->permute[i].there, of->range, fingerprint);
    return (dleft_place){ i * of->buckets + (at >> of->print_bits), at & bits_low(of->print_bits) };
}

/* What a print in a bucket came from. */
TAMIS_INLINE uint64_t dleft_fingerprint_of(const dleft *of, dleft_place place) {
    unsigned const i = (unsigned)(place.bucket / of->buckets);
    uint64_t const at = place.bucket % of->buckets << of->print_bits | place.print;
    return multiplier_apply(of->permute[i].back, of->range, at);
}

/* ------------------------------------------------------------------ apart */

TAMIS_INLINE uint64_t dleft_lone_print(const dleft *of, uint64_t hash) {
    return 1 + fastrange(remix(hash, DLEFT_MAX_TABLES), bits_low(of->print_bits));
}

TAMIS_INLINE uint64_t dleft_lone_bucket(const dleft *of, uint64_t hash, unsigned i) {
    return i * of->buckets + fastrange(remix(hash, i), of->buckets);
}

#endif
