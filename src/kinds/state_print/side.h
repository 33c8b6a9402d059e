/* side.h - a small exact table beside an approximate one: keys as their full 64-bit hashes.
 *
 * It is the paper's TCAM. It has room for a few keys that cannot be where the others are, as a
 * list, and a key is found by going through all of it. So while the table is empty, a search costs
 * one comparison, and all of its bytes are zero.
 *
 *     +-------+------+------+------+ - - +---------+---------+ - -
 *     | count | hash | hash | hash |     | field   | field   |       a field for each hash
 *     +-------+------+------+------+ - - +---------+---------+ - -
 *
 * The list is in no order, and the first `count` places are used. With room for 16 keys and fields
 * of 10 bits it has 8 + 128 + 20 = 156 bytes. Keys have their whole hash, so a key that is here is
 * never taken for another one, except with a chance of 2^-64.
 */
#ifndef TAMIS_KINDS_STATE_PRINT_SIDE_H
#define TAMIS_KINDS_STATE_PRINT_SIDE_H

#include "core/field.h"

#define SIDE_MAX_ROOM 64 /* keys: a search goes through all of them */

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

/* Keys in the list. The count of a damaged file may be larger than the room; without any room there
 * is no count, either. */
TAMIS_INLINE unsigned side_count(side list) {
    uint64_t const count = list.shape->room == 0 ? 0 : le64_load(list.body + list.shape->at);
    return (unsigned)min_u64(count, list.shape->room);
}

TAMIS_INLINE uint8_t *side_hash_at(side list, unsigned i) {
    return list.body + list.shape->at + 8 + 8 * (uint64_t)i;
}

TAMIS_INLINE uint64_t side_hash(side list, unsigned i) {
    return le64_load(side_hash_at(list, i));
}

/* The bit of the body where the field of a key is. */
TAMIS_INLINE uint64_t side_field_at(side list, unsigned i) {
    return 8 * (list.shape->at + 8 + 8 * (uint64_t)list.shape->room) +
           (uint64_t)i * list.shape->bits;
}

/* The number of a key in the list; side_count(): it is not there. */
TAMIS_INLINE unsigned side_find(side list, uint64_t hash) {
    unsigned const count = side_count(list);
    unsigned       i = 0;
    while (i < count && side_hash(list, i) != hash) i++;
    return i;
}

TAMIS_INLINE bool side_has(side list, uint64_t hash) {
    return side_find(list, hash) < side_count(list);
}

/* ------------------------------------------------------------------ adding and removing keys */

/* False: there is no room. The key is not there yet. */
TAMIS_INLINE bool side_add(side list, uint64_t hash, uint64_t field) {
    unsigned const count = side_count(list);
    if (count == list.shape->room) return false;
    le64_store(side_hash_at(list, count), hash);
    field_set(list.body, side_field_at(list, count), list.shape->bits, field);
    le64_store(list.body + list.shape->at, count + 1);
    return true;
}

/* Take a key away; the last one takes its place. */
TAMIS_INLINE void side_take(side list, unsigned i) {
    unsigned const last = side_count(list) - 1, bits = list.shape->bits;
    le64_store(side_hash_at(list, i), side_hash(list, last));
    field_set(list.body, side_field_at(list, i), bits,
              field_get(list.body, side_field_at(list, last), bits));
    le64_store(side_hash_at(list, last), 0);
    field_set(list.body, side_field_at(list, last), bits, 0);
    le64_store(list.body + list.shape->at, last);
}

/* ------------------------------------------------------------------ checking */

/* For validate: no more keys than there is room for, no key twice, and zero after the last? */
TAMIS_INLINE bool side_is_whole(side list) {
    unsigned const count = side_count(list), room = list.shape->room;
    if (room != 0 && le64_load(list.body + list.shape->at) > room) return false;
    /* A hash that is there twice is found at its first place. */
    for (unsigned i = 0; i < room; i++) {
        if (i < count ? side_find(list, side_hash(list, i)) != i : side_hash(list, i) != 0)
            return false;
    }
    return field_is_zero(list.body, side_field_at(list, count), side_field_at(list, room));
}

#endif
