/* overlaid.h - cells that several keys share, and that age.
 *
 * A key has k places among m cells, by independent remixes of its hash. Two places of a key that
 * coincide are one place, and count once. What the content of a cell means is up to the kind. There
 * is one rule: a cell that belongs to no key is all zero bits.
 *
 *     high bits                   low bits
 *     +---------------------------+------------------------------+
 *     | timer (none: nothing ages)| content, 0 in an empty cell  |      one cell
 *     +---------------------------+------------------------------+
 *
 * The sweep (core/sweep.h) goes by units: the largest power of two of cells that is not longer than
 * a cache line. With cells of 5 bits a unit is 64 cells, 320 bits: 128 would be 640, and a cache
 * line has 512.
 */
#ifndef TAMIS_CORE_OVERLAID_H
#define TAMIS_CORE_OVERLAID_H

#include "core/packed.h"
#include "core/probes.h"
#include "core/sweep.h"

#define OVERLAID_MAX_HASHES 32

typedef struct overlaid_cells {
    uint64_t n;      /* m */
    unsigned hashes; /* k */
    unsigned bits;   /* of a cell: content and timer */
    unsigned content_bits;
    unsigned unit_shift; /* a unit is 2^unit_shift cells */
} overlaid_cells;

TAMIS_INLINE unsigned overlaid_unit_shift(unsigned bits) {
    unsigned shift = 0;
    while ((2u << shift) * bits <= 8 * TAMIS_LINE_BYTES) shift++;
    return shift;
}

TAMIS_INLINE overlaid_cells overlaid_make(uint64_t n, unsigned hashes, unsigned content_bits,
                                          unsigned timer_bits) {
    unsigned const bits = content_bits + timer_bits;
    return (overlaid_cells){ n, hashes, bits, content_bits, overlaid_unit_shift(bits) };
}

/* ------------------------------------------------------------------ one cell */

TAMIS_INLINE uint64_t overlaid_get(const overlaid_cells *cells, const uint8_t *body,
                                   uint64_t place) {
    return packed_get(body, place, cells->bits);
}

TAMIS_INLINE void overlaid_set(const overlaid_cells *cells, uint8_t *body, uint64_t place,
                               uint64_t cell) {
    packed_set(body, place, cells->bits, cell);
}

TAMIS_INLINE uint64_t overlaid_content(const overlaid_cells *cells, uint64_t cell) {
    return cell & bits_low(cells->content_bits);
}

TAMIS_INLINE uint64_t overlaid_timer(const overlaid_cells *cells, uint64_t cell) {
    return cell >> cells->content_bits;
}

TAMIS_INLINE uint64_t overlaid_cell(const overlaid_cells *cells, uint64_t content, uint64_t timer) {
    return content | timer << cells->content_bits;
}

/* ------------------------------------------------------------------ the cells of a key */

/* The cells of a key: where they are, each place once, and what they held when they were read. */
typedef struct overlaid_found {
    unsigned n;
    uint64_t place[OVERLAID_MAX_HASHES];
    uint64_t cell[OVERLAID_MAX_HASHES];
} overlaid_found;

/* The places of a key, in the order of its remixes, without repeats. Returns how many. */
TAMIS_INLINE unsigned overlaid_places(const overlaid_cells *cells, uint64_t hash,
                                      uint64_t place[OVERLAID_MAX_HASHES]) {
    unsigned n = 0;
    for (unsigned i = 0; i < cells->hashes; i++) {
        uint64_t const next = probes_place(hash, i, cells->n);
        unsigned       same = 0;
        for (unsigned j = 0; j < n; j++) same |= place[j] == next;
        place[n] = next;
        n += same == 0;
    }
    return n;
}

/* Read all cells of a key: what a change needs, in one look. */
TAMIS_INLINE void overlaid_read(const overlaid_cells *cells, const uint8_t *body, uint64_t hash,
                                overlaid_found *ret_found) {
    ret_found->n = overlaid_places(cells, hash, ret_found->place);
    for (unsigned i = 0; i < ret_found->n; i++) {
        ret_found->cell[i] = overlaid_get(cells, body, ret_found->place[i]);
    }
}

/* Ask for the memory of the first `probes` places of each of n keys. */
TAMIS_INLINE void overlaid_fetch(const overlaid_cells *cells, const uint8_t *body,
                                 const uint64_t *hash, unsigned n, unsigned probes) {
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < probes && j < cells->hashes; j++) {
            prefetch_to_read(body +
                             packed_find(probes_place(hash[i], j, cells->n), cells->bits).byte);
        }
    }
}

/* ------------------------------------------------------------------ ageing */

TAMIS_INLINE uint64_t overlaid_unit(const overlaid_cells *cells, uint64_t place) {
    return place >> cells->unit_shift;
}

TAMIS_INLINE uint64_t overlaid_units(const overlaid_cells *cells) {
    return overlaid_unit(cells, cells->n - 1) + 1;
}

/* The place after the last cell of a unit. */
TAMIS_INLINE uint64_t overlaid_unit_end(const overlaid_cells *cells, uint64_t unit) {
    return min_u64((unit + 1) << cells->unit_shift, cells->n);
}

/* What a cell that is in use becomes when the hand passes: 0 if its time is over. */
TAMIS_INLINE uint64_t overlaid_older(const overlaid_cells *cells, uint64_t cell) {
    return overlaid_timer(cells, cell) == 0 ? 0 : cell - (UINT64_C(1) << cells->content_bits);
}

/* The timer of a cell of another table with the same cells, as it is in this one. */
TAMIS_INLINE uint64_t overlaid_timer_here(const overlaid_cells *cells, const sweep *here,
                                          const sweep *there, uint64_t place, uint64_t cell) {
    uint64_t const unit = overlaid_unit(cells, place);
    return sweep_taken_over(here, unit, there, unit, overlaid_timer(cells, cell), UINT64_MAX);
}

/* For validate: can a cell have this timer? None runs longer than a fresh one. */
TAMIS_INLINE bool overlaid_timer_is_whole(const overlaid_cells *cells, const sweep *hand,
                                          uint64_t place, uint64_t cell) {
    if (hand->timer_bits == 0) return true;
    return overlaid_timer(cells, cell) <=
           sweep_most(hand) + sweep_owed(hand, overlaid_unit(cells, place));
}

#endif
