/* part.h - a set that is one of P = 2^k parts of a larger one. See part.c. */
#ifndef TAMIS_PART_H
#define TAMIS_PART_H

#include "core/bits.h"
#include "handle.h"

#define PART_MAX_BITS 16 /* so P is at most 65536 */

/* What a part has beside its table. */
struct set_part {
    tamis_part_place  place;
    unsigned          bits;  /* k */
    const tamis_kind *inner; /* functions on what is left of a hash: as a whole set has them */
    tamis_kind        calls; /* functions on whole hashes, for the front door */
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

/* May such a part have so many prints? Not more than what is left of a hash can tell apart. */
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

/* Does the hash of a key belong to this part? The first k bits tell. With k = 0 all do. */
TAMIS_INLINE bool part_owns(const struct set_part *part, uint64_t hash) {
    return part->bits == 0 || hash >> (64 - part->bits) == part->place.part;
}

/* The functions on what is left of a hash: for those who make hashes from prints. */
TAMIS_INLINE const tamis_kind *part_inner_calls(const tamis_set *set) {
    return set->part == NULL ? set->calls : set->part->inner;
}

/* part.c: may a table of this geometry be such a part? */
bool tamis_part_fits(const tamis_kind *kind, const uint64_t *geometry, tamis_part_place place);

/* part.c: may the choice be the part that is requested? It sees fewer bits of a hash. They must
 * tell its fingerprints apart; and in kinds without fingerprints, keys with the same bits must be
 * rare beside the fpr. TAMIS_OK, _CANNOT. */
tamis_status tamis_part_check(const tamis_request *request, const tamis_choice *choice,
                              tamis_problem *problem);

/* part.c: make a handle a part; nothing, if `place` is that of a whole set. TAMIS_OK, _MEMORY. */
tamis_status tamis_part_init(tamis_set *set, tamis_part_place place);

void tamis_part_free(tamis_set *set);

#endif
