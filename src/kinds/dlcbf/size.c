/* size.c - see size.h. */
#include "size.h"

#include <math.h>
#include <string.h>

#define LINE_BYTES 64

/* Are keys added and removed? Without counters no key is removed, and the law is that of filling,
 * under which buckets are less often full (theory/dleft_size.h). */
static bool is_churned(const uint64_t *g) {
    return g[DLCBF_COUNTER_BITS] != 0;
}

/* ------------------------------------------------------------------ layout */

/* What only this kind limits; the rest is the same for all d-left kinds (theory/dleft_size.c). */
bool tamis_dlcbf_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    if (g[DLCBF_COUNTER_BITS] > DLCBF_MAX_COUNTER_BITS || g[DLCBF_MOVES] > 1 ||
        g[DLCBF_REMAINDER_BITS] > DLCBF_MAX_REMAINDER_BITS)
        return false;
    return tamis_dleft_bytes(g, ret_bytes);
}

uint64_t tamis_dlcbf_prints(const uint64_t *g) {
    return tamis_dleft_prints(g);
}

/* ------------------------------------------------------------------ prediction */

/* Moves make overflow rarer than that (size.h). */
double tamis_dlcbf_overflow(const uint64_t *g, double n, double lifetime) {
    return tamis_dleft_overflow(g, is_churned(g), n, lifetime);
}

/* A bucket begins at a multiple of the largest power of two that divides its bytes, at random among
 * those of a line. So it reaches into the next line with the rest of its bytes, by chance: one of
 * 24 bytes begins at a multiple of 8, and is in 1 + (24 - 8) / 64 = 1.25 lines on average. A lookup
 * that finds its key reads no further; an absent key and an add read all d buckets. */
void tamis_dlcbf_touches(const uint64_t *g, double n, double *ret_present, double *ret_absent,
                         double *ret_add) {
    uint64_t const bytes = g[DLCBF_BUCKET_BYTES], power = bytes & -bytes;
    double const   start = fmin(LINE_BYTES, (double)power);
    double const   each = 1 + ((double)bytes - start) / LINE_BYTES; /* lines of a bucket */
    fluid          law;
    tamis_dleft_law(g, is_churned(g), n, &law);
    *ret_present = each * tamis_fluid_tables_read(&law, FLUID_MAX_HEIGHT);
    *ret_absent = *ret_add = each * (double)g[DLCBF_TABLES];
}

/* ------------------------------------------------------------------ choice */

/* The fewest counter bits that hold all planned copies of a key in one cell, and count as far as is
 * asked: a fingerprint has up to DLCBF_COPIES cells. Two bits are the least, as in the paper. */
static uint64_t dlcbf_enough_counter_bits(const tamis_need *need) {
    if (!need_can(need, TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT)) return 0;
    uint64_t bits = 2;
    while (bits < DLCBF_MAX_COUNTER_BITS && (UINT64_C(1) << bits < need->work.copies ||
                                             (uint64_t)DLCBF_COPIES << bits <= need->count_to))
        bits++;
    return bits;
}

/* Any one key may be added without end, and then takes DLCBF_COPIES cells instead of one: there
 * must be room for this many more. The need states the rate for its capacity, and the rate grows in
 * proportion to the keys. */
bool tamis_dlcbf_choose(const tamis_need *need, uint64_t *ret_geometry) {
    double const capacity = (double)need->work.capacity, keys = capacity + DLCBF_COPIES - 1;
    uint64_t     g[DLCBF_FIELDS], bytes;
    memcpy(g, need->fixed, sizeof g);
    if (g[DLCBF_COUNTER_BITS] == NEED_FREE) g[DLCBF_COUNTER_BITS] = dlcbf_enough_counter_bits(need);
    if (g[DLCBF_MOVES] == NEED_FREE) g[DLCBF_MOVES] = 1;
    if (g[DLCBF_COUNTER_BITS] > DLCBF_MAX_COUNTER_BITS) return false;
    if (is_churned(g) && dlcbf_full(g) < need->work.copies) return false;
    dleft_rules const rules = { .keys = keys,
                                .fpr = need->fpr * keys / capacity,
                                .overflow = need->overflow,
                                .is_churned = is_churned(g),
                                .most_print_bits = DLCBF_MAX_REMAINDER_BITS };
    if (!tamis_dleft_choose(need, &rules, g) || !tamis_dlcbf_bytes(g, &bytes)) return false;
    memcpy(ret_geometry, g, sizeof g);
    return true;
}
