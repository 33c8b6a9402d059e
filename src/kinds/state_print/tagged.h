/* tagged.h - d-left tables of prints, each with a field that belongs to it.
 *
 * A bucket has its prints first, all compared at once (core/cells.h), and their fields behind them.
 * The used ones come first; a print is never 0, and what is not used is.
 *
 *     +-----+-----+-----+-----+---------+---------+---------+---------+
 *     |  p  |  p  |  p  |  .  |  field  |  field  |  field  |    .    |    4 cells, 3 keys
 *     +-----+-----+-----+-----+---------+---------+---------+---------+
 *
 * Where a key belongs is said by core/dleft.h, in one of its two ways.
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

/* What is to be found: permuted, the fingerprint alone; otherwise the hash and the one print. */
typedef struct tagged_key {
    uint64_t hash, print;
} tagged_key;

TAMIS_INLINE tagged_key tagged_key_of(tagged of, uint64_t hash) {
    const dleft *const places = &of.shape->places;
    return (tagged_key){ hash, of.shape->is_permuted ? dleft_fingerprint(places, hash)
                                                     : dleft_lone_print(places, hash) };
}

TAMIS_INLINE dleft_place tagged_place_in(tagged of, tagged_key key, unsigned i) {
    const dleft *const places = &of.shape->places;
    if (of.shape->is_permuted) return dleft_place_in(places, key.print, i);
    return (dleft_place){ dleft_lone_bucket(places, key.hash, i), key.print };
}

TAMIS_INLINE uint8_t *tagged_bucket(tagged of, uint64_t bucket) {
    return of.body + bucket * of.shape->cells.bytes;
}

/* The bit of the body where the field of a cell is. */
TAMIS_INLINE uint64_t tagged_field_at(tagged of, uint64_t bucket, unsigned cell) {
    const cells_shape *const cells = &of.shape->cells;
    return 8 * bucket * cells->bytes + cells->n * cells->bits + cell * of.shape->bits;
}

/* ------------------------------------------------------------------ looking */

TAMIS_INLINE unsigned tagged_used(tagged of, uint64_t bucket) {
    return cells_used(&of.shape->cells, tagged_bucket(of, bucket));
}

/* What a table has of a key, and where there is room. */
typedef struct tagged_found {
    unsigned    matches, cell; /* how many cells; the last of them */
    uint64_t    bucket;        /* and where it is */
    dleft_place least;         /* the least loaded bucket, the leftmost of several */
    unsigned    load;          /* of that */
} tagged_found;

#define TAGGED_NOTHING ((tagged_found){ .load = UINT32_MAX })

/* One bucket more. */
TAMIS_INLINE void tagged_look_in(tagged of, dleft_place place, tagged_found *found) {
    const cells_shape *const cells = &of.shape->cells;
    cells_seen const         seen = cells_see(cells, tagged_bucket(of, place.bucket), place.print);
    if (seen.first < cells->n) {
        found->matches++;
        found->bucket = place.bucket;
        found->cell = seen.first;
    }
    if (seen.used >= found->load) return;
    found->least = place;
    found->load = seen.used;
}

TAMIS_INLINE tagged_found tagged_look(tagged of, tagged_key key) {
    tagged_found found = TAGGED_NOTHING;
    for (unsigned i = 0; i < of.shape->places.tables; i++) {
        tagged_look_in(of, tagged_place_in(of, key, i), &found);
    }
    return found;
}

/* The first match from the left on. Permuted, it is the only one. */
TAMIS_INLINE bool tagged_find(tagged of, tagged_key key, uint64_t *ret_bucket, unsigned *ret_cell) {
    const cells_shape *const cells = &of.shape->cells;
    for (unsigned i = 0; i < of.shape->places.tables; i++) {
        dleft_place const place = tagged_place_in(of, key, i);
        unsigned const    cell = cells_next(cells, tagged_bucket(of, place.bucket), place.print, 0);
        if (cell == cells->n) continue;
        *ret_bucket = place.bucket;
        *ret_cell = cell;
        return true;
    }
    return false;
}

/* Ask for the memory of a key. */
TAMIS_INLINE void tagged_fetch(tagged of, tagged_key key) {
    for (unsigned i = 0; i < of.shape->places.tables; i++) {
        const uint8_t *const bucket = tagged_bucket(of, tagged_place_in(of, key, i).bucket);
        prefetch_to_read(bucket);
        prefetch_to_read(bucket + of.shape->cells.bytes - 1);
    }
}

/* ------------------------------------------------------------------ keys come and go */

/* Into the first cell that is free. */
TAMIS_INLINE void tagged_add(tagged of, dleft_place place, unsigned used, uint64_t field) {
    cells_set(&of.shape->cells, tagged_bucket(of, place.bucket), used, place.print);
    field_set(of.body, tagged_field_at(of, place.bucket, used), of.shape->bits, field);
}

/* A cell is gone; the last of its bucket takes its place. */
TAMIS_INLINE void tagged_take(tagged of, uint64_t bucket, unsigned cell) {
    unsigned const used = tagged_used(of, bucket), bits = of.shape->bits;
    uint64_t const last = tagged_field_at(of, bucket, used - 1);
    field_set(of.body, tagged_field_at(of, bucket, cell), bits, field_get(of.body, last, bits));
    field_set(of.body, last, bits, 0);
    cells_delete(&of.shape->cells, tagged_bucket(of, bucket), cell, used);
}

/* ------------------------------------------------------------------ checking */

/* Are the used prints first, and is all that is not used 0? */
TAMIS_INLINE bool tagged_is_whole(tagged of, uint64_t bucket) {
    const cells_shape *const cells = &of.shape->cells;
    const uint8_t *const     prints = tagged_bucket(of, bucket);
    unsigned const           used = tagged_used(of, bucket);
    for (unsigned i = 0; i < used; i++) {
        if (cells_get(cells, prints, i) == 0) return false;
    }
    return field_is_zero(of.body, tagged_field_at(of, bucket, used),
                         8 * (bucket + 1) * cells->bytes);
}

#endif
