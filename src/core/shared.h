/* shared.h - cells that keys share, and that age.
 *
 * A key has k places of m cells, by independent remixes of its hash. Places that coincide are one
 * place: it counts once. What a cell holds is the kind's business, as long as a cell without
 * content is empty, and an empty cell is all zero bits:
 *
 *     cell    content | timer         timer in the high bits; none where nothing ages
 *
 * The sweep goes by units: as many cells, a power of two, as are within about a cache line.
 */
#ifndef TAMIS_CORE_SHARED_H
#define TAMIS_CORE_SHARED_H

#include "core/packed.h"
#include "core/probes.h"
#include "core/sweep.h"

#define SHARED_MAX_HASHES 32

typedef struct shared_cells {
    uint64_t cells;
    unsigned hashes;
    unsigned bits; /* of a cell: content and timer */
    unsigned content_bits;
    unsigned unit_shift; /* a unit is 2^unit_shift cells */
} shared_cells;

TAMIS_INLINE unsigned shared_unit_shift(unsigned bits) {
    unsigned shift = 0;
    while ((2u << shift) * bits <= 8 * TAMIS_LINE_BYTES) shift++;
    return shift;
}

TAMIS_INLINE shared_cells shared_make(uint64_t cells, unsigned hashes, unsigned content_bits,
                                      unsigned timer_bits) {
    unsigned const bits = content_bits + timer_bits;
    return (shared_cells){ cells, hashes, bits, content_bits, shared_unit_shift(bits) };
}

/* ------------------------------------------------------------------ where a key is */

/* The places of a key, each once. Returns how many there are. */
TAMIS_INLINE unsigned shared_places(const shared_cells *of, uint64_t hash,
                                    uint64_t place[SHARED_MAX_HASHES]) {
    unsigned n = 0;
    for (unsigned i = 0; i < of->hashes; i++) {
        uint64_t const next = probes_place(hash, i, of->cells);
        unsigned       same = 0;
        for (unsigned j = 0; j < n; j++) same |= place[j] == next;
        place[n] = next;
        n += same == 0;
    }
    return n;
}

/* Ask for the first `probes` places of each of n keys. */
TAMIS_INLINE void shared_fetch(const shared_cells *of, const uint8_t *body, const uint64_t *hash,
                               unsigned n, unsigned probes) {
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < probes && j < of->hashes; j++) {
            prefetch_to_read(body +
                             packed_find(probes_place(hash[i], j, of->cells), of->bits).byte);
        }
    }
}

/* ------------------------------------------------------------------ what a cell holds */

TAMIS_INLINE uint64_t shared_get(const shared_cells *of, const uint8_t *body, uint64_t place) {
    return packed_get(body, place, of->bits);
}

TAMIS_INLINE void shared_set(const shared_cells *of, uint8_t *body, uint64_t place, uint64_t cell) {
    packed_set(body, place, of->bits, cell);
}

TAMIS_INLINE uint64_t shared_content(const shared_cells *of, uint64_t cell) {
    return cell & bits_low(of->content_bits);
}

TAMIS_INLINE uint64_t shared_timer(const shared_cells *of, uint64_t cell) {
    return cell >> of->content_bits;
}

TAMIS_INLINE uint64_t shared_cell(const shared_cells *of, uint64_t content, uint64_t timer) {
    return content | timer << of->content_bits;
}

/* ------------------------------------------------------------------ ageing */

TAMIS_INLINE uint64_t shared_unit(const shared_cells *of, uint64_t place) {
    return place >> of->unit_shift;
}

TAMIS_INLINE uint64_t shared_units(const shared_cells *of) {
    return shared_unit(of, of->cells - 1) + 1;
}

/* The cells of a unit: from the first to before the end. */
TAMIS_INLINE uint64_t shared_unit_end(const shared_cells *of, uint64_t unit) {
    return min_u64((unit + 1) << of->unit_shift, of->cells);
}

/* A cell that is not empty, after the hand has passed: 0 if its time is over. */
TAMIS_INLINE uint64_t shared_older(const shared_cells *of, uint64_t cell) {
    return shared_timer(of, cell) == 0 ? 0 : cell - (UINT64_C(1) << of->content_bits);
}

/* The timer of another table's cell, as it is here. */
TAMIS_INLINE uint64_t shared_timer_here(const shared_cells *of, const sweep *here,
                                        const sweep *there, uint64_t place, uint64_t cell) {
    uint64_t const unit = shared_unit(of, place);
    return sweep_taken_over(here, unit, there, unit, shared_timer(of, cell), UINT64_MAX);
}

/* Can a cell have this timer? None runs longer than a fresh one. */
TAMIS_INLINE bool shared_timer_is_whole(const shared_cells *of, const sweep *hand, uint64_t place,
                                        uint64_t cell) {
    if (hand->timer_bits == 0) return true;
    return shared_timer(of, cell) <= sweep_most(hand) + sweep_owed(hand, shared_unit(of, place));
}

#endif
