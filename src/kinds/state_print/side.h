/* side.h - a small exact table beside an approximate one: keys as their full 64-bit hashes.
 *
 * It has room for a few keys that cannot be where the others are. They are listed one behind the
 * other, and a key is found by going through the list. So the table is nothing but a count as long
 * as it is empty, and all zero bytes then.
 *
 *     +-------+------+------+------+ - - +---------+---------+ - -
 *     | count | hash | hash | hash |     | field   | field   |       a field for each hash
 *     +-------+------+------+------+ - - +---------+---------+ - -
 */
#ifndef TAMIS_KINDS_STATE_PRINT_SIDE_H
#define TAMIS_KINDS_STATE_PRINT_SIDE_H

#include "core/field.h"

#define SIDE_MAX_ROOM 64 /* a list that one goes through for every key */

typedef struct side_shape {
    uint64_t at; /* byte of the count; a multiple of 8 */
    unsigned room, bits;
} side_shape;

typedef struct side {
    uint8_t          *body;
    const side_shape *shape;
} side;

/* ------------------------------------------------------------------ where things are */

/* Bytes of all: the count, the hashes, the fields. */
TAMIS_INLINE uint64_t side_bytes(uint64_t room, uint64_t bits) {
    return room == 0 ? 0 : 8 + 8 * room + (room * bits + 7) / 8;
}

/* What a file says may be more than there is room for. */
TAMIS_INLINE unsigned side_count(side of) {
    uint64_t const count = of.shape->room == 0 ? 0 : le64_load(of.body + of.shape->at);
    return (unsigned)min_u64(count, of.shape->room);
}

TAMIS_INLINE uint8_t *side_hash_at(side of, unsigned i) {
    return of.body + of.shape->at + 8 + 8 * (uint64_t)i;
}

TAMIS_INLINE uint64_t side_hash(side of, unsigned i) {
    return le64_load(side_hash_at(of, i));
}

/* The bit of the body where the field of a key is. */
TAMIS_INLINE uint64_t side_field_at(side of, unsigned i) {
    return 8 * (of.shape->at + 8 + 8 * (uint64_t)of.shape->room) + (uint64_t)i * of.shape->bits;
}

/* Which of the keys this is, or as many as there are. */
TAMIS_INLINE unsigned side_find(side of, uint64_t hash) {
    unsigned const count = side_count(of);
    unsigned       i = 0;
    while (i < count && side_hash(of, i) != hash) i++;
    return i;
}

TAMIS_INLINE bool side_has(side of, uint64_t hash) {
    return side_find(of, hash) < side_count(of);
}

/* ------------------------------------------------------------------ keys come and go */

/* False: there is no room. The key is not there yet. */
TAMIS_INLINE bool side_add(side of, uint64_t hash, uint64_t field) {
    unsigned const count = side_count(of);
    if (count == of.shape->room) return false;
    le64_store(side_hash_at(of, count), hash);
    field_set(of.body, side_field_at(of, count), of.shape->bits, field);
    le64_store(of.body + of.shape->at, count + 1);
    return true;
}

/* A key is gone; the last one takes its place. */
TAMIS_INLINE void side_take(side of, unsigned i) {
    unsigned const last = side_count(of) - 1, bits = of.shape->bits;
    le64_store(side_hash_at(of, i), side_hash(of, last));
    field_set(of.body, side_field_at(of, i), bits,
              field_get(of.body, side_field_at(of, last), bits));
    le64_store(side_hash_at(of, last), 0);
    field_set(of.body, side_field_at(of, last), bits, 0);
    le64_store(of.body + of.shape->at, last);
}

/* ------------------------------------------------------------------ checking */

/* Is there no more than there is room for, no key twice, and zero behind the last? */
TAMIS_INLINE bool side_is_whole(side of) {
    unsigned const count = side_count(of), room = of.shape->room;
    if (room != 0 && le64_load(of.body + of.shape->at) > room) return false;
    for (unsigned i = 0; i < room; i++) {
        if (i < count ? side_find(of, side_hash(of, i)) != i : side_hash(of, i) != 0) return false;
    }
    return field_is_zero(of.body, side_field_at(of, count), side_field_at(of, room));
}

#endif
