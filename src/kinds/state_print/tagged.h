/* tagged.h - d-left tables of prints, each with a field that belongs to it.
 *
 * A bucket has its prints first, so that all are compared at once (core/cells.h), and their fields
 * after them. Cells that are used come first. A print is never 0, so 0 is a free cell.
 *
 *     +-----+-----+-----+-----+---------+---------+---------+---------+
 *     |  p  |  p  |  p  |  .  |  field  |  field  |  field  |    .    |    4 cells, 3 keys
 *     +-----+-----+-----+-----+---------+---------+---------+---------+
 *
 * With prints of 12 bits and fields of 4 bits, the prints are bits 0 to 47 of a bucket of 8 bytes,
 * and field i begins at bit 48 + 4 i. Why not print and field side by side: then a word would have
 * fewer prints, and a lookup compares prints only.
 *
 * Where a key belongs is said by core/dleft.h, in one of its two ways: permuted, or with one print
 * for all subtables (apart).
 */
#ifndef TAMIS_KINDS_STATE_PRINT_TAGGED_H
#define TAMIS_KINDS_STATE_PRINT_TAGGED_H

#include "core/cells.h"
#include "core/dleft.h"

typedef struct tagged_shape {
    cells_shape cells; /* of prints only */
    dleft       places;
    unsigned    bits; /* of a field */
    bool        is_permuted;
} tagged_shape;

typedef struct tagged {
    uint8_t            *body;
    const tagged_shape *shape;
} tagged;

/* ------------------------------------------------------------------ where a key belongs */

/* What is looked for: permuted, the fingerprint alone; otherwise the hash and its one print. */
typedef struct tagged_key {
    uint64_t hash, print;
} tagged_key;

TAMIS_INLINE tagged_key tagged_key_of(tagged table, uint64_t hash) {
    const dleft *const places = &table.shape->places;
    return (tagged_key){ hash, table.shape->is_permuted ? dleft_fingerprint(places, hash)
                                                        : dleft_lone_print(places, hash) };
}

TAMIS_INLINE dleft_place tagged_place_in(tagged table, tagged_key key, unsigned i) {
    const dleft *const places = &table.shape->places;
    if (table.shape->is_permuted) return dleft_place_in(places, key.print, i);
    return (dleft_place){ dleft_lone_bucket(places, key.hash, i), key.print };
}

TAMIS_INLINE uint8_t *tagged_bucket(tagged table, uint64_t bucket) {
    return table.body + bucket * table.shape->cells.bytes;
}

/* The bit of the body where the field of a cell is. */
TAMIS_INLINE uint64_t tagged_field_at(tagged table, uint64_t bucket, unsigned cell) {
    const cells_shape *const cells = &table.shape->cells;
    return 8 * bucket * cells->bytes + cells->n * cells->bits + cell * table.shape->bits;
}

/* ------------------------------------------------------------------ looking */

TAMIS_INLINE unsigned tagged_used(tagged table, uint64_t bucket) {
    return cells_used(&table.shape->cells, tagged_bucket(table, bucket));
}

/* What a table has of a key, and where there is room. */
typedef struct tagged_found {
    unsigned    matches, cell; /* how many cells; the last of them */
    uint64_t    bucket;        /* and where it is */
    dleft_place least;         /* the least loaded bucket, the leftmost of several */
    unsigned    load;          /* of that */
} tagged_found;

#define TAGGED_NOTHING ((tagged_found){ .load = UINT32_MAX })

/* Look into one more bucket. Its cells are compared once, for a match and for its load. Ties go to
 * the left: a later bucket is taken only if it has fewer cells in use. */
TAMIS_INLINE void tagged_look_in(tagged table, dleft_place place, tagged_found *found) {
    const cells_shape *const cells = &table.shape->cells;
    cells_seen const seen = cells_see(cells, tagged_bucket(table, place.bucket), place.print);
    if (seen.first < cells->n) {
        found->matches++;
        found->bucket = place.bucket;
        found->cell = seen.first;
    }
    if (seen.used >= found->load) return;
    found->least = place;
    found->load = seen.used;
}

/* Look into all buckets of a key. */
TAMIS_INLINE tagged_found tagged_look(tagged table, tagged_key key) {
    tagged_found found = TAGGED_NOTHING;
    for (unsigned i = 0; i < table.shape->places.tables; i++) {
        tagged_look_in(table, tagged_place_in(table, key, i), &found);
    }
    return found;
}

/* The same for a key that may be there: permuted, it has one cell, and the look ends with that. */
TAMIS_INLINE tagged_found tagged_look_for(tagged table, tagged_key key) {
    tagged_found found = TAGGED_NOTHING;
    for (unsigned i = 0; i < table.shape->places.tables; i++) {
        tagged_look_in(table, tagged_place_in(table, key, i), &found);
        if (table.shape->is_permuted && found.matches != 0) break;
    }
    return found;
}

/* The first match from the left. With permutations, it is the only one. Cells in use are not
 * counted, so this is for lookups that need no room. */
TAMIS_INLINE bool tagged_find(tagged table, tagged_key key, uint64_t *ret_bucket,
                              unsigned *ret_cell) {
    const cells_shape *const cells = &table.shape->cells;
    for (unsigned i = 0; i < table.shape->places.tables; i++) {
        dleft_place const place = tagged_place_in(table, key, i);
        unsigned const cell = cells_next(cells, tagged_bucket(table, place.bucket), place.print, 0);
        if (cell == cells->n) continue;
        *ret_bucket = place.bucket;
        *ret_cell = cell;
        return true;
    }
    return false;
}

/* Ask for the memory of all buckets of a key: the first and the last byte of each, since one may
 * lie in two lines. */
TAMIS_INLINE void tagged_fetch(tagged table, tagged_key key) {
    for (unsigned i = 0; i < table.shape->places.tables; i++) {
        const uint8_t *const bucket = tagged_bucket(table, tagged_place_in(table, key, i).bucket);
        prefetch_to_read(bucket);
        prefetch_to_read(bucket + table.shape->cells.bytes - 1);
    }
}

/* ------------------------------------------------------------------ adding and removing keys */

/* Into the first cell that is free, which is number `used`: the used ones come first. */
TAMIS_INLINE void tagged_add(tagged table, dleft_place place, unsigned used, uint64_t field) {
    cells_set(&table.shape->cells, tagged_bucket(table, place.bucket), used, place.print);
    field_set(table.body, tagged_field_at(table, place.bucket, used), table.shape->bits, field);
}

/* Remove a cell; the last of its bucket takes its place. */
TAMIS_INLINE void tagged_take(tagged table, uint64_t bucket, unsigned cell) {
    /* The field moves first: cells_delete() then moves the print. */
    unsigned const used = tagged_used(table, bucket), bits = table.shape->bits;
    uint64_t const last = tagged_field_at(table, bucket, used - 1);
    field_set(table.body, tagged_field_at(table, bucket, cell), bits,
              field_get(table.body, last, bits));
    field_set(table.body, last, bits, 0);
    cells_delete(&table.shape->cells, tagged_bucket(table, bucket), cell, used);
}

/* ------------------------------------------------------------------ checking */

/* Are the used prints first, and is all that is not used 0? */
TAMIS_INLINE bool tagged_is_whole(tagged table, uint64_t bucket) {
    const cells_shape *const cells = &table.shape->cells;
    const uint8_t *const     prints = tagged_bucket(table, bucket);
    unsigned const           used = tagged_used(table, bucket);
    for (unsigned i = 0; i < used; i++) {
        if (cells_get(cells, prints, i) == 0) return false;
    }
    return field_is_zero(table.body, tagged_field_at(table, bucket, used),
                         8 * (bucket + 1) * cells->bytes);
}

#endif
