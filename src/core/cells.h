/* cells.h - a bucket of small cells, all of the same width, compared a word at a time.
 *
 *     bucket   | cell 0 | cell 1 |   ...   | cell n-1 | padding, 0 |       `bytes` bytes
 *
 *     cell     | print (never 0)  |  counter, value, ... |                 `bits` bits
 *              low `print_bits`
 *
 * A cell that is 0 is empty. The used cells of a bucket come first, in any order.
 *
 * A word is loaded from the byte in which its first cell begins, so up to 7 bits before that cell
 * are in it; it has as many whole cells as fit after them. All of them are compared at once
 * (core/lanes.h). Nothing outside of a bucket of 8 bytes or more is read: that might be another
 * cache line.
 */
#ifndef TAMIS_CORE_CELLS_H
#define TAMIS_CORE_CELLS_H

#include "core/field.h"
#include "core/lanes.h"

typedef struct cells_shape {
    unsigned n, bits, print_bits, bytes;
    unsigned per_word; /* whole cells in a word */
    uint64_t ones;     /* the lowest bit of each of them */
} cells_shape;

/* How many cells a word has, wherever in its first byte the first cell begins. */
TAMIS_INLINE unsigned cells_per_word(unsigned bits) {
    unsigned most = 64 / bits;
    while (most > 1 && bits % 8 != 0 && most * bits + 7 > 64) most--;
    return most;
}

/* Complete a shape whose n, bits, print_bits and bytes are given. */
TAMIS_INLINE cells_shape cells_make(cells_shape shape) {
    shape.per_word = cells_per_word(shape.bits);
    shape.ones = 0;
    for (unsigned i = 0; i < shape.per_word; i++) shape.ones |= UINT64_C(1) << (i * shape.bits);
    return shape;
}

/* ------------------------------------------------------------------ cells, one by one */

/* The word that has a bit of the bucket: never one that reaches beyond the bucket's end, unless the
 * bucket is smaller than a word. */
TAMIS_INLINE field_at cells_find(const cells_shape *shape, unsigned bit) {
    unsigned const last = shape->bytes < 8 ? 0 : shape->bytes - 8;
    unsigned const byte = bit / 8 < last ? bit / 8 : last;
    return (field_at){ byte, bit - 8 * byte };
}

TAMIS_INLINE uint64_t cells_get(const cells_shape *shape, const uint8_t *bucket, unsigned i) {
    field_at const at = cells_find(shape, i * shape->bits);
    return le64_load(bucket + at.byte) >> at.shift & bits_low(shape->bits);
}

TAMIS_INLINE void cells_set(const cells_shape *shape, uint8_t *bucket, unsigned i, uint64_t cell) {
    field_at const at = cells_find(shape, i * shape->bits);
    uint64_t const mask = bits_low(shape->bits) << at.shift;
    le64_store(bucket + at.byte, (le64_load(bucket + at.byte) & ~mask) | cell << at.shift);
}

TAMIS_INLINE uint64_t cells_print(const cells_shape *shape, uint64_t cell) {
    return cell & bits_low(shape->print_bits);
}

/* Delete a cell. The last of the `used` ones takes its place. */
TAMIS_INLINE void cells_delete(const cells_shape *shape, uint8_t *bucket, unsigned i,
                               unsigned used) {
    cells_set(shape, bucket, i, cells_get(shape, bucket, used - 1));
    cells_set(shape, bucket, used - 1, 0);
}

/* ------------------------------------------------------------------ all cells of a word */

/* The cells from `first` on, as many as a word holds; 0 above the last cell of the bucket. */
TAMIS_INLINE uint64_t cells_word(const cells_shape *shape, const uint8_t *bucket, unsigned first) {
    unsigned const left = shape->n - first;
    unsigned const n = left < shape->per_word ? left : shape->per_word;
    field_at const at = cells_find(shape, first * shape->bits);
    return le64_load(bucket + at.byte) >> at.shift & bits_low(n * shape->bits);
}

/* The top bits of the cells that have another print. */
TAMIS_INLINE uint64_t cells_differ(const cells_shape *shape, uint64_t word, uint64_t print) {
    uint64_t const prints = shape->ones * bits_low(shape->print_bits);
    return lanes_nonzero((word ^ print * shape->ones) & prints, shape->ones, shape->bits);
}

/* ------------------------------------------------------------------ all cells of a bucket */

/* Has any cell this print? It is not 0, so the empty cells and those beyond the last do not. */
TAMIS_INLINE bool cells_has(const cells_shape *shape, const uint8_t *bucket, uint64_t print) {
    uint64_t const tops = shape->ones << (shape->bits - 1);
    uint64_t       found = 0;
    for (unsigned i = 0; i < shape->n; i += shape->per_word) {
        found |= tops ^ cells_differ(shape, cells_word(shape, bucket, i), print);
    }
    return found != 0;
}

/* How many cells are used. */
TAMIS_INLINE unsigned cells_used(const cells_shape *shape, const uint8_t *bucket) {
    unsigned used = 0;
    for (unsigned i = 0; i < shape->n; i += shape->per_word) {
        used += bits_popcount(cells_differ(shape, cells_word(shape, bucket, i), 0));
    }
    return used;
}

/* The first cell from `i` on that has the print; n if there is none. */
TAMIS_INLINE unsigned cells_next(const cells_shape *shape, const uint8_t *bucket, uint64_t print,
                                 unsigned i) {
    uint64_t const tops = shape->ones << (shape->bits - 1);
    for (; i < shape->n; i += shape->per_word) {
        uint64_t const same = tops ^ cells_differ(shape, cells_word(shape, bucket, i), print);
        if (same != 0) return i + bits_lowest(same) / shape->bits;
    }
    return shape->n;
}

/* Both answers from one pass over the words: an add needs both. */
typedef struct cells_seen {
    unsigned used;  /* cells in use */
    unsigned first; /* the first that has the print; n if there is none */
} cells_seen;

TAMIS_INLINE cells_seen cells_see(const cells_shape *shape, const uint8_t *bucket, uint64_t print) {
    uint64_t const tops = shape->ones << (shape->bits - 1);
    cells_seen     seen = { 0, shape->n };
    for (unsigned i = 0; i < shape->n; i += shape->per_word) {
        uint64_t const word = cells_word(shape, bucket, i);
        uint64_t const same = tops ^ cells_differ(shape, word, print);
        seen.used += bits_popcount(cells_differ(shape, word, 0));
        if (__builtin_expect(same != 0, 0) && seen.first == shape->n)
            seen.first = i + bits_lowest(same) / shape->bits;
    }
    return seen;
}

/* ------------------------------------------------------------------ all buckets */

/* Visits every used cell of many buckets: the first cell of every bucket, then the second of every
 * bucket, and so on. Bucket by bucket, a merge of d-left tables would fill the other subtables
 * unevenly: they would get everything from the first buckets of a subtable before they get
 * anything from its last. */
typedef struct cells_walk {
    bool     is_started;
    unsigned cell;
    uint64_t bucket; /* where the walk is */
    uint64_t found;  /* the cell there */
} cells_walk;

/* Move on to the next used cell. False: there are no more. */
TAMIS_INLINE bool cells_walk_on(const cells_shape *shape, const uint8_t *body, uint64_t buckets,
                                cells_walk *walk) {
    walk->bucket += walk->is_started;
    walk->is_started = true;
    for (; walk->cell < shape->n; walk->cell++, walk->bucket = 0) {
        for (; walk->bucket < buckets; walk->bucket++) {
            walk->found = cells_get(shape, body + walk->bucket * shape->bytes, walk->cell);
            if (walk->found != 0) return true;
        }
    }
    return false;
}

/* Is a bucket as this header makes it: used cells first, no print 0, and the rest 0? */
TAMIS_INLINE bool cells_are_whole(const cells_shape *shape, const uint8_t *bucket) {
    unsigned const used = cells_used(shape, bucket);
    for (unsigned i = 0; i < shape->n; i++) {
        uint64_t const cell = cells_get(shape, bucket, i);
        if (i < used ? cells_print(shape, cell) == 0 : cell != 0) return false;
    }
    for (unsigned bit = shape->n * shape->bits; bit < 8 * shape->bytes; bit++) {
        if (field_get_bit(bucket, bit)) return false;
    }
    return true;
}

#endif
