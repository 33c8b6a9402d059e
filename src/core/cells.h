/* cells.h - a bucket of small cells, looked at by whole words.
 *
 * A cell has `bits` bits: a print of `print_bits` that is never 0, and above it whatever belongs to
 * it (a counter, say). A cell that is 0 is empty. The cells of a bucket lie one behind the other,
 * the used ones first; a bucket has `bytes` bytes, and what its cells leave of them is 0.
 *
 * A word of 64 bits holds as many whole cells as fit behind the bits by which it may begin too
 * early. All of them are compared at once: with the print in each cell subtracted by exclusive or,
 * a cell that matches is 0, and adding the largest number of one bit less carries into the top bit
 * of each cell that is not. Nothing is read outside of a bucket of 8 bytes or more, as that might
 * be another cache line.
 */
#ifndef TAMIS_CORE_CELLS_H
#define TAMIS_CORE_CELLS_H

#include "core/field.h"
#include "core/lanes.h"

typedef struct cells_shape {
    unsigned n, bits, print_bits, bytes;
    unsigned per_word;
    uint64_t ones; /* the lowest bit of each cell in a word */
} cells_shape;

/* How many cells a word can hold, wherever in a byte the first begins. */
TAMIS_INLINE unsigned cells_per_word(unsigned bits) {
    unsigned most = 64 / bits;
    while (most > 1 && bits % 8 != 0 && most * bits + 7 > 64) most--;
    return most;
}

/* A shape whose n, bits, print_bits and bytes are given. */
TAMIS_INLINE cells_shape cells_make(cells_shape of) {
    of.per_word = cells_per_word(of.bits);
    of.ones = 0;
    for (unsigned i = 0; i < of.per_word; i++) of.ones |= UINT64_C(1) << (i * of.bits);
    return of;
}

/* ------------------------------------------------------------------ cells, one by one */

/* The word in which a bit of a bucket is, without those beyond the bucket. */
TAMIS_INLINE field_at cells_find(const cells_shape *of, unsigned bit) {
    unsigned const last = of->bytes < 8 ? 0 : of->bytes - 8;
    unsigned const byte = bit / 8 < last ? bit / 8 : last;
    return (field_at){ byte, bit - 8 * byte };
}

TAMIS_INLINE uint64_t cells_get(const cells_shape *of, const uint8_t *bucket, unsigned i) {
    field_at const at = cells_find(of, i * of->bits);
    return le64_load(bucket + at.byte) >> at.shift & bits_low(of->bits);
}

TAMIS_INLINE void cells_set(const cells_shape *of, uint8_t *bucket, unsigned i, uint64_t cell) {
    field_at const at = cells_find(of, i * of->bits);
    uint64_t const mask = bits_low(of->bits) << at.shift;
    le64_store(bucket + at.byte, (le64_load(bucket + at.byte) & ~mask) | cell << at.shift);
}

TAMIS_INLINE uint64_t cells_print(const cells_shape *of, uint64_t cell) {
    return cell & bits_low(of->print_bits);
}

/* ------------------------------------------------------------------ all at once */

/* The cells from `first` on, as many as a word holds. */
TAMIS_INLINE uint64_t cells_word(const cells_shape *of, const uint8_t *bucket, unsigned first) {
    unsigned const n = of->n - first < of->per_word ? of->n - first : of->per_word;
    field_at const at = cells_find(of, first * of->bits);
    return le64_load(bucket + at.byte) >> at.shift & bits_low(n * of->bits);
}

/* The top bits of the cells whose print is not this one. */
TAMIS_INLINE uint64_t cells_differ(const cells_shape *of, uint64_t word, uint64_t print) {
    uint64_t const prints = of->ones * bits_low(of->print_bits);
    return lanes_nonzero((word ^ print * of->ones) & prints, of->ones, of->bits);
}

/* Does a cell have the print? It is not 0, so those beyond the last do not. */
TAMIS_INLINE bool cells_has(const cells_shape *of, const uint8_t *bucket, uint64_t print) {
    uint64_t const tops = of->ones << (of->bits - 1);
    uint64_t       found = 0;
    for (unsigned i = 0; i < of->n; i += of->per_word) {
        found |= tops ^ cells_differ(of, cells_word(of, bucket, i), print);
    }
    return found != 0;
}

/* How many cells are used. */
TAMIS_INLINE unsigned cells_used(const cells_shape *of, const uint8_t *bucket) {
    unsigned used = 0;
    for (unsigned i = 0; i < of->n; i += of->per_word) {
        used += bits_popcount(cells_differ(of, cells_word(of, bucket, i), 0));
    }
    return used;
}

/* The first cell from `i` on that has the print, or n. */
TAMIS_INLINE unsigned cells_next(const cells_shape *of, const uint8_t *bucket, uint64_t print,
                                 unsigned i) {
    uint64_t const tops = of->ones << (of->bits - 1);
    for (; i < of->n; i += of->per_word) {
        uint64_t const same = tops ^ cells_differ(of, cells_word(of, bucket, i), print);
        if (same != 0) return i + bits_lowest(same) / of->bits;
    }
    return of->n;
}

/* Both: how many are used, and the first that has the print, or n. */
typedef struct cells_seen {
    unsigned used, first;
} cells_seen;

TAMIS_INLINE cells_seen cells_see(const cells_shape *of, const uint8_t *bucket, uint64_t print) {
    uint64_t const tops = of->ones << (of->bits - 1);
    cells_seen     seen = { 0, of->n };
    for (unsigned i = 0; i < of->n; i += of->per_word) {
        uint64_t const word = cells_word(of, bucket, i);
        uint64_t const same = tops ^ cells_differ(of, word, print);
        seen.used += bits_popcount(cells_differ(of, word, 0));
        if (__builtin_expect(same != 0, 0) && seen.first == of->n)
            seen.first = i + bits_lowest(same) / of->bits;
    }
    return seen;
}

/* ------------------------------------------------------------------ cells come and go */

/* The cell is gone; the last of the `used` ones takes its place. */
TAMIS_INLINE void cells_delete(const cells_shape *of, uint8_t *bucket, unsigned i, unsigned used) {
    cells_set(of, bucket, i, cells_get(of, bucket, used - 1));
    cells_set(of, bucket, used - 1, 0);
}

/* ------------------------------------------------------------------ all buckets */

/* Every used cell of many buckets: the first of all, then the second of all, and so on. Bucket by
 * bucket, a merge of d-left tables would give the other subtables all that one has in its first
 * buckets before they get anything of its last, and fill them unevenly. */
typedef struct cells_walk {
    bool     is_on;
    unsigned cell;
    uint64_t bucket, found; /* where the walk is, and the cell there */
} cells_walk;

TAMIS_INLINE bool cells_walk_on(const cells_shape *of, const uint8_t *body, uint64_t buckets,
                                cells_walk *walk) {
    walk->bucket += walk->is_on;
    walk->is_on = true;
    for (; walk->cell < of->n; walk->cell++, walk->bucket = 0) {
        for (; walk->bucket < buckets; walk->bucket++) {
            walk->found = cells_get(of, body + walk->bucket * of->bytes, walk->cell);
            if (walk->found != 0) return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------------ checking */

/* Are the used cells first, their prints not 0, and is the rest of the bucket 0? */
TAMIS_INLINE bool cells_are_whole(const cells_shape *of, const uint8_t *bucket) {
    unsigned const used = cells_used(of, bucket);
    for (unsigned i = 0; i < of->n; i++) {
        uint64_t const cell = cells_get(of, bucket, i);
        if (i < used ? cells_print(of, cell) == 0 : cell != 0) return false;
    }
    for (unsigned bit = of->n * of->bits; bit < 8 * of->bytes; bit++) {
        if (field_get_bit(bucket, bit)) return false;
    }
    return true;
}

#endif
