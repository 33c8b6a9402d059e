/* prints_plan.h - how kinds of fingerprints plan the bits for copies, counts and values of a
 * fingerprint; `line` and `rank` use all of it, and the d-left kinds prints_saturation().
 *
 * A fingerprint has one or more entries (slots, cells). An entry may have a counter of C bits; then
 * it stands for up to 2^C copies. So a fingerprint has at most `entries` x 2^C copies. With that
 * many it is saturated, and can no longer be removed. If the user leaves it open, the choice is:
 *
 *   a set without removal   one entry, no counter: a fingerprint is stored once;
 *   removal, one copy       8 entries, no counter. Further copies are rare: other keys with the
 *                           same fingerprint, or one key that is flooded. Only 8 keys with one
 *                           fingerprint saturate it;
 *   removal, more copies    counters. One entry counts all planned copies of a key, and again
 *                           only 8 such keys saturate a fingerprint;
 *   counting                one entry with a counter for all: copies take no room;
 *   states                  one entry with a field for the value and its timer.
 *
 * A counter of C bits costs C bits per key. An entry for a further copy costs a whole remainder,
 * which is more than that from the second copy on.
 */
#ifndef TAMIS_PRINTS_PLAN_H
#define TAMIS_PRINTS_PLAN_H

#include "kind.h"
#include "theory/print_law.h"

/* How many keys with the same fingerprint saturate it, at least. With fewer, random collisions
 * would saturate fingerprints during a long life, and these could never be removed. */
#define PRINTS_KEYS_TO_SATURATE 8

/* The fewest bits of a counter for that many copies, 1 or more. */
static inline uint64_t prints_counter_bits(uint64_t copies) {
    uint64_t bits = 0;
    while (bits < 63 && UINT64_C(1) << bits < copies) bits++;
    return bits;
}

/* P[any fingerprint is ever saturated]. It then has `most` copies, which come from several
 * different keys with the same fingerprint. */
static inline double prints_saturation(uint64_t prints, uint64_t most, const tamis_workload *work) {
    if (most == 1) return 0;
    if (most <= work->copies) return 1;
    return tamis_prints_saturation(prints, (most + work->copies - 1) / work->copies,
                                   (double)work->capacity, (double)work->lifetime);
}

/* Set a field to a value if it is free. False: it is fixed to another one. */
static inline bool prints_fix(uint64_t *field, uint64_t value) {
    if (*field == NEED_FREE) *field = value;
    return *field == value;
}

/* Choose how copies that can be removed or counted are stored. Up to `with_counters` entries of a
 * fingerprint can have counters. */
static inline void prints_choose(const tamis_need *need, uint64_t with_counters, uint64_t *bits,
                                 uint64_t *entries) {
    uint64_t const most = max_u64(need->count_to + 1, PRINTS_KEYS_TO_SATURATE * need->work.copies);
    bool const     is_counted = need_can(need, TAMIS_CAN_COUNT);
    bool const     is_plain = !is_counted && need->work.copies == 1;
    if (*bits == NEED_FREE && *entries == NEED_FREE) {
        *entries = is_plain ? PRINTS_KEYS_TO_SATURATE : is_counted ? 1 : with_counters;
        *bits = prints_counter_bits((most + *entries - 1) / *entries);
    }
    if (*bits == NEED_FREE) *bits = 0; /* a user who fixes only the entries wants no counters */
    uint64_t const each = UINT64_C(1) << min_u64(*bits, 32);
    if (*entries == NEED_FREE)
        *entries =
            *bits == 0 ? PRINTS_KEYS_TO_SATURATE : min_u64(with_counters, (most + each - 1) / each);
}

/* Choose the free ones of three adjacent fields of a geometry: counter_bits, entries (called
 * `copies` there) and value_bits. False: the need cannot be met with the fixed fields. */
static inline bool prints_plan(const tamis_need *need, uint64_t with_counters, uint64_t *fields) {
    uint64_t *const bits = &fields[0], *const entries = &fields[1], *const value_bits = &fields[2];
    if (need->values != 0) {
        return prints_fix(bits, 0) && prints_fix(entries, 1) &&
               prints_fix(value_bits, tamis_prints_value_bits(need->values, need->timer_bits));
    }
    if (*value_bits == NEED_FREE) *value_bits = 0;
    bool const is_kept = need_can(need, TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT) && *value_bits == 0;
    if (!is_kept) {
        if (*bits == NEED_FREE) *bits = 0;
        if (*entries == NEED_FREE) *entries = 1;
        return true;
    }
    prints_choose(need, with_counters, bits, entries);
    /* A key with all of its planned copies must not be saturated. */
    uint64_t const most = *entries << min_u64(*bits, 32);
    return most == 1 || most > need->work.copies;
}

#endif
