/* part.h - a set that is one of P = 2^k parts of a larger one. See part.c. */
#ifndef TAMIS_PART_H
#define TAMIS_PART_H

#include "core/bits.h"
#include "handle.h"

#define PART_MAX_BITS 16 /* so P is at most 65536 */

/* What a part has besides its table. */
struct set_part {
    tamis_part_place  place;
    unsigned          bits;  /* k */
    const kind_calls *inner; /* functions that take the rest of a hash, as in a whole set */
    kind_calls        calls; /* functions that take the whole hash, for the public functions */
};

TAMIS_INLINE bool part_is_possible(tamis_part_place place) {
    bool const is_power = place.parts != 0 && (place.parts & (place.parts - 1)) == 0;
    bool const is_whole = place.part == 0 && place.parts == 0;
    return is_whole || (is_power && place.parts <= 1u << PART_MAX_BITS && place.part < place.parts);
}

/* k, for P = 2^k parts; 0 for a whole set. */
TAMIS_INLINE unsigned part_bits(tamis_part_place place) {
    return place.parts == 0 ? 0 : bits_lowest(place.parts);
}

/* Can such a part have this many prints? The rest of a hash must be able to tell them apart. */
TAMIS_INLINE bool part_holds(tamis_part_place place, uint64_t prints) {
    unsigned const bits = part_bits(place);
    return bits == 0 || prints <= UINT64_C(1) << (64 - bits);
}

TAMIS_INLINE tamis_part_place part_of_set(const tamis_set *set) {
    return set->part == NULL ? (tamis_part_place){ 0, 0 } : set->part->place;
}

TAMIS_INLINE bool part_is_same(tamis_part_place a, tamis_part_place b) {
    return a.part == b.part && a.parts == b.parts;
}

/* Does a hash belong to this part? Its first k bits say so. With k = 0 all hashes do. */
TAMIS_INLINE bool part_owns(const struct set_part *part, uint64_t hash) {
    return part->bits == 0 || hash >> (64 - part->bits) == part->place.part;
}

/* The functions that take the rest of a hash, for code that makes hashes from prints. */
TAMIS_INLINE const kind_calls *part_inner_calls(const tamis_set *set) {
    return set->part == NULL ? set->calls : set->part->inner;
}

/* part.c: can a table of this geometry be such a part? */
bool tamis_part_fits(const tamis_kind *kind, const uint64_t *geometry, tamis_part_place place);

/* part.c: can the choice be the requested part? A part sees fewer bits of a hash. They must be
 * enough to tell its fingerprints apart; and in kinds without fingerprints, keys with equal bits
 * must be rare compared with the fpr. TAMIS_OK, _CANNOT. */
tamis_status tamis_part_check(const tamis_request *request, const tamis_choice *choice,
                              tamis_problem *problem);

/* part.c: turn a handle into a part; do nothing if `place` is that of a whole set. TAMIS_OK,
 * _MEMORY. */
tamis_status tamis_part_init(tamis_set *set, tamis_part_place place);

void tamis_part_free(tamis_set *set);

#endif
