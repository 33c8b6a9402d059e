/* counter_places.h - where the counters of a key are in a counting filter, and how they are
 * prefetched.
 *
 * Both layouts (core/sectors.h): scattered, in which a key has k counters anywhere, and blocked, in
 * which they are in one line. A counter is identified by its first bit in the body, except for
 * core/probes.h, which asks scattered tables, by its number.
 *
 *     scattered, 4 bits     byte 0     byte 1     byte 2
 *                           [c1 c0]    [c3 c2]    [c5 c4] ...      counter i begins at bit 4i
 *
 *     scattered, 5 bits     c0 has bits 0-4, c1 bits 5-9: counters cross bytes and lines, and are
 *                           read as fields of any width (core/field.h)
 *
 *     blocked               as drawn in core/sectors.h: a counter never crosses a line
 */
#ifndef TAMIS_KINDS_COUNTING_COUNTER_PLACES_H
#define TAMIS_KINDS_COUNTING_COUNTER_PLACES_H

#include "core/counters.h"
#include "core/probes.h"
#include "kind.h"
#include "size.h"

/* ------------------------------------------------------------------ the table */

/* Made by counting_prepare(). */
TAMIS_INLINE const sectors *counting_layout(const tamis_table *table) {
    return (const sectors *)(const void *)table->derived;
}

TAMIS_INLINE unsigned counting_hashes(const tamis_table *table) {
    return (unsigned)table->geometry[CBF_HASHES];
}

/* The counters apart from the table, so that the compiler keeps them in registers
 * (core/counters.h). */
TAMIS_INLINE counters counting_cells(const tamis_table *table) {
    return counters_of(counting_layout(table), table->body);
}

TAMIS_INLINE bool counting_is_blocked(const tamis_table *table) {
    return counting_layout(table)->lines != 0;
}

/* ------------------------------------------------------------------ the counters of a key */

/* Counters of a table that is not blocked, by their number, as core/probes.h needs them. */

/* Where a counter begins, to prefetch its line. It may end in the next byte, and seldom in the next
 * line. */
TAMIS_INLINE const uint8_t *counting_where(const void *any, uint64_t place) {
    const tamis_table *const table = any;
    unsigned const           bits = counting_layout(table)->bits;
    return table->body + field_find(place * bits, bits).byte;
}

TAMIS_INLINE bool counting_holds(const void *any, uint64_t place) {
    const tamis_table *const table = any;
    return counters_get(counting_cells(table), place * counting_layout(table)->bits) != 0;
}

/* The first bits of the counters of a key, in either layout. Returns k. */
TAMIS_INLINE unsigned counting_locate_one(const tamis_table *table, uint64_t hash, uint64_t *at) {
    const sectors *const layout = counting_layout(table);
    unsigned const       k = counting_hashes(table);
    if (layout->lines == 0) {
        for (unsigned i = 0; i < k; i++) {
            at[i] = probes_place(hash, i, layout->counters) * layout->bits;
        }
        return k;
    }
    /* Blocked: the hash itself chooses the line, so a counter of it is chosen by a number that does
     * not depend on the line. */
    uint64_t const line = sectors_line(layout, hash);
    for (unsigned i = 0; i < k; i++) {
        uint64_t chosen = remix(hash, i);
        at[i] = line + sectors_pick(layout, i, &chosen) * layout->bits;
    }
    return k;
}

/* Lines of a blocked table are prefetched for this many keys ahead: about as many as a core can
 * load at the same time. */
#define COUNTING_AHEAD 16

TAMIS_INLINE void counting_fetch_line(const tamis_table *table, uint64_t hash, bool is_update) {
    const uint8_t *const line = table->body + sectors_line(counting_layout(table), hash) / 8;
    if (is_update)
        prefetch_to_write(line);
    else
        prefetch_to_read(line);
}

/* Locate the counters of as many keys as `at` has room for, and prefetch them. Returns how many
 * keys. In a blocked table the lines of these keys were prefetched before: prefetch those of the
 * keys that come COUNTING_AHEAD later. */
TAMIS_INLINE unsigned counting_locate(const tamis_table *table, const uint64_t *hash, unsigned n,
                                      uint64_t at[PROBES_LOCATED]) {
    unsigned const k = counting_hashes(table), n_keys = (unsigned)min_u64(n, PROBES_LOCATED / k);
    /* The places of key i are at[i k] to at[i k + k - 1]. With k = 7, that is room for 18 keys. */
    for (unsigned i = 0; i < n_keys; i++) {
        (void)counting_locate_one(table, hash[i], at + i * k);
        if (counting_is_blocked(table)) {
            if (i + COUNTING_AHEAD < n) counting_fetch_line(table, hash[i + COUNTING_AHEAD], true);
            continue;
        }
        for (unsigned j = 0; j < k; j++) prefetch_to_write(table->body + at[i * k + j] / 8);
    }
    return n_keys;
}

#endif
