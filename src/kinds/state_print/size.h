/* size.h - the sizes and rates of d-left tables of states.
 *
 * Names: n keys; d subtables of B buckets with h cells each; f bits of print and x of value and
 * timer in a cell: d B h (f + x) bits. q = 1 / (B (2^f - 1)) is the chance that a key is taken for
 * a given other one, so n q that it is for any: load x d x 2^-f, below the union bound d h 2^-f.
 *
 * Paper: Bonomi et al., SIGCOMM 2006, section 3.4; sizes and overflow are those of all d-left
 * tables (theory/dleft_size.h). That overflowing keys go to a side table is a net below that, and
 * not counted: with the probability stated, the side table of a permuted table is empty all its
 * life.
 *
 * Not permuted, a key is unknown when a later one left the same print in another of its buckets,
 * and, once the key was moved, the later one is unknown, too. Of N keys in the table that are both
 * of N q (d - 1) / d N / 2 pairs: a share of N q (d - 1) / d at most, and half of that if nothing
 * is moved. (In fact 84% of it at a load of 2 and 90% at 4: a bucket that one key passed by is
 * rather full, and the next one passes by too.) An unknown key cannot be dropped. If nothing ages
 * it stays, and so in a life of T puts there are up to
 *
 *     N = n + (T - n) N q (d - 1) / d
 *
 * keys in the table in the end. For these the rates are stated: they hold whether keys age or not.
 *
 * Example: n = 10^6, T = 16 x 10^6, d = 3, and q = 10^-9. Then N q (d - 1) / d is 0.067%, and N =
 * 1.010 x 10^6: one key in a hundred is one that could not be dropped.
 *
 * Tables that age. If keys end in silence, buckets are fullest when the sweep reaches them. New
 * keys go to those that were just swept, and stay there longest: there are up to a fifth more of
 * them than if they went anywhere. Overflow is what is stated if n counts each key for the longest
 * time that it may stay, T + T / passes. Then no bucket is fuller than the law of churn says, with
 * 2 to 5 timer bits (test_state_print_ageing.c); n as the keys at one time would not be enough.
 *
 * A key that is unknown when it is added is put into the side table; that is counted. Two cells
 * match it, or one whose value is not known: at most 1 - e^-Nq (1 + Nq) + (Nq)^2 of the keys.
 */
#ifndef TAMIS_KINDS_STATE_PRINT_SIZE_H
#define TAMIS_KINDS_STATE_PRINT_SIZE_H

#include "need.h"
#include "theory/dleft_size.h"

#include <assert.h>

/* The geometry. */
enum {
    STATE_PRINT_TABLES,
    STATE_PRINT_BUCKETS, /* of each */
    STATE_PRINT_CELLS,
    STATE_PRINT_PRINT_BITS,
    STATE_PRINT_VALUE_BITS,   /* of a value and a timer */
    STATE_PRINT_BUCKET_BYTES, /* at least what the cells take */
    STATE_PRINT_PERMUTED,     /* 1: no two keys with the same print in a bucket */
    STATE_PRINT_REINSERTS,    /* 1: a key whose value changes goes to the least loaded bucket */
    STATE_PRINT_SIDE,         /* room in the side table */
    STATE_PRINT_FIELDS
};

static_assert((int)STATE_PRINT_PRINT_BITS == (int)DLEFT_PRINT_BITS &&
                  (int)STATE_PRINT_VALUE_BITS == (int)DLEFT_OTHER_BITS &&
                  (int)STATE_PRINT_PERMUTED == (int)DLEFT_FIELDS,
              "it begins as all d-left tables do");

/* Where the side table is, and where all ends: bytes of the body. */
typedef struct state_print_layout {
    uint64_t side, end;
} state_print_layout;

/* False for a geometry out of its ranges, or too large. */
bool tamis_state_print_layout(const uint64_t *geometry, state_print_layout *ret_layout);

/* N: how many keys there are in the table at the end of a life; INFINITY: it does not end well. */
double tamis_state_print_keys(const uint64_t *geometry, double n, double lifetime);

/* P[a key that is not there has a value, or is unknown] at that time. */
double tamis_state_print_fpr(const uint64_t *geometry, double n, double lifetime);

/* P[a key that is there is unknown] at that time. */
double tamis_state_print_unknown(const uint64_t *geometry, double n, double lifetime);

/* P[some put of a lifetime is refused], or if permuted, that the side table is needed. */
double tamis_state_print_overflow(const uint64_t *geometry, double n, double lifetime);

/* Cache lines that a get of a present and of an absent key, and a put touch on average. One of them
 * is always the same: that of the side table's count. */
void tamis_state_print_touches(const uint64_t *geometry, bool is_churned, double n,
                               double *ret_present, double *ret_absent, double *ret_put);

/* Fill in what is free of the geometry; value_bits and permuted are given. False: it cannot be had.
 */
bool tamis_state_print_choose(const tamis_need *need, uint64_t *geometry);

#endif
