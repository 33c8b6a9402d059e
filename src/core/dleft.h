/* dleft.h - where a key belongs in a d-left hash table.
 *
 * There are d subtables of B buckets each. A key has one bucket in every subtable, and in that
 * bucket a print of r bits. It goes to the least loaded of its d buckets; of several, to the
 * leftmost. There are two ways to choose buckets and prints:
 *
 * Permuted. A key is a fingerprint f, a number below B 2^r whose low r bits are not 0. P_i is a
 * permutation of these numbers (core/permute.h), and says where the key belongs in subtable i:
 *
 *     P_i(f)  =  | bucket, one of B | print, r bits |
 *
 * What is stored in a bucket can have come from one f alone, since P_i can be undone.
 *
 * Apart. The d buckets are independent, and the key has the same print, never 0, in all of them.
 * That is the first idea of the papers. Two keys with the same print may share some of their
 * buckets and not others, so it cannot be known whose a print is.
 */
#ifndef TAMIS_CORE_DLEFT_H
#define TAMIS_CORE_DLEFT_H

#include "core/bits.h"
#include "core/permute.h"

#define DLEFT_MAX_TABLES 8

typedef struct dleft {
    unsigned    tables, print_bits;        /* d, r */
    uint64_t    buckets;                   /* B, of each subtable */
    uint64_t    range;                     /* B 2^r */
    permutation permute[DLEFT_MAX_TABLES]; /* P_i */
} dleft;

/* A bucket, numbered through all subtables, and the print that a key has there. */
typedef struct dleft_place {
    uint64_t bucket, print;
} dleft_place;

/* With permuted keys, B 2^r is at most PERMUTE_MAX. */
static __attribute__((unused)) dleft dleft_make(unsigned tables, uint64_t buckets,
                                                unsigned print_bits, bool is_permuted) {
    dleft places = { .tables = tables,
                     .print_bits = print_bits,
                     .buckets = buckets,
                     .range = buckets << print_bits };
    for (unsigned i = 0; is_permuted && i < tables; i++) {
        places.permute[i] = permutation_make(places.range, i);
    }
    return places;
}

/* Buckets of all subtables. */
TAMIS_INLINE uint64_t dleft_all(const dleft *places) {
    return places->tables * places->buckets;
}

/* ------------------------------------------------------------------ permuted */

/* f: one of B numbers above, and one of 2^r - 1 below, 0 left out. */
TAMIS_INLINE uint64_t dleft_fingerprint(const dleft *places, uint64_t hash) {
    uint64_t const bucket = fastrange_next(&hash, places->buckets);
    return bucket << places->print_bits | (1 + fastrange(hash, bits_low(places->print_bits)));
}

TAMIS_INLINE dleft_place dleft_place_in(const dleft *places, uint64_t fingerprint, unsigned i) {
    uint64_t const at = multiplier_apply(places->permute[i].there, places->range, fingerprint);
    return (dleft_place){ i * places->buckets + (at >> places->print_bits),
                          at & bits_low(places->print_bits) };
}

/* The fingerprint that a print in a bucket came from. */
TAMIS_INLINE uint64_t dleft_fingerprint_of(const dleft *places, dleft_place place) {
    unsigned const i = (unsigned)(place.bucket / places->buckets);
    uint64_t const at = place.bucket % places->buckets << places->print_bits | place.print;
    return multiplier_apply(places->permute[i].back, places->range, at);
}

/* ------------------------------------------------------------------ apart */

TAMIS_INLINE uint64_t dleft_lone_print(const dleft *places, uint64_t hash) {
    return 1 + fastrange(remix(hash, DLEFT_MAX_TABLES), bits_low(places->print_bits));
}

TAMIS_INLINE uint64_t dleft_lone_bucket(const dleft *places, uint64_t hash, unsigned i) {
    return i * places->buckets + fastrange(remix(hash, i), places->buckets);
}

#endif
